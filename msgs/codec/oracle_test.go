package codec_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"poise/internal/golden"
	"poise/internal/randmsg"
	"poise/msgs"
	"poise/msgs/codec"
	"poise/msgs/registry"
	"poise/msgs/rosjson"
)

// question and answer are lines of tools/oracle/ros_bytes.py.
type question struct {
	Form    int             `json:"form"`
	Type    string          `json:"type"`
	Text    *string         `json:"text,omitempty"`
	Message json.RawMessage `json:"message,omitempty"`
	Bytes   []byte          `json:"bytes,omitempty"`
}

type answer struct {
	Error     string          `json:"error"`
	MD5       string          `json:"md5"`
	RIHS      string          `json:"rihs"`
	Fields    map[string]bool `json:"fields"`    // by distribution
	Constants map[string]bool `json:"constants"` // by distribution
	Bytes     []byte          `json:"bytes"`
	Big       []byte          `json:"big"`
	Again     []byte          `json:"again"`
}

// oracle is a conversation with rosbags.
type oracle struct {
	t        *testing.T
	form     msgs.Form
	number   int
	text     bytes.Buffer
	handlers []func(answer)
	known    map[*registry.Type]bool
}

func (o *oracle) ask(q question, handle func(answer)) {
	q.Form = o.number
	line, err := json.Marshal(q)
	if err != nil {
		o.t.Fatal(err)
	}
	o.text.Write(append(line, '\n'))
	o.handlers = append(o.handlers, handle)
}

// define tells rosbags a type's definition, those inside it first.
func (o *oracle) define(typ *registry.Type, handle func(*registry.Type, answer)) {
	if o.known[typ] {
		return
	}
	o.known[typ] = true
	for _, p := range typ.Parts(o.form) {
		o.define(p, handle)
	}
	text := typ.Text(o.form)
	o.ask(question{Type: typ.Name(o.form), Text: &text}, func(a answer) { handle(typ, a) })
}

// run lets rosbags answer.
func (o *oracle) run() {
	python := golden.Python(o.t)
	if out, err := exec.Command(python, "-c", "import rosbags").CombinedOutput(); err != nil {
		golden.Missing(o.t, "POISE_PYTHON has no rosbags (tools/oracle/requirements.txt): %s", out)
	}
	o.runBy(python, "tools/oracle/ros_bytes.py")
}

// runBy lets a program answer.
func (o *oracle) runBy(python, script string) {
	command := exec.Command(python, filepath.Join(golden.Root(o.t), script))
	command.Stdin = &o.text
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		o.t.Fatalf("%v: %s", err, stderr.String())
	}
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<24)
	for i, handle := range o.handlers {
		var a answer
		if !lines.Scan() {
			o.t.Fatalf("answer %d of %d is missing", i, len(o.handlers))
		}
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			o.t.Fatal(err)
		}
		if a.Error != "" {
			o.t.Error(a.Error)
			continue
		}
		handle(a)
	}
}

// notHumble are the types of which Humble has other constants than the registry, which
// has Jazzy's.
var notHumble = []string{"rcl_interfaces/msg/Log", "sensor_msgs/msg/BatteryState"}

// notRosbags is the type of which rosbags has another hash: it counts char as a type of its own,
// which rosidl's definition of a .msg makes a uint8.
const notRosbags = "std_msgs/msg/Char"

// TestEveryTypeAgainstRosbags compares the registry and the codecs with an
// implementation that we did not write: definitions, sums, and bytes both ways.
func TestEveryTypeAgainstRosbags(t *testing.T) {
	const seed = 17
	cases := 4
	if testing.Short() {
		cases = 2
	}
	for form := range msgs.NumForms {
		number, text := 2, msgs.ROS2 // JSON has the fields of all distributions
		if form == msgs.ROS1 {
			number, text = 1, form
		}
		t.Run(strings.ReplaceAll(form.String(), " ", ""), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, uint64(number)))
			o := &oracle{t: t, form: form, number: number, known: map[*registry.Type]bool{}}
			compared := map[string]int{}
			define := func(typ *registry.Type, a answer) {
				if form == msgs.ROS1 && a.MD5 != typ.MD5() {
					t.Errorf("%s: md5 %s, rosbags says %s", typ, typ.MD5(), a.MD5)
				}
				if form.IsROS2() && a.RIHS != typ.Hash(form) && typ.String() != notRosbags {
					t.Errorf("%s: hash %s, rosbags says %s", typ, typ.Hash(form), a.RIHS)
				}
				for distribution, same := range a.Fields {
					compared[distribution]++
					if !same {
						t.Errorf("%s: %s has other fields", typ, distribution)
					}
					if a.Constants[distribution] == (distribution == "ros2_humble" && slices.Contains(notHumble, typ.String())) {
						t.Errorf("%s: the constants of %s are the same: %v", typ, distribution, a.Constants[distribution])
					}
				}
			}
			messages := 0
			for _, typ := range registry.Messages() {
				if !exists(typ, form) || form >= msgs.NumTextForms && typ.FullText(form) == typ.FullText(msgs.ROS2) {
					continue // of a distribution, those that it has otherwise
				}
				o.define(typ, define)
				c := codec.For(typ, form)
				for range cases {
					msg := typ.New()
					randmsg.Fill(r, msg)
					own := c.Append(nil, msg)
					messages++
					o.ask(question{Type: typ.Name(form), Message: rosjson.Append(nil, msg, text), Bytes: own}, func(a answer) {
						judge(t, c, own, a)
					})
				}
			}
			o.run()
			t.Logf("seed %d: %d types, %d messages; definitions compared with %v", seed, len(o.known), messages, compared)
		})
	}
}

