package follow

import (
	"encoding/json"
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
// supports and events. It is a control.Program, made by Build, and never changes.
type Program struct {
	r      Record
	id     uint64 // of its contents
	once   int    // events before a loop begins again: they leave in its first round only
	needs  robot.Set
	motion *spline.Spline
	track  *clock.Track

	path, final []trajectory.Tolerance // of each column, infinite where there is none
	gentle      float64                // the rate at which it leaves half of the limits to a hand-over
	triggers    []trigger              // of each event; nil without
	peak        float64                // the share of them that it uses then
}

// Build makes the program of a record, which is shared and never written again.
func Build(r Record) (*Program, error) {
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
	if p.motion, err = r.Curve(); err != nil {
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
	if err := p.readTriggers(); err != nil {
		return nil, err
	}
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
	var r Record
	if err := json.Unmarshal(b, &r); err != nil {
		return nil, fmt.Errorf("follow: %w", err)
	}
	p, err := Build(r)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Record returns what it was made of: read only.
func (p *Program) Record() *Record { return &p.r }

// Curve returns the motion as planned, by column; of a program that moves supports
// alone it has one column, which no joint follows. It starts at 0, or before if there
// is an approach.
func (p *Program) Curve() *spline.Spline { return p.motion }

// ID tells it from programs with other contents.
func (p *Program) ID() uint64 { return p.id }

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

// supportTo stores the supports at a time, if they were as before when the motion began.
// Loop-safe.
func (p *Program) supportTo(dst, before []control.Support, t float64) {
	k := 0
	for k+1 < len(p.r.Steps) && p.r.Steps[k+1] <= t {
		k++
	}
	for i := range p.r.Chains {
		c := &p.r.Chains[i]
		switch {
		case c.Track != nil:
			dst[c.Chain] = c.Track[k]
			if dst[c.Chain].Weight == 0 {
				dst[c.Chain].Swing = p.swing(c.Track, k, t)
			}
		case c.Holds:
			dst[c.Chain] = before[c.Chain]
		default:
			dst[c.Chain] = control.Support{Contact: c.Contact}
		}
	}
}

// swing is the share that is over of the time for which a track leaves a foot free; 0 if it does not stand again.
func (p *Program) swing(track []control.Support, k int, t float64) float64 {
	from, to := k, k
	for from > 0 && track[from-1].Weight == 0 {
		from--
	}
	for to < len(track) && track[to].Weight == 0 {
		to++
	}
	if to == len(track) {
		return 0
	}
	return control.SwingOf(p.r.Steps[from], p.r.Steps[to], t)
}
