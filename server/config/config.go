package config

import (
	"errors"
	"math"
	"net"
	"net/url"
	"os"
	"time"

	"poise/arbiter"
	"poise/control"
	"poise/graph"
	"poise/internal/strictyaml"
	"poise/loop"
	"poise/servo"
)

// Config is everything that `poise serve` can be told. Start from Default.
type Config struct {
	Robot   string   `yaml:"robot" doc:"a shipped name (pony, arm6), a .urdf or .xacro file, or a folder"`
	Listen  string   `yaml:"listen" doc:"address and port of the server; loopback only, port 0 takes a free one"`
	Origins []string `yaml:"origins" doc:"web pages from elsewhere that may connect, such as https://app.foxglove.dev; those of this machine always may"`
	Motions string   `yaml:"motions" doc:"folder of your own motions, made when the first is saved; empty is poise/motions/<robot> in your data folder (XDG_DATA_HOME)"`
	RealSim bool     `yaml:"with_real_sim" doc:"a second simulated robot plays the real one, with lag, noise and sag"`
	Loop    Loop     `yaml:"loop" doc:"the cycle"`
	Sim     Sim      `yaml:"real_sim" doc:"how the simulated real robot differs from the ideal one"`
	Faults  Faults   `yaml:"faults" doc:"when something is a fault, and what is done about it, from mild to severe"`
	Rates   Rates    `yaml:"rates" doc:"how often things are told, Hz"`
	Planner Planner  `yaml:"planner" doc:"planning"`
	Limits  Limits   `yaml:"limits" doc:"what one server takes from its clients"`
	Record  Record   `yaml:"record" doc:"the flight recorder"`
	Mirror  Mirror   `yaml:"mirror" doc:"a robot behind another rosbridge server, seen and driven from here"`
}

// Loop is how the cycle runs.
type Loop struct {
	Period         float64 `yaml:"period" doc:"s; a HerkuleX bus wants multiples of 0.0112"`
	Priority       int     `yaml:"priority" doc:"of SCHED_FIFO, 1 … 99, if the system grants it; 0 does not ask"`
	Lead           float64 `yaml:"lead" doc:"s; how far ahead a servo is told where to be"`
	Arbiter        string  `yaml:"arbiter" doc:"who wins a resource that two controllers want: priority, or last (the later request); none is for tests of a single controller"`
	Handover       string  `yaml:"handover" doc:"how the difference at a change of owner goes away: jerk_limited or exponential"`
	HandoverTime   float64 `yaml:"handover_time" doc:"s; time constant of an exponential hand-over"`
	Transition     float64 `yaml:"transition_acceleration" doc:"rad/s² or m/s² of hand-overs, approaches and stops of joints for which neither a limit nor robot.yaml says one; it is reported as assumed"`
	StopDeadline   float64 `yaml:"stop_deadline" doc:"s; a ramp that takes longer ends in torque off"`
	CrouchDeadline float64 `yaml:"crouch_deadline" doc:"s for a limb to reach its safe pose"`
}

// Sim is how the robot that plays the real one behaves.
type Sim struct {
	Lag       float64 `yaml:"lag" doc:"s; time constant of a servo"`
	Delay     float64 `yaml:"delay" doc:"s between a setpoint and its effect"`
	Noise     float64 `yaml:"noise" doc:"rad; standard deviation of a reading"`
	Stiffness float64 `yaml:"stiffness" doc:"N·m/rad; a joint sags by gravity torque ÷ stiffness; 0 is 16 for every N·m of its effort limit, so that it gives by 0.06 rad at most"`
	Loss      float64 `yaml:"packet_loss" doc:"share of packets that are lost, 0 … 1"`
	Seed      int     `yaml:"seed" doc:"of noise and loss: the same seed, the same run"`
}