// TestEveryTypeAgainstGenpy does the same with genpy, by which rospy has its messages: the sum
// of every type of ROS 1, and the bytes of random messages both ways.
func TestEveryTypeAgainstGenpy(t *testing.T) {
	const python = "/usr/bin/python3" // which has Debian's ROS
	if out, err := exec.Command(python, "-c", "import genpy.generator").CombinedOutput(); err != nil {
		golden.Missing(t, "Debian's genpy is missing; tools/setup.sh installs it: %s", out)
	}
	const seed = 18
	cases := 4
	if testing.Short() {
		cases = 2
	}
	r := rand.New(rand.NewPCG(seed, 1))
	o := &oracle{t: t, form: msgs.ROS1, number: 1, known: map[*registry.Type]bool{}}
	messages := 0
	for _, typ := range registry.Messages() {
		if exists(typ, msgs.ROS1) {
			o.define(typ, func(typ *registry.Type, a answer) {
				if a.MD5 != typ.MD5() {
					t.Errorf("%s: md5 %s, genpy says %s", typ, typ.MD5(), a.MD5)
				}
			})
		}
	}
	for _, typ := range registry.Messages() {
		if !exists(typ, msgs.ROS1) {
			continue
		}
		c := codec.For(typ, msgs.ROS1)
		for range cases {
			msg := typ.New()
			randmsg.Fill(r, msg)
			tidyTimes(reflect.ValueOf(msg))
			own := c.Append(nil, msg)
			messages++
			o.ask(question{Type: typ.Name(msgs.ROS1), Message: rosjson.Append(nil, msg, msgs.ROS1), Bytes: own}, func(a answer) { judge(t, c, own, a) })
		}
	}
	o.runBy(python, "tools/peers/ros1/genpy_bytes.py")
	if len(o.known) < 300 || messages < 300*cases {
		t.Errorf("only %d types and %d messages", len(o.known), messages)
	}
	t.Logf("seed %d: %d types, %d messages", seed, len(o.known), messages)
}

// tidyTimes makes the nanoseconds of a message less than a second: genpy writes others so.
func tidyTimes(v reflect.Value) {
	switch x := v.Interface().(type) {
	case *msgs.Time:
		x.Nanosec %= 1e9
	case *msgs.Duration:
		x.Nanosec %= 1e9
	}
	switch v = v.Elem(); v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			tidyTimes(v.Field(i).Addr())
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			tidyTimes(v.Index(i).Addr())
		}
	}
}

// judge compares the bytes of rosbags or genpy with ours, and reads them.
func judge(t *testing.T, c *codec.Codec, own []byte, a answer) {
	t.Helper()
	for what, data := range map[string][]byte{"writes": a.Bytes, "reads and writes": a.Again} {
		if at := firstDifference(data, own); at >= 0 {
			t.Errorf("%s: the other %s %d bytes, ours are %d; they differ at byte %d", c.Type(), what, len(data), len(own), at)
		}
	}
	want := c.Type().New()
	if err := c.Decode(own, want); err != nil {
		t.Error(err)
		return
	}
	for _, data := range [][]byte{a.Bytes, a.Big} {
		if data == nil {
			continue
		}
		got := c.Type().New()
		if err := c.Decode(data, got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %x of the other is read as\n%+v (%v), want\n%+v", c.Type(), data, got, err, want)
		}
	}
}

// firstDifference returns where two byte strings begin to differ, -1 if they do not.
func firstDifference(a, b []byte) int {
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			return i
		}
	}
	return -1
}
