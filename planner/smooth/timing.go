package smooth

import (
	"errors"
	"slices"

	"poise/planner"
	"poise/trajectory"
	"poise/trajectory/retime"
)

// finish joins the strands of a run, times it and appends it to the motion. If
// the start does not move along the path, or too fast, it is bridged instead.
func (b *builder) finish(strands []*strand) (bridged bool, refusal *planner.Refusal) {
	first, speed := strands[0].first(), 0.0
	if first.cartesian() && moving(first.task) {
		along := false
		if speed, along = startSpeed(strands[0].pieces[0], first.task.StartVelocity); !along {
			return true, b.about(b.bridge(first), first.item)
		}
	}
	pieces, refusal := b.join(strands)
	if refusal != nil {
		return false, refusal
	}
	if p := pieces[0]; p.Curve == nil { // a point-to-point motion is timed already
		took := p.timed.Points[len(p.timed.Points)-1].Time
		b.append(p.timed)
		if !moving(first.task) {
			b.spend(strands[0].legs, 0, took)
		}
		return false, nil
	}
	if !first.cartesian() && moving(first.task) {
		speed = pieces[0].opening * pieces[0].Scale
	}
	run := timedRun{start: speed, period: b.period, stop: b.ctx.Err}
	t, err := b.solve(&run, pieces)
	var fast *retime.SpeedError
	var long *longError
	switch {
	case err != nil && b.ctx.Err() != nil:
		return false, b.about(planner.Stopped(b.ctx), first.item)
	case errors.As(err, &long):
		return false, b.about(tooLong(long.Duration, long.Period), first.item)
	case errors.As(err, &fast) && !fast.End && speed > 0:
		return true, b.about(b.bridge(first), first.item)
	case err != nil:
		return false, b.untimed(&run, err)
	}
	if speed == 0 {
		var legs []*leg
		for _, s := range strands {
			legs = append(legs, s.legs...)
		}
		b.spend(legs, run.sharp, t.Points[len(t.Points)-1].Time)
	}
	took := t.Points[len(t.Points)-1].Time
	at := b.append(t)
	b.slowdowns(&run, at)
	if len(strands) == 1 && len(strands[0].legs) == 1 {
		b.overall(&run, first, at, took)
	}
	return false, nil
}

// rest takes what rounding has left of velocity and acceleration out of a point.
func rest(p *trajectory.Point) {
	clear(p.Velocity)
	clear(p.Acceleration)
}

// append adds a trajectory, which ends at rest, to the motion and returns when it begins there.
func (b *builder) append(t *trajectory.Trajectory) (start float64) {
	out := b.result.Trajectory
	rest(&t.Points[len(t.Points)-1])
	n := len(out.Points)
	if n == 0 {
		out.Points = t.Points
		return 0
	}
	start = out.Points[n-1].Time
	t.Points = t.Points[1:]
	for _, p := range t.Points {
		p.Time += start
		out.Points = append(out.Points, p)
	}
	return start
}

// substantial leaves out pieces so short that their places are no longer different
// numbers; what they would do is below rounding.
func substantial(pieces []*piece) []*piece {
	const share = 1e-10 // of the whole
	total := 0.0
	for _, p := range pieces {
		total += p.Length()
	}
	return slices.DeleteFunc(slices.Clone(pieces), func(p *piece) bool { return len(pieces) > 1 && p.Length() <= share*total })
}

// solve times pieces, with as little room to brake as a moving start needs.
func (b *builder) solve(run *timedRun, pieces []*piece) (out *trajectory.Trajectory, err error) {
	const tries = 7
	for k := range tries {
		run.route = newRoute(b.Model, b.result.Joints, substantial(braking(pieces, run.start, len(b.result.Joints), k)), b.here)
		out, err = run.solve()
		var fast *retime.SpeedError
		if run.start == 0 || !errors.As(err, &fast) || fast.End {
			break
		}
	}
	if err == nil {
		b.deviates(run, out)
	}
	return out, err
}