// Faults are the rules that people change; the others keep their defaults.
type Faults struct {
	Tracking    Rule `yaml:"tracking_error" doc:"distance of a joint from its command, rad"`
	Stale       Rule `yaml:"stale_reading" doc:"time since a joint was heard of, s"`
	Temperature Rule `yaml:"temperature" doc:"°C"`
	Voltage     Rule `yaml:"low_voltage" doc:"V"`
	Overrun     Rule `yaml:"overrun" doc:"periods that the cycle missed among about the last hundred"`
}

// Rule is one fault.
type Rule struct {
	Threshold float64 `yaml:"threshold" doc:""`
	Severity  string  `yaml:"severity" doc:"what is done about it"`
}

// Rates are per second.
type Rates struct {
	JointStates float64 `yaml:"joint_states" doc:"joint_states and joint_states_real"`
	TF          float64 `yaml:"tf" doc:"tf and balance_state"`
	Feedback    float64 `yaml:"feedback" doc:"feedback of goals"`
	Diagnostics float64 `yaml:"diagnostics" doc:"diagnostics"`
}

// Planner is how motions are planned.
type Planner struct {
	Pipeline string  `yaml:"pipeline" doc:"for requests that name none: poise, or pilz_industrial_motion_planner for the original's behaviour"`
	Sampling float64 `yaml:"sampling" doc:"s between points of a planned trajectory; 0 is the period of the cycle"`
}

// Limits bound what clients can ask for.
type Limits struct {
	MessageSize   int     `yaml:"message_size" doc:"bytes of one message"`
	Connections   int     `yaml:"connections" doc:"clients at a time"`
	Subscriptions int     `yaml:"subscriptions" doc:"of one client"`
	Goals         int     `yaml:"goals" doc:"goals of one client that are not over"`
	MessageRate   float64 `yaml:"message_rate" doc:"messages per second of one client"`
	Queue         int     `yaml:"queue" doc:"messages that wait for a slow client before the oldest goes"`
}

// Record is what the flight recorder does.
type Record struct {
	File      string `yaml:"file" doc:"where every tick is written, for poise replay; empty records nothing"`
	Megabytes int    `yaml:"megabytes" doc:"the recording ends when it has grown to this"`
}

// Mirror is a robot that others serve.
type Mirror struct {
	URL    string `yaml:"url" doc:"of its rosbridge server, such as ws://127.0.0.1:9090; loopback only; empty mirrors nothing"`
	Prefix string `yaml:"prefix" doc:"of its topics, services and actions here"`
}

// StiffnessPerEffort is the stiffness of a simulated servo of which nobody says one,
// N·m/rad for every N·m that its joint can bring up: strong joints are stiff ones.
const StiffnessPerEffort = 16

// Default returns what is used where nothing is said.
func Default() Config {
	rules := loop.DefaultFaultRules()
	rule := func(k loop.FaultKind) Rule { return Rule{rules[k].Threshold, rules[k].Severity.String()} }
	return Config{
		Robot:  "pony",
		Listen: "127.0.0.1:8080", Origins: []string{},
		Loop: Loop{Period: 0.001, Arbiter: arbiter.PolicyPriority.String(), Handover: control.JerkLimited.String(),
			HandoverTime: 0.2, Transition: 5, StopDeadline: 2, CrouchDeadline: 5},
		Sim: Sim{Lag: 0.03, Noise: 0.0005, Seed: 1},
		Faults: Faults{Tracking: rule(loop.TrackingError), Stale: rule(loop.StaleReading),
			Temperature: rule(loop.Overheat), Voltage: rule(loop.LowVoltage), Overrun: rule(loop.Overrun)},
		Rates:   Rates{JointStates: 100, TF: 100, Feedback: 20, Diagnostics: 1},
		Planner: Planner{Pipeline: "poise"},
		Limits: Limits{MessageSize: 8 << 20, Connections: 100, Subscriptions: 1000, Goals: 100,
			MessageRate: 2000, Queue: 100},
		Record: Record{Megabytes: 1000},
		Mirror: Mirror{Prefix: "remote"},
	}
}

