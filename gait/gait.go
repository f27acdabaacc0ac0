package gait

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"poise/contact"
	"poise/problem"
	"poise/robot/description"
)

// Point is a place on the ground, m.
type Point = contact.Point

// Gait is a pattern of steps.
type Gait struct {
	Name   string    `json:"name"`
	Period float64   `json:"period"`          // s
	Duty   float64   `json:"duty"`            // share of the period that a foot stands
	Phase  []float64 `json:"phase"`           // [legs] when each foot is lifted, as a share of the period
	Lift   float64   `json:"lift"`            // of a foot, m
	Rise   float64   `json:"rise"`            // share of a swing in which a foot goes up; 0 is half of it
	Over   float64   `json:"over"`            // share of a swing after which it is over its place; 0 is all of it
	Most   float64   `json:"most"`            // speed of a foot that stands at most, m/s; 0 is what its reach allows
	Always bool      `json:"always"`          // it steps in place where nothing is commanded, rather than stand
	Given  bool      `json:"given,omitempty"` // its period or duty was given, not derived
}

// most legs, steps and corners that a plan has room for.
const maxLegs = 8

// Crawl returns the gait that lifts one foot at a time, in an order of legs, evenly spread.
func Crawl(order []int, period, duty, lift float64) Gait {
	g := Gait{Name: "crawl", Period: period, Duty: duty, Lift: lift, Phase: make([]float64, len(order))}
	for k, leg := range order {
		g.Phase[leg] = float64(k) / float64(len(order))
	}
	return g
}

// Order returns the order in which a crawl lifts feet at such places: on the left from the back to the
// front, then on the right. Each foot comes down just ahead of the next that is lifted.
func Order(legs []Point) []int {
	order := make([]int, len(legs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if left, other := legs[a].Y > 0, legs[b].Y > 0; left != other {
			if left {
				return -1
			}
			return 1
		}
		return cmp.Compare(legs[a].X, legs[b].X)
	})
	return order
}

// Trot returns the gait that lifts every second foot, counted around the body, and then the others:
// diagonal pairs of four legs, tripods of six, one foot after the other of two.
func Trot(legs []Point, period, duty, lift float64) Gait {
	g := Gait{Name: "trot", Period: period, Duty: duty, Lift: lift, Phase: make([]float64, len(legs))}
	around := make([]int, len(legs))
	for i := range around {
		around[i] = i
	}
	slices.SortStableFunc(around, func(a, b int) int {
		return cmp.Compare(math.Atan2(legs[a].Y, legs[a].X), math.Atan2(legs[b].Y, legs[b].X))
	})
	for k, leg := range around {
		g.Phase[leg] = float64(k%2) / 2
	}
	return g
}

// Names of the gaits that are derived from a robot's geometry.
var Names = description.GaitNames

// Derive returns a gait by name for feet at these places under a centre of mass at a height, by
// dynamic similarity with the pony, whose crawl of 1.6 s and trot of 0.6 s were measured:
// times go with √(height/g), ways with the height.
func Derive(name string, legs []Point, height, gravity float64) (Gait, error) {
	unit := math.Sqrt(height / gravity) // 0.129 s for the pony, whose centre of mass is 0.162 m high then
	lift := 0.08 * height
	n := float64(len(legs))
	if len(legs) == 2 { // a leg in the air is a third of such a robot: it sways less if it is lifted less
		lift = 0.03 * height
	}
	// share of the period in which all feet stand between two steps of a crawl
	const between = 0.05
	switch name {
	case "crawl":
		return Crawl(Order(legs), 12.5*unit, 1-1/n+between, lift), nil
	case "amble":
		// a foot is lifted before the one ahead of it in the order has come down, and that before the next
		g := Crawl(Order(legs), 7.5*unit, max(0.67, 1-1.32/n), lift)
		g.Name = "amble"
		return g, nil
	case "trot":
		return Trot(legs, 4.7*unit, 0.6, lift), nil
	case "in_place":
		g := Trot(legs, 4.7*unit, 0.6, lift)
		g.Name, g.Always = "in_place", true
		return g, nil
	}
	return Gait{}, fmt.Errorf("gait: %q is unknown: there are %s%s", name, strings.Join(Names, ", "), problem.Hint(name, Names))
}

// What a crawl is slowed down by at most, and the share of its period that is left between two swings.
const (
	slowerBy    = 1.1
	leastWithin = 0.02
)

