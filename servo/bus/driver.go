package bus

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"poise/internal/rt"
	"poise/problem"
	"poise/robot"
	"poise/robot/description"
	"poise/servo"
)

// Settings are those of the driver.
type Settings struct {
	Lines    []string `yaml:"lines" doc:"[NAME=]PORT[,baud=N] of each line, as --bus takes them; empty takes those of robot.yaml"`
	Servos   string   `yaml:"servos" doc:"a robot.yaml, or its folder, whose servos are those of this robot: another arm of the same kind, with zeros of its own; empty takes those of the robot"`
	Patience float64  `yaml:"patience" doc:"s that an answer may take beyond what line and servos need: 0.002 with a fast adapter, 0.02 with any" range:"0.0005 … 0.5 s"`
	Partial  bool     `yaml:"partial" doc:"a robot some of whose servos are missing may be used with the others"`
	IMU      string   `yaml:"imu" doc:"PORT[,baud=N] of the inertial unit, in the place of the port of robot.yaml; none is no unit"`
	Ramp     float64  `yaml:"ramp" doc:"rad/s; how fast a joint goes from where it got its torque to where it is told to be" range:"0.01 … 10 rad/s"`
}

// DefaultSettings suits any adapter.
func DefaultSettings() Settings { return Settings{Lines: []string{}, Patience: 0.02, Ramp: 0.5} }

// LineConfig says where a line is.
type LineConfig struct {
	Name string // "" if there is one
	Port string
	Baud int // 0 is that of the factory
}

// String returns the line as it is told apart from others: [NAME=]PORT.
func (c LineConfig) String() string {
	if c.Name == "" {
		return c.Port
	}
	return c.Name + "=" + c.Port
}

// ParseLine reads [NAME=]PORT[,baud=N].
func ParseLine(text string) (c LineConfig, err error) {
	rest := text
	if name, port, ok := strings.Cut(rest, "="); ok && !strings.Contains(name, ",") {
		if name == "" {
			return c, fmt.Errorf("line %q: no name stands before its =: [NAME=]PORT[,baud=N]", text)
		}
		c.Name, rest = name, port
	}
	parts := strings.Split(rest, ",")
	c.Port = parts[0]
	for _, p := range parts[1:] {
		value, ok := strings.CutPrefix(p, "baud=")
		if ok {
			c.Baud, err = strconv.Atoi(value)
		}
		if !ok || err != nil || c.Baud < 1 {
			return c, fmt.Errorf("line %q: %q is no baud=N", text, p)
		}
	}
	if c.Port == "" {
		return c, fmt.Errorf("line %q names no port: [NAME=]PORT[,baud=N]", text)
	}
	return c, nil
}

// Check reports lines that cannot be read.
func (s *Settings) Check() error {
	for _, text := range s.Lines {
		if _, err := ParseLine(text); err != nil {
			return err
		}
	}
	if s.IMU != "" {
		if _, err := ParseLine(s.IMU); err != nil {
			return fmt.Errorf("imu: %w", err)
		}
	}
	return nil
}

// servosOf returns the servo of each joint: by the robot, or by the file of the settings.
func servosOf(m *robot.Model, s Settings) ([]robot.Servo, error) {
	all := make([]robot.Servo, len(m.Joints()))
	if s.Servos == "" {
		for i := range all {
			all[i] = m.Servo(robot.JointID(i))
		}
		return all, nil
	}
	name := s.Servos
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		name = filepath.Join(name, "robot.yaml")
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return all, fmt.Errorf("servos: %w", err)
	}
	d, err := description.Read(text, name)
	if err != nil {
		return all, err
	}
	var errs []error
	for i := range d.Servos {
		j, ok := m.Joint(d.Servos[i].Joint)
		if !ok {
			errs = append(errs, fmt.Errorf("%s:%d: robot %q has no joint %q%s", name, d.Servos[i].Line, m.Name(), d.Servos[i].Joint,
				problem.Hint(d.Servos[i].Joint, m.JointNames())))
			continue
		}
		all[j] = robot.ServoOf(&d.Servos[i])
	}
	return all, errors.Join(errs...)
}

// Driver moves a robot whose servos are on serial lines.
type Driver struct {
	model    *robot.Model
	period   time.Duration
	settings Settings
	families []Family
	servos   []robot.Servo // of each joint

	// Dial opens a port; tests put a line in memory in its place.
	Dial func(name string, baud int) (Port, error)

	workers  []*worker
	unit     *inertial // nil without an inertial unit
	open     bool
	readings []servo.Reading
	virtual  []bool      // joints that no servo moves: they are where they are told to be
	modes    servo.Modes // that some joint obeys
	limp     servo.Modes // of those the ones without power, which all obey
	soft     bool        // every servo heeds the stiffness of setpoints
	survey   survey

	unconfirmed []string // by Close: servos that may have torque though they were told to be off
}

