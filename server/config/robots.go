package config

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"poise/control"
	"poise/internal/strictyaml"
	"poise/loop"
	"poise/problem"
	"poise/servo/driver"
	"poise/servo/physics"
	"poise/wholebody/stage"
)

// Robot is one robot of the list.
type Robot struct {
	Name     string          `yaml:"name"`     // prefix of its topics, services, actions and frames
	Driver   string          `yaml:"driver"`   // of the table of drivers; default sim
	Section  strictyaml.Node `yaml:"settings"` // undecoded settings; Read decodes them into Settings
	Settings any             // of the driver, of the type that its table entry makes; nil means its defaults

	Start    string  `yaml:"start"`     // limp or powered; "" is what suits its driver
	AfterGap string  `yaml:"after_gap"` // stop or pause; "" is what suits its driver
	Leaving  Leaving `yaml:"leaving"`

	Cycle          int       `yaml:"cycle"`           // of motion control: 0, 1 with the torques that the motion needs, or 2 by the whole body
	WholeBody      WholeBody `yaml:"whole_body"`      // how cycle 2 does it
	CycleResources []string  `yaml:"cycle_resources"` // that Cycle is of; none is all of the robot, and the others have cycle 0

	Leader string `yaml:"leader"` // the robot whose measured joints its controller follow_arm follows
}

// Leaving is what a robot does when the server ends.
type Leaving struct {
	Do       string  `yaml:"do"`       // hold, off or rest; default hold
	Pose     string  `yaml:"pose"`     // of rest: a named pose of the robot
	Speed    float64 `yaml:"speed"`    // of rest: share of the joints' limits, default 0.2
	Deadline float64 `yaml:"deadline"` // of rest, s: then the torque goes wherever the joints are; default 10
}

// WholeBody is how cycle 2 serves what is asked of it.
type WholeBody struct {
	Order      string        `yaml:"order"`      // default or seed
	Levels     []stage.Level `yaml:"levels"`     // in place of Order's, from the top
	Com        bool          `yaml:"com"`        // the centre of mass is led, in place of the base's origin
	Margin     float64       `yaml:"margin"`     // of the zero-moment point in the polygon, m; default 0.01
	Friction   float64       `yaml:"friction"`   // of the ground; default 0.8
	Iterations int           `yaml:"iterations"` // of a tick at most; default 400
}

// Stage returns it as the stage takes it.
func (w *WholeBody) Stage() stage.Config {
	return stage.Config{Order: w.Order, Levels: w.Levels, Com: w.Com, Margin: w.Margin, Friction: w.Friction, Iterations: w.Iterations}
}

func (w *WholeBody) text() string {
	var all []string
	for _, l := range w.Levels {
		all = append(all, l.Name+": "+strings.Join(l.Rows, " "))
	}
	return strings.Join(all, ", ")
}

// What a robot starts as, and what a gap of its cycle does.
const (
	StartLimp    = "limp"
	StartPowered = "powered"
	GapStops     = "stop"
	GapPauses    = "pause"
)

// keys lists those of a robot that are set besides its driver, in the order of the document.
func (r *Robot) keys() (all []Key) {
	add := func(path string, set bool, value any) {
		if set {
			all = append(all, Key{Path: path, Default: scalar(reflect.ValueOf(value))})
		}
	}
	add("start", r.Start != "", r.Start)
	add("after_gap", r.AfterGap != "", r.AfterGap)
	add("cycle", r.Cycle != 0, r.Cycle)
	add("whole_body.order", r.WholeBody.Order != "", r.WholeBody.Order)
	add("whole_body.com", r.WholeBody.Com, r.WholeBody.Com)
	add("whole_body.margin", r.WholeBody.Margin != 0, r.WholeBody.Margin)
	add("whole_body.friction", r.WholeBody.Friction != 0, r.WholeBody.Friction)
	add("whole_body.iterations", r.WholeBody.Iterations != 0, r.WholeBody.Iterations)
	add("whole_body.levels", len(r.WholeBody.Levels) > 0, r.WholeBody.text())
	add("cycle_resources", len(r.CycleResources) > 0, strings.Join(r.CycleResources, " "))
	add("leader", r.Leader != "", r.Leader)
	add("leaving.do", r.Leaving.Do != "", r.Leaving.Do)
	add("leaving.pose", r.Leaving.Pose != "", r.Leaving.Pose)
	add("leaving.speed", r.Leaving.Speed != 0, r.Leaving.Speed)
	add("leaving.deadline", r.Leaving.Deadline != 0, r.Leaving.Deadline)
	return all
}

