package executive

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"poise/action"
	"poise/control/follow"
	"poise/control/swing"
	"poise/loop"
	"poise/loop/runner"
	"poise/planner"
	"poise/planner/pipeline"
	"poise/robot/load"
	"poise/servo/sim"
	"poise/trajectory"
)

// tally counts the ends of goals.
type tally struct {
	sync.Mutex
	asked, ended int
	ends         map[string]int
	twice        []string
	seen         map[GoalID]bool
}

func newTally() *tally { return &tally{ends: map[string]int{}, seen: map[GoalID]bool{}} }

func (c *tally) watch() Watch {
	c.Lock()
	c.asked++
	c.Unlock()
	over := false
	return Watch{Changed: func(ch Change) {
		c.Lock()
		defer c.Unlock()
		if over {
			c.twice = append(c.twice, fmt.Sprintf("%v: %v after its end", ch.Goal, ch.To))
		}
		if ch.To.Terminal() {
			over = true
			c.ended++
			c.ends[ch.To.String()+", "+ch.Cause.String()]++
		}
	}, Feedback: func(f Feedback) {
		c.Lock()
		defer c.Unlock()
		if over {
			c.twice = append(c.twice, fmt.Sprintf("%v: feedback after its end", f.Goal))
		}
	}}
}

// storm does one random thing.
func (r *rig) storm(rng *rand.Rand, c *tally) {
	joints := []string{r.headJoint(), "tail_joint1", "ear_l_joint", "mouth_joint", "joint11"}
	submit := func(id action.ID, g Goal) { r.e.Submit("storm", id, action.Time(r.n), g, c.watch()) }
	switch k := rng.IntN(100); {
	case k < 45:
		g := r.nod(joints[rng.IntN(len(joints))], 0.3*rng.Float64()-0.2)
		g.Points[1].Time, g.Points[2].Time = 0.2+rng.Float64(), 1.5+rng.Float64()
		submit("", &Follow{Goal: g, Append: rng.IntN(5) == 0, Return: rng.IntN(5) == 0})
	case k < 55:
		name := []string{"swing", "sway"}[rng.IntN(2)]
		submit("", &Operational{Controller: name, On: rng.IntN(3) > 0, Resources: [][]string{nil, {"head"}, {"tail", "ears"}}[rng.IntN(3)]})
	case k < 60:
		submit("", &Perform{Controller: "swing", Program: r.randomSwing(rng), Duration: 0.2})
	case k < 64:
		submit("", &Follow{Goal: follow.Goal{Joints: []string{"nose"}, Points: []trajectory.Point{{Position: []float64{1}}}}})
	case k < 68:
		submit("", &Follow{Goal: r.nod(joints[0], 3)})
	case k < 72:
		submit("", &Move{Question: pipeline.Question{Items: []planner.Item{{Request: planner.Request{Command: planner.PTP, Group: "tail"}}}}})
	case k < 84:
		r.e.Cancel("storm", []string{"follow", "perform", "swing/set_operational", "sway/set_operational"}[rng.IntN(4)], "", action.Time(uint64(rng.IntN(2))*r.n))
	case k < 88:
		r.e.Stop("storm", uint8(rng.IntN(3)))
	case k < 94:
		r.e.Reset("storm")
		r.e.Power("storm", true)
	case k < 95:
		r.e.Power("storm", false)
	case k < 96:
		r.e.SwitchControllers("storm", Switch{Stop: []string{"trajectory_2"}})
		r.e.SwitchControllers("storm", Switch{Start: []string{"trajectory_2", "sway", "swing"}})
	case k < 97:
		r.failer.panics = !r.failer.panics
	case k < 98:
		r.e.Pause("storm", "")
	case k < 99:
		r.e.Resume("storm", "")
	default:
		r.e.SetSpeed("storm", 2*rng.Float64(), "")
	}
}

func (r *rig) randomSwing(rng *rand.Rand) (p *swing.Program) {
	r.e.View(func(s *loop.Snapshot) { p = r.swing(r.set("head"), s, 0.2*rng.Float64()) })
	return p
}

