package session

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"poise/arbiter"
	"poise/control"
	"poise/control/excite"
	"poise/identify"
	"poise/loop"
	"poise/problem"
	"poise/robot"
	"poise/servo/model"
	"poise/servo/modelfile"
	"poise/trajectory/move"
)

// Request is what is asked for.
type Request struct {
	Set       robot.Set // resources whose servos are identified
	Names     []string  // of them
	Duration  float64   // of the excitation, s; 0 is the default
	Amplitude float64   // greatest distance from the middle, rad; 0 is the default
	Sweeps    bool      // also sweeps, for the Stribeck curve
	Seed      uint64    // of all that is drawn at random
	Mounting  string    // "", Fixed or Lifted
	Look      bool      // only the pre-flight and the plan: nothing moves
	Keep      bool      // models in force stay, whatever is found
}

// Ranges of a request.
const (
	leastDuration, mostDuration   = 10.0, 300.0 // s
	leastAmplitude, mostAmplitude = 0.06, 1.5   // rad
)

func (q *Request) check() (wrong []problem.Problem) {
	between := func(what string, value, low, high float64, unit string) {
		if value == 0 || value >= low && value <= high {
			return
		}
		x := problem.New("bad_value", "%s is %g %s, must be %g … %g", what, value, unit, low, high)
		x.Thing, x.Value, x.Limit = what, value, min(max(value, low), high)
		wrong = append(wrong, *x)
	}
	between("duration", q.Duration, leastDuration, mostDuration, "s")
	between("amplitude", q.Amplitude, leastAmplitude, mostAmplitude, "rad")
	return wrong
}

// Models are the servo models of a robot while it runs.
type Models interface {
	// InForce returns the model of a joint; nil without one.
	InForce(j robot.JointID) *model.Model
	// Adopt lets models be taken over under a new version, and says which that is.
	Adopt(ctx context.Context, models map[robot.JointID]*model.Model) (version uint64, err error)
}

// Robot is what a session has to know.
type Robot struct {
	Name    string
	Model   *robot.Model
	Assumed control.Transition
	Period  float64 // of the cycle, s

	Exact   bool // joints are where they are told to be
	Stepped bool // what an exchange measures holds at the end of its period, as simulations do
	Shares  bool // servos heed the stiffness of setpoints

	Hottest      float64 // °C at which a servo is a fault; 0 is unknown
	LeastVoltage float64 // V below which the supply is a fault; 0 is unknown

	// Owner names a controller, and says whether it gives its joints away to what is asked for.
	Owner func(arbiter.ClientID) (name string, yields bool)

	Models Models // nil: nothing is taken over
	Folder string // of logs and models; "" keeps none
	Now    func() time.Time
}

// Identifier identifies the servos of a robot.
type Identifier struct {
	robot  Robot
	tap    *Tap
	limits []move.Limits
	bounds []control.Bounds
	feet   []int // chains that have a touch sensor, in its order

	saving sync.Mutex
}

// New returns an identifier, and a tap of the loop that goes with it.
func New(r Robot, next loop.Tap) (*Identifier, *Tap, error) {
	limits, bounds, err := excite.Limits(r.Model, r.Assumed)
	if err != nil {
		return nil, nil, err
	}
	id := &Identifier{robot: r, tap: newTap(len(r.Model.Joints()), next), limits: limits, bounds: bounds}
	for i, c := range r.Model.Chains() {
		if c.Contact != robot.NoContact {
			id.feet = append(id.feet, i)
		}
	}
	id.tap.watch = newMonitor(id)
	return id, id.tap, nil
}

// Monitor watches whether servos behave by their models.
func (id *Identifier) Monitor() *Monitor { return id.tap.watch }

// sensor is the touch sensor of a chain, -1 without one.
func (id *Identifier) sensor(chain int) int {
	for k, c := range id.feet {
		if c == chain {
			return k
		}
	}
	return -1
}

