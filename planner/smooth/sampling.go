package smooth

import (
	"fmt"
	"math"

	"poise/planner"
	"poise/planner/path"
	"poise/robot"
	"poise/spatial"
	"poise/trajectory"
)

// Even samples that are smoothed cost up to three periods in time. With a long
// period that is a lot; then samples are taken more finely than asked for, by a
// whole factor, until a run is not longer than this share and one period beyond
// the plain trapezoid for it, which is what Pilz would take.
const (
	dearest  = 1.01
	finest   = 0.25e-3 // s: no need to divide shorter periods for that
	maxFiner = 1000
	rounds   = 8 // of finer and finer sampling
)

// How much coarser samples of long sequences may be: a period more for so many items.
const itemsPerPeriod = 200

// coarser returns how many periods samples of so many items are apart.
func (p *Planner) coarser(items int) int {
	if !p.Coarser {
		return 1
	}
	return 1 + (items-1)/itemsPerPeriod
}

// tooLong refuses a motion that has more samples than any memory should hold.
func tooLong(duration, period float64) *planner.Refusal {
	if duration <= maxSamples*period {
		return nil
	}
	why := bad("the motion would last %.4g s and have more than %d samples every %g s", duration, maxSamples, period)
	why.Value, why.Limit = duration/period, maxSamples
	return why.With("sample less finely, or raise the scaling factors")
}

// finer asks for a sampling that is finer than the present one by a factor.
func (b *builder) finer(by float64, why string) {
	k := min(max(math.Ceil(float64(b.factor)*by), float64(b.factor+1)), maxFiner)
	if int(k) > b.wanted {
		b.wanted, b.reason = int(k), why
	}
}

// spend looks at the time that a run takes beyond the law that was smoothed, and
// beyond a trapezoid for a single leg. Jerk limits cost what they cost.
func (b *builder) spend(legs []*leg, law, took float64) {
	ref := law
	if len(legs) == 1 {
		ref = max(ref, b.trapezoid(legs[0]))
	}
	share := b.sampling() / float64(b.runs)
	if h := b.period; b.coarse == 1 && b.round < 3 && !b.jerky() && ref > 0 && h > finest && took > dearest*ref+share {
		b.finer(max(1.5, 3*h/((dearest-1)*ref+share)), "so that even samples cost no time")
	}
}

// jerky reports whether some joint of the motion has a jerk limit.
func (b *builder) jerky() bool {
	for _, j := range b.result.Joints {
		if b.Model.Joints()[j].Limits.Jerk.Has {
			return true
		}
	}
	return false
}

// trapezoid returns how long the leg would take with a plain trapezoid of speed:
// of the tool's, translation and rotation coupled, or of the joint with the
// longest way under the strictest limits of the group.
func (b *builder) trapezoid(l *leg) float64 {
	t := l.task
	if l.cartesian() {
		length := 0.0
		for _, p := range l.parts {
			x, n := p.At(0), p.Length()
			length += max(n*x.D1.Linear.Norm(), n*x.D1.Angular.Norm()*l.tool.Speed/l.tool.Turning)
		}
		a := l.tool.Acceleration * t.AccelerationScaling
		return ramps(length, l.tool.Speed*t.VelocityScaling, a, a)
	}
	v, a, d, far := inf, inf, inf, 0.0
	for k, j := range t.Joints {
		x := &b.Model.Joints()[j].Limits
		v, a = min(v, scale(x.Velocity, t.VelocityScaling)), min(a, scale(x.Acceleration, t.AccelerationScaling))
		d = min(d, scale(planner.Deceleration(x), t.AccelerationScaling))
		far = max(far, math.Abs(l.transfer.End(k)-l.transfer.Start(k)))
	}
	return ramps(far, v, a, d)
}

// ramps returns the time over a distance from rest to rest.
func ramps(distance, v, a, d float64) float64 {
	brake := v * v / 2 * (1/a + 1/d)
	if distance > brake {
		return v/a + v/d + (distance-brake)/v
	}
	v = math.Sqrt(2 * distance * a * d / (a + d))
	return v/a + v/d
}