// survey is what Open found, as it was before goroutines began to speak with the servos.
type survey struct {
	holding, missing   []int
	found, why, beyond []string
	rest               []servo.RestWrite
}

var (
	_ servo.Driver  = (*Driver)(nil)
	_ servo.Rester  = (*Driver)(nil)
	_ servo.Paced   = (*Driver)(nil)
	_ servo.Adopter = (*Driver)(nil)

	_ servo.Surveyor = (*Driver)(nil)
	_ servo.Releaser = (*Driver)(nil)
	_ servo.Bounded  = (*Driver)(nil)
)

// New returns the driver of a robot whose cycle has some period, s.
func New(m *robot.Model, period float64, s Settings, families []Family) (*Driver, error) {
	n := len(m.Joints())
	d := &Driver{model: m, period: time.Duration(period * float64(time.Second)), settings: s, families: families, Dial: OpenPort,
		readings: make([]servo.Reading, n), virtual: make([]bool, n), modes: servo.ModesOf(servo.Off, servo.Position)}
	var err error
	if d.unit, err = newInertial(m, s); err != nil {
		return nil, err
	}
	brakes := true
	d.soft = true
	servos, err := servosOf(m, s)
	if err != nil {
		return nil, err
	}
	d.servos = servos
	for i := range d.readings {
		d.readings[i].Age = servo.Never
		a := servos[i]
		if d.virtual[i] = !a.Assigned; d.virtual[i] {
			continue
		}
		f, model, ok := ModelNamed(families, a.Type)
		brakes = brakes && ok && f.Name() == "herkulex"
		d.soft = d.soft && ok && declaresGain(model, a)
		if ok {
			d.modes |= modesOf(f, model, a)
		}
	}
	d.limp = servo.ModesOf(servo.Off)
	if brakes {
		d.limp |= servo.ModesOf(servo.Brake)
	}
	d.modes |= d.limp
	return d, nil
}

// Capabilities implements servo.Driver.
func (d *Driver) Capabilities() servo.Capabilities {
	c := servo.Capabilities{Torque: true, Models: true, Modes: d.modes, Stiffness: d.soft, Lead: 1} // a line is written to while the next period begins
	if d.unit != nil {
		c.Sensors.IMU = 1
	}
	return c
}

// Plan says which servos are on which line, and where the lines are; it touches no
// hardware. All that is wrong is said at once.
func Plan(m *robot.Model, s Settings, families []Family) ([]Planned, error) {
	var errs []error
	lines, err := linesOf(m, s)
	if err != nil {
		errs = append(errs, err)
	}
	servos, wrong := servosOf(m, s)
	if wrong != nil {
		errs = append(errs, wrong)
	}
	var all []Planned
	for i, j := range m.Joints() {
		a := servos[i]
		if !a.Assigned {
			continue
		}
		family, model, ok := ModelNamed(families, a.Type)
		if !ok {
			errs = append(errs, fmt.Errorf("joint %q: servo type %q is not one of %s%s", j.Name, a.Type, strings.Join(typeNames(families), ", "),
				problem.Hint(a.Type, typeNames(families))))
			continue
		}
		if err := checkRange(&j, a, model, true); err != nil { // whether it counts turns is known once it answers
			errs = append(errs, fmt.Errorf("joint %q: %w", j.Name, err))
		}
		k := slices.IndexFunc(all, func(p Planned) bool { return p.Name == a.Bus })
		if k < 0 {
			p := Planned{LineConfig: LineConfig{Name: a.Bus}, Family: family}
			at := slices.IndexFunc(lines, func(c LineConfig) bool { return c.Name == a.Bus })
			if at < 0 && len(lines) == 1 && lines[0].Name == "" {
				at = 0 // one port for a line, whatever its name
			}
			if at >= 0 {
				p.Port, p.Baud = lines[at].Port, lines[at].Baud
			} else if err == nil {
				errs = append(errs, fmt.Errorf("joint %q is on line %q, for which there is no port: --bus %v", j.Name, a.Bus, LineConfig{Name: a.Bus, Port: "PORT"}))
			}
			if p.Baud == 0 {
				p.Baud = FactoryBaud(family, model)
			}
			all, k = append(all, p), len(all)
		}
		if all[k].Family != family {
			errs = append(errs, fmt.Errorf("joint %q: a %s on %s, which has %s servos like a %s", j.Name, model.Name, all[k].String(), all[k].Family.Name(), all[k].Servos[0].Model.Name))
			continue
		}
		all[k].Joints = append(all[k].Joints, i)
		all[k].Servos = append(all[k].Servos, Servo{ID: a.ID, Model: model})
	}
	if len(s.Lines) > 0 && err == nil {
		errs = append(errs, surplus(lines, servos))
	}
	if err := errors.Join(errs...); len(all) == 0 && err == nil {
		errs = append(errs, fmt.Errorf("robot %q has no servos: robot.yaml names them (docs/robot-yaml.md)", m.Name()))
	}
	return all, errors.Join(errs...)
}

