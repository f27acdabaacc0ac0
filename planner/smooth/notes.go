package smooth

import (
	"fmt"
	"sort"

	"poise/planner"
	"poise/trajectory/retime"
)

// worth is the share of the wanted speed from which on a slowdown is worth a word.
const worth = 0.995

// slowdowns notes where the law stays behind what was asked for, and why: the
// limits of joints, of rotation and of a link's speed. That the tool's own speed
// and acceleration limit it is what was asked for.
func (b *builder) slowdowns(run *timedRun, start float64) {
	r, n := run.route, len(run.route.joints)
	for _, s := range run.law.Stretches() {
		if s.Limit == retime.None || s.Row == n+wayRow {
			continue
		}
		if s.Row < n && !r.pieces[r.pieceAt(s.At)].onPath {
			continue // so it is with a point-to-point motion: its joints are what is limited
		}
		from, to := run.when(s.From), run.when(s.To)
		if to-from < b.period {
			continue
		}
		i := r.pieceAt(s.At)
		p := r.pieces[i]
		wanted := p.wanted(n)
		speed := s.Slowest
		if s.At == r.breaks[0] || s.At == r.breaks[len(r.breaks)-1] {
			speed = max(run.speed(from), run.speed(to)) // a ramp is as fast as its fast end
		}
		share := speed / wanted
		if share > worth {
			continue
		}
		note := planner.Note{Kind: planner.Slowed, Time: start + from, Limit: s.Limit.String(), Share: share,
			From: r.along(s.From), To: r.along(s.To)}
		whose := "the tool's rotation"
		switch {
		case s.Row < n:
			note.Joint = b.Model.Joints()[r.joints[s.Row]].Name
			whose = "joint " + note.Joint
		case s.Row == n+linkRow:
			whose = "link " + b.Model.Frames()[p.link].Name
		}
		unit := "m"
		if !p.onPath {
			unit = "s"
			note.From, note.To = start+from, start+to
		}
		note.Text = fmt.Sprintf("slowed to %.0f %% from %.3g to %.3g %s by the %s limit of %s", 100*share, note.From, note.To, unit, note.Limit, whose)
		b.note(note, p.legs[0].item)
	}
}

// overall notes a run of one line or arc that takes longer than it was asked to
// without a place where one limit would be the reason: jerk limits, or many at
// once.
func (b *builder) overall(run *timedRun, l *leg, start, took float64) {
	const much = 0.9
	share := b.trapezoid(l) / took
	if !l.cartesian() || share > much {
		return
	}
	for _, n := range b.result.Notes {
		if n.Kind == planner.Slowed && n.Time >= start {
			return
		}
	}
	// the slowest place between the ramps
	slowest, place, n := inf, 0.0, run.law.Nodes()
	for i := n / 4; i < n-n/4; i++ {
		t, s := run.law.Node(i)
		if v := run.speed(t); v < slowest {
			slowest, place = v, s
		}
	}
	b.note(planner.Note{Kind: planner.Slowed, Time: start + run.when(place), Share: share, From: run.route.along(place), To: run.route.along(place), Limit: "joint",
		Text: fmt.Sprintf("slowed to %.2g %% on the whole by the limits of the joints, most of all %.3g m along the path", 100*share, run.route.along(place))}, l.item)
}

// wanted returns the speed along the route that the leg asks for on a piece.
func (p *piece) wanted(joints int) float64 {
	if !p.onPath {
		return p.pace * p.scale // a point-to-point motion at its own pace
	}
	if p.rate[wayRow] > 0 {
		return p.limits.Velocity[joints+wayRow] / p.rate[wayRow]
	}
	return p.limits.Velocity[joints+turnRow] / p.rate[turnRow]
}

// along returns how far along its own leg a place of the route is.
func (r *route) along(s float64) float64 {
	i := r.pieceAt(s)
	p := r.pieces[i]
	return p.done + (s-r.breaks[i])/p.scale
}

func (r *route) pieceAt(s float64) int {
	return min(max(sort.SearchFloat64s(r.breaks, s)-1, 0), len(r.pieces)-1)
}

// when returns the time at which the law is at s.
func (t *timedRun) when(s float64) float64 {
	i := sort.Search(t.law.Nodes(), func(i int) bool { _, at := t.law.Node(i); return at >= s })
	time, _ := t.law.Node(min(i, t.law.Nodes()-1))
	return time
}

// speed returns the path speed at a time.
func (t *timedRun) speed(time float64) float64 {
	_, v, _ := t.law.At(time)
	return v
}