// checkLife reports how a robot cannot start, react or be left.
func (r *Robot) checkLife(key string) (errs []error) {
	one := func(name, value string, of ...string) {
		if value != "" && !slices.Contains(of, value) {
			errs = append(errs, problemf(key+"."+name, "is %q, must be %s%s", value, strings.Join(of, " or "), problem.Hint(value, of)))
		}
	}
	one("start", r.Start, StartLimp, StartPowered)
	one("after_gap", r.AfterGap, GapStops, GapPauses)
	if r.Cycle < 0 || r.Cycle > control.LastCycle {
		errs = append(errs, problemf(key+".cycle", "is %d, must be 0 … %d", r.Cycle, control.LastCycle))
	}
	if r.Cycle == 0 && len(r.CycleResources) > 0 {
		errs = append(errs, problemf(key+".cycle_resources", "names %s, and cycle is 0, which all of the robot has: set cycle to 1, or leave them out", strings.Join(r.CycleResources, ", ")))
	}
	if r.Cycle == 2 && len(r.CycleResources) > 0 {
		errs = append(errs, problemf(key+".cycle_resources", "are %s, and cycle 2 is of the whole robot", strings.Join(r.CycleResources, " ")))
	}
	whole := r.WholeBody.Stage()
	if _, err := whole.Resolve(); err != nil {
		errs = append(errs, problemf(key+".whole_body", "%v", err))
	}
	one("leaving.do", r.Leaving.Do, loop.LeaveHold.String(), loop.LeaveOff.String(), loop.LeaveRest.String())
	if rests := r.Leaving.Do == loop.LeaveRest.String(); rests != (r.Leaving.Pose != "") {
		errs = append(errs, problemf(key+".leaving.pose", "is %q, and leaving.do is %q: rest, and nothing else, needs a pose", r.Leaving.Pose, r.Leaving.Do))
	}
	if s := r.Leaving.Speed; s != 0 && !(s >= 0.01 && s <= 1) {
		errs = append(errs, problemf(key+".leaving.speed", "is %g, must be 0.01 … 1 of the joints' limits", s))
	}
	if s := r.Leaving.Deadline; s != 0 && !(s >= 0.1 && s <= 600) {
		errs = append(errs, problemf(key+".leaving.deadline", "is %g s, must be 0.1 … 600 s", s))
	}
	return errs
}

// Changed lists the settings of a robot that are not the defaults of its driver, and
// what else is set for it.
func (r *Robot) Changed(drivers driver.Table) (changed []string) {
	entry, ok := drivers.Find(r.Driver)
	if !ok || r.Settings == nil {
		return nil
	}
	usual := SettingsKeys(entry)
	for i, k := range keysOf(reflect.ValueOf(r.Settings).Elem(), "", "") {
		if k.Default != usual[i].Default {
			changed = append(changed, k.Path+" "+k.Default)
		}
	}
	for _, k := range r.keys() {
		changed = append(changed, k.Path+" "+k.Default)
	}
	return changed
}

// maxRobots bounds the list: one thread steps them all.
const maxRobots = 16