// surplus refuses lines that are named twice, and lines on which no joint is.
func surplus(lines []LineConfig, servos []robot.Servo) error {
	var errs []error
	used := map[string]bool{}
	for _, a := range servos {
		if a.Assigned {
			used[a.Bus] = true
		}
	}
	for i, l := range lines {
		text := "--bus " + l.String()
		switch k := slices.IndexFunc(lines[:i], func(o LineConfig) bool { return o.Port == l.Port || o.Name == l.Name }); {
		case k >= 0 && lines[k].Port == l.Port:
			errs = append(errs, fmt.Errorf("%s: the port is that of another line already, --bus %v", text, lines[k]))
		case k >= 0 && l.Name != "":
			errs = append(errs, fmt.Errorf("%s: line %q has port %s already", text, l.Name, lines[k].Port))
		case k >= 0:
			errs = append(errs, fmt.Errorf("%s: port %s is the line without a name already: NAME=PORT says which servos are on it", text, lines[k].Port))
		case len(used) > 0 && !used[l.Name] && !(len(lines) == 1 && l.Name == ""):
			errs = append(errs, fmt.Errorf("%s: robot.yaml has no servo on line %q%s", text, l.Name, problem.Hint(l.Name, slices.Sorted(maps.Keys(used)))))
		}
	}
	return errors.Join(errs...)
}

func typeNames(families []Family) (names []string) {
	for _, f := range families {
		for _, m := range f.Models() {
			names = append(names, m.Name)
		}
	}
	return names
}

// linesOf returns the lines of the settings, or those of robot.yaml.
func linesOf(m *robot.Model, s Settings) (all []LineConfig, err error) {
	for _, text := range s.Lines {
		c, wrong := ParseLine(text)
		err = errors.Join(err, wrong)
		all = append(all, c)
	}
	if len(all) == 0 {
		for _, b := range m.Buses() {
			all = append(all, LineConfig{Name: b.Name, Port: b.Port, Baud: b.Baud})
		}
	}
	return all, err
}

// Planned is a line with the servos that are to be on it.
type Planned struct {
	LineConfig
	Family Family
	Joints []int // of each servo
	Servos []Servo
}

func (p *Planned) String() string {
	if p.Name == "" {
		return "line " + p.Port
	}
	return "line " + p.Name + " (" + p.Port + ")"
}

// CycleTime returns how long goals and states of all servos take on the line: bytes, what
// servos wait before they answer, and 1 ms of the host for a question.
func (p *Planned) CycleTime() time.Duration {
	t := p.Family.Talk(NewLine(nil, p.Baud, p.Family))
	bytes, servos, host := t.CycleBytes(len(p.Servos))
	return onLine(bytes, p.Baud) + time.Duration(servos)*t.ReplyDelay() + time.Duration(host)*time.Millisecond
}

// Period returns a period that all lines carry: HerkuleX counts time in 11.2 ms, others get
// whole milliseconds.
func Period(lines []Planned) time.Duration {
	const spare = 1.15
	longest, unit := time.Duration(0), time.Millisecond
	for i := range lines {
		longest = max(longest, time.Duration(spare*float64(lines[i].CycleTime())))
		if lines[i].Family.Name() == "herkulex" {
			unit = 11200 * time.Microsecond
		}
	}
	n := (longest + unit - 1) / unit
	return max(n*unit, 2*time.Millisecond)
}

// Open implements servo.Driver: it opens the ports, finds the servos and reads where they
// are. Nothing moves, and torque stays as it is.
func (d *Driver) Open(ctx context.Context) error {
	if d.open {
		return nil
	}
	lines, err := Plan(d.model, d.settings, d.families)
	if err != nil {
		return err
	}
	d.workers = nil
	for i := range lines {
		d.workers = append(d.workers, d.newWorker(lines[i]))
	}
	errs := make([]error, len(d.workers)+1)
	done := make(chan struct{})
	go func() { errs[len(d.workers)] = d.unit.begin(ctx, d.Dial, d.settings.Partial); done <- struct{}{} }()
	for i, w := range d.workers {
		go func() { errs[i] = w.begin(ctx); done <- struct{}{} }()
	}
	for range errs {
		<-done
	}
	if err := errors.Join(append(errs, ctx.Err())...); err != nil {
		for _, w := range d.workers {
			w.hangUp()
		}
		return errors.Join(err, d.unit.end())
	}
	d.look()
	for _, w := range d.workers {
		go w.run()
	}
	d.open = true
	return nil
}