// Read takes a document: what it does not say keeps its default. All problems
// are reported at once, each with its line.
func Read(data []byte, file string) (Config, error) {
	c := Default()
	unreadable := strictyaml.Decode(data, file, &c)
	err := c.Check()
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		err = located(joined.Unwrap(), data, file)
	}
	if err = errors.Join(unreadable, err); err != nil {
		return Config{}, err
	}
	return c, nil
}

// Load reads a file.
func Load(file string) (Config, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return Config{}, err
	}
	return Read(data, file)
}

// Check finds every value that cannot be, and names key, value and limit.
func (c *Config) Check() error {
	var errs []error
	between := func(key string, value, least, most float64, unit string) {
		if !(value >= least && value <= most) {
			errs = append(errs, problemf(key, "is %s, must be %v … %s", measure(value, unit), least, measure(most, unit)))
		}
	}
	between("loop.period", c.Loop.Period, 1e-4, 0.1, "s") // a cycle that is not heard of for a second is taken for dead
	between("loop.priority", float64(c.Loop.Priority), 0, 99, "")
	between("loop.lead", c.Loop.Lead, 0, 1, "s")
	between("loop.handover_time", c.Loop.HandoverTime, 1e-3, 10, "s")
	between("loop.transition_acceleration", c.Loop.Transition, 1e-3, 1e6, "rad/s²")
	between("loop.stop_deadline", c.Loop.StopDeadline, 1e-2, 60, "s")
	between("loop.crouch_deadline", c.Loop.CrouchDeadline, 1e-2, 60, "s")
	between("real_sim.lag", c.Sim.Lag, 0, 10, "s")
	between("real_sim.delay", c.Sim.Delay, 0, 1, "s")
	between("real_sim.noise", c.Sim.Noise, 0, 1, "rad")
	between("real_sim.stiffness", c.Sim.Stiffness, 0, 1e9, "N·m/rad")
	between("real_sim.packet_loss", c.Sim.Loss, 0, 1, "")
	between("rates.joint_states", c.Rates.JointStates, 0.1, 1000, "Hz")
	between("rates.tf", c.Rates.TF, 0.1, 1000, "Hz")
	between("rates.feedback", c.Rates.Feedback, 0.1, 1000, "Hz")
	between("rates.diagnostics", c.Rates.Diagnostics, 0.1, 1000, "Hz")
	between("planner.sampling", c.Planner.Sampling, 0, 10, "s")
	between("limits.message_size", float64(c.Limits.MessageSize), 1024, 1<<30, "bytes")
	between("limits.connections", float64(c.Limits.Connections), 1, 10000, "")
	between("limits.subscriptions", float64(c.Limits.Subscriptions), 1, 1e6, "")
	between("limits.goals", float64(c.Limits.Goals), 1, 1e6, "")
	between("limits.message_rate", c.Limits.MessageRate, 1, 1e6, "per second")
	between("limits.queue", float64(c.Limits.Queue), 1, 1e6, "messages")
	between("record.megabytes", float64(c.Record.Megabytes), 1, 1<<20, "MB")
	_, settings := c.Settings()
	if joined, ok := settings.(interface{ Unwrap() []error }); ok {
		errs = append(errs, joined.Unwrap()...)
	}
	for _, origin := range c.Origins {
		u, err := url.Parse(origin)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") || u.Scheme+"://"+u.Host != origin {
			errs = append(errs, problemf("origins", "has %q, must be http:// or https:// and a host, as browsers send it", origin))
		}
	}
	for _, err := range []error{CheckListen(c.Listen), c.Mirror.check()} {
		if err != nil {
			errs = append(errs, err)
		}
	}
	if p := c.Planner.Pipeline; p != "poise" && p != Pilz {
		errs = append(errs, problemf("planner.pipeline", "is %q, must be poise or %s", p, Pilz))
	}
	return errors.Join(errs...)
}

// Pilz is the pipeline that behaves as the original planner does.
const Pilz = "pilz_industrial_motion_planner"

