package mujoco

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
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
}

// Needed ends a test that was not started by `make judge`, which has MuJoCo.
func Needed(t testing.TB) {
	t.Helper()
	if os.Getenv("POISE_JUDGE") == "" {
		t.Skip("MuJoCo is not at hand: make judge runs this")
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
	Base    spatial.Pose // of the robot, as MuJoCo has it
	Q, V    []float64    // of the joints, without the steps of readings
	Loads   []float64    // vertical force on each foot, N
	ZMP     [2]float64   // centre of the pressure on all of them, x and y in the world, m
	reply   reply
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

// tick is what the process is told each tick; a setpoint is mode, position, velocity, effort,
// kp, kd, stiffness, play time and the time until it arrives. Without a period nothing moves.
type tick struct {
	Dt        float64      `json:"dt"`
	Setpoints [][9]float64 `json:"setpoints"`
	Push      []float64    `json:"push,omitempty"` // on the base, N in world axes
}

// reply is what the process answers.
type reply struct {
	Q     []float64
	V     []float64
	Exact []float64 // Q without steps
	Load  []float64

	Pressure [2]float64
	Volts    float64 // of the supply over nominal
	Tau      []float64
	Base     []float64 // x y z qx qy qz qw
	IMU      [10]float64
	Touch    [][4]float64 // force in the tip's axes, and 1 if it is pressed
	Error    string
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
	d := &Driver{t: t, m: m, line: c.Line, rng: rand.New(rand.NewPCG(c.Seed, 0x6c696e65))}
	first := begin{URDF: string(urdf), Floating: m.Floating(), Step: c.Step, Friction: c.Friction, Virtual: []string{}, Feet: [][]string{},
		Supply: c.Supply.Voltage, Resistance: c.Supply.Resistance, Masses: map[string]float64{}, Boxes: boxesOf(c.Boxes)}
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
		first.Feet = append(first.Feet, linksBelow(m, m.Chains()[f].Tip))
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
	if err := d.ask(first); err != nil {
		t.Fatal(err)
	}
	d.last = servo.NewMeasurement(len(d.m.Joints()), d.sensors())
}

// ask sends a line and reads the answer.
func (d *Driver) ask(question any) error {
	line, err := json.Marshal(question)
	if err != nil {
		return err
	}
	if _, err := d.in.Write(append(line, '\n')); err != nil {
		return err
	}
	answer, err := d.out.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("MuJoCo's process does not answer: %w", err)
	}
	d.reply = reply{}
	if err := json.Unmarshal(answer, &d.reply); err != nil {
		return fmt.Errorf("%w in %.200q", err, answer)
	}
	if d.reply.Error != "" {
		return fmt.Errorf("MuJoCo: %s", d.reply.Error)
	}
	d.Q, d.V, d.Loads, d.ZMP = d.reply.Exact, d.reply.V, d.reply.Load, d.reply.Pressure
	if b := d.reply.Base; len(b) == 7 {
		d.Base = spatial.Pose{R: spatial.Quat{X: b[3], Y: b[4], Z: b[5], W: b[6]}.Matrix(), P: spatial.Vec3{X: b[0], Y: b[1], Z: b[2]}}
	}
	return nil
}

func (d *Driver) sensors() servo.Sensors {
	s := servo.Sensors{Touch: len(d.feet)}
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

// Push lets a force act on the base for a time, N in world axes: an exchange of nothing else.
func (d *Driver) Push(t servo.Tick, dst *servo.Measurement, src []servo.Setpoint, force spatial.Vec3) servo.Fault {
	return d.exchange(t, dst, src, []float64{force.X, force.Y, force.Z})
}

// Exchange implements servo.Bus. It waits until MuJoCo has made the steps of the period.
func (d *Driver) Exchange(t servo.Tick, dst *servo.Measurement, src []servo.Setpoint) servo.Fault {
	return d.exchange(t, dst, src, nil)
}

func (d *Driver) exchange(t servo.Tick, dst *servo.Measurement, src []servo.Setpoint, push []float64) servo.Fault {
	if !d.open {
		for i := range d.last.Joints {
			if d.last.Joints[i].Age != servo.Never {
				d.last.Joints[i].Age++
			}
		}
		dst.Copy(d.last)
		return servo.BusDown
	}
	q := tick{Dt: t.Dt, Setpoints: make([][9]float64, len(src)), Push: push}
	for i, p := range src {
		if !d.lost() && p.Finite() {
			late := d.line.Delay + d.line.Jitter*d.rng.Float64()
			q.Setpoints[i] = [9]float64{float64(p.Mode), p.Position, p.Velocity, p.Effort, p.Kp, p.Kd, p.Stiffness, p.PlayTime, late}
		} else {
			q.Setpoints[i][0] = -1 // it changes nothing
		}
	}
	return d.measure(q, dst)
}

func (d *Driver) lost() bool { return d.line.Loss > 0 && d.rng.Float64() < d.line.Loss }

// Measure reads servos and sensors; nothing moves, and setpoints stay.
func (d *Driver) Measure(dst *servo.Measurement) servo.Fault {
	q := tick{Setpoints: make([][9]float64, len(d.m.Joints()))}
	for i := range q.Setpoints {
		q.Setpoints[i][0] = -1
	}
	return d.measure(q, dst)
}

func (d *Driver) measure(q tick, dst *servo.Measurement) servo.Fault {
	if err := d.ask(q); err != nil {
		d.t.Error(err)
		return servo.BusDown
	}
	r := &d.reply
	for i := range d.last.Joints {
		if old := &d.last.Joints[i]; d.lost() {
			if old.Fault |= servo.NoAnswer; old.Age != servo.Never {
				old.Age++
			}
			continue
		}
		d.last.Joints[i] = servo.Reading{Position: r.Q[i], Velocity: r.V[i], Effort: r.Tau[i], Voltage: r.Volts * d.nominal[i], Temperature: 25}
	}
	if len(d.last.IMU) > 0 {
		u := r.IMU
		d.last.IMU[0] = servo.Inertial{Orientation: spatial.Quat{X: u[0], Y: u[1], Z: u[2], W: u[3]},
			Rate: spatial.Vec3{X: u[4], Y: u[5], Z: u[6]}, Acceleration: spatial.Vec3{X: u[7], Y: u[8], Z: u[9]}}
	}
	for i, c := range r.Touch {
		d.last.Touch[i] = servo.Contact{Force: spatial.Vec3{X: c[0], Y: c[1], Z: c[2]}, Pressed: c[3] != 0}
	}
	dst.Copy(d.last)
	return 0
}
