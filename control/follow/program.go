package follow

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math"

	"poise/control"
	"poise/robot"
	"poise/trajectory"
	"poise/trajectory/clock"
	"poise/trajectory/spline"
)

// Program is a goal that has been checked: a curve with its clock, tolerances,
// supports and events. It is a control.Program, made by Compile, and never
// changes.
type Program struct {
	r      record
	id     uint64 // of its contents
	once   int    // events before a loop begins again: they leave in its first round only
	needs  robot.Set
	motion *spline.Spline
	track  *clock.Track

	path, final []trajectory.Tolerance // of each column, infinite where there is none
	gentle      float64                // the rate at which it leaves half of the limits to a hand-over
	peak        float64                // the share of them that it uses then
}

// record is what a program is made of: plain numbers, from which it can be made
// again bit for bit.
type record struct {
	Names  []string `json:"names"`  // of the columns that are joints
	Joints []int    `json:"joints"` // their numbers
	Wraps  []bool   `json:"wraps"`  // angles without limits
	Parts  []part   `json:"parts"`

	// what the clock may use, of each column; 0 is no limit
	Velocity     []float64 `json:"velocity"`
	Acceleration []float64 `json:"acceleration"`
	Deceleration []float64 `json:"deceleration"`
	MaxRate      float64   `json:"max_rate"`

	Path     []trajectory.Tolerance `json:"path"` // negative is none
	Final    []trajectory.Tolerance `json:"final"`
	GoalTime float64                `json:"goal_time"` // negative is for ever
	Against  Against                `json:"against"`

	Steps  []float64 `json:"steps,omitempty"` // times from which supports hold
	Chains []carried `json:"chains,omitempty"`
	Events []Event   `json:"events,omitempty"` // by time

	Duration  float64 `json:"duration"` // of the goal, s
	Begin     int64   `json:"begin,omitempty"`
	Loop      bool    `json:"loop,omitempty"`
	Again     float64 `json:"again,omitempty"`     // where a loop begins again
	Continues uint64  `json:"continues,omitempty"` // the program that it extends,
	Splice    float64 `json:"splice,omitempty"`    // from this time on,
	Extended  int     `json:"extended,omitempty"`  // after so many events
}

// carried is the support of one chain.
type carried struct {
	Chain   robot.ChainID     `json:"chain"`
	Leaf    robot.LeafID      `json:"leaf"`
	Contact robot.ContactID   `json:"contact"`         // its own
	Track   []control.Support `json:"track,omitempty"` // of each of Steps; nil is free
}

var (
	errRecord = errors.New("follow: the record of a program is damaged")
	errWidth  = errors.New("follow: parts of a motion have different joints")
)

// check reports whether the numbers belong together; what they say was checked
// when the goal was.
func (r *record) check() error {
	n := len(r.Joints)
	ok := len(r.Parts) > 0 && r.Again >= 0 && len(r.Names) == n && len(r.Wraps) == n && len(r.Path) == n && len(r.Final) == n && n+len(r.Chains) > 0
	for _, limits := range [...][]float64{r.Velocity, r.Acceleration, r.Deceleration} {
		ok = ok && len(limits) == max(n, 1)
	}
	points := 0
	for i := range r.Parts {
		p := &r.Parts[i]
		points += len(p.Times)
		ok = ok && len(p.Times) > 0 && len(p.Q) > 0 && len(p.Q[0]) == max(n, 1) && (i == 0 || p.Times[0] == r.Parts[i-1].end())
	}
	for _, j := range r.Joints {
		ok = ok && j >= 0 && j < robot.MaxLeaves
	}
	for i := range r.Chains {
		c := &r.Chains[i]
		ok = ok && c.Chain >= 0 && c.Leaf < robot.MaxLeaves && (c.Track == nil || len(c.Track) == len(r.Steps))
	}
	for i := 1; i < len(r.Steps); i++ {
		ok = ok && r.Steps[i] > r.Steps[i-1]
	}
	for i := 1; i < len(r.Events); i++ {
		ok = ok && r.Events[i].Time >= r.Events[i-1].Time
	}
	if !ok || r.Against > Commanded || points > 2*maxPoints ||
		!(r.Parts[len(r.Parts)-1].end()-r.Parts[0].Times[0] <= 2*maxDuration) || !(r.Again < r.Parts[len(r.Parts)-1].end()) {
		return errRecord
	}
	return nil
}

