package smooth

import (
	"fmt"
	"math"

	"poise/planner"
	"poise/trajectory/retime"
)

// A slowdown is worth a word if it costs this share of the run, and seconds.
const (
	worthShare = 0.01
	worthTime  = 0.005
)

// slowdown is a part of a run on which a limit keeps the motion behind what was
// asked for.
type slowdown struct {
	from, to     float64 // on the route
	limit        retime.Limit
	row          int
	ideal, taken float64 // time, s
}

// slowdowns notes where the law stays behind what was asked for, and why: the
// limits of joints, of rotation and of a link's speed. That the tool's own speed
// and acceleration limit it is what was asked for, and that its joints limit a
// point-to-point motion as well.
func (b *builder) slowdowns(run *timedRun, start float64) {
	r, n := run.route, run.route.Joints()
	var all []slowdown
	for _, s := range run.law.LimitSpans() {
		if s.Limit == retime.None || s.Row == n+wayRow || s.Row < n && !run.route.pieces[r.PieceAt(s.At)].onPath {
			continue
		}
		taken := run.when(s.To) - run.when(s.From)
		x := slowdown{s.From, s.To, s.Limit, s.Row, min(run.ideal(s.From, s.To), taken), taken}
		const gap = 0.03 // of the route: nearer ones are one
		if k := len(all) - 1; k >= 0 && all[k].row == x.row && all[k].limit == x.limit && x.from-all[k].to < gap*r.Length() {
			all[k].to, all[k].ideal, all[k].taken = x.to, all[k].ideal+x.ideal, all[k].taken+x.taken
			continue
		}
		all = append(all, x)
	}
	for _, x := range all {
		if x.taken-x.ideal > max(worthTime, worthShare*run.law.Duration()) {
			b.saySlowed(run, &x, start)
		}
	}
}

func (b *builder) saySlowed(run *timedRun, slowed *slowdown, start float64) {
	r, n := run.route, run.route.Joints()
	p := run.route.pieces[r.PieceAt((slowed.from+slowed.to)/2)]
	note := planner.Note{Kind: planner.Slowed, Time: start + run.when(slowed.from), Limit: slowed.limit.String(), Share: slowed.ideal / slowed.taken,
		From: run.along(slowed.from), To: run.along(slowed.to)}
	whose, unit := "the tool's rotation", "m"
	switch {
	case slowed.row < n:
		note.Joint = b.Model.Joints()[b.result.Joints[slowed.row]].Name
		whose = "joint " + note.Joint
	case slowed.row == n+linkRow:
		whose = "link " + b.Model.Frames()[p.Link].Name
	}
	if !p.onPath {
		unit = "s"
		note.From, note.To = note.Time, start+run.when(slowed.to)
	}
	note.Text = fmt.Sprintf("slowed to %.0f %% from %.3g to %.3g %s by the %s limit of %s", 100*note.Share, note.From, note.To, unit, note.Limit, whose)
	b.note(note, p.legs[0].item)
}

// overall notes a run of one line or arc that takes much longer than it was asked
// to without a place where one limit would be the reason: jerk limits, or many at
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
	at := run.along(place)
	b.note(planner.Note{Kind: planner.Slowed, Time: start + run.when(place), Share: share, From: at, To: at, Limit: "joint",
		Text: fmt.Sprintf("slowed to %.2g %% on the whole by the limits of the joints, most of all %.3g m along the path", 100*share, at)}, l.item)
}

// ideal returns the time that a part of the route would take if only what was
// asked for limited it: speed, and ramps from and to rest.
func (t *timedRun) ideal(from, to float64) (sum float64) {
	const places = 8
	r, n := t.route, t.route.Joints()
	end := r.Length()
	for k := range places {
		s := from + (to-from)*(float64(k)+0.5)/places
		p := t.route.pieces[r.PieceAt(s)]
		row := n + wayRow
		if p.Rate[wayRow] == 0 {
			row = n + turnRow
		}
		v := p.wanted(n)
		if rate := p.Rate[row-n]; p.onPath && rate > 0 {
			v = min(v, math.Sqrt(2*p.Limits.Acceleration[row]/rate*s+t.start*t.start), math.Sqrt(2*p.Limits.Deceleration[row]/rate*(end-s)))
		}
		sum += (to - from) / places / v
	}
	return sum
}

// wanted returns the speed along the route that the leg asks for on a piece.
func (p *piece) wanted(joints int) float64 {
	if !p.onPath {
		return p.pace * p.Scale // a point-to-point motion at its own pace
	}
	if p.Rate[wayRow] > 0 {
		return p.Limits.Velocity[joints+wayRow] / p.Rate[wayRow]
	}
	return p.Limits.Velocity[joints+turnRow] / p.Rate[turnRow]
}

// along returns how far along its own leg a place of the route is.
func (t *timedRun) along(s float64) float64 {
	i := t.route.PieceAt(s)
	p := t.route.pieces[i]
	return p.done + (s-t.route.Breaks()[i])/p.Scale
}
