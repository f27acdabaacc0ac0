package gait

import (
	"math"

	"poise/contact"
)

// horizon is what is expected of the near future.
type horizon struct {
	x, y   [ahead]float64         // reference of the zero-moment point, 1 … ahead points of the grid from now
	body   [ahead/coarse + 1]body // nominal, from now on every coarse points
	mask   [ahead]uint16          // feet that stand, one bit each
	feet   []steps
	hull   contact.Polygon
	points []Point
	region region
}

// coarse is how many points of the grid the nominal body is looked at after.
const coarse = 5

// maxSteps is how many steps of a foot fit into a horizon.
const maxSteps = 10 // ahead·grid/shortestPeriod, and those at its ends

// steps are those of one foot within the horizon, first to last.
type steps struct {
	lift, land [maxSteps]float64
	at         [maxSteps + 1]Point // before the first, and after each
	n          int
}

func (h *horizon) init(legs int) {
	h.feet, h.points = make([]steps, legs), make([]Point, 0, maxLegs)
	h.hull.Hull(make([]Point, maxLegs)) // room
	h.hull.Hull([]Point{{X: 0}, {X: 1}, {X: 2, Y: 1}, {X: 2, Y: 2}, {X: 1, Y: 3}, {X: 0, Y: 3}, {X: -1, Y: 2}, {X: -1, Y: 1}})
}

// bodyAt returns where the nominal body is expected to be at a time.
func (h *horizon) bodyAt(p *Planner, t float64) body {
	k := min(max(int(math.Floor((t-p.last)/(coarse*grid))), 0), ahead/coarse)
	return h.body[k].later(t - p.last - float64(k)*coarse*grid)
}

// centre returns the nominal centre so many points from now.
func (h *horizon) centre(k int) Point {
	i := min(k/coarse, ahead/coarse-1)
	a, b, s := h.body[i].at, h.body[i+1].at, float64(k-i*coarse)/coarse
	return Point{X: a.X + s*(b.X-a.X), Y: a.Y + s*(b.Y-a.Y)}
}

// plan fills in the reference of the zero-moment point.
func (h *horizon) plan(p *Planner) {
	h.body[0] = p.now
	for k := range ahead / coarse {
		h.body[k+1] = h.body[k].next(p.speed(p.last+float64(k)*coarse*grid), p.most, coarse*grid)
	}
	for i := range p.feet {
		h.expect(p, i)
	}
	h.support(p)
	h.refer(p)
}

// expect lists the steps of a foot: the one that is under way, and those that the gait makes if all
// goes on as it is commanded.
func (h *horizon) expect(p *Planner, leg int) {
	f, s := &p.feet[leg], &h.feet[leg]
	s.n, s.at[0] = 0, f.at
	add := func(lift, land float64, to Point) {
		if s.n < maxSteps {
			s.lift[s.n], s.land[s.n], s.at[s.n+1] = lift, land, to
			s.n++
		}
	}
	if w := &f.swing; w.land > w.lift && w.land+crossing > p.last {
		add(w.lift, w.land, w.to)
	}
	if p.listed.on && p.phase == Walks {
		l := &p.listed
		for k := l.next; k < l.n; k++ {
			if lift := l.due + float64(k-l.next)*p.interval(); l.steps[k].Leg == leg && lift < p.last+ahead*grid {
				add(lift, lift+(1-p.gait.Duty)*p.gait.Period, l.steps[k].At)
			}
		}
		return
	}
	end := p.last + ahead*grid
	for lift := f.next; lift < end && s.n < maxSteps; lift = p.following(f, lift) {
		g := p.by(lift)
		land := lift + (1-g.Duty)*g.Period
		from, z := s.at[s.n], f.z
		if s.n > 0 {
			z = p.terrain.height(from)
		}
		to, yaw := p.foothold(f, from, z, h.bodyAt(p, land), h.bodyAt(p, land+g.Duty*g.Period/2))
		if s.n == 0 && p.phase == Walks && !p.wants() && p.placed(f, to, yaw) {
			continue
		}
		add(lift, land, to)
	}
}

