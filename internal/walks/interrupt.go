package walks

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"poise/action"
	"poise/control/follow"
	"poise/control/walk"
	"poise/executive"
	"poise/gait"
	"poise/loop"
	"poise/robot"
	"poise/spatial"
	"poise/trajectory"
)

// Command is a velocity and a gait from some time on.
type Command struct {
	At   float64 // s
	V    gait.Velocity
	Gait string
}

// Jumping are commands for some seconds that change at random instants; one in five asks for a stand, one for what is far beyond what is
// possible. For the last four seconds the robot is to stand.
func Jumping(rng *rand.Rand, seconds float64) (all []Command) {
	const stands = 4
	for at := 0.1; at < seconds-stands; at += 0.2 + 2*rng.Float64() {
		v := gait.Velocity{X: 0.1 * rng.NormFloat64(), Y: 0.05 * rng.NormFloat64(), Yaw: 0.5 * rng.NormFloat64()}
		switch rng.IntN(5) {
		case 0:
			v = gait.Velocity{}
		case 1:
			v.X, v.Yaw = 1e5*rng.NormFloat64(), 1e4
		}
		all = append(all, Command{At: at, V: v, Gait: []string{"crawl", "trot", "amble"}[rng.IntN(3)]})
	}
	return append(all, Command{At: seconds - stands, Gait: "crawl"})
}

// What is done to a walk.
const (
	pauses    = iota
	slows     // by the speed override
	stops     // of category 2
	cancels   // and a new walk follows
	replaces  // by a walk to a place, which a new walk replaces
	takesTail // by a goal that moves it
	losesTail // it has no torque
	dies      // the stream of velocities ends
	nonsense  // velocities that are no numbers
	kinds
)

// Interrupter walks a pony, and does something to the walk at random instants.
type Interrupter struct {
	Done   [kinds]int // how often: pauses, speed overrides, stops, cancels, walks to a place, tails taken and lost, streams that die, and such of no numbers
	Limits *Limits    // as far as joints have torque
	Ended  []string   // goals that were aborted, other than by a stop, or refused, and why

	t     testing.TB
	m     *robot.Model
	exec  *executive.Executive
	loop  *loop.Loop
	rng   *rand.Rand
	tail  []robot.JointID
	doing int     // what waits to be ended, −1 if nothing does
	next  float64 // s, of the next turn
	first int64   // time of the first tick, ns
	begun bool
	goals int
	v     gait.Velocity
	gait  string
	mute  bool // it is told no velocity
}

// Interrupt begins to walk a robot that has its torque. Before must then be called before every tick.
func Interrupt(t testing.TB, m *robot.Model, exec *executive.Executive, l *loop.Loop, period float64, rng *rand.Rand) *Interrupter {
	t.Helper()
	x := &Interrupter{Limits: NewLimits(m, period), t: t, m: m, exec: exec, loop: l, rng: rng, doing: -1, next: 2, v: gait.Velocity{X: 0.1}, gait: "trot"}
	tail, ok := m.Group("tail")
	if !ok {
		t.Fatal("no tail")
	}
	x.tail = m.Groups()[tail].Joints
	x.walk()
	return x
}

// Before is called before every tick, with its time, ns.
func (x *Interrupter) Before(at int64) {
	x.t.Helper()
	if !x.begun {
		x.begun, x.first = true, at
	}
	x.Limits.Look(x.loop.Command().Q, func(j robot.JointID) bool { return x.doing == losesTail && slices.Contains(x.tail, j) })
	if now := float64(at-x.first) * 1e-9; now >= x.next {
		if x.doing < 0 {
			x.begin(now)
		} else {
			x.end(now)
		}
	}
	if x.mute {
		return
	}
	v := x.v
	if x.doing == nonsense {
		v = gait.Velocity{X: math.NaN(), Y: math.Inf(1), Yaw: math.Inf(-1)}
	}
	x.exec.Lead("walk", &walk.Velocity{At: at, Velocity: v})
	x.exec.Lead("walk", &walk.Choice{At: at, Gait: x.gait})
}

// begin does something to the walk.
func (x *Interrupter) begin(now float64) {
	const deadline = 2.2 // s, of a stop that ends in a stand, and a margin
	x.doing = x.rng.IntN(kinds)
	x.Done[x.doing]++
	x.next = now + 1 + x.rng.Float64()
	switch x.doing {
	case pauses:
		x.exec.Pause("test", "walk")
	case slows:
		x.exec.SetSpeed("test", x.rng.Float64(), "")
	case stops:
		x.exec.Stop("test", 2)
		x.next = now + deadline
	case cancels:
		x.exec.CancelAll("test")
		x.next = now + deadline
	case replaces:
		sin, cos := math.Sincos(2 * math.Pi * x.rng.Float64())
		x.mute = true
		x.submit(&executive.WalkTo{To: spatial.Pose{R: spatial.Identity3, P: spatial.Vec3{X: 0.2 * cos, Y: 0.2 * sin}}, InBase: true})
	case takesTail:
		goal := follow.Goal{GoalTime: -1, Joints: []string{x.m.Joints()[x.tail[0]].Name}}
		goal.Points = []trajectory.Point{{Time: 0.5, Position: []float64{0.3 * x.rng.Float64()}, Velocity: []float64{0}, Acceleration: []float64{0}}}
		x.submit(&executive.Follow{Goal: goal})
	case losesTail:
		x.exec.SetTorque("test", false, []string{"tail"})
	case dies:
		x.mute = true
	}
}

// end ends what was done; it walks on, otherwise.
func (x *Interrupter) end(now float64) {
	x.t.Helper()
	switch x.doing {
	case pauses:
		x.exec.Resume("test", "walk")
	case slows:
		x.exec.SetSpeed("test", 1, "")
	case stops, cancels:
		for _, s := range x.exec.State().Controllers {
			if s.Name == "walk" && s.Active {
				x.t.Errorf("%.3f s: it walks though it was stopped", now)
			}
		}
		if x.doing == stops {
			x.exec.Reset("test")
		}
		x.walk()
	case replaces:
		x.walk()
	case losesTail:
		x.exec.SetTorque("test", true, []string{"tail"})
	}
	x.doing, x.mute = -1, false
	x.next = now + 0.5 + 2*x.rng.Float64()
	x.v = gait.Velocity{X: 0.08 * x.rng.NormFloat64(), Y: 0.03 * x.rng.NormFloat64(), Yaw: 0.3 * x.rng.NormFloat64()}
	x.gait = []string{"crawl", "trot"}[x.rng.IntN(2)]
}

// walk switches the controller on.
func (x *Interrupter) walk() {
	x.t.Helper()
	x.submit(&executive.Operational{Controller: "walk", On: true})
}

func (x *Interrupter) submit(g executive.Goal) {
	x.t.Helper()
	x.goals++
	_, err := x.exec.Submit("test", action.ID(fmt.Sprintf("interrupted-%d", x.goals)), 0, g, executive.Watch{Changed: func(c executive.Change) {
		if (c.To == action.Aborted || c.To == action.Rejected) && x.doing != stops {
			x.Ended = append(x.Ended, fmt.Sprintf("%s: %v: %s", g.Action(), c.To, c.Result.Text()))
		}
	}})
	if err != nil {
		x.t.Errorf("%s: %v", g.Action(), err)
	}
}
