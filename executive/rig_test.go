package executive

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"poise/action"
	"poise/arbiter"
	"poise/control"
	"poise/control/follow"
	"poise/control/swing"
	"poise/loop"
	"poise/motion/library"
	"poise/planner/pipeline"
	"poise/robot"
	"poise/robot/load"
	"poise/servo"
	"poise/servo/sim"
	"poise/trajectory"
	"poise/trajectory/move"
)

const period = 0.001

// rig is a robot on its cycle with an executive, stepped by hand.
type rig struct {
	t      testing.TB
	m      *robot.Model
	l      *loop.Loop
	e      *Executive
	bus    *sim.Bus
	limits []move.Limits
	n      uint64
	dt     float64
	cmd    []float64 // of the tick before, and its step
	step1  []float64
	held   []bool // had torque
	checks bool   // judge every command
	events []Event
	notes  []Notice
	audits []Audit
	failer *failer
}

// parts of a rig; zero values are defaults.
type parts struct {
	robot    string // pony
	model    *robot.Model
	period   float64
	servo    sim.Servo
	settings loop.Settings
	library  Library
	more     []loop.Registration // and what the executive knows of them
	known    []Controller
	orders   int
	rank     map[string]float32 // priorities of controllers
	off      bool               // power stays off
	change   func(*Config)
}

// failer is a swing whose code fails on demand.
type failer struct {
	*swing.Controller
	panics bool
}

func (f *failer) Update(in *control.Input, out *control.Reference) (control.Status, control.Reason) {
	if f.panics {
		panic("test")
	}
	return f.Controller.Update(in, out)
}

func newRig(t testing.TB, p parts) *rig {
	t.Helper()
	if p.robot == "" {
		p.robot = "pony"
	}
	m := p.model
	var err error
	if m == nil {
		bot, err := load.Robot(p.robot, load.Options{})
		if err != nil {
			t.Fatal(err)
		}
		m = bot.Model
	}
	n := len(m.Joints())
	r := &rig{t: t, m: m, dt: p.period, cmd: make([]float64, n), step1: make([]float64, n), held: make([]bool, n), checks: true}
	if r.dt == 0 {
		r.dt = period
	}
	at := make([]float64, n)
	if stand, ok := m.Pose("stand"); ok {
		for i, j := range stand.Joints {
			at[j] = stand.Q[i][0]
		}
	}
	all := make([]sim.Servo, n)
	for i := range all {
		all[i] = p.servo
	}
	r.bus = sim.New(sim.Config{Servos: all, Position: at, Seed: 1})
	if p.settings.Policy == arbiter.PolicyNone {
		p.settings.Policy = arbiter.PolicyLast
	}
	if r.limits, _, err = control.JointLimits(m, p.settings.Transition); err != nil {
		t.Fatal(err)
	}
	r.failer = &failer{Controller: swing.New(r.limits)}
	regs := []loop.Registration{
		{Name: "trajectory", Kind: "follow", Controller: follow.New(m)},
		{Name: "trajectory_2", Kind: "follow", Controller: follow.New(m)},
		{Name: "trajectory_3", Kind: "follow", Controller: follow.New(m)},
		{Name: "swing", Kind: "swing", Controller: swing.New(r.limits)},
		{Name: "sway", Kind: "swing", Controller: r.failer},
	}
	known := []Controller{
		{Name: "trajectory", Kind: "follow", Replaces: true}, {Name: "trajectory_2", Kind: "follow", Replaces: true}, {Name: "trajectory_3", Kind: "follow", Replaces: true},
		{Name: "swing", Kind: "swing", Operate: r.operate, Resources: []string{"head"}},
		{Name: "sway", Kind: "swing", Operate: r.operate, Resources: []string{"tail"}},
	}
	if m.Name() != "pony" {
		known[3].Resources, known[4].Resources = nil, nil
	}
	regs, known = append(regs, p.more...), append(known, p.known...)
	for i := range regs {
		regs[i].Pending, regs[i].Operational = p.rank[regs[i].Name], p.rank[regs[i].Name]
	}
	r.l, err = loop.New(loop.Config{Model: m, Bus: r.bus, Settings: p.settings, Controllers: regs, Orders: p.orders})
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{Model: m, Loop: r.l, Controllers: known, Library: p.library,
		Pipelines: pipeline.Standard(m, pipeline.Sampling{Own: 0.005}),
		Event:     func(ev Event) { r.events = append(r.events, ev) },
		Notice:    func(n Notice) { r.notes = append(r.notes, n) },
		Audit:     func(a Audit) { r.audits = append(r.audits, a) },
		Snapshot:  r.judge,
		Go:        func(job func()) { job() }}
	cfg.Follow.Transition = p.settings.Transition
	if p.change != nil {
		p.change(&cfg)
	}
	if r.e, err = New(cfg); err != nil {
		t.Fatal(err)
	}
	r.run(3)
	if !p.off {
		r.ok(r.e.Power("test", true))
	}
	return r
}

