package external

import "math"

// A lost setpoint looks like a force: the joint lags behind its command. Servos do not report the loss, but a
// line that loses readings loses setpoints, too. While it does, the error that the loss of each of the last
// setpoints alone would cause in the tracker is propagated with the tracker's gains. The largest is part of
// the band.
const (
	recent    = 8    // ticks for which a setpoint counts
	lossTime  = 10.0 // s over which losses of readings are averaged
	leastLoss = 2e-4 // share of lost readings from which on setpoints are taken to be lost
	manyLost  = 0.03 // … and from which on three of them at a time
)

// lostGoal is the error of a tracker if one setpoint did not arrive.
type lostGoal struct {
	x     [3]float64 // true position, velocity and torque less those of the tracker
	force float64    // N·m by which the servo then differs in this tick,
	next  float64    // and in the next
}

// losses are those that a joint may have had.
type losses struct {
	goals [recent]lostGoal
	at    int
	last  float64 // goal of the tick before
	has   bool
}

// count averages how many readings are lost.
func (s *Sense) count(sample *Sample) {
	n, lost := 0.0, 0.0
	for i := range s.acts {
		if s.acts[i].known && s.state[i].has {
			if n++; sample.Joints[i].Age > 0 {
				lost++
			}
		}
	}
	if n > 0 {
		s.loss += sample.Dt / (lossTime + sample.Dt) * (lost/n - s.loss)
	}
}

// sent adds the newest goal. Lost, it would leave the servo's ramp at the goal before, and the ramp would go from
// there to the next one: in the mean of either tick it lags by half of the distance.
func (l *losses) sent(goal, stiffness float64) {
	Δ := goal - l.last
	if !l.has {
		Δ = 0
	}
	l.last, l.has = goal, true
	l.at = (l.at + 1) % recent
	l.goals[l.at] = lostGoal{force: -stiffness * Δ / 2, next: -stiffness * Δ / 2}
}

// pass propagates the errors over a period by F of the tracker, corrected by its gain.
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

// rest propagates the errors over a period in which dry friction held the joint.
func (l *losses) rest() {
	for i := range l.goals {
		g := &l.goals[i]
		g.x = [3]float64{2: (1 - holdGain) * g.x[2]}
		g.force, g.next = g.next, 0
	}
}

// most is how much external torque lost setpoints may explain, N·m: the worst of them, or the three worst.
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
