package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"poise/motion/file"
	"poise/motion/library"
	"poise/msgs/poisemsgs"
	"poise/wire/rosbridge/client"
)

// teachCommand makes a motion of poses into which a person puts the robot.
func teachCommand(e *env, fs *pflag.FlagSet) func(args []string) error {
	t := &teaching{remote: newRemote(e, fs)}
	fs.Float64Var(&t.every, "every", 1.5, "`s` from one pose to the next, longer if a joint would go faster than 1 rad/s")
	fs.BoolVar(&t.record, "record", false, "record the movement itself from Enter to Enter, ten times a second")
	fs.BoolVar(&t.replace, "replace", false, "a motion of this name may be replaced")
	fs.StringVar(&t.text, "description", "taught by hand", "`words` that say what the motion is")
	return t.run
}

type teaching struct {
	*remote
	every   float64
	record  bool
	replace bool
	text    string
	typed   *bufio.Reader
	states  *client.Subscription
	names   []string
	rows    []taughtRow
	length  float64 // s of what was saved
}

type taughtRow struct {
	time float64
	q    []float64
}

func (t *teaching) run(args []string) error {
	if err := checkArguments(args, []string{"NAME"}); err != nil {
		return err
	}
	name := args[0]
	if err := library.CheckName(name); err != nil {
		return err
	}
	end, err := t.open(args, "NAME")
	if err != nil {
		return err
	}
	defer end()
	if err := t.free(name); err != nil { // before there is work to lose
		return err
	}
	if !(t.every >= 0.1 && t.every <= 60) {
		return usagef("--every %g s is not within 0.1 … 60 s", t.every)
	}
	if t.states, err = t.c.Subscribe(t.name("joint_states_real"), "sensor_msgs/msg/JointState", client.SubscribeOptions{}); err != nil {
		return err
	}
	t.typed = bufio.NewReader(t.e.in)
	if t.record {
		err = t.recorded()
	} else {
		err = t.poses()
	}
	n := len(t.rows)
	switch {
	case n >= 2:
		t.length = t.rows[n-1].time
	case err == nil:
		return fmt.Errorf("nothing was saved: %d poses are no motion", n)
	default:
		return err
	}
	if err == nil {
		err = t.save(name)
	}
	if err != nil {
		return t.kept(name, err)
	}
	slower := ""
	if last := t.rows[n-1].time; t.length > last+0.05 {
		slower = fmt.Sprintf(", slower than it was moved in %.1f s where that was beyond the robot's limits", last)
	}
	message := fmt.Sprintf("%s: %d rows, %.1f s%s; %s plays it", name, n, t.length, slower, t.commandLine("play", name))
	if t.e.json {
		line, err := json.Marshal(answered{true, message})
		fmt.Fprintf(t.e.out, "%s\n", line)
		return err
	}
	fmt.Fprintln(t.e.out, message)
	return nil
}

// free refuses a name that the server's library has already, unless its motion may be replaced.
func (t *teaching) free(name string) error {
	var had poisemsgs.MotionsGetResponse
	switch err := t.quiet("/motions/get", &poisemsgs.MotionsGetRequest{Name: name}, &had); {
	case errors.Is(err, library.ErrUnknown):
		return nil
	case err == nil && !t.replace:
		return fmt.Errorf("motion %q exists already: --replace takes its place", name)
	default:
		return err
	}
}

// kept leaves what was taught in the current folder, where it could not be saved; if it cannot be
// left there either, on standard error.
func (t *teaching) kept(name string, why error) error {
	to, text := name+file.Extension, t.motionText()
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) // never in the place of another
	if err == nil {
		_, err = f.WriteString(text)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		fmt.Fprint(t.e.err, text)
		return fmt.Errorf("%w; what was taught stands above: %w", why, err)
	}
	return fmt.Errorf("%w; what was taught is kept in %s, a file for the server's folder of motions", why, to)
}

// enter waits for the person, and reports false at the end of what is typed.
func (t *teaching) enter(question string) bool {
	fmt.Fprintf(t.e.err, "%s ", question)
	line, err := t.typed.ReadString('\n')
	fmt.Fprintln(t.e.err)
	return err == nil && strings.TrimSpace(line) == ""
}

// now returns where the joints are.
func (t *teaching) now() ([]float64, error) {
	for {
		ctx, cancel := context.WithTimeout(t.ctx, patienceForStates)
		text, _, err := t.states.Next(ctx)
		cancel()
		if ctx.Err() == context.DeadlineExceeded {
			return nil, fmt.Errorf("no joint states on %s within %v", t.name("joint_states_real"), patienceForStates)
		}
		if err != nil {
			return nil, err
		}
		var m struct {
			Name     []string   `json:"name"`
			Position []*float64 `json:"position"`
		}
		if err := json.Unmarshal(text, &m); err != nil {
			return nil, err
		}
		if len(m.Name) == 0 || len(m.Name) != len(m.Position) {
			continue
		}
		q := make([]float64, len(m.Position))
		for i, p := range m.Position {
			if p == nil {
				return nil, fmt.Errorf("the position of joint %q is not known", m.Name[i])
			}
			q[i] = math.Round(*p*1e4) / 1e4
		}
		t.names = m.Name
		return q, nil
	}
}

