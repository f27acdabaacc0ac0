package server

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"poise/action"
	"poise/arbiter"
	"poise/edge"
	"poise/executive"
	"poise/graph"
	"poise/identify"
	"poise/loop"
	"poise/msgs/poisemsgs"
	"poise/server/config"
	"poise/servo/modelfile"
	"poise/servo/physics"
)

// hidden are the servos that the arm really has.
var hidden = map[string]float64{"a0": 1.2, "a1": 26, "a2": 5.5, "a3": 130}

const hiddenFile = "sts3215: {kp: 200, voltage: 7.4, effort: 1.9, resolution: 0.001534, parameters: {a0: 1.2, a1: 26, a2: 5.5, a3: 130}}\n"

// identBench is the arm with mass, raised, with servos that it is not said to have, in a bubble.
func identBench(t *testing.T) *stepped {
	t.Helper()
	folder := t.TempDir()
	truth := filepath.Join(folder, "truth.yaml")
	if err := os.WriteFile(truth, []byte(hiddenFile), 0o644); err != nil {
		t.Fatal(err)
	}
	var jobs sync.WaitGroup
	t.Cleanup(jobs.Wait)
	b := stillWith(t, "arm", func(job func()) { jobs.Go(job) }, func(c *config.Config) {
		c.Robot, c.Loop.Period, c.Identified, c.Record.Enabled = "so101", 0.01, filepath.Join(folder, "identified"), false
		s := physics.DefaultSettings()
		s.Servos, s.Delay = truth, 0.015
		c.Robots = []config.Robot{{Name: "arm", Driver: "physics", Settings: &s}}
	})
	b.settle = synctest.Wait
	b.follow(3, map[string]float64{"shoulder_lift": -0.9, "elbow_flex": 0.2, "wrist_flex": 0.4}, nil, func() {})
	b.seconds(1, func() {})
	return b
}

// identified is an identification on its way.
type identified struct {
	mu     sync.Mutex
	stages []string
	end    *executive.Change
}

func (x *identified) over() *executive.Change {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.end
}

func (x *identified) reached(stage string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.Contains(x.stages, stage)
}

// identify submits a goal.
func (b *stepped) identify(g *poisemsgs.ServoIdentGoal) (*identified, action.ID) {
	b.t.Helper()
	x := &identified{}
	goal, err := edge.ServoIdent.Read(b.bot.model, g)
	if err != nil {
		b.t.Fatal(err)
	}
	id, err := b.bot.exec.Goals("servo_ident").Submit("test", "", 0, goal, executive.Watch{
		Feedback: func(f executive.Feedback) {
			m := edge.ServoIdent.FeedbackMessage(&f).(*poisemsgs.ServoIdentFeedback)
			x.mu.Lock()
			defer x.mu.Unlock()
			if n := len(x.stages); n == 0 || x.stages[n-1] != m.Stage {
				x.stages = append(x.stages, m.Stage)
			}
			if !(m.Progress >= 0 && m.Progress <= 1) {
				b.t.Errorf("progress %g in stage %s", m.Progress, m.Stage)
			}
		},
		Changed: func(c executive.Change) {
			if c.To.Terminal() {
				x.mu.Lock()
				defer x.mu.Unlock()
				x.end = &c
			}
		}})
	if err != nil {
		b.t.Fatal(err)
	}
	return x, id
}

// finish steps until the goal is over.
func (b *stepped) finish(x *identified) *executive.Change {
	for x.over() == nil {
		b.step()
	}
	return x.over()
}

// TestServoIdentFindsHiddenServos: by the action, on a robot whose servos have parameters that it was not told. The
// models are published under a version, saved with how they were found, and used from the next start on; the log gives
// poise ident the same verdict; cycle 1 tracks with them at a quarter of cycle 0; rollback returns.
func TestServoIdentFindsHiddenServos(t *testing.T) {
	if testing.Short() {
		t.Skip("absent: time (-short) for a minute of fitting; what runs beside the cycle is in TestServoIdentEndsInEveryStage")
	}
	synctest.Test(t, findHiddenServos)
}

