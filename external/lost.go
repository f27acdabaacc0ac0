package external

import "math"

// A setpoint that gets lost looks like a force: the joint stays behind where it was sent. That it is lost is not told; but a line that
// loses readings loses setpoints, too. As long as it does, each setpoint of the last ticks is thought of as lost, one at a time, and what
// the tracker would then be off by is followed with the gains of the tracker. Within that nothing is felt.
const (
	thought   = 8    // ticks for which a setpoint counts
	lossTime  = 10.0 // s over which losses of readings are averaged
	leastLoss = 2e-4 // share of readings from which on a line loses
	manyLost  = 0.03 // … and from which on three at a time count
)

// lostGoal is by how much a tracker is off if one setpoint did not arrive.
type lostGoal struct {
	x     [3]float64 // true position, velocity and torque less those of the tracker
	force float64    // N·m by which the servo then differs in this tick,
	next  float64    // and in the next
}

// losses are those that a joint may have had.
type losses struct {
	goals [thought]lostGoal
	at    int
	last  float64 // goal of the tick before
	has   bool
}

// count averages how many readings are lost.
func (s *Sense) count(x *Sample) {
	n, lost := 0.0, 0.0
	for i := range s.acts {
		if s.acts[i].known && s.state[i].has {
			if n++; x.Joints[i].Age > 0 {
				lost++
			}
		}
	}
	if n > 0 {
		s.loss += x.Dt / (lossTime + x.Dt) * (lost/n - s.loss)
	}
}

// sent thinks of the newest goal as lost. The ramp of the servo then stays at the goal before, and goes from there to the next one: in
// the mean of either tick it is half the way behind.
func (l *losses) sent(goal, stiffness float64) {
	Δ := goal - l.last
	if !l.has {
		Δ = 0
	}
	l.last, l.has = goal, true
	l.at = (l.at + 1) % thought
	l.goals[l.at] = lostGoal{force: -stiffness * Δ / 2, next: -stiffness * Δ / 2}
}

// pass lets a period pass by F of the tracker, corrected by its gain.
func (l *losses) pass(F *[3][3]float64, K *[3]float64) {
	for i := range l.goals {
		g := &l.goals[i]
		var y [3]float64
		for a := range y {
			y[a] = F[a][0]*g.x[0] + F[a][1]*g.x[1] + F[a][2]*g.x[2]
			if a < 2 {
				y[a] += F[a][2] * g.force
			}
		}
		e := y[0]
		for a := range y {
			g.x[a] = y[a] - K[a]*e
		}
		g.force, g.next = g.next, 0
	}
}

// rest lets a period pass in which dry friction held the joint.
func (l *losses) rest() {
	for i := range l.goals {
		g := &l.goals[i]
		g.x = [3]float64{2: (1 - holdGain) * g.x[2]}
		g.force, g.next = g.next, 0
	}
}

// most is what lost setpoints may explain of the torque that is felt, N·m: the worst of them, or the three worst.
func (l *losses) most(share float64) (sum float64) {
	var worst [3]float64
	for i := range l.goals {
		w := math.Abs(l.goals[i].x[2])
		for k := range worst {
			if w > worst[k] {
				w, worst[k] = worst[k], w
			}
		}
	}
	if share > manyLost {
		return worst[0] + worst[1] + worst[2]
	}
	return worst[0]
}
