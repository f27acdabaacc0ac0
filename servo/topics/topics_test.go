package topics_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"poise/robot"
	"poise/servo"
	"poise/servo/servotest"
	"poise/servo/topics"
	"poise/urdf"
)

// machine is another program's robot: joints go where commands say, and their states leave
// every 10 ms.
type machine struct {
	mu     sync.Mutex
	at     map[string]float64
	silent bool
	heard  int // commands
	asked  []string
}

func newMachine() *machine { return &machine{at: map[string]float64{"j1": 0.1, "j2": 0, "other": 5}} }

// message of rosbridge, as far as it is looked at here.
type message struct {
	Op, Topic, Type string
	Msg             struct {
		Name               []string
		Position, Velocity []float64
	}
}

func (m *machine) take(text []byte) {
	var x message
	if json.Unmarshal(text, &x) != nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if x.Op != "publish" {
		m.asked = append(m.asked, x.Op+" "+x.Topic+" "+x.Type)
		return
	}
	if m.silent || x.Topic != "/joint_commands" {
		return
	}
	m.heard++
	for i, name := range x.Msg.Name {
		m.at[name] = x.Msg.Position[i]
	}
}

// state is what it publishes; nil while it is silent.
func (m *machine) state() []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.silent {
		return nil
	}
	names := slices.Sorted(maps.Keys(m.at))
	var list []string
	for _, n := range names {
		list = append(list, fmt.Sprint(m.at[n]))
	}
	return fmt.Appendf(nil, `{"op":"publish","topic":"/joint_states","msg":{"header":{},"name":["%s"],"position":[%s],"velocity":[],"effort":[]}}`,
		strings.Join(names, `","`), strings.Join(list, ","))
}

// told returns how many commands came, and where its joints are.
func (m *machine) told() (heard int, at map[string]float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.heard, maps.Clone(m.at)
}

func (m *machine) mute(on bool) {
	m.mu.Lock()
	m.silent = on
	m.mu.Unlock()
}

// link is a connection with it in memory.
type link struct {
	m    *machine
	gone chan struct{}
	once sync.Once
}

var errGone = errors.New("the link is gone")

func (l *link) Send(_ context.Context, text []byte) error {
	select {
	case <-l.gone:
		return errGone
	default:
	}
	l.m.take(text)
	return nil
}

func (l *link) Receive(ctx context.Context) ([]byte, error) {
	for {
		select {
		case <-l.gone:
			return nil, errGone
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
		if text := l.m.state(); text != nil {
			return text, nil
		}
	}
}

func (l *link) Close() error {
	l.once.Do(func() { close(l.gone) })
	return nil
}

func model(t testing.TB) *robot.Model {
	t.Helper()
	text := `<robot name="two"><link name="a"/><link name="b"/><link name="c"/>`
	for i, pair := range [][2]string{{"a", "b"}, {"b", "c"}} {
		text += fmt.Sprintf(`<joint name="j%d" type="revolute"><parent link="%s"/><child link="%s"/><axis xyz="0 0 1"/><limit lower="-2" upper="2" effort="2" velocity="5"/></joint>`, i+1, pair[0], pair[1])
	}
	doc, _, err := urdf.Parse([]byte(text+`</robot>`), "two.urdf")
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := robot.Build(doc, robot.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func newDriver(t testing.TB, m *machine, links *[]*link) *topics.Driver {
	t.Helper()
	s := topics.DefaultSettings()
	s.Wait = 1
	d, err := topics.NewDriver(model(t), 0.01, s)
	if err != nil {
		t.Fatal(err)
	}
	own := d.(*topics.Driver)
	own.Dial = func(ctx context.Context, s topics.Settings) (topics.Link, error) {
		l := &link{m: m, gone: make(chan struct{})}
		if links != nil {
			*links = append(*links, l)
		}
		return topics.Bridge(ctx, l, s)
	}
	return own
}

// TestContract holds the driver to the contract of drivers.
func TestContract(t *testing.T) {
	servotest.Run(t, func(t testing.TB) servotest.Subject {
		m := newMachine()
		return servotest.Subject{Driver: newDriver(t, m, nil), Joints: 2, Period: 0.01, Silence: m.mute}
	})
}

// TestCommandsLeaveEachTick, of joints that are on alone, and a link that breaks is made again.
func TestCommandsLeaveEachTick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine()
		var links []*link
		d := newDriver(t, m, &links)
		if err := d.Open(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		if want := []string{"advertise /joint_commands sensor_msgs/JointState", "subscribe /joint_states sensor_msgs/JointState"}; !slices.Equal(m.asked, want) {
			t.Errorf("it asks for %q", m.asked)
		}
		dst, src := servo.NewMeasurement(2, servo.Sensors{}), make([]servo.Setpoint, 2)
		step := func(n int) (fault servo.Fault) {
			for range n {
				fault = d.Exchange(servo.Tick{Dt: 0.01}, dst, src)
				time.Sleep(10 * time.Millisecond)
			}
			return fault
		}
		step(100)
		if heard, _ := m.told(); heard != 0 {
			t.Errorf("%d commands while all is off", heard)
		}
		src[1] = servo.Setpoint{Mode: servo.Position, Position: 0.5, Stiffness: 1, PlayTime: 0.01}
		fault := step(100)
		if heard, at := m.told(); fault != 0 || heard < 98 || at["j2"] != 0.5 || at["j1"] != 0.1 {
			t.Errorf("fault %v, %d commands in 100 ticks, joints at %v", fault, heard, at)
		}
		if r := dst.Joints[1]; math.Abs(r.Position-0.5) > 1e-9 || r.Age > 2 {
			t.Errorf("it reads %+v", r)
		}
		m.mute(true)
		links[0].Close()
		if fault := step(100); fault&servo.BusDown == 0 {
			t.Errorf("without a link: %v", fault)
		}
		m.mute(false)
		if fault := step(100); fault != 0 || len(links) < 2 || dst.Joints[0].Age > 2 {
			t.Errorf("with a new link: %v, %+v", fault, dst.Joints[0])
		}
	})
}

// TestJointsThatAreNotThereAreNamed when the driver is opened.
func TestJointsThatAreNotThereAreNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine()
		delete(m.at, "j2")
		if err := newDriver(t, m, nil).Open(t.Context()); err == nil || !strings.Contains(err.Error(), "no state of joint j2 within 1 s") {
			t.Errorf("%v", err)
		}
	})
}

// TestOverAWebSocket: the link of a rosbridge itself.
func TestOverAWebSocket(t *testing.T) {
	m := newMachine()
	peer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		go func() {
			for {
				_, text, err := c.Read(context.Background())
				if err != nil {
					return
				}
				m.take(text)
			}
		}()
		for c.Write(context.Background(), websocket.MessageText, m.state()) == nil {
			time.Sleep(5 * time.Millisecond)
		}
	}))
	defer peer.Close()
	s := topics.DefaultSettings()
	s.URL, s.Wait = "ws"+strings.TrimPrefix(peer.URL, "http"), 100
	d, err := topics.NewDriver(model(t), 0.01, s)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	dst, src := servo.NewMeasurement(2, servo.Sensors{}), make([]servo.Setpoint, 2)
	src[0] = servo.Setpoint{Mode: servo.Position, Position: -0.4, Stiffness: 1, PlayTime: 0.01}
	for end := time.Now().Add(time.Minute); dst.Joints[0].Position != -0.4; time.Sleep(10 * time.Millisecond) {
		d.Exchange(servo.Tick{Dt: 0.01}, dst, src)
		if time.Now().After(end) {
			t.Fatalf("it reads %+v", dst.Joints)
		}
	}
}
