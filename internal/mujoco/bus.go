package mujoco

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"poise/internal/golden"
	"poise/robot"
	"poise/servo"
	"poise/servo/physics"
	"poise/sim"
	"poise/spatial"
)

// Config says what stands in MuJoCo. The zero value is a robot in its rest pose on level
// ground, stepped by a millisecond.
type Config struct {
	Step     float64         // of MuJoCo, s; 0 is 1 ms
	Friction float64         // of the ground; 0 is 0.8
	Motors   []physics.Motor // of each joint; nil is physics.MotorsOf
	Start    []float64       // NumQ; nil is the rest pose, on its feet
	Supply   physics.Supply  // of the servos that have a voltage
	Masses   []float64       // [bodies] by which those of the robot are multiplied; nil is 1
	Boxes    []sim.Box       // on the ground, along the axes of the world
	Line     physics.Line    // by which setpoints come to the servos, and readings from them
	Seed     uint64          // of what the line loses
	Ground   *sim.Ground     // its slope and its heights; nil is level
	Unit     physics.Unit    // how its inertial unit errs
	Numb     bool            // without touch sensors
	Every    int             // steps from one look at the feet to the next; 0 takes none
}

// Needed ends a test that was not started by `make judge`, which has MuJoCo.
func Needed(t testing.TB) {
	t.Helper()
	if os.Getenv("POISE_JUDGE") == "" {
		t.Skip("absent: POISE_JUDGE, which make judge sets where MuJoCo is installed")
	}
}

// Driver is a robot in MuJoCo. It implements servo.Driver.
type Driver struct {
	t       testing.TB
	m       *robot.Model
	process *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	feet    []robot.ChainID
	nominal []float64 // voltage of each servo
	line    physics.Line
	rng     *rand.Rand
	open    bool
	last    *servo.Measurement
	numb    bool    // without touch sensors
	time    float64 // that was simulated, s
	push    Push    // its begin in that time
	step    float64 // of MuJoCo, s
	unit    *physics.Inertial
	Base    spatial.Pose // of the robot, as MuJoCo has it
	Q, V    []float64    // of the joints, without the steps of readings
	Loads   []float64    // vertical force on each foot, N
	ZMP     [2]float64   // measured zero-moment point of all of them, x and y in the world, m
	Looks   []Look       // at the feet in the last period
	numbers []float64    // of the answer
	bytes   []byte       // of the question and of the answer
}

// Look is what is seen of the feet after a step.
type Look struct {
	ZMP    [2]float64 // measured, m; not a number if nothing carries
	Beside float64    // largest force upwards on a link that is no foot, N
	Feet   []Foot
}

// Foot is one that is seen.
type Foot struct {
	Force  float64      // on it, out of the ground, N
	Middle spatial.Vec3 // of its sole
	R      spatial.Mat3 // of its tip
}

// motor is a servo as the process wants it; field names are those of physics.Motor.
type motor struct {
	Kp, Kd, Limit, Brake, Voltage, Quantum, Stall, Armature, Damping, Friction, Offset float64
	Joint                                                                              string
}

// begin is the first line to the process.
type begin struct {
	URDF     string     `json:"urdf"`
	Floating bool       `json:"floating"`
	Step     float64    `json:"step"`
	Friction float64    `json:"friction"`
	Joints   []string   `json:"joints"`
	Virtual  []string   `json:"virtual"`
	Motors   []motor    `json:"motors"`
	Feet     [][]string `json:"feet"` // links of each, its tip first
	Q        []float64  `json:"q"`    // of the joints
	Base     []float64  `json:"base"` // x y z qx qy qz qw

	Supply     float64            `json:"supply"`     // V without load; 0 is nominal
	Resistance float64            `json:"resistance"` // of the supply, Ω
	Masses     map[string]float64 `json:"masses"`     // of links, by which they are multiplied

	Boxes [][2][3]float64 `json:"boxes"` // middle and half of the edges of each, m

	Slope   []float64 `json:"slope"` // orientation of the ground, qx qy qz qw
	Heights *heights  `json:"heights,omitempty"`

	Middles [][3]float64 `json:"middles"` // of each foot's sole, in the frame of its tip
	Radii   []float64    `json:"radii"`   // of each sole
	Every   int          `json:"every"`
}

