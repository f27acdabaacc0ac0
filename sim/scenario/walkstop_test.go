package scenario

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"poise/gait"
)

// interrupter walks, and does something to the walk at random instants.
type interrupter struct {
	t     *testing.T
	rng   *rand.Rand
	at    float64 // s, of the next turn
	doing int     // what waits to be ended, −1 if nothing does
	done  [5]int  // how often

	q, v  []float64
	steep float64 // largest share of the acceleration limit of a joint
	n     int
}

// What is done to a walk.
const (
	pauses = iota
	slows
	stops2
	cancels
	takesTail
)

// turn is called before every tick.
func (x *interrupter) turn(c *cycle, now float64) {
	x.look(c)
	if now < x.at {
		return
	}
	if x.doing < 0 {
		x.doing = x.rng.IntN(len(x.done))
		x.done[x.doing]++
		x.at = now + 1 + x.rng.Float64()
		switch x.doing {
		case pauses:
			c.exec.Pause("test", "walk")
		case slows:
			c.exec.SetSpeed("test", x.rng.Float64(), "")
		case stops2:
			c.exec.Stop("test", 2)
			x.at = now + 2.2 // the deadline is 2 s
		case cancels:
			c.exec.CancelAll("scenario")
			x.at = now + 2.2
		case takesTail:
			tail, _ := c.r.p.m.Joint("tail_joint1")
			a := happening{what: &Action{Joints: []JointValue{{Joint: "tail_joint1", Value: 0.3 * x.rng.Float64()}}}, joints: []int{int(tail)}, takes: 0.5}
			if err := c.move(&a); err != nil {
				x.t.Fatal(err)
			}
		}
		return
	}
	switch x.doing {
	case pauses:
		c.exec.Resume("test", "walk")
	case slows:
		c.exec.SetSpeed("test", 1, "")
	case stops2, cancels:
		for _, s := range c.exec.State().Controllers {
			if s.Name == "walk" && s.Active {
				x.t.Errorf("%.3f s: it walks 2.2 s after it was stopped", now)
			}
		}
		if x.doing == stops2 {
			c.exec.Reset("test")
		}
	}
	if x.doing == stops2 || x.doing == cancels {
		c.walks = nil
	}
	x.doing = -1
	x.at = now + 0.5 + 2*x.rng.Float64()
	v := gait.Velocity{X: 0.08 * x.rng.NormFloat64(), Y: 0.03 * x.rng.NormFloat64(), Yaw: 0.3 * x.rng.NormFloat64()}
	if err := c.walk(&Action{Velocity: &Velocity{X: v.X, Y: v.Y, Yaw: v.Yaw}, Gait: []string{"crawl", "trot"}[x.rng.IntN(2)]}); err != nil {
		x.t.Fatal(err)
	}
}

// look judges the command: no acceleration beyond the limits.
func (x *interrupter) look(c *cycle) {
	now := c.loop.Command()
	for j, q := range now.Q {
		v := (q - x.q[j]) / c.period
		if l := &c.r.p.m.Joints()[j].Limits; x.n > 2 && l.Acceleration.Has {
			x.steep = max(x.steep, math.Abs(v-x.v[j])/c.period/l.Acceleration.Value)
		}
		x.q[j], x.v[j] = q, v
	}
	x.n++
}

// TestInterruptedWalksInPhysics: pauses, speed overrides, stops of category 2, cancels with a new walk, and goals that take the tail,
// at random instants, with what the plan is not told: no fall, accelerations of joints within their limits, and a walk
// that was stopped is over before the deadline.
func TestInterruptedWalksInPhysics(t *testing.T) {
	seeds, seconds := uint64(1), 14.0
	if os.Getenv("POISE_SOAK") != "" {
		seeds, seconds = 5, 60
	}
	for seed := range seeds {
		x := &interrupter{t: t, rng: rand.New(rand.NewPCG(240, seed)), at: 2, doing: -1, q: make([]float64, 64), v: make([]float64, 64)}
		r := runBy(t, fmt.Sprintf("duration: %g\nperiod: 0.0224\nstart: {pose: stand}\nmodel: {kp: 230, delay: 0.0112%s\ncontrol: {cycle: 1}\n"+
			"do: [{at: 0.1, velocity: {x: 0.1}, gait: trot}]\n", seconds, hard), seed+1, x.turn)
		tilt := r.Figures["tilt"].Greatest
		t.Logf("seed %d: pauses, slow-downs, stops, cancels, tails %v; fallen %v, tilt %.3f rad, accelerations %.2f of their limits; %v", seed+1, x.done, r.Fallen, tilt, x.steep, r.Notes)
		if r.Fallen || tilt > 0.1 || x.steep > 1+1e-6 {
			t.Errorf("seed %d: fallen %v, tilt %g rad, %g of the limits of acceleration", seed+1, r.Fallen, tilt, x.steep)
		}
	}
}
