package config

import (
	"errors"
	"math"
	"net"
	"net/url"
	"os"
	"reflect"
	"strings"
	"time"

	"poise/arbiter"
	"poise/control"
	"poise/graph"
	"poise/internal/strictyaml"
	"poise/loop"
	"poise/planner/pipeline"
	"poise/problem"
	"poise/rtps"
	"poise/servo"
	"poise/servo/driver"
	"poise/servo/sim"
)

// Config is everything that `poise serve` can be told. Start from Default.
type Config struct {
	Robot       string       `yaml:"robot" doc:"a shipped name (pony, arm6, so101), a .urdf or .xacro file, or a folder"`
	Listen      string       `yaml:"listen" doc:"address and port of the server; loopback only, port 0 takes a free one"`
	Origins     []string     `yaml:"origins" doc:"web pages from elsewhere that may connect, such as https://app.foxglove.dev; those of this machine always may"`
	Motions     string       `yaml:"motions" doc:"folder of your own motions, made when the first is saved; empty is poise/motions/<robot> in your data folder (XDG_DATA_HOME)"`
	Identified  string       `yaml:"identified" doc:"folder of the logs and servo models that servo_ident keeps; models that it has are used from the start; empty is poise/identified/<robot> in your data folder (XDG_DATA_HOME)"`
	Robots      []Robot      `yaml:"robots" doc:"each with a name, a driver and the driver's settings, and what it does at the start, after a gap of the cycle and at the end; names on the graph that have no robot's name before them mean the first"`
	RealSim     bool         `yaml:"with_real_sim" doc:"adds a simulated robot with the name real to the list, which lags, is noisy and sags as real_sim says"`
	Loop        Loop         `yaml:"loop" doc:"the cycle"`
	Sim         sim.Settings `yaml:"real_sim" doc:"how the robot that with_real_sim adds differs from an ideal one"`
	Controllers Controllers  `yaml:"controllers" doc:"how many of each run side by side (seats), and how their requests rank against those of others (priorities while they ask, and once they run)"`
	Faults      Faults       `yaml:"faults" doc:"when something is a fault, and what is done about it, from mild to severe"`
	Rates       Rates        `yaml:"rates" doc:"how often things are told, Hz"`
	Planner     Planner      `yaml:"planner" doc:"planning"`
	Limits      Limits       `yaml:"limits" doc:"what one server takes from its clients"`
	Record      Record       `yaml:"record" doc:"the flight recorder"`
	Guard       Guard        `yaml:"guard" doc:"the process that watches the server, with --guard"`
	Mirror      Mirror       `yaml:"mirror" doc:"a robot behind another rosbridge server, or in a ROS 1 or ROS 2 network, seen and driven from here"`
}