// validName is a robot name that can be part of a graph name.
var validName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,63}$`)

// reserved are namespaces of the graph that a robot name would collide with.
var reserved = []string{"controllers", "motions", "physics", "rosapi"}

// Second is the name of a robot that is added beside those of the list: by with_real_sim, by
// lines of a robot.yaml, or by a flag.
const Second = "real"

// AllRobots returns the robots, including the one that with_real_sim adds.
func (c *Config) AllRobots() []Robot {
	all := slices.Clone(c.Robots)
	if c.RealSim {
		settings := c.Sim
		all = append(all, Robot{Name: Second, Driver: "sim", Settings: &settings})
	}
	return all
}

// otherNames returns the names of all robots but one.
func (c *Config) otherNames(name string) (others []string) {
	for _, r := range c.AllRobots() {
		if r.Name != name {
			others = append(others, r.Name)
		}
	}
	return others
}

// UsePhysics gives the first robot mass, if it is asked for, and a file with what it stands
// in, if there is one.
func (c *Config) UsePhysics(masses bool, world string) error {
	if len(c.Robots) == 0 {
		return errors.New("--physics: there is no robot")
	}
	r := &c.Robots[0]
	if r.Driver != "physics" {
		if !masses {
			return fmt.Errorf("--world: robot %q has the driver %s, which knows no ground; --physics gives it mass", r.Name, r.Driver)
		}
		r.Driver, r.Settings = "physics", defaultsOf("physics")
	}
	settings, ok := r.Settings.(*physics.Settings)
	if !ok {
		return fmt.Errorf("--physics: the settings of robot %q are %T", r.Name, r.Settings)
	}
	if world != "" {
		settings.World = world
	}
	return nil
}

// readSettings decodes the settings of each robot whose driver is known.
func (c *Config) readSettings(drivers driver.Table) error {
	var errs []error
	for i := range c.Robots {
		r := &c.Robots[i]
		if r.Driver == "" {
			r.Driver = "sim"
		}
		entry, ok := drivers.Find(r.Driver)
		if !ok || r.Settings != nil {
			continue
		}
		r.Settings = entry.Settings()
		if err := r.Section.Decode(r.Settings); err != nil {
			errs = append(errs, err)
		}
		r.Section = strictyaml.Node{}
	}
	return errors.Join(errs...)
}

// checkRobots reports invalid names, drivers and settings.
func (c *Config) checkRobots(drivers driver.Table) (errs []error) {
	if n := len(c.AllRobots()); n < 1 || n > maxRobots {
		errs = append(errs, problemf("robots", "has %d robots, must have 1 … %d", n, maxRobots))
	}
	keyOf := map[string]string{} // by name
	for i, r := range c.AllRobots() {
		key := fmt.Sprintf("robots[%d]", i)
		nameKey := key + ".name"
		if i == len(c.Robots) {
			nameKey = "with_real_sim: the name"
		}
		other, taken := keyOf[r.Name]
		switch {
		case !validName.MatchString(r.Name):
			errs = append(errs, problemf(nameKey, "is %q, must be a letter and up to 63 letters, digits and underscores", r.Name))
		case slices.Contains(reserved, r.Name):
			errs = append(errs, problemf(nameKey, "is %q, which is reserved, as are all of %s", r.Name, strings.Join(reserved, ", ")))
		case taken:
			errs = append(errs, problemf(nameKey, "is %q, which %s has already", r.Name, other))
		}
		keyOf[r.Name] = key
		errs = append(errs, r.checkLife(key)...)
		if i < len(c.Robots) { // settings of the added robot are checked as real_sim
			errs = append(errs, r.check(key, drivers)...)
		}
		if others := c.otherNames(r.Name); r.Leader != "" && !slices.Contains(others, r.Leader) {
			errs = append(errs, problemf(key+".leader", "is %q, must be the name of another robot of the list%s", r.Leader, problem.Hint(r.Leader, others)))
		}
	}
	return errs
}

// check reports an unknown driver and invalid settings.
func (r *Robot) check(key string, drivers driver.Table) (errs []error) {
	entry, ok := drivers.Find(r.Driver)
	if !ok {
		return []error{problemf(key+".driver", "is %q, must be one of %s%s", r.Driver, strings.Join(drivers.Names(), ", "), problem.Hint(r.Driver, drivers.Names()))}
	}
	if r.Settings == nil {
		return nil
	}
	if want := reflect.TypeOf(entry.Settings()); reflect.TypeOf(r.Settings) != want {
		return []error{problemf(key+".settings", "are %T, must be %v", r.Settings, want)}
	}
	checkRanges(&errs, key+".settings.", reflect.ValueOf(r.Settings).Elem())
	if c, ok := r.Settings.(interface{ Check() error }); ok {
		if err := c.Check(); err != nil {
			errs = append(errs, problemf(key+".settings", "are invalid: %v", err))
		}
	}
	return errs
}

// defaultsOf returns the default settings of a driver that Poise comes with.
func defaultsOf(name string) any {
	entry, ok := driver.Standard.Find(name)
	if !ok {
		panic("config: there is no driver " + name)
	}
	return entry.Settings()
}