// heights is sim.Heights for the process; Z has a row for each y.
type heights struct {
	X0, Y0, Cell, Highest float64
	NX, NY                int
	Z                     []float64
}

// lay describes the ground for the process.
func (first *begin) lay(g *sim.Ground) {
	r := g.R.Quat()
	first.Slope = []float64{r.X, r.Y, r.Z, r.W}
	if h := g.Heights; h != nil {
		first.Heights = &heights{X0: h.X0, Y0: h.Y0, Cell: h.Cell, Highest: h.Highest, NX: h.NX, NY: h.NY, Z: make([]float64, len(h.Z))}
		for i := range h.NX {
			for j := range h.NY {
				first.Heights.Z[j*h.NX+i] = h.Z[i*h.NY+j]
			}
		}
	}
}

// Open starts the process. It ends with the test.
func Open(t testing.TB, m *robot.Model, urdf []byte, c Config) *Driver {
	t.Helper()
	Needed(t)
	if c.Step == 0 {
		c.Step = 0.001
	}
	if c.Friction == 0 {
		c.Friction = sim.DefaultFriction
	}
	if c.Motors == nil {
		c.Motors = physics.MotorsOf(m)
	}
	d := &Driver{t: t, m: m, line: c.Line, rng: rand.New(rand.NewPCG(c.Seed, 0x6c696e65)), step: c.Step, numb: c.Numb, unit: physics.NewInertial(m.Gravity(), c.Unit, c.Seed)}
	first := begin{URDF: string(urdf), Floating: m.Floating(), Step: c.Step, Friction: c.Friction, Virtual: []string{}, Feet: [][]string{},
		Supply: c.Supply.Voltage, Resistance: c.Supply.Resistance, Masses: map[string]float64{}, Boxes: boxesOf(c.Boxes),
		Middles: [][3]float64{}, Radii: []float64{}, Every: c.Every}
	ground := sim.Level()
	if c.Ground != nil {
		*ground = *c.Ground
	}
	ground.Boxes = c.Boxes
	first.lay(ground)
	model, err := sim.NewModel(m, sim.Config{Passive: physics.PassiveOf(c.Motors)})
	if err != nil {
		t.Fatal(err)
	}
	if c.Start == nil {
		if c.Start, err = model.Settled(m.RestPositions(), ground); err != nil {
			t.Fatal(err)
		}
	}
	if c.Masses != nil {
		for _, f := range m.Frames() {
			if f.Body != robot.World {
				first.Masses[f.Name] = c.Masses[f.Body]
			}
		}
	}
	d.nominal = make([]float64, len(m.Joints()))
	for i, j := range m.Joints() {
		p := &c.Motors[i]
		d.nominal[i] = p.Voltage
		first.Joints = append(first.Joints, j.Name)
		first.Q = append(first.Q, c.Start[j.Q])
		first.Motors = append(first.Motors, motor{Joint: j.Name, Kp: p.Kp, Kd: p.Kd, Limit: p.Limit, Brake: p.Brake, Voltage: p.Voltage, Quantum: p.Quantum, Stall: p.Stall,
			Armature: p.Passive.Armature, Damping: p.Passive.Damping, Friction: p.Passive.Friction, Offset: p.Passive.Offset})
		if j.Virtual {
			first.Virtual = append(first.Virtual, j.Name)
		}
	}
	if m.Floating() {
		first.Base = c.Start[:7]
		d.feet = model.Feet()
	}
	for _, f := range d.feet {
		chain := &m.Chains()[f]
		first.Feet = append(first.Feet, linksBelow(m, chain.Tip))
		x := sim.SoleMiddle(&m.Contacts()[chain.Contact])
		first.Middles = append(first.Middles, [3]float64{x.X, x.Y, x.Z})
		first.Radii = append(first.Radii, m.Contacts()[chain.Contact].Sole)
	}
	d.start(first)
	return d
}

// boxesOf tells boxes as the process wants them.
func boxesOf(boxes []sim.Box) [][2][3]float64 {
	out := make([][2][3]float64, len(boxes))
	for i, b := range boxes {
		out[i] = [2][3]float64{{b.Pose.P.X, b.Pose.P.Y, b.Pose.P.Z}, {b.Half.X, b.Half.Y, b.Half.Z}}
	}
	return out
}