func findHiddenServos(t *testing.T) {
	b := identBench(t)
	published, err := graph.Listen[poisemsgs.ServoModels](b.s.graph, "/servo_models_state", graph.SubscribeOptions{QoS: graph.QoS{Depth: 10, Latched: true}})
	if err != nil {
		t.Fatal(err)
	}
	x, _ := b.identify(&poisemsgs.ServoIdentGoal{Resources: []string{"shoulder_lift", "elbow_flex", "wrist_flex"}, Duration: 20})
	end := b.finish(x)
	if end.To != action.Succeeded {
		t.Fatalf("%v: %s", end.To, end.Result.Text())
	}
	if want := []string{"planning", "approach", "delay", "excitation", "return", "fitting"}; !slices.Equal(x.stages, want) {
		t.Errorf("stages %v, want %v", x.stages, want)
	}
	found := edge.ServoIdent.ResultMessage(b.bot.model, &end.Result).(*poisemsgs.ServoIdentResult)
	b.within(found)
	if found.Version != 2 || published.Subscription.Len() != 2 {
		t.Errorf("version %d, %d sets were published", found.Version, published.Subscription.Len())
	}
	for _, j := range found.Joints {
		m := b.bot.models.InForce(b.joint(j.Joint))
		if !j.Published || math.Abs(m.A[1]/hidden["a1"]-1) > 0.03 || m.Kp != 200 || m.Voltage != 7.4 || m.Effort != 1.9 || math.Abs(m.Lead-0.015) > 2e-3 {
			t.Errorf("%s: published %v, in force %+v", j.Joint, j.Published, m)
		}
		if len(j.Time) == 0 || len(j.Time) > 1500 || len(j.Goal) != len(j.Time) || len(j.Position) != len(j.Time) || len(j.Residual) != len(j.Time) {
			t.Errorf("%s: curves of %d, %d, %d and %d points", j.Joint, len(j.Time), len(j.Goal), len(j.Position), len(j.Residual))
		}
	}
	b.saved(found)
	b.sameVerdict(found)
	zero, one := b.tracking(0), b.tracking(1)
	if t.Logf("tracking %.5f rad by cycle 1, %.5f rad by cycle 0: %.2f", one, zero, one/zero); one > 0.25*zero {
		t.Errorf("cycle 1 tracks with %.5f rad, cycle 0 with %.5f rad", one, zero)
	}
	var back uint32
	b.await(func() {
		back, err = b.bot.models.set(t.Context(), "test", &poisemsgs.SetServoModelsRequest{Rollback: true})
	})
	if m := b.bot.models.InForce(b.joint("elbow_flex")); err != nil || back != 3 || m.A[1] != 35 {
		t.Errorf("rollback: version %d, %v, a1 %g", back, err, m.A[1])
	}
}

// within compares verdicts with the servos that the arm has.
func (b *stepped) within(found *poisemsgs.ServoIdentResult) {
	b.t.Helper()
	if len(found.Joints) != 3 || found.Log == "" || found.Models == "" {
		b.t.Fatalf("%d joints, log %q, models %q, %v", len(found.Joints), found.Log, found.Models, found.Notes)
	}
	for _, j := range found.Joints {
		if !j.Accepted || j.RmseBefore < 3*j.Rmse {
			b.t.Errorf("%s: accepted %v %v, errs by %g rad, before by %g", j.Joint, j.Accepted, j.Details, j.Rmse, j.RmseBefore)
		}
		for i, limit := range []float64{0.10, 0.03, 0.08, 0.03} {
			name := []string{"a0", "a1", "a2", "a3"}[i]
			if e := j.Parameters[i]/hidden[name] - 1; !slices.Contains(j.Taken, name) && math.Abs(e) > limit {
				b.t.Errorf("%s: %s is %.4g, want %g: %+.1f %%", j.Joint, name, j.Parameters[i], hidden[name], 100*e)
			}
		}
	}
}

// saved looks at the file of models.
func (b *stepped) saved(found *poisemsgs.ServoIdentResult) {
	b.t.Helper()
	data, err := os.ReadFile(found.Models)
	if err != nil {
		b.t.Fatal(err)
	}
	set, err := modelfile.Read(data, found.Models)
	if err != nil || len(set.Models) != len(found.Joints) {
		b.t.Fatalf("%v, %s", err, data)
	}
	for _, m := range set.Models {
		if x := m.Identified; len(x.Date) != 20 || x.Voltage != 7.4 || x.Temperature != 25 || !(x.RMSE > 0) {
			b.t.Errorf("%s: %+v", m.Name, x)
		}
	}
	again, err := New(b.t.Context(), b.s.cfg, Options{})
	if err != nil {
		b.t.Fatal(err)
	}
	defer again.Close()
	if m := again.robots[0].models.InForce(b.joint("elbow_flex")); math.Abs(m.A[1]/hidden["a1"]-1) > 0.03 {
		b.t.Errorf("after a new start a1 is %g", m.A[1])
	}
}