// operate makes swings about where the joints are.
func (r *rig) operate(set robot.Set, now *loop.Snapshot) (control.Program, error) {
	return r.swing(set, now, 0), nil
}

func (r *rig) swing(set robot.Set, now *loop.Snapshot, duration float64) *swing.Program {
	return &swing.Program{Needs: set, Centre: slices.Clone(now.Command.Q), Amplitude: 0.02, Frequency: 3, Duration: duration}
}

// run steps the cycle and pumps after every tick.
func (r *rig) run(ticks int) {
	for range ticks {
		r.step()
		r.e.Pump(r.time())
	}
}

func (r *rig) time() int64 { return int64(math.Round(float64(r.n) * r.dt * 1e9)) }

func (r *rig) tick() servo.Tick {
	return servo.Tick{N: r.n, Time: r.time(), Dt: r.dt, Stamp: 1_700_000_000_000_000_000 + r.time()}
}

func (r *rig) step() {
	r.l.Step(r.tick())
	r.n++
}

// judge asks that no command jumps: velocity and acceleration stay within the
// limits of transitions while a joint has torque.
func (r *rig) judge(s *loop.Snapshot) time.Duration {
	const slack = 1.05 // what a hand-over and a motion add to each other by rounding and steps
	for j, q := range s.Command.Q {
		v := (q - r.cmd[j]) / r.dt
		held := s.Mode[j].Powered()
		if r.checks && held && r.held[j] {
			if l := r.limits[j]; math.Abs(v) > l.VelMax*slack || math.Abs(v-r.step1[j])/r.dt > l.AccMax*slack+1e-6 {
				r.t.Fatalf("tick %d, %s: velocity %.4g → %.4g, limits %g and %g", s.Tick.N, r.m.Joints()[j].Name, r.step1[j], v, l.VelMax, l.AccMax)
			}
		} else {
			v = 0
		}
		r.cmd[j], r.step1[j], r.held[j] = q, v, held
	}
	return 0
}

// seconds runs for some time.
func (r *rig) seconds(s float64) { r.run(int(math.Round(s / r.dt))) }

// until runs until cond holds, at most some seconds.
func (r *rig) until(limit float64, what string, cond func() bool) {
	r.t.Helper()
	for range int(limit / r.dt) {
		if cond() {
			return
		}
		r.run(1)
	}
	if !cond() {
		r.t.Fatalf("%s: not within %g s", what, limit)
	}
}

// answer waits for the outcome of a command.
func (r *rig) answer(a *Answer) (o Outcome) {
	r.t.Helper()
	r.until(20, "an answer", func() bool { var ok bool; o, ok = a.Outcome(); return ok })
	return o
}

func (r *rig) ok(a *Answer) Outcome {
	r.t.Helper()
	o := r.answer(a)
	if !o.OK() {
		r.t.Fatalf("refused: %+v", o.Explanations)
	}
	return o
}

// goal is a goal with all that was told of it.
type goal struct {
	id       GoalID
	changes  []Change
	feedback []Feedback
}

// submit gives a goal to the executive.
func (r *rig) submit(g Goal) *goal {
	r.t.Helper()
	out := &goal{}
	id, err := r.e.Submit("test", "", 0, g, out.watch())
	if err != nil {
		r.t.Fatal(err)
	}
	out.id = id
	return out
}