// linksBelow lists a link and those that it carries.
func linksBelow(m *robot.Model, tip robot.FrameID) (names []string) {
	frames := m.Frames()
	names = append(names, frames[tip].Name)
	for _, f := range frames {
		for b := f.Body; b != robot.World; b = m.Bodies()[b].Parent {
			if b == frames[tip].Body && f.Name != frames[tip].Name {
				names = append(names, f.Name)
				break
			}
		}
	}
	return names
}

// start runs the process and tells it what there is.
func (d *Driver) start(first begin) {
	t := d.t
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	d.process = exec.Command(golden.Python(t), filepath.Join(root, "tools/oracle/mujoco_bus.py"))
	d.process.Stderr = os.Stderr
	if d.in, err = d.process.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := d.process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	d.out = bufio.NewReaderSize(out, 1<<20)
	if err := d.process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		d.in.Close()
		if err := d.process.Wait(); err != nil {
			t.Errorf("MuJoCo's process: %v", err)
		}
	})
	line, err := json.Marshal(first)
	if err != nil {
		t.Fatal(err)
	}
	d.last = servo.NewMeasurement(len(d.m.Joints()), d.sensors())
	if err := d.ask(append(line, '\n')); err != nil {
		t.Fatal(err)
	}
}

// numberSize is that of a number on its way, bytes.
const numberSize = 8

// ask sends a question and reads the answer: see answer in mujoco_bus.py.
func (d *Driver) ask(question []byte) error {
	if _, err := d.in.Write(question); err != nil {
		return err
	}
	head, err := d.read(3)
	if err != nil {
		return err
	}
	if head[0] != 1 {
		return errors.New("MuJoCo: a number is not finite")
	}
	steps, looks := int(head[1]), int(head[2])
	n, feet := len(d.m.Joints()), len(d.feet)
	x, err := d.read(4*n + 1 + 7 + 2 + feet*ofFoot + (steps+1)*ofStep + looks*(ofLook+feet*ofSeen))
	if err != nil {
		return err
	}
	take := func(n int) []float64 {
		part := x[:n]
		x = x[n:]
		return part
	}
	Q, V, exact, tau := take(n), take(n), take(n), take(n)
	volts := take(1)[0]
	for i := range d.last.Joints {
		if old := &d.last.Joints[i]; d.lost() {
			if old.Fault |= servo.NoAnswer; old.Age != servo.Never {
				old.Age++
			}
			continue
		}
		d.last.Joints[i] = servo.Reading{Position: Q[i], Velocity: V[i], Effort: tau[i], Voltage: volts * d.nominal[i], Temperature: 25}
	}
	d.Q, d.V = append(d.Q[:0], exact...), append(d.V[:0], V...)
	b := take(7)
	if d.m.Floating() {
		d.Base = spatial.Pose{R: spatial.Quat{X: b[3], Y: b[4], Z: b[5], W: b[6]}.Matrix(), P: vector(b)}
	}
	copy(d.ZMP[:], take(2))
	d.Loads = d.Loads[:0]
	for i := range feet {
		f := take(ofFoot)
		if !d.numb {
			d.last.Touch[i] = servo.Contact{Force: vector(f), Moment: vector(f[3:]), Pressed: f[6] != 0}
		}
		d.Loads = append(d.Loads, f[7])
	}
	was := take(ofStep)
	for range steps {
		is := take(ofStep)
		d.unit.Step(spatial.Quat{W: is[0], X: is[1], Y: is[2], Z: is[3]}.Matrix(), vector(was[4:]), vector(is[4:]), vector(is[7:]), d.step)
		was = is
	}
	d.unit.Read(d.last)
	d.Looks = d.Looks[:0]
	for range looks {
		l := take(ofLook)
		look := Look{ZMP: [2]float64{l[0], l[1]}, Beside: l[2], Feet: make([]Foot, feet)}
		for i := range look.Feet {
			f := take(ofSeen)
			look.Feet[i] = Foot{Force: f[0], Middle: vector(f[1:]), R: spatial.Mat3(f[4:])}
		}
		d.Looks = append(d.Looks, look)
	}
	return nil
}