// sameVerdict fits the log that was kept.
func (b *stepped) sameVerdict(found *poisemsgs.ServoIdentResult) {
	b.t.Helper()
	file, err := os.Open(found.Log)
	if err != nil {
		b.t.Fatal(err)
	}
	defer file.Close()
	log, err := identify.Read(file, found.Log)
	if err != nil {
		b.t.Fatal(err)
	}
	m := b.bot.model
	for _, r := range identify.All(log, nil, m, func(joint string) identify.Options {
		id, _ := m.Joint(joint)
		s := m.Servo(id).Model
		return identify.Options{Kp: s.Kp, Delay: math.NaN(), Gear: s.Gear, Type: s, Voltage: s.Voltage}
	}) {
		k := slices.IndexFunc(found.Joints, func(j poisemsgs.ServoIdentJoint) bool { return j.Joint == r.Joint })
		if k < 0 { // it only carries
			continue
		}
		j := &found.Joints[k]
		if r.Accepted != j.Accepted || math.Abs(float64(r.Parameters.A1)/j.Parameters[1]-1) > 1e-3 || math.Abs(float64(r.RMSE)/j.Rmse-1) > 1e-2 {
			b.t.Errorf("%s: poise ident finds accepted %v, a1 %g, rmse %g; servo_ident %v, %g, %g", r.Joint, r.Accepted, r.Parameters.A1, r.RMSE, j.Accepted, j.Parameters[1], j.Rmse)
		}
	}
}

// await runs something that waits for the cycle.
func (b *stepped) await(f func()) {
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	for {
		select {
		case <-done:
			return
		default:
			b.step()
		}
	}
}

// tracking is the RMS of what joints are off from their command in a motion, by a cycle.
func (b *stepped) tracking(cycle int) float64 {
	b.t.Helper()
	var o executive.Outcome
	b.await(func() { o, _ = waitFor(b.t.Context(), b.bot.exec.SetCycle("test", cycle, nil)) })
	if !o.OK() {
		b.t.Fatal(o.Explanations)
	}
	b.seconds(4, func() {})
	sum, n := 0.0, 0.0
	command := make([]float64, len(b.bot.model.Joints()))
	joints := []string{"shoulder_lift", "elbow_flex", "wrist_flex"}
	for _, way := range []float64{0.4, -0.4} {
		delta := map[string]float64{}
		for _, name := range joints {
			delta[name] = way
		}
		delta["wrist_flex"] = -way // away from its end
		b.follow(2, delta, nil, func() {
			b.bot.exec.View(func(now *loop.Snapshot) {
				for _, name := range joints { // a command is to be reached by the end of its period
					j := b.joint(name)
					e := command[j] - now.Measured.Q[j]
					if n++; n > float64(len(joints)) {
						sum += e * e
					}
				}
				copy(command, now.Command.Q)
			})
		})
	}
	return math.Sqrt(sum / n)
}

// TestServoIdentEndsInEveryStage: cancelled or stopped, whatever it does: with a ramp, and its resources are given
// back.
func TestServoIdentEndsInEveryStage(t *testing.T) { synctest.Test(t, endInEveryStage) }

func endInEveryStage(t *testing.T) {
	b := identBench(t)
	b.settle = nil // the cycle does not wait for what is planned and fitted
	for _, c := range []struct {
		stage string
		stop  bool
	}{{"planning", false}, {"delay", false}, {"excitation", false}, {"excitation", true}, {"fitting", false}} {
		x, id := b.identify(&poisemsgs.ServoIdentGoal{Resources: []string{"wrist_flex"}, Duration: 10})
		for !x.reached(c.stage) {
			if b.step(); x.over() != nil {
				t.Fatalf("%s: over already: %s", c.stage, x.over().Result.Text())
			}
		}
		if c.stage == "delay" || c.stage == "excitation" {
			b.seconds(2.3, func() {})
		}
		if c.stop {
			b.bot.exec.Stop("test", 2)
		} else {
			b.bot.exec.Goals("servo_ident").Cancel("test", id, 0)
		}
		worst := b.ramps(func() bool { return x.over() != nil })
		b.seconds(0.5, func() {})
		end := x.over()
		if (end.To != action.Preempted && end.To != action.Recalled && !c.stop) || c.stop && end.To != action.Aborted {
			t.Errorf("%s, stop %v: ended %v: %s", c.stage, c.stop, end.To, end.Result.Text())
		}
		b.bot.exec.View(func(now *loop.Snapshot) {
			for i := range b.bot.model.Joints() {
				if now.Owner[i] != arbiter.NoClient || math.Abs(now.Command.V[i]) > 1e-6 {
					t.Errorf("%s: joint %d is owned by %d and moves at %g rad/s", c.stage, i, now.Owner[i], now.Command.V[i])
				}
			}
		})
		if worst > 1.05 {
			t.Errorf("%s: accelerations of %.2f times the limits", c.stage, worst)
		}
		if c.stop {
			b.await(func() { _, _ = waitFor(t.Context(), b.bot.exec.Reset("test")) })
		}
	}
}