// model is what is known of a joint's servo: in force, or of its type.
func (id *Identifier) model(j robot.JointID) *model.Model {
	if id.robot.Models != nil {
		if m := id.robot.Models.InForce(j); m != nil {
			return m
		}
	}
	return id.robot.Model.Servo(j).Model
}

// Run is one identification on its way.
type Run struct {
	id     *Identifier
	q      Request
	joints []robot.JointID
	checks []Check

	mu   sync.Mutex
	over bool
	rec  *recording
	plan []excite.Figure
}

// Begin looks whether a request can be done now: what is in its way is returned, all of it. It
// takes nothing.
func (id *Identifier) Begin(q Request, now *loop.Snapshot) (*Run, []problem.Problem) {
	if wrong := q.check(); len(wrong) > 0 {
		return nil, wrong
	}
	p := &preflight{id: id, now: now}
	joints := p.joints(q.Set)
	p.look(joints, q.Mounting)
	if wrong := problems(p.checks); len(wrong) > 0 {
		return nil, wrong
	}
	return &Run{id: id, q: q, joints: joints, checks: p.checks}, nil
}

// Plan chooses the motion and lets the recording begin; with Look the program is nil.
func (s *Run) Plan(ctx context.Context, now *loop.Snapshot) (*excite.Program, []problem.Problem) {
	program, figures, wrong := excite.Plan(s.id.options(s.q.Set, s.joints, now.Command.Q, &s.q))
	s.plan = figures
	if len(wrong) > 0 {
		return nil, wrong
	}
	if ctx.Err() != nil {
		return nil, []problem.Problem{*problem.New("cancelled", "cancelled while it was planned")}
	}
	if s.q.Look {
		return nil, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over {
		s.rec = newRecording(s.id.path(s.joints), s.id.robot.Period, program.Duration()+spareTime, s.id.robot.Stepped)
		s.id.tap.now.Store(s.rec)
	}
	return program, nil
}

// spareTime is how much longer than planned a motion may be recorded, s: it may be slowed down.
const spareTime = 30.0

// End ends the recording.
func (s *Run) End() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	if s.rec != nil {
		s.id.tap.now.CompareAndSwap(s.rec, nil)
	}
}

// Looked is the outcome of a request that only looks.
func (s *Run) Looked() *Outcome { return &Outcome{Checks: s.checks, Plan: s.plan} }

// Outcome is what was found.
type Outcome struct {
	Joints  []Verdict
	Log     string // the file that has the log; "" if none was kept
	Models  string // the file that has the models; "" if none was saved
	Version uint64 // of the models in force since then; 0 if nothing was taken over
	Checks  []Check
	Plan    []excite.Figure
	Notes   []string // what went wrong besides
}

// Verdict is what was found of a joint.
type Verdict struct {
	*identify.Result
	Before    float64 // hold-out error of the model that was in force, rad; NaN without one
	Published bool    // the model is in force now
}

// Fit writes the log, fits the models and publishes the better ones. tell is told how far it has come.
func (s *Run) Fit(ctx context.Context, tell func(progress float64)) (*Outcome, []problem.Problem) {
	s.End()
	id, m := s.id, s.id.robot.Model
	log := s.rec.log(m, id.robot.Shares)
	out := &Outcome{Checks: s.checks, Plan: s.plan}
	out.Log = id.keepLog(log, s.q.Names, out)
	tell(0.05)
	for _, r := range identify.All(log, nil, m, func(joint string) identify.Options { return id.fitting(joint) }) {
		j, _ := m.Joint(r.Joint)
		if !moved(s.joints, j) {
			continue
		}
		v := Verdict{Result: r, Before: math.NaN()}
		if old := id.model(j); old != nil {
			v.Before = r.ErrorOf(old)
			r.Kept = r.Accepted && r.Worse(old)
		}
		out.Joints = append(out.Joints, v)
	}
	if ctx.Err() != nil {
		return out, []problem.Problem{*problem.New("cancelled", "cancelled while models were fitted: nothing was taken over; the log is kept").With("poise ident %s fits it", out.Log)}
	}
	tell(0.95)
	s.publish(ctx, out)
	tell(1)
	return out, nil
}