// newWorker returns the worker of a line.
func (d *Driver) newWorker(p Planned) *worker {
	w := &worker{line: p, dial: d.Dial, period: d.period, settings: d.settings, stop: make(chan struct{}), done: make(chan struct{})}
	for k, s := range p.Servos {
		name := d.model.Joints()[p.Joints[k]].Name
		wanted := d.servos[p.Joints[k]]
		u := &unit{Servo: s, joint: p.Joints[k], of: &d.model.Joints()[p.Joints[k]], name: name, wanted: wanted, scale: ScaleOf(wanted, s.Model)}
		u.Modes = modesOf(p.Family, s.Model, wanted)
		w.units = append(w.units, u)
	}
	w.goals = rt.NewLatest(func(s *[]servo.Setpoint) { *s = make([]servo.Setpoint, len(w.units)) })
	w.states = rt.NewLatest(func(r *report) { r.units = make([]unitReport, len(w.units)) })
	w.told = make([]servo.Setpoint, len(w.units))
	w.seen = make([]uint64, len(w.units))
	w.bad = make([]bool, len(w.units))
	return w
}

// Exchange implements servo.Bus. Loop-safe.
func (d *Driver) Exchange(_ servo.Tick, dst *servo.Measurement, src []servo.Setpoint) servo.Fault {
	for i := range d.readings {
		r := &d.readings[i]
		if r.Fault = 0; r.Age != servo.Never {
			r.Age++
		}
	}
	d.unit.exchange(dst)
	if !d.open {
		copy(dst.Joints, d.readings)
		return servo.BusDown
	}
	fault := servo.BusDown
	for _, w := range d.workers {
		if w.exchange(d.readings, src, d.limp) {
			fault = 0 // a line that lives; joints of the others grow old
		}
	}
	for i, v := range d.virtual {
		if v {
			d.readings[i].Age = 0
			if s := &src[i]; s.Mode == servo.Position && s.Finite() {
				d.readings[i].Position, d.readings[i].Velocity = s.Position, s.Velocity
			}
		}
	}
	copy(dst.Joints, d.readings)
	return fault
}

// Close implements servo.Driver: the last that was told is carried out, and servos stay like that.
func (d *Driver) Close() error {
	if !d.open {
		return nil
	}
	d.open, d.unconfirmed = false, nil
	for _, w := range d.workers {
		close(w.stop)
	}
	errs := []error{d.unit.end()}
	for _, w := range d.workers {
		<-w.done
		d.unconfirmed = append(d.unconfirmed, w.unconfirmed()...)
		errs = append(errs, w.hangUp())
	}
	return errors.Join(errs...)
}

// look writes down what was found.
func (d *Driver) look() {
	d.survey = survey{}
	v := &d.survey
	for _, w := range d.workers {
		servos := make([]*Servo, len(w.units))
		for i, u := range w.units {
			servos[i] = &u.Servo
			if u.foundOn {
				v.holding = append(v.holding, u.joint)
			}
			if u.wrong != nil {
				v.missing, v.why = append(v.missing, u.joint), append(v.why, u.wrong.Error())
				continue
			}
			v.found = append(v.found, fmt.Sprintf("%s: %s, %s, firmware %s", u.name, w.place(u), u.Model.Name, u.firmware))
			if text := d.beyond(w, u); text != "" {
				v.beyond = append(v.beyond, text)
			}
		}
		if fd, ok := Descriptor(w.port); ok {
			if bytes := w.talk.Rest(servos); bytes != nil {
				v.rest = append(v.rest, servo.RestWrite{Descriptor: fd, Bytes: bytes, Times: 2})
			}
		}
	}
}

// Rest implements servo.Rester.
func (d *Driver) Rest() []servo.RestWrite { return d.survey.rest }

// Holding implements servo.Adopter.
func (d *Driver) Holding() (joints []int) { return d.survey.holding }

// Missing implements servo.Adopter.
func (d *Driver) Missing() (joints []int, why []string) { return d.survey.missing, d.survey.why }

// Found implements servo.Surveyor.
func (d *Driver) Found() []string { return d.survey.found }

// Beyond implements servo.Surveyor.
func (d *Driver) Beyond() []string { return d.survey.beyond }

// Unconfirmed implements servo.Releaser.
func (d *Driver) Unconfirmed() []string { return d.unconfirmed }

// Servo implements servo.Releaser.
func (d *Driver) Servo(joint int) string {
	for _, w := range d.workers {
		for _, u := range w.units {
			if u.joint == joint {
				return w.place(u)
			}
		}
	}
	return ""
}

// Rhythm implements servo.Paced.
func (d *Driver) Rhythm() (float64, error) {
	lines, err := Plan(d.model, d.settings, d.families)
	return Period(lines).Seconds(), err
}
