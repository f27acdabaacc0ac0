package forces

import (
	"math"
	"slices"

	"poise/robot"
)

// Kind is what can be beyond its limit.
type Kind uint8

// The kinds.
const (
	Torque   Kind = iota // of a joint, N·m or N
	ZMP                  // margin of the zero-moment point in the supports, m
	Unloaded             // vertical force on a foot that stands, N
	Missing              // force that contacts cannot give within friction and shares, N
)

// Options are what may be set; zero values mean the defaults.
type Options struct {
	Step   float64 // s between looks; default 0.02
	Period float64 // s between looks where it comes close to a limit; default 0.001
	Margin float64 // m by which the zero-moment point has to be inside; default 0
}

// Numbers of the judgement, as shares of the weight where not said otherwise.
const (
	leastLoad   = 0.002 // that a standing foot has to carry
	mostMissing = 0.02
	near        = 0.05   // of a limit: such a peak is looked at closely
	marginScale = 0.1    // m of margin that count as much as the whole of another limit
	maxLooks    = 10_000 // at one motion; longer ones are looked at in longer steps, or not in every segment
	moreLooks   = 5_000  // around what is near a limit
	tiny        = 1e-9
)

// Span is a stretch of time in which something is beyond its limit.
type Span struct {
	Kind     Kind
	Joint    robot.JointID // of Torque
	Chain    robot.ChainID // of Unloaded
	From, To float64       // s
	At       float64       // when it is worst
	Value    float64       // then,
	Limit    float64       // and what would be allowed then
	Servo    bool          // of Torque: it is that of the servo, with what its friction and rotor take
	Static   bool          // somewhere in the span it is beyond its limit at rest, too: more time does not help
	Still    float64       // then: what it is there at worst,
	Rests    float64       // the limit,
	StillAt  float64       // and when
}

// Need says that the stretch of a curve around a time has to take longer by a factor.
type Need struct{ Time, Factor float64 }

// Report is what a motion asks of a robot.
type Report struct {
	Spans []Span
	Needs []Need // that remain if nothing is static
	Peaks []Peak // of every joint that a servo moves
	Stand Stand
	Looks int // how often forces were computed: what it cost
}

// Peak is the torque of a joint that is nearest to its limit; without a limit, the greatest.
type Peak struct {
	Joint        robot.JointID
	At           float64
	Value, Limit float64 // the limit is infinite where it is unlimited
	Servo        bool    // it is that of the servo, with what its friction and rotor take
}

// Stand is the least margin, and the least that each foot carries while it stands.
type Stand struct {
	Judged bool
	Margin float64
	At     float64
	Feet   []Least
}

// Least is the least vertical force on a foot.
type Least struct {
	Chain robot.ChainID
	At    float64
	Force float64 // NaN if it never stands
}

// look is a time in a segment of the curve.
type look struct {
	t       float64
	segment int
}

// item is something that is watched.
type item struct {
	kind  Kind
	joint int
	foot  int
	series
}

// series is an item at every look.
type series struct {
	value, limit []float64
	over         []float64 // by how much it is beyond, above 0, in units in which 1 is the limit; −∞ where it does not count
	still, rests []float64 // the same at rest, where it is beyond: value and limit,
	static       []float64 // and by how much it is beyond there, too
	servo        []bool    // of a torque: its servo is nearer to its limit than the joint
}

// Judge looks along the motion. It fails for a robot whose forces cannot be computed.
func (s *Stance) Judge(o Options) (*Report, error) {
	if o.Step == 0 {
		o.Step = 0.02
	}
	if o.Period == 0 {
		o.Period = 0.001
	}
	looks := s.looks(o.Step)
	all, err := s.pass(looks, o)
	if err != nil {
		return nil, err
	}
	n := len(looks)
	if closer := s.closer(looks, all, o.Period); len(closer) > len(looks) {
		looks = closer
		if all, err = s.pass(looks, o); err != nil {
			return nil, err
		}
		n += len(looks)
	}
	r := s.report(looks, all)
	r.Looks = n
	return r, nil
}