func moved(joints []robot.JointID, j robot.JointID) bool {
	for _, x := range joints {
		if x == j {
			return true
		}
	}
	return false
}

// fitting are the options of a joint: of the servo's type, as robot.yaml has it.
func (id *Identifier) fitting(joint string) identify.Options {
	o := identify.Options{Kp: 100, Delay: math.NaN()}
	if j, ok := id.robot.Model.Joint(joint); ok {
		if t := id.robot.Model.Servo(j).Model; t != nil {
			o.Kp, o.Type, o.Gear, o.Voltage = t.Kp, t, t.Gear, t.Voltage
		}
	}
	return o
}

// made is the model of a verdict: what was found, and of the servo's type what no log shows.
func (id *Identifier) made(r *identify.Result, j robot.JointID) *model.Model {
	found := r.Model()
	if t := id.robot.Model.Servo(j).Model; t != nil {
		found.Kp, found.Voltage, found.Stiffness = t.Kp, t.Voltage, t.Stiffness
		found.Saturation, found.Effort, found.DeadZone, found.Quantum = t.Saturation, t.Effort, t.DeadZone, t.Quantum
	}
	return &found
}

// publish saves and takes over what was accepted and is not worse than what was in force.
func (s *Run) publish(ctx context.Context, out *Outcome) {
	identifier := s.id
	models, entries := map[robot.JointID]*model.Model{}, []modelfile.Named{}
	for i := range out.Joints {
		v := &out.Joints[i]
		if !v.Accepted || v.Kept || s.q.Keep {
			continue
		}
		j, _ := identifier.robot.Model.Joint(v.Joint)
		models[j] = identifier.made(v.Result, j)
		entries = append(entries, modelfile.Named{Name: v.Joint, Model: *models[j], Identified: identifier.stamp(v.Result)})
	}
	if len(models) == 0 || identifier.robot.Models == nil {
		return
	}
	version, err := identifier.robot.Models.Adopt(ctx, models)
	if err != nil {
		out.Notes = append(out.Notes, "models were not taken over: "+err.Error())
		return
	}
	out.Version = version
	for i := range out.Joints {
		v := &out.Joints[i]
		j, _ := identifier.robot.Model.Joint(v.Joint)
		v.Published = models[j] != nil
	}
	if out.Models, err = identifier.save(entries); err != nil {
		out.Notes = append(out.Notes, "models were not saved: "+err.Error())
	}
}

// stamp says when and how a model was found.
func (id *Identifier) stamp(r *identify.Result) modelfile.Identified {
	known := func(n identify.Number) float64 {
		if math.IsNaN(float64(n)) {
			return 0
		}
		return float64(n)
	}
	return modelfile.Identified{Date: id.robot.Now().UTC().Format("2006-01-02T15:04:05Z"), Voltage: known(r.Voltage), Temperature: known(r.Temperature),
		RMSE: known(r.RMSE), Taken: strings.Join(r.Taken, " ")}
}

// keepLog writes the log to the folder and returns its name.
func (id *Identifier) keepLog(log *identify.Log, names []string, out *Outcome) string {
	if id.robot.Folder == "" {
		return ""
	}
	safe := strings.Map(func(c rune) rune {
		if c == '/' || c == filepath.Separator || c < ' ' {
			return '_'
		}
		return c
	}, strings.Join(names, "+"))
	if len(safe) > 60 {
		safe = safe[:60]
	}
	name := filepath.Join(id.robot.Folder, fmt.Sprintf("%s-%s-%s.csv", id.robot.Name, id.robot.Now().UTC().Format("20060102T150405.000"), safe))
	if err := writeWhole(name, func(f *os.File) error { return writeLog(f, log) }); err != nil {
		out.Notes = append(out.Notes, "the log was not kept: "+err.Error())
		return ""
	}
	return name
}