// support finds the feet that count at every point of the grid.
func (h *horizon) support(p *Planner) {
	for k := range h.mask {
		h.mask[k] = 1<<len(h.feet) - 1
	}
	for leg := range h.feet {
		s := &h.feet[leg]
		for i := range s.n {
			// those with lift − crossing < t < land + crossing
			from := int(math.Floor((s.lift[i]-crossing-p.last)/grid+1e-6)) + 1
			to := int(math.Ceil((s.land[i]+crossing-p.last)/grid-1e-6)) - 1
			for k := max(from, 1); k <= min(to, ahead); k++ {
				h.mask[k-1] &^= 1 << leg
			}
		}
	}
}

// place returns where a foot stands at a time.
func (h *horizon) place(leg int, t float64) Point {
	s := &h.feet[leg]
	k := 0
	for k < s.n && t >= s.land[k] {
		k++
	}
	return s.at[k]
}

// refer goes through runs of the same supports. Where fewer feet stand than before and after, the
// reference is the nominal centre, projected into their region; where more do, it crosses from the region
// before to the one behind; in between it waits.
func (h *horizon) refer(p *Planner) {
	from, begins := p.from, p.crosses // of the crossing
	first := true
	for k := 0; k < ahead; {
		end := k
		for end < ahead && h.mask[end] == h.mask[k] {
			end++
		}
		switch {
		case h.least(k, end):
			h.allow(p, k)
			for i := k; i < end; i++ {
				at := h.region.nearest(h.centre(i + 1))
				h.x[i], h.y[i] = at.X, at.Y
			}
			from, begins = Point{X: h.x[end-1], Y: h.y[end-1]}, p.last+float64(end)*grid
			if first {
				p.from, p.crosses = Point{X: h.x[0], Y: h.y[0]}, p.last+grid
			}
		case h.greatest(k, end):
			to := h.next(p, end)
			ends := p.last + float64(end)*grid
			for i := k; i < end; i++ {
				s := smoothstep((p.last + float64(i+1)*grid - begins) / (ends + grid - begins))
				h.x[i], h.y[i] = from.X+s*(to.X-from.X), from.Y+s*(to.Y-from.Y)
			}
			from = to
		default:
			for i := k; i < end; i++ {
				h.x[i], h.y[i] = from.X, from.Y
			}
			begins = p.last + float64(end)*grid
			if first {
				p.crosses = p.last + grid
			}
		}
		k, first = end, false
	}
}

// smoothstep goes from 0 to 1 with no slope at its ends.
func smoothstep(s float64) float64 {
	s = min(max(s, 0), 1)
	return s * s * (3 - 2*s)
}

// within reports whether all feet of a stand in b.
func within(a, b uint16) bool { return a&^b == 0 }

// least reports whether the supports of a run are among those before and behind.
func (h *horizon) least(k, end int) bool {
	before := k == 0 || within(h.mask[k], h.mask[k-1])
	behind := end == ahead || within(h.mask[k], h.mask[end])
	if k == 0 && end < ahead && !behind {
		return false
	}
	if k == 0 && end == ahead { // nothing changes
		return true
	}
	if k == 0 && behind {
		return true // it has begun already
	}
	return before && behind
}

// greatest reports whether the supports before and behind are among those of a run.
func (h *horizon) greatest(k, end int) bool {
	return (k == 0 || within(h.mask[k-1], h.mask[k])) && (end == ahead || within(h.mask[end], h.mask[k]))
}

// next returns where the reference is to be when a crossing is over: at the beginning of the next
// run with the fewest feet, or else where all that stand have it.
func (h *horizon) next(p *Planner, from int) Point {
	for k := from; k < ahead; {
		end := k
		for end < ahead && h.mask[end] == h.mask[k] {
			end++
		}
		if h.least(k, end) {
			h.allow(p, k)
			return h.region.nearest(h.centre(k + 1))
		}
		k = end
	}
	h.allow(p, ahead-1)
	return h.region.nearest(h.centre(ahead))
}

// allow sets the region of the feet that stand in a sample.
func (h *horizon) allow(p *Planner, k int) {
	t := p.last + float64(k+1)*grid
	h.points = h.points[:0]
	for i := range h.feet {
		if h.mask[k]&(1<<i) != 0 {
			h.points = append(h.points, h.place(i, t))
		}
	}
	h.hull.Hull(h.points)
	h.region.shrink(&h.hull, p.cfg.Margin)
}