// looks returns both ends of each segment, and times at most a step apart between them.
func (s *Stance) looks(step float64) (all []look) {
	step = math.Max(step, s.curve.Duration()/maxLooks)
	knots := s.curve.Knots()
	every := 1 + 2*s.curve.Segments()/maxLooks
	for k := 0; k < s.curve.Segments(); k += every {
		from, to := knots[k], knots[k+1]
		n := max(int(math.Ceil((to-from)/step-tiny)), 1)
		for i := range n + 1 {
			all = append(all, look{from + (to-from)*float64(i)/float64(n), k})
		}
	}
	return all
}

// pass computes every look.
func (s *Stance) pass(looks []look, o Options) ([]item, error) {
	w, err := s.sweep()
	if err != nil {
		return nil, err
	}
	var all []item
	for j := range s.m.Joints() {
		if !s.m.Joints()[j].Virtual {
			all = append(all, item{kind: Torque, joint: j})
		}
	}
	if s.m.Floating() {
		all = append(all, item{kind: ZMP}, item{kind: Missing})
		for f := range s.feet {
			all = append(all, item{kind: Unloaded, foot: f})
		}
	}
	for i := range all {
		all[i].grow(len(looks))
	}
	for k, l := range looks {
		if err := w.at(l.segment, l.t); err != nil {
			return nil, err
		}
		beyond := false
		for i := range all {
			x := &all[i]
			if x.kind == Torque {
				_, _, plain := w.now.torqueOver(x.joint, false)
				_, _, servo := w.now.torqueOver(x.joint, true)
				x.servo[k] = servo > plain
			}
			x.value[k], x.limit[k], x.over[k] = w.judge(x, k, &w.now, o)
			beyond = beyond || x.over[k] > 0
		}
		if !beyond {
			continue
		}
		if err := w.rest(); err != nil {
			return nil, err
		}
		for i := range all {
			if x := &all[i]; x.over[k] > 0 {
				x.still[k], x.rests[k], x.static[k] = w.judge(x, k, &w.still, o)
			}
		}
	}
	return all, nil
}

func (x *series) grow(n int) {
	for _, p := range []*[]float64{&x.value, &x.limit, &x.over, &x.still, &x.rests, &x.static} {
		*p = make([]float64, n)
	}
	x.servo = make([]bool, n)
}

// judge returns the value of an item at a look, its limit, and by how much it is beyond.
func (w *sweep) judge(x *item, k int, at *instant, o Options) (value, limit, over float64) {
	switch x.kind {
	case Torque:
		return at.torqueOver(x.joint, x.servo[k])
	case ZMP:
		value, limit, over = at.margin, o.Margin, (o.Margin-at.margin)/marginScale
	case Missing: // where the ZMP is outside, that says it
		value, limit = at.missing, mostMissing*w.weight
		if over = (value - limit) / w.weight; at.margin < o.Margin {
			over = math.Inf(-1)
		}
	case Unloaded:
		value, limit = at.load[x.foot], leastLoad*w.weight
		if over = (limit - value) / w.weight; math.IsNaN(value) || at.margin < o.Margin {
			over = math.Inf(-1)
		}
	}
	if !at.stands {
		over = math.Inf(-1)
	}
	return value, limit, over
}

// torqueOver judges what a joint needs by what it has: its torque by the limit of effort, or what
// its servo has to give for it by what that can. The limit has the sign of the value.
func (x *instant) torqueOver(j int, servo bool) (value, limit, over float64) {
	value, limit = x.torque[j], x.effort[j]
	if servo {
		value, limit = x.motor[j], x.strength[j]
	}
	if math.IsInf(limit, 0) {
		return value, limit, math.Inf(-1)
	}
	if over = math.Abs(value)/math.Max(limit, tiny) - 1; over < tiny { // what rounding adds
		over = math.Min(over, 0)
	}
	return value, math.Copysign(limit, value), over
}

// closer adds looks a period apart around what is near or beyond its limit: peaks, and the ends of
// spans.
func (s *Stance) closer(looks []look, all []item, period float64) []look {
	hot := make([]bool, len(looks)) // between a look and the one before
	for i := range all {
		over := all[i].over
		for k := 1; k < len(over); k++ {
			if (over[k] > 0) != (over[k-1] > 0) {
				hot[k] = true
			}
			if over[k] > -near && over[k] > over[k-1]+tiny && (k+1 == len(over) || over[k] >= over[k+1]) {
				hot[k] = true
				if k+1 < len(over) {
					hot[k+1] = true
				}
			}
		}
	}
	var more []look
	for k, l := range looks {
		if k > 0 && hot[k] && looks[k-1].segment == l.segment {
			from := looks[k-1].t
			n := int(math.Ceil((l.t-from)/period - tiny))
			for i := 1; i < n && len(more) < k+moreLooks; i++ {
				more = append(more, look{from + (l.t-from)*float64(i)/float64(n), l.segment})
			}
		}
		more = append(more, l)
	}
	return more
}