// Slow lets the feet of a crawl swing for some seconds, as nearly as a shorter stance and a period that is longer by a tenth at most allow: a
// cycle of few setpoints leads slow feet better. A gait whose times were given stays as it is.
func (g *Gait) Slow(swing float64) {
	most := 1/float64(len(g.Phase)) - leastWithin
	if now := (1 - g.Duty) * g.Period; g.Name != "crawl" || g.Given || now >= swing || 1-g.Duty >= most {
		return
	}
	share := min(swing/g.Period, most)
	g.Duty, g.Period = 1-share, min(max(swing/share, g.Period), slowerBy*g.Period)
}

// LongestPeriod and shortestPeriod are those that a gait may have, s.
const (
	LongestPeriod  = 30
	shortestPeriod = 0.2
)

// Check reports what is wrong with a gait for some legs: among other things, the zero-moment point must
// be able to cross from the supports of one step to those of the next while the feet of both stand.
func (g *Gait) Check(legs int) error {
	switch {
	case len(g.Phase) != legs:
		return fmt.Errorf("gait %q: has %d legs, the robot %d", g.Name, len(g.Phase), legs)
	case !(g.Period >= shortestPeriod && g.Period <= LongestPeriod):
		return fmt.Errorf("gait %q: a period of %g s is not within %g … %d s", g.Name, g.Period, shortestPeriod, LongestPeriod)
	case !(g.Duty > 0 && g.Duty < 1):
		return fmt.Errorf("gait %q: a duty of %g is not between 0 and 1", g.Name, g.Duty)
	case !(g.Lift > 0 && g.Lift < 1):
		return fmt.Errorf("gait %q: a lift of %g m is not within 0 … 1 m", g.Name, g.Lift)
	case !(g.Rise >= 0 && g.Rise < 1):
		return fmt.Errorf("gait %q: to go up for %g of a swing is not within 0 … 1", g.Name, g.Rise)
	case !(g.Over >= 0 && g.Over <= 1):
		return fmt.Errorf("gait %q: to be over a place after %g of a swing is not within 0 … 1", g.Name, g.Over)
	case !(g.Most >= 0):
		return fmt.Errorf("gait %q: a speed of %g m/s is negative", g.Name, g.Most)
	}
	for i, x := range g.Phase {
		if !(x >= 0 && x < 1) {
			return fmt.Errorf("gait %q: leg %d: a phase of %g is not within 0 … 1", g.Name, i, x)
		}
	}
	if n, least := g.Standing(), g.carriers(); n < least {
		return fmt.Errorf("gait %q: at times %d of %d feet stand, and %d are needed: a larger duty, or phases that are further apart", g.Name, n, legs, least)
	}
	if all := g.together(); all < 2*crossing {
		return fmt.Errorf("gait %q: between two steps the feet of both stand for %.3g s, and %.3g s are needed: a larger duty, or a longer period",
			g.Name, math.Max(all, 0), 2*crossing)
	}
	return nil
}

// Shape returns how a swing goes, as shares of its time: when a foot is as high as it is lifted, and when it is over its place.
func (g *Gait) Shape() (rise, over float64) {
	if rise, over = g.Rise, g.Over; rise == 0 {
		rise = 0.5
	}
	if over == 0 {
		over = 1
	}
	return rise, over
}

// Fastest returns the largest speed of a foot that stands, m/s, if it is put down at a distance from its
// place at most: further it does not reach while it stands.
func (g *Gait) Fastest(reach float64) float64 {
	fastest := 2 * reach / (g.Duty * g.Period)
	if g.Most > 0 {
		fastest = min(fastest, g.Most)
	}
	return fastest
}

// together is the shortest time between a touch-down and the lift-off that follows, s.
func (g *Gait) together() float64 {
	least := math.Inf(1)
	for _, x := range g.Phase {
		down := x + 1 - g.Duty
		for _, y := range g.Phase {
			wait := y - down - math.Floor(y-down+1e-9) // until that foot is lifted
			// another foot that comes down in between is nearer to that lift-off
			least = min(least, wait*g.Period)
		}
	}
	return least
}

// Standing is the least number of feet that stand at once.
func (g *Gait) Standing() int {
	least := len(g.Phase)
	for _, lift := range g.Phase { // there are fewest just when one was lifted
		n := len(g.Phase)
		for _, x := range g.Phase {
			if since := lift - x; since-math.Floor(since) < 1-g.Duty-1e-9 {
				n--
			}
		}
		least = min(least, n)
	}
	return least
}

// carriers is how many feet have to stand at once: a plan has no flight. Of a crawl they are stable at rest.
func (g *Gait) carriers() int {
	switch n := len(g.Phase); {
	case n < 3:
		return n - 1
	case g.Name == "crawl":
		return 3
	}
	return 2
}

// Crossing is how long before a lift-off and after a touch-down a foot does not count, s: forces change
// hands meanwhile.
const crossing = grid