// build makes the program of a record.
func build(r record) (*Program, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	p := &Program{r: r}
	for _, j := range r.Joints {
		p.needs = p.needs.With(robot.LeafID(j)) // a joint's leaf has its number
	}
	for i := range r.Chains {
		p.needs = p.needs.With(r.Chains[i].Leaf)
	}
	var err error
	if p.motion, err = joined(r.Parts); err != nil {
		return nil, err
	}
	limits := trajectory.Limits{Velocity: orNone(r.Velocity), Acceleration: orNone(r.Acceleration), Deceleration: orNone(r.Deceleration)}
	if p.track, err = clock.Compile(p.motion, &limits, clock.Options{MaxRate: r.MaxRate}); err != nil {
		return nil, err
	}
	vel, acc := limits.Use(p.motion)
	p.gentle = min(1, handOverShare/vel, math.Sqrt(handOverShare/acc))
	p.peak = min(max(vel, acc), handOverShare)
	p.path, p.final = free(r.Path), free(r.Final)
	p.once = p.passed(math.Nextafter(r.Again, -1))
	b, err := p.MarshalBinary()
	if err != nil {
		return nil, fmt.Errorf("follow: %w", err)
	}
	h := fnv.New64a()
	h.Write(b)
	p.id = h.Sum64()
	return p, nil
}

// handOverShare is the share of the limits that a motion uses at most while its
// joints are being handed over to it; the bridge has the rest.
const handOverShare = 0.5

// orNone makes limits of 0 infinite.
func orNone(limits []float64) []float64 {
	out := make([]float64, len(limits))
	for i, x := range limits {
		if out[i] = x; x == 0 {
			out[i] = math.Inf(1)
		}
	}
	return out
}

// free makes negative tolerances infinite.
func free(tolerances []trajectory.Tolerance) []trajectory.Tolerance {
	out := make([]trajectory.Tolerance, len(tolerances))
	for i, t := range tolerances {
		out[i] = t.Or(trajectory.Tolerance{})
	}
	return out
}

// Claim returns the joints that it moves, and the supports of the chains that
// have one of them.
func (p *Program) Claim() (needs, wants robot.Set) { return p.needs, robot.Set{} }

// MarshalBinary is for the flight recorder.
func (p *Program) MarshalBinary() ([]byte, error) { return json.Marshal(&p.r) }

// Decode reads what MarshalBinary wrote.
func Decode(b []byte) (control.Program, error) {
	var r record
	if err := json.Unmarshal(b, &r); err != nil {
		return nil, fmt.Errorf("follow: %w", err)
	}
	p, err := build(r)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Columns returns the joints that it moves, in the order of StateTo, and their
// names. The slices are shared: read only.
func (p *Program) Columns() (joints []int, names []string) { return p.r.Joints, p.r.Names }

// Start returns the time at which it begins: 0, or less if it has an approach.
func (p *Program) Start() float64 { return p.motion.Start() }

// End returns the time of its end.
func (p *Program) End() float64 { return p.motion.End() }

// StateTo stores where its joints are to be at a time of its own, by column, as
// planned.
func (p *Program) StateTo(q, v, a []float64, t float64) {
	if len(p.r.Joints) > 0 {
		p.motion.StateTo(q, v, a, t)
	}
}

// Event returns an event by the number under which it leaves. Those of a loop go
// on counting, round after round.
func (p *Program) Event(number uint32) Event {
	n := int(number)
	if n < len(p.r.Events) {
		return p.r.Events[n]
	}
	return p.r.Events[p.once+(n-len(p.r.Events))%(len(p.r.Events)-p.once)]
}

// left returns how many events have left in some round of a loop, counted from 0,
// when passed of this round's have. Loop-safe.
func (p *Program) left(round uint32, passed int) uint32 {
	if round == 0 {
		return uint32(passed)
	}
	all := len(p.r.Events)
	return uint32(all) + (round-1)*uint32(all-p.once) + uint32(max(passed-p.once, 0))
}

// passed returns how many events lie at or before a time. Loop-safe.
func (p *Program) passed(t float64) (n int) {
	low, high := 0, len(p.r.Events)
	for low < high {
		if mid := (low + high) / 2; p.r.Events[mid].Time <= t {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// supportTo stores the supports at a time. Loop-safe.
func (p *Program) supportTo(dst []control.Support, t float64) {
	k := 0
	for k+1 < len(p.r.Steps) && p.r.Steps[k+1] <= t {
		k++
	}
	for i := range p.r.Chains {
		c := &p.r.Chains[i]
		dst[c.Chain] = control.Support{Contact: c.Contact}
		if c.Track != nil {
			dst[c.Chain] = c.Track[k]
		}
	}
}