// deviates looks how far the quintic through samples leads away from the motion
// that is sampled, half way between them: where it is farthest.
func (b *builder) deviates(run *timedRun, out *trajectory.Trajectory) {
	link, h, r := b.result.Group.Tip, b.period, run.route
	if l := run.route.pieces[0].legs[0]; l.cartesian() {
		link = l.task.Link
	}
	if link == robot.NoFrame || b.closeAnyway(run, link) {
		return
	}
	n := r.Joints()
	row := make([]float64, 3*(n+measures))
	q, dq, ddq := row[:n+measures], row[n+measures:2*(n+measures)], row[2*(n+measures):]
	mid := make([]float64, n)
	worst := 0.0
	for i := 1; i < len(out.Points); i++ {
		from, to := &out.Points[i-1], &out.Points[i]
		s := run.half(i - 1)
		r.StateTo(q, dq, ddq, r.PieceAt(s), s)
		off := 0.0
		for j := range n {
			mid[j] = (from.Position[j]+to.Position[j])/2 + 5*h/32*(from.Velocity[j]-to.Velocity[j]) + h*h/64*(from.Acceleration[j]+to.Acceleration[j])
			off = max(off, math.Abs(mid[j]-q[j]))
		}
		if off < 1e-3*b.deviation() { // no arm is so long
			continue
		}
		X, Y := b.tipAt(q[:n], link), b.tipAt(mid, link)
		worst = max(worst, X.P.Sub(Y.P).Norm()/b.deviation(), path.TurnBetween(X.R, Y.R).Angle/b.turn())
	}
	if worst > 1 {
		b.off = worst
		b.finer(math.Pow(worst, 1.0/3)*1.1, "to stay near the path between samples")
	}
}

// closeAnyway reports whether samples are so dense that no curve within the
// limits of acceleration can lead away from the path: two that share their ends
// differ by at most A·h²/4 if neither accelerates by more than A.
func (b *builder) closeAnyway(run *timedRun, link robot.FrameID) bool {
	sum := 0.0
	for j := range run.route.Joints() {
		a := 0.0
		for _, p := range run.route.pieces {
			a = max(a, p.Limits.Acceleration[j], p.Limits.Deceleration[j])
		}
		sum += a * b.period * b.period / 4
	}
	return sum <= b.turn() && sum*b.reach(link) <= b.deviation()
}

// reach bounds how far a link can be from any joint that carries it, at least 1 m
// so that sliders count too.
func (b *builder) reach(link robot.FrameID) float64 {
	f := b.Model.Frames()[link]
	sum := f.Pose.P.Norm()
	for body := f.Body; body != robot.World; body = b.Model.Bodies()[body].Parent {
		x := &b.Model.Bodies()[body]
		sum += x.Rest.P.Norm()
	}
	for _, j := range b.result.Joints {
		if joint := &b.Model.Joints()[j]; joint.Kind == robot.Prismatic {
			sum += math.Abs(joint.Limits.Lower.Value) + math.Abs(joint.Limits.Upper.Value)
		}
	}
	return max(sum, 1)
}

// tipAt returns where a link is with the group's joints at q.
func (b *builder) tipAt(q []float64, link robot.FrameID) spatial.Pose {
	copy(b.q, b.here)
	for k, j := range b.result.Joints {
		b.q[b.Model.Joints()[j].Q] = q[k]
	}
	return b.pose(b.q, link)
}

// sayFiner notes that samples are finer than asked for, or coarser.
func (b *builder) sayFiner(item int) {
	switch {
	case b.period > b.sampling():
		b.note(planner.Note{Kind: planner.Coarser, Share: b.period / b.sampling(),
			Text: fmt.Sprintf("sampled every %.4g s instead of %.4g s: the sequence has many items", b.period, b.sampling())}, item)
	case b.factor > b.coarse:
		b.note(planner.Note{Kind: planner.Finer, Share: b.period / b.sampling(),
			Text: fmt.Sprintf("sampled every %.4g s instead of %.4g s, %s", b.period, b.sampling(), b.reason)}, item)
	}
}