// How many numbers an answer has of a foot, of a step, of a look and of a foot in it.
const ofFoot, ofStep, ofLook, ofSeen = 8, 10, 3, 13

func vector(x []float64) spatial.Vec3 { return spatial.Vec3{X: x[0], Y: x[1], Z: x[2]} }

// read waits for some numbers.
func (d *Driver) read(n int) ([]float64, error) {
	d.bytes, d.numbers = slices.Grow(d.bytes[:0], n*numberSize)[:n*numberSize], slices.Grow(d.numbers[:0], n)[:n]
	if _, err := io.ReadFull(d.out, d.bytes); err != nil {
		return nil, fmt.Errorf("MuJoCo's process does not answer: %w", err)
	}
	for i := range d.numbers {
		d.numbers[i] = math.Float64frombits(binary.LittleEndian.Uint64(d.bytes[i*numberSize:]))
	}
	return d.numbers, nil
}

func (d *Driver) sensors() servo.Sensors {
	var s servo.Sensors
	if !d.numb {
		s.Touch = len(d.feet)
	}
	if d.m.Floating() {
		s.IMU = 1
	}
	return s
}

// Capabilities implements servo.Driver.
func (d *Driver) Capabilities() servo.Capabilities {
	return servo.Capabilities{Simulated: true, Torque: true, Modes: servo.AllModes, Sensors: d.sensors()}
}

// Open implements servo.Driver.
func (d *Driver) Open(context.Context) error { d.open = true; return nil }

// Close implements servo.Driver.
func (d *Driver) Close() error { d.open = false; return nil }

var _ servo.Driver = (*Driver)(nil)

// Push is a force on the base, N in world axes.
type Push struct {
	Force  spatial.Vec3
	Begins float64 // s from now, of simulated time
	Lasts  float64 // s
}

// Push lets a force act on the base from then on. It takes the place of an earlier one.
func (d *Driver) Push(p Push) {
	p.Begins += d.time
	d.push = p
}

// Exchange implements servo.Bus. It waits until MuJoCo has made the steps of the period.
func (d *Driver) Exchange(t servo.Tick, dst *servo.Measurement, src []servo.Setpoint) servo.Fault {
	if !d.open {
		for i := range d.last.Joints {
			if d.last.Joints[i].Age != servo.Never {
				d.last.Joints[i].Age++
			}
		}
		dst.Copy(d.last)
		return servo.BusDown
	}
	begins, f := d.push.Begins-d.time, d.push.Force
	x := []float64{t.Dt, f.X, f.Y, f.Z, begins, begins + d.push.Lasts}
	d.time += t.Dt
	for _, p := range src {
		if !d.lost() && p.Finite() {
			late := d.line.Delay + d.line.Jitter*d.rng.Float64()
			x = append(x, float64(p.Mode), p.Position, p.Velocity, p.Effort, p.Kp, p.Kd, p.Stiffness, p.PlayTime, late)
		} else {
			x = append(x, nothing[:]...)
		}
	}
	return d.measure(x, dst)
}

// ofHead is how many numbers are before the setpoints.
const ofHead = 6

// nothing is a setpoint that changes nothing.
var nothing = [9]float64{-1}

func (d *Driver) lost() bool { return d.line.Loss > 0 && d.rng.Float64() < d.line.Loss }

// Measure reads servos and sensors; nothing moves, and setpoints stay.
func (d *Driver) Measure(dst *servo.Measurement) servo.Fault {
	x := make([]float64, ofHead)
	for range d.m.Joints() {
		x = append(x, nothing[:]...)
	}
	return d.measure(x, dst)
}

// measure asks with a time, a force on the base with its begin and end, and setpoints: of each mode, position,
// velocity, effort, kp, kd, stiffness, play time and the time until it arrives.
func (d *Driver) measure(x []float64, dst *servo.Measurement) servo.Fault {
	question := make([]byte, 0, len(x)*numberSize)
	for _, number := range x {
		question = binary.LittleEndian.AppendUint64(question, math.Float64bits(number))
	}
	if err := d.ask(question); err != nil {
		d.t.Error(err)
		return servo.BusDown
	}
	dst.Copy(d.last)
	return 0
}