// report tells what was found.
func (s *Stance) report(looks []look, all []item) *Report {
	r := &Report{}
	for i := range all {
		s.spans(r, looks, &all[i])
		s.peak(r, looks, &all[i])
	}
	needs := map[int]float64{} // by segment
	for i := range all {
		for k := range looks {
			if f := all[i].factor(k); f > 1 {
				needs[looks[k].segment] = math.Max(needs[looks[k].segment], f)
			}
		}
	}
	knots := s.curve.Knots()
	for k := range s.curve.Segments() {
		if f := needs[k]; f > 1 {
			r.Needs = append(r.Needs, Need{(knots[k] + knots[k+1]) / 2, f})
		}
	}
	slices.SortStableFunc(r.Spans, func(a, b Span) int { return int(a.Kind) - int(b.Kind) })
	return r
}

// spans adds the stretches of time in which an item is beyond its limit.
func (s *Stance) spans(r *Report, looks []look, judged *item) {
	var p *Span
	var worst, static float64
	for k, l := range looks {
		if !(judged.over[k] > 0) {
			p = nil
			continue
		}
		if p == nil {
			r.Spans = append(r.Spans, Span{Kind: judged.kind, From: l.t, Joint: robot.NoJoint, Chain: robot.NoChain})
			p, worst, static = &r.Spans[len(r.Spans)-1], 0, 0
			switch judged.kind {
			case Torque:
				p.Joint = robot.JointID(judged.joint)
			case Unloaded:
				p.Chain = s.feet[judged.foot].chain
			}
		}
		p.To = l.t
		if judged.static[k] > static {
			static = judged.static[k]
			p.Static, p.Still, p.Rests, p.StillAt = true, judged.still[k], judged.rests[k], l.t
		}
		if judged.over[k] > worst {
			worst = judged.over[k]
			p.At, p.Value, p.Limit, p.Servo = l.t, judged.value[k], judged.limit[k], judged.servo[k]
		}
	}
}

// peak adds what is nearest to its limit.
func (s *Stance) peak(r *Report, looks []look, judged *item) {
	best, size := -1, math.Inf(-1)
	for k := range looks {
		v := judged.over[k]
		switch {
		case judged.kind == Torque && math.IsInf(v, -1):
			v = math.Abs(judged.value[k])
		case judged.kind == Unloaded && !math.IsNaN(judged.value[k]):
			v = -judged.value[k]
		}
		if v > size {
			best, size = k, v
		}
	}
	switch judged.kind {
	case Torque:
		r.Peaks = append(r.Peaks, Peak{robot.JointID(judged.joint), looks[best].t, judged.value[best], judged.limit[best], judged.servo[best]})
	case ZMP:
		if best >= 0 {
			r.Stand.Judged, r.Stand.Margin, r.Stand.At = true, judged.value[best], looks[best].t
		}
	case Unloaded:
		least := Least{s.feet[judged.foot].chain, 0, math.NaN()}
		if best >= 0 {
			least.At, least.Force = looks[best].t, judged.value[best]
		}
		r.Stand.Feet = append(r.Stand.Feet, least)
	}
}

// How much longer a stretch is made at once.
const (
	leastFactor = 1.02
	mostFactor  = 2.0
)

// factor returns by how much longer the motion has to take at a look: what it needs beyond the
// same pose at rest shrinks with the square of the time.
func (x *item) factor(k int) float64 {
	if !(x.over[k] > 0) || x.static[k] > 0 {
		return 1
	}
	to := x.rests[k]
	if x.kind == Torque {
		to = math.Copysign(to, x.value[k])
	}
	f := math.Sqrt((x.value[k] - x.still[k]) / (to - x.still[k]))
	if !(f > leastFactor) { // also of a value that is not finite
		f = leastFactor
	}
	return math.Min(f, mostFactor)
}