// Loop is how the cycle runs.
type Loop struct {
	// a cycle that is silent for a second is taken for dead, so its period is far below that
	Period         float64 `yaml:"period" doc:"s; a HerkuleX bus wants multiples of 0.0112" range:"0.0001 … 0.1 s"`
	Priority       int     `yaml:"priority" doc:"of SCHED_FIFO, 1 … 99, if the system grants it; 0 does not ask" range:"0 … 99"`
	Lead           float64 `yaml:"lead" doc:"s; how far ahead a servo is told where to be; -1 is what its driver asks for: a period on a serial line, 0 where setpoints act at once" range:"-1 … 1 s"`
	Inversion      string  `yaml:"inversion" doc:"by what goals of servos are made: lead, or model (the servo models of robot.yaml) for servos that behave by them; joints without a model go by lead"`
	Arbiter        string  `yaml:"arbiter" doc:"who wins a resource that two controllers want: priority, or last (the later request); none is for tests of a single controller"`
	RoundTimeout   float64 `yaml:"round_timeout" doc:"s; how long a round of requests among controllers of the server may take" range:"0.001 … 10 s"`
	RemoteTimeout  float64 `yaml:"remote_timeout" doc:"s; how long a round may wait for the answers of the external controllers that it concerns" range:"0.001 … 10 s"`
	RoundEnd       string  `yaml:"round_end" doc:"what the silence of a requester means at the timeout: deny (it gets nothing), or activate (it becomes operational: for clients of resource_control_msgs that never confirm)"`
	Lease          float64 `yaml:"lease" doc:"s; how long an external controller may give no sign of life" range:"0.01 … 60 s"`
	Silence        float64 `yaml:"silence" doc:"s; how long nothing may be heard of the cycle before its goals end as aborted" range:"0.1 … 3600 s"`
	Handover       string  `yaml:"handover" doc:"how the difference at a change of owner goes away: jerk_limited or exponential"`
	HandoverTime   float64 `yaml:"handover_time" doc:"s; time constant of an exponential hand-over" range:"0.001 … 10 s"`
	Transition     float64 `yaml:"transition_acceleration" doc:"rad/s² or m/s² of hand-overs, approaches and stops of joints for which neither a limit nor robot.yaml says one; it is reported as assumed" range:"0.001 … 1e6 rad/s²"`
	StopDeadline   float64 `yaml:"stop_deadline" doc:"s; a ramp that takes longer ends in torque off" range:"0.01 … 60 s"`
	CrouchDeadline float64 `yaml:"crouch_deadline" doc:"s for a limb to reach its safe pose" range:"0.01 … 60 s"`
}

// Values of Loop.Inversion.
const (
	InvertLead  = "lead"
	InvertModel = "model"
)

// Faults are the rules that people change; the others keep their defaults.
type Faults struct {
	Tracking    Rule `yaml:"tracking_error" doc:"distance of a joint from its command, rad"`
	Stale       Rule `yaml:"stale_reading" doc:"time since a joint was heard of, s, in three ticks in a row"`
	Temperature Rule `yaml:"temperature" doc:"°C"`
	Voltage     Rule `yaml:"low_voltage" doc:"V"`
	Overrun     Rule `yaml:"overrun" doc:"periods that the cycle missed in about its last hundred turns; one gap can be many"`
	Gap         Rule `yaml:"cycle_gap" doc:"how long the cycle stood still, s; hold is a stop of category 2, or a pause of a robot whose after_gap says so"`
}

// Rule is one fault.
type Rule struct {
	Threshold float64 `yaml:"threshold" doc:""`
	Severity  string  `yaml:"severity" doc:"what is done about it"`
}

// Rates are per second.
type Rates struct {
	JointStates float64 `yaml:"joint_states" doc:"joint_states and joint_states_real" range:"0.1 … 1000 Hz"`
	TF          float64 `yaml:"tf" doc:"tf, odom and balance_state" range:"0.1 … 1000 Hz"`
	Feedback    float64 `yaml:"feedback" doc:"feedback of goals" range:"0.1 … 1000 Hz"`
	Diagnostics float64 `yaml:"diagnostics" doc:"diagnostics" range:"0.1 … 1000 Hz"`
}

// Planner is how motions are planned.
type Planner struct {
	Pipeline string  `yaml:"pipeline" doc:"for requests that name none: poise, or pilz_industrial_motion_planner for the behaviour of MoveIt's Pilz planner"`
	Sampling float64 `yaml:"sampling" doc:"s between points of a planned trajectory; 0 is the period of the cycle, more in sequences of over 200 items" range:"0 … 10 s"`
}