// ramps steps until something is over, and returns the greatest acceleration of a command over its limit.
func (b *stepped) ramps(over func() bool) (worst float64) {
	dt := b.s.cfg.Loop.Period
	before := make([]float64, len(b.bot.model.Joints()))
	b.bot.exec.View(func(now *loop.Snapshot) { copy(before, now.Command.V) })
	for !over() {
		b.step()
		b.bot.exec.View(func(now *loop.Snapshot) {
			for i := range before {
				l := b.bot.model.Joints()[i].Limits.Acceleration
				if l.Has {
					worst = max(worst, math.Abs(now.Command.V[i]-before[i])/dt/l.Value)
				}
				before[i] = now.Command.V[i]
			}
		})
	}
	return worst
}

// TestServoIdentLooksFirst: what is in the way is told with thing, value and limit, and nothing moves.
func TestServoIdentLooksFirst(t *testing.T) { synctest.Test(t, lookFirst) }

func lookFirst(t *testing.T) {
	b := identBench(t)
	refused := func(g *poisemsgs.ServoIdentGoal, want ...string) {
		t.Helper()
		x, _ := b.identify(g)
		end := b.finish(x)
		text := end.Result.Text()
		if end.To == action.Succeeded {
			t.Errorf("%+v is not refused", g)
		}
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%+v: %q lacks %q", g, text, w)
			}
		}
	}
	if _, err := edge.ServoIdent.Read(b.bot.model, &poisemsgs.ServoIdentGoal{Resources: []string{"wing"}}); err == nil {
		t.Error("a wing is not refused")
	}
	refused(&poisemsgs.ServoIdentGoal{Resources: []string{"arm"}, Amplitude: 4}, "amplitude is 4 rad, must be 0.06 … 1.5")
	refused(&poisemsgs.ServoIdentGoal{Resources: []string{"arm"}, Mounting: "glued"}, `mounting is "glued"`)
	b.bot.exec.Pause("test", "")
	b.seconds(0.2, func() {})
	refused(&poisemsgs.ServoIdentGoal{Resources: []string{"arm"}}, "power", "paused true")
	b.bot.exec.Resume("test", "")
	b.seconds(0.2, func() {})
	b.await(func() { _, _ = waitFor(t.Context(), b.bot.exec.SetTorque("test", false, []string{"gripper"})) })
	b.seconds(0.2, func() {})
	refused(&poisemsgs.ServoIdentGoal{Resources: []string{"gripper"}}, `joint "gripper"`, "torque: it has no torque")
	n := 0
	b.follow(6, map[string]float64{"elbow_flex": 0.3}, nil, func() {
		if n++; n == 300 { // another one has it, and it moves, for three seconds more
			refused(&poisemsgs.ServoIdentGoal{Resources: []string{"elbow_flex"}}, `joint "elbow_flex"`, "controller trajectory has it", "rest: it moves at")
		}
	})
	x, _ := b.identify(&poisemsgs.ServoIdentGoal{Resources: []string{"arm"}, PreFlightOnly: true})
	end := b.finish(x)
	found := edge.ServoIdent.ResultMessage(b.bot.model, &end.Result).(*poisemsgs.ServoIdentResult)
	if end.To != action.Succeeded || len(found.Checks) < 20 || len(found.Plan) != 5 || len(found.Joints) != 0 {
		t.Errorf("%v: %d checks, %d plans", end.To, len(found.Checks), len(found.Plan))
	}
	for _, p := range found.Plan {
		if p.Condition > 30 || p.Quick < 8e-3 || p.Effort > 0.7 {
			t.Errorf("plan %+v", p)
		}
	}
}