// patienceForStates is how long a server may publish no states.
const patienceForStates = 20 * time.Second

// fresh returns where the joints are after what was just done: older states are left out.
func (t *teaching) fresh() ([]float64, error) {
	for end := time.Now().Add(freshAfter); ; {
		q, err := t.now()
		if err != nil || time.Now().After(end) {
			return q, err
		}
	}
}

// freshAfter is longer than a state takes from the servo to here, and calm the fastest mean
// speed of a joint from pose to pose, rad/s.
const (
	freshAfter   = 300 * time.Millisecond
	calm         = 0.6
	recordEvery  = 0.1 // s
	longestTaken = 600 // s of a recording
)

// poses takes one at each Enter.
func (t *teaching) poses() error {
	for t.enter("Put the robot into the next pose. [Enter adds it, anything else ends]") {
		q, err := t.fresh()
		if err != nil {
			return err
		}
		at := 0.0
		if n := len(t.rows); n > 0 {
			at = t.rows[n-1].time + math.Max(t.every, math.Ceil(farthest(q, t.rows[n-1].q)/calm*10)/10)
		}
		t.rows = append(t.rows, taughtRow{math.Round(at*1e3) / 1e3, q})
	}
	return nil
}

func farthest(a, b []float64) (far float64) {
	for i := range a {
		far = math.Max(far, math.Abs(a[i]-b[i]))
	}
	return far
}

// recorded takes the movement between two Enters.
func (t *teaching) recorded() error {
	if !t.enter("Take the robot by the hand. [Enter begins]") {
		return errors.New("nothing was saved: the input ended before the recording began")
	}
	done := make(chan bool, 1)
	go func() { done <- t.enter("Move it. [Enter ends]") }()
	for began := time.Now(); ; {
		q, err := t.now()
		if err != nil {
			return err
		}
		at := time.Since(began).Seconds()
		if n := len(t.rows); n == 0 || at >= t.rows[n-1].time+recordEvery {
			if n == 0 {
				at = 0
			}
			t.rows = append(t.rows, taughtRow{math.Round(at*1e3) / 1e3, q})
		}
		select {
		case <-done:
			return nil
		default:
		}
		if at > longestTaken {
			return fmt.Errorf("the recording is longer than %d s", longestTaken)
		}
	}
}

// motionText writes the motion as its file is written.
func (t *teaching) motionText() string {
	var b strings.Builder
	fmt.Fprintf(&b, "description: %s\njoints:\n", strconv.Quote(t.text))
	for _, name := range t.names {
		fmt.Fprintf(&b, "  %s: {}\n", strconv.Quote(name))
	}
	b.WriteString("points:\n")
	for _, r := range t.rows {
		fmt.Fprintf(&b, "  - time: %g\n    positions: {", r.time)
		for i, name := range t.names {
			if i > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, "%s: %g", strconv.Quote(name), r.q[i])
		}
		b.WriteString("}\n")
	}
	return b.String()
}

// save lets the server read the motion, and keep it.
func (t *teaching) save(name string) error {
	var read poisemsgs.MotionsImportResponse
	if err := t.quiet("/motions/import", &poisemsgs.MotionsImportRequest{Name: name, Text: t.motionText()}, &read); err != nil {
		return err
	}
	put := &poisemsgs.MotionsPutRequest{Motion: t.slowed(read.Motion)}
	put.Motion.Name = name
	if t.replace {
		var had poisemsgs.MotionsGetResponse
		if t.quiet("/motions/get", &poisemsgs.MotionsGetRequest{Name: name}, &had) == nil {
			put.Version = library.Version([]byte(had.Text)) // also of a shipped one, which it hides
		}
	}
	var saved poisemsgs.MotionsPutResponse
	return t.quiet("/motions/put", put, &saved)
}

// slowed is a motion that the robot can play: a hand is faster than its limits. If time alone does not
// mend its forces, joints keep to their limits all the same; if it does not mend those either, the
// motion is kept as it was moved.
func (t *teaching) slowed(m poisemsgs.Motion) poisemsgs.Motion {
	var fit poisemsgs.MotionsEditResponse
	slow := func(texts ...string) error {
		return t.quiet("/motions/edit", &poisemsgs.MotionsEditRequest{Motion: m, Operation: poisemsgs.MotionOperation{Op: "slow_to_fit", Texts: texts}}, &fit)
	}
	if err := slow(); err != nil {
		fmt.Fprintf(t.e.err, "poise: teach: %v\n", err)
		if err = slow("limits"); err != nil {
			fmt.Fprintf(t.e.err, "poise: teach: it is kept as it was moved: %v\n", err)
			return m
		}
	}
	if n := len(fit.Motion.Points); n > 0 {
		t.length = fit.Motion.Points[n-1].Time
	}
	return fit.Motion
}