func (g *goal) watch() Watch {
	return Watch{Changed: func(c Change) { g.changes = append(g.changes, c) }, Feedback: func(f Feedback) { g.feedback = append(g.feedback, f) }}
}

func (g *goal) state() action.State {
	if len(g.changes) == 0 {
		return action.Pending
	}
	return g.changes[len(g.changes)-1].To
}

func (g *goal) over() bool { return g.state().Terminal() }

// last returns the change that ended the goal, and insists that there is one.
func (g *goal) last(t testing.TB) Change {
	t.Helper()
	ends := 0
	for _, c := range g.changes {
		if c.To.Terminal() {
			ends++
		}
	}
	if ends != 1 || !g.over() {
		t.Fatalf("%v ended %d times: %+v", g.id, ends, g.changes)
	}
	return g.changes[len(g.changes)-1]
}

// active runs until the goal is performed.
func (r *rig) active(g *goal) *goal {
	r.t.Helper()
	r.until(1, "start of "+g.id.String(), func() bool { return g.state() == action.Active || g.over() })
	if g.over() {
		r.t.Fatalf("%v: %v: %s", g.id, g.state(), g.text())
	}
	return g
}

// ended runs until the goal is over, and returns how.
func (r *rig) ended(g *goal, limit float64) Change {
	r.t.Helper()
	r.until(limit, "end of "+g.id.String(), g.over)
	return g.last(r.t)
}

func (g *goal) text() string {
	c := g.changes[len(g.changes)-1]
	return c.Result.Text()
}

// mustEnd asks for an end of a kind, with a code.
func (r *rig) mustEnd(g *goal, limit float64, state action.State, cause action.Cause, code string) Change {
	r.t.Helper()
	c := r.ended(g, limit)
	if c.To != state || c.Cause != cause || c.Result.Code != code {
		r.t.Fatalf("%v: %v, cause %v, code %q (%s); want %v, %v, %q", g.id, c.To, c.Cause, c.Result.Code, c.Result.Text(), state, cause, code)
	}
	return c
}

func (r *rig) command(joint string) float64 {
	r.t.Helper()
	id, ok := r.m.Joint(joint)
	if !ok {
		r.t.Fatalf("no joint %q", joint)
	}
	q := 0.0
	r.e.View(func(s *loop.Snapshot) { q = s.Command.Q[id] })
	return q
}

func (r *rig) speed(joint string) float64 {
	id, _ := r.m.Joint(joint)
	v := 0.0
	r.e.View(func(s *loop.Snapshot) { v = s.Command.V[id] })
	return v
}

// joints returns the names of a resource's joints.
func (r *rig) joints(resource string) (names []string) {
	r.t.Helper()
	set := r.set(resource)
	for leaf := range set.All {
		if int(leaf) < len(r.m.Joints()) {
			names = append(names, r.m.Joints()[leaf].Name)
		}
	}
	return names
}

func (r *rig) set(resources ...string) robot.Set {
	r.t.Helper()
	set, unknown := r.e.Words().Set(resources)
	if len(unknown) > 0 {
		r.t.Fatal(unknown)
	}
	return set
}

// nod is a trajectory of one joint: from where it is, by d and back, in 2 s.
func (r *rig) nod(joint string, d float64) follow.Goal {
	q := r.command(joint)
	return follow.Goal{Joints: []string{joint}, Points: []trajectory.Point{
		{Time: 0, Position: []float64{q}}, {Time: 1, Position: []float64{q + d}}, {Time: 2, Position: []float64{q}}}}
}

// shelf is a library in a folder of its own.
func shelf(t testing.TB) *library.Library {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "broken.motion.yaml"), []byte("description: x\nsped: 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return library.Open(dir, nil)
}

// said reports whether an explanation has all of these words.
func said(x Explanation, words ...string) bool {
	text := x.Error()
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

func (r *rig) headJoint() string { return r.joints("head")[0] }

func point(t float64, q []float64) trajectory.Point { return trajectory.Point{Time: t, Position: q} }

// sequential skips a long test of one goroutine in short runs: those are for the race
// detector, which has nothing to find in it.
func sequential(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("absent: time (-short); nothing in it is concurrent")
	}
}