// TestStormsEndEveryGoalOnce throws random goals, cancels, stops, faults and
// switches at the robot, with little room for orders: every goal ends exactly once,
// and no report is lost.
func TestStormsEndEveryGoalOnce(t *testing.T) {
	goals := 10_000
	if testing.Short() {
		goals = 120
	}
	for seed := uint64(1); goals > 0; seed++ {
		rng := rand.New(rand.NewPCG(seed, 99))
		r := newRig(t, parts{orders: 16, period: 0.005})
		c := newTally()
		for c.asked < 2500 && c.asked < goals {
			for range rng.IntN(4) {
				r.storm(rng, c)
			}
			if rng.IntN(50) == 0 { // a burst, without a pump for a while
				for range 40 {
					r.storm(rng, c)
				}
				for range rng.IntN(20) {
					r.step()
				}
			}
			r.checks = false // judged elsewhere: a pump that sleeps misses ticks
			r.run(1 + rng.IntN(30))
		}
		r.e.Resume("storm", "")
		r.e.SetSpeed("storm", 1, "")
		r.e.CancelAll("storm")
		r.until(10, "the end of all goals", func() bool { return c.ended == c.asked })
		r.seconds(1)
		if c.ended != c.asked || len(c.twice) > 0 {
			t.Fatalf("seed %d: %d goals, %d ends, %v", seed, c.asked, c.ended, c.twice)
		}
		st := r.e.State()
		if len(st.Goals) > 0 || len(r.e.goals.ordered) > 0 || len(r.e.goals.live) > 0 || st.Lost > 0 {
			t.Fatalf("seed %d: left behind: %+v", seed, st.Goals)
		}
		if n := len(r.e.orders.commands); n > 0 {
			t.Fatalf("seed %d: %d commands without an answer", seed, n)
		}
		t.Logf("seed %d: %d goals: %v", seed, c.asked, c.ends)
		goals -= c.asked
	}
}

// TestManyCallersAtOnce drives a running robot from many goroutines: for the race
// detector, and for the promise that every goal and every command is answered.
func TestManyCallersAtOnce(t *testing.T) {
	bot, err := load.Robot("pony", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := bot.Model
	bus := sim.New(sim.Config{Servos: make([]sim.Servo, len(m.Joints())), Seed: 1})
	l, err := loop.New(loop.Config{Model: m, Bus: bus, Settings: loop.Settings{Policy: 1}, Controllers: []loop.Registration{
		{Name: "a", Kind: "follow", Controller: follow.New(m)}, {Name: "b", Kind: "follow", Controller: follow.New(m)}}})
	if err != nil {
		t.Fatal(err)
	}
	var seen atomic.Uint64
	e, err := New(Config{Model: m, Loop: l, Controllers: []Controller{{Name: "a", Kind: "follow"}, {Name: "b", Kind: "follow"}},
		Snapshot: func(s *loop.Snapshot) time.Duration { seen.Store(s.Tick.N); return 0 }, Patience: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	run, err := runner.New(runner.Config{Members: []runner.Member{{Loop: l, Period: 2 * time.Millisecond}}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var both sync.WaitGroup
	both.Go(func() { _ = run.Run(ctx) })
	both.Go(func() { e.Run(ctx) })
	for seen.Load() < 3 {
		time.Sleep(time.Millisecond)
	}
	<-e.Power("test", true).Done()
	c := newTally()
	var callers sync.WaitGroup
	for i := range 8 {
		callers.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(i), 5))
			joint := m.Joints()[24+rng.IntN(4)].Name
			for range 25 {
				q := 0.0
				e.View(func(s *loop.Snapshot) { id, _ := m.Joint(joint); q = s.Command.Q[id] })
				g := follow.Goal{Joints: []string{joint}, Points: []trajectory.Point{{Time: 0.05, Position: []float64{q - 0.001}}}}
				e.Submit("caller", "", 0, &Follow{Goal: g}, c.watch())
				switch rng.IntN(6) {
				case 0:
					e.Cancel("caller", "follow", "", 0)
				case 1:
					<-e.CheckGoal("caller", &Follow{Goal: g}).Done()
				case 2:
					e.State()
				case 3:
					<-e.SetSpeed("caller", 1, "").Done()
				}
				time.Sleep(time.Duration(rng.IntN(4)) * time.Millisecond)
			}
		})
	}
	callers.Wait()
	stop()
	both.Wait()
	c.Lock()
	defer c.Unlock()
	if c.ended != c.asked || len(c.twice) > 0 {
		t.Errorf("%d goals, %d ends, %v", c.asked, c.ended, c.twice)
	}
	if os.Getenv("CI") == "" {
		t.Log(c.ends)
	}
}