// CheckListen refuses addresses that others can reach.
func CheckListen(address string) error {
	host, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil {
		return problemf("listen", "is %q, must be an address and a port such as 127.0.0.1:8080", address)
	}
	if !isLoopback(host) {
		return problemf("listen", "is %q: only loopback (127.0.0.1, ::1, localhost) is served until security comes", address)
	}
	return nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func (m Mirror) check() error {
	if m.URL == "" {
		return nil
	}
	u, err := url.Parse(m.URL)
	switch {
	case err != nil || u.Scheme != "ws" || u.Host == "":
		return problemf("mirror.url", "is %q, must be an address such as ws://127.0.0.1:9090", m.URL)
	case !isLoopback(u.Hostname()):
		return problemf("mirror.url", "is %q: only loopback (127.0.0.1, ::1, localhost) is spoken to until security comes", m.URL)
	}
	if name, err := graph.Clean(m.Prefix); err != nil {
		return problemf("mirror.prefix", "is %q: %v", m.Prefix, err)
	} else if name == "/virtual" || name == "/real" {
		return problemf("mirror.prefix", "is %q, which is taken by a robot of this server", m.Prefix)
	}
	return nil
}

// Period returns the period of the cycle.
func (c *Config) Period() time.Duration {
	return time.Duration(math.Round(c.Loop.Period * float64(time.Second)))
}

// Settings returns what decides how the loops behave.
func (c *Config) Settings() (loop.Settings, error) {
	var errs []error
	policy, ok := arbiter.ParsePolicy(c.Loop.Arbiter)
	if !ok {
		errs = append(errs, problemf("loop.arbiter", "is %q, must be priority, last or none", c.Loop.Arbiter))
	}
	var decay control.Decay
	if err := decay.UnmarshalText([]byte(c.Loop.Handover)); err != nil {
		errs = append(errs, problemf("loop.handover", "is %q, must be %v or %v", c.Loop.Handover, control.JerkLimited, control.Exponential))
	}
	rules := loop.DefaultFaultRules()
	for _, one := range []struct {
		key, unit string
		kind      loop.FaultKind
		rule      Rule
	}{
		{"tracking_error", "rad", loop.TrackingError, c.Faults.Tracking},
		{"stale_reading", "s", loop.StaleReading, c.Faults.Stale},
		{"temperature", "°C", loop.Overheat, c.Faults.Temperature},
		{"low_voltage", "V", loop.LowVoltage, c.Faults.Voltage},
		{"overrun", "periods", loop.Overrun, c.Faults.Overrun},
	} {
		severity, ok := parseSeverity(one.rule.Severity)
		if !ok {
			errs = append(errs, problemf("faults."+one.key+".severity", "is %q, must be one of %s", one.rule.Severity, severities()))
		}
		if !(one.rule.Threshold >= 0) || math.IsInf(one.rule.Threshold, 0) {
			errs = append(errs, problemf("faults."+one.key+".threshold", "is %s, must be 0 or more", measure(one.rule.Threshold, one.unit)))
		}
		r := &rules[one.kind]
		if r.Threshold != one.rule.Threshold {
			r.Threshold, r.Clear = one.rule.Threshold, 0
		}
		r.Severity = severity
	}
	return loop.Settings{
		Lead:           servo.Lead{Time: c.Loop.Lead},
		Bridge:         control.BridgeConfig{Decay: decay, TimeConstant: c.Loop.HandoverTime},
		Policy:         policy,
		Faults:         rules,
		Transition:     control.Transition{Acceleration: c.Loop.Transition},
		StopDeadline:   c.Loop.StopDeadline,
		CrouchDeadline: c.Loop.CrouchDeadline,
	}, errors.Join(errs...)
}

func parseSeverity(name string) (loop.Severity, bool) {
	for s := loop.SeverityIgnore; s <= loop.SeverityTorqueOff; s++ {
		if s.String() == name {
			return s, true
		}
	}
	return 0, false
}

func severities() (all string) {
	for s := loop.SeverityIgnore; s <= loop.SeverityTorqueOff; s++ {
		if s > loop.SeverityIgnore {
			all += ", "
		}
		all += s.String()
	}
	return all
}