// Limits bound what clients can ask for.
type Limits struct {
	MessageSize      int     `yaml:"message_size" doc:"bytes of one message" range:"1024 … 1073741824 bytes"`
	Connections      int     `yaml:"connections" doc:"clients at a time" range:"1 … 10000"`
	Subscriptions    int     `yaml:"subscriptions" doc:"of one client" range:"1 … 1e6"`
	Goals            int     `yaml:"goals" doc:"goals of one client that are not over" range:"1 … 1e6"`
	Controllers      int     `yaml:"controllers" doc:"external controllers of one client that have or request resources at a time; keep it below controllers.remote.seats, so that one client leaves room for others" range:"1 … 1000"`
	MessageRate      float64 `yaml:"message_rate" doc:"messages per second of one client" range:"1 … 1e6 per second"`
	Motions          int     `yaml:"motions" doc:"that the folder of motions may have; more cannot be saved" range:"1 … 1e7"`
	MotionsMegabytes int     `yaml:"motions_megabytes" doc:"that all motions of the folder may take" range:"1 … 1048576 MB"`
	Queue            int     `yaml:"queue" doc:"messages that wait for a slow client before the oldest goes" range:"1 … 65536 messages"`
}

// Record is what the flight recorder does.
type Record struct {
	Enabled        bool    `yaml:"enabled" doc:"the last minutes are recorded"`
	File           string  `yaml:"file" doc:"where every tick is written, for poise replay; empty is recordings/flight.rec of the state folder"`
	Megabytes      int     `yaml:"megabytes" doc:"that the recordings of all robots may take; then the oldest part goes" range:"1 … 1048576 MB"`
	Minutes        float64 `yaml:"minutes" doc:"that a recording keeps, if it has the room; 0 is all that has room" range:"0 … 1e6 min"`
	Saves          int     `yaml:"saves" doc:"how many recordings of stops, panics, crashes and faults are kept, in a folder beside the file; those of warnings and of earlier runs have two places of their own" range:"1 … 10000"`
	SavedMegabytes int     `yaml:"saved_megabytes" doc:"that all those may take besides; then the oldest goes, but never the newest" range:"1 … 1048576 MB"`
}

// Guard is what the guard goes by.
type Guard struct {
	Patience float64 `yaml:"patience" doc:"s; how long the server may give no sign of life before it is ended and its servos are brought to rest" range:"0.1 … 3600 s"`
}

// Mirror is a robot that others serve.
type Mirror struct {
	URL    string `yaml:"url" doc:"of its rosbridge server, such as ws://127.0.0.1:9090, or of the ROS 1 master of its network, such as http://127.0.0.1:11311, or the DDS domain of its ROS 2, such as dds://0; on this machine only; empty mirrors nothing"`
	Prefix string `yaml:"prefix" doc:"of its topics, services and actions here"`
}

// Default returns the default configuration.
func Default() Config {
	rules := loop.DefaultFaultRules()
	rule := func(k loop.FaultKind) Rule { return Rule{rules[k].Threshold, rules[k].Severity.String()} }
	return Config{
		Robot:  "pony",
		Listen: "127.0.0.1:8080", Origins: []string{},
		Robots: []Robot{{Name: "virtual", Driver: "sim", Settings: defaultsOf("sim")}},
		Loop: Loop{Period: 0.001, Lead: -1, Inversion: InvertLead, Arbiter: arbiter.PolicyPriority.String(),
			RoundTimeout: arbiter.DefaultRoundTimeout * 1e-9, RemoteTimeout: arbiter.DefaultRemoteTimeout * 1e-9, RoundEnd: roundDeny, Lease: arbiter.DefaultLease * 1e-9, Silence: 1, Handover: control.JerkLimited.String(),
			HandoverTime: 0.2, Transition: 5, StopDeadline: 2, CrouchDeadline: 5},
		Sim:         sim.RealSettings(),
		Controllers: declared(),
		Faults: Faults{Tracking: rule(loop.TrackingError), Stale: rule(loop.StaleReading),
			Temperature: rule(loop.Overheat), Voltage: rule(loop.LowVoltage), Overrun: rule(loop.Overrun), Gap: rule(loop.CycleGap)},
		Rates:   Rates{JointStates: 100, TF: 100, Feedback: 20, Diagnostics: 1},
		Planner: Planner{Pipeline: pipeline.Own},
		Limits: Limits{MessageSize: 8 << 20, Connections: 100, Subscriptions: 1000, Goals: 100, Controllers: 4,
			MessageRate: 2000, Queue: 100, Motions: 50_000, MotionsMegabytes: 2000},
		Record: Record{Enabled: true, Megabytes: 200, Saves: 10, SavedMegabytes: 1000},
		Guard:  Guard{Patience: 1},
		Mirror: Mirror{Prefix: "remote"},
	}
}

// Read decodes a document; keys that it leaves out keep their defaults. All problems
// are reported at once, each with its line.
func Read(data []byte, file string) (Config, error) {
	c := Default()
	syntax := strictyaml.Decode(data, file, &c)
	settings := c.readSettings(driver.Standard)
	invalid := c.Check()
	if joined, ok := invalid.(interface{ Unwrap() []error }); ok {
		invalid = located(joined.Unwrap(), data, file)
	}
	if err := errors.Join(syntax, settings, invalid); err != nil {
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

// Check reports every invalid value with its key and limit.
func (c *Config) Check() error { return c.CheckWith(driver.Standard) }

// CheckWith is Check for another table of drivers.
func (c *Config) CheckWith(drivers driver.Table) error {
	var errs []error
	checkRanges(&errs, "", reflect.ValueOf(c).Elem())
	errs = append(errs, c.checkRobots(drivers)...)
	errs = append(errs, c.Controllers.check()...)
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
	for _, err := range []error{checkListen(c.Listen), c.Mirror.check(c.AllRobots())} {
		if err != nil {
			errs = append(errs, err)
		}
	}
	if p := c.Planner.Pipeline; p != pipeline.Own && p != pipeline.Pilz {
		errs = append(errs, wrongChoice("planner.pipeline", p, pipeline.Own, pipeline.Pilz))
	}
	return errors.Join(errs...)
}

// checkListen refuses addresses that other machines can reach.
func checkListen(address string) error {
	host, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil {
		return problemf("listen", "is %q, must be an address and a port such as 127.0.0.1:8080", address)
	}
	if !isLoopback(host) {
		return problemf("listen", "is %q: only loopback (127.0.0.1, ::1, localhost) is served: Poise has no authentication", address)
	}
	return nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// ROS1 reports whether the robot is in the network of a ROS 1 master.
func (m Mirror) ROS1() bool { return strings.HasPrefix(m.URL, "http://") }

// ROS2 reports whether the robot is in a DDS domain.
func (m Mirror) ROS2() bool { return strings.HasPrefix(m.URL, "dds://") }

func (m Mirror) check(robots []Robot) error {
	if m.URL == "" {
		return nil
	}
	u, err := url.Parse(m.URL)
	switch {
	case m.ROS2():
		if _, err := rtps.DomainOf(m.URL); err != nil {
			return problemf("mirror.url", "must be a domain of ROS 2: %v", err)
		}
	case err != nil || u.Scheme != "ws" && u.Scheme != "http" || u.Host == "" || u.Scheme == "http" && u.Port() == "":
		return problemf("mirror.url", "is %q, must be an address such as ws://127.0.0.1:9090, http://127.0.0.1:11311 of a ROS 1 master, or dds://0 of ROS 2", m.URL)
	case !isLoopback(u.Hostname()):
		return problemf("mirror.url", "is %q: only loopback (127.0.0.1, ::1, localhost) is connected to: Poise has no authentication", m.URL)
	}
	name, err := graph.Clean(m.Prefix)
	if err != nil {
		return problemf("mirror.prefix", "is %q: %v", m.Prefix, err)
	}
	for _, r := range robots {
		if name == "/"+r.Name {
			return problemf("mirror.prefix", "is %q, which is taken by a robot of this server", m.Prefix)
		}
	}
	return nil
}

// Period returns the period of the cycle.
func (c *Config) Period() time.Duration {
	return time.Duration(math.Round(c.Loop.Period * float64(time.Second)))
}

// Settings returns the settings of the loops.
func (c *Config) Settings() (loop.Settings, error) {
	var errs []error
	if c.Loop.RoundEnd != roundDeny && c.Loop.RoundEnd != roundActivate {
		errs = append(errs, wrongChoice("loop.round_end", c.Loop.RoundEnd, roundDeny, roundActivate))
	}
	if c.Loop.Inversion != InvertLead && c.Loop.Inversion != InvertModel {
		errs = append(errs, wrongChoice("loop.inversion", c.Loop.Inversion, InvertLead, InvertModel))
	}
	policy, ok := arbiter.ParsePolicy(c.Loop.Arbiter)
	if !ok {
		errs = append(errs, wrongChoice("loop.arbiter", c.Loop.Arbiter, "priority", "last", "none"))
	}
	var decay control.Decay
	if err := decay.UnmarshalText([]byte(c.Loop.Handover)); err != nil {
		errs = append(errs, wrongChoice("loop.handover", c.Loop.Handover, control.JerkLimited.String(), control.Exponential.String()))
	}
	rules := loop.DefaultFaultRules()
	for _, f := range []struct {
		key, unit string
		kind      loop.FaultKind
		rule      Rule
	}{
		{"tracking_error", "rad", loop.TrackingError, c.Faults.Tracking},
		{"stale_reading", "s", loop.StaleReading, c.Faults.Stale},
		{"temperature", "°C", loop.Overheat, c.Faults.Temperature},
		{"low_voltage", "V", loop.LowVoltage, c.Faults.Voltage},
		{"overrun", "periods", loop.Overrun, c.Faults.Overrun},
		{"cycle_gap", "s", loop.CycleGap, c.Faults.Gap},
	} {
		severity, ok := parseSeverity(f.rule.Severity)
		if !ok {
			errs = append(errs, problemf("faults."+f.key+".severity", "is %q, must be one of %s%s", f.rule.Severity,
				strings.Join(severities(), ", "), problem.Hint(f.rule.Severity, severities())))
		}
		if !(f.rule.Threshold >= 0) || math.IsInf(f.rule.Threshold, 0) {
			errs = append(errs, problemf("faults."+f.key+".threshold", "is %s, must be 0 or more", measure(f.rule.Threshold, f.unit)))
		}
		r := &rules[f.kind]
		if r.Threshold != f.rule.Threshold {
			r.Threshold, r.Clear = f.rule.Threshold, 0
		}
		r.Severity = severity
	}
	return loop.Settings{
		Inversion:       servo.InversionConfig{Lead: servo.Lead{Time: max(c.Loop.Lead, 0)}},
		Bridge:          control.BridgeConfig{Decay: decay, TimeConstant: c.Loop.HandoverTime},
		Policy:          policy,
		RoundTimeout:    nanoseconds(c.Loop.RoundTimeout),
		Lease:           nanoseconds(c.Loop.Lease),
		RemoteTimeout:   nanoseconds(max(c.Loop.RemoteTimeout, c.Loop.RoundTimeout)),
		SilenceConsents: c.Loop.RoundEnd == roundActivate,
		Faults:          rules,
		Transition:      control.Transition{Acceleration: c.Loop.Transition},
		StopDeadline:    c.Loop.StopDeadline,
		CrouchDeadline:  c.Loop.CrouchDeadline,
	}, errors.Join(errs...)
}

func nanoseconds(s float64) int64 { return int64(math.Round(s * 1e9)) }

func parseSeverity(name string) (loop.Severity, bool) {
	for s := loop.SeverityIgnore; s <= loop.SeverityTorqueOff; s++ {
		if s.String() == name {
			return s, true
		}
	}
	return 0, false
}

func severities() (all []string) {
	for s := loop.SeverityIgnore; s <= loop.SeverityTorqueOff; s++ {
		all = append(all, s.String())
	}
	return all
}

// Values of Loop.RoundEnd.
const (
	roundDeny     = "deny"
	roundActivate = "activate"
)
