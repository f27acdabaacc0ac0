package excite

import (
	"cmp"
	"math"
	"math/rand/v2"

	"poise/control"
	"poise/dynamics"
	"poise/identify"
	"poise/kinematics"
	"poise/problem"
	"poise/robot"
	"poise/servo/model"
	"poise/trajectory/move"
)

// TooLittle is the code of limits that leave no motion to identify a servo by.
const TooLittle problem.Code = "too_little_motion"

// Defaults of Options.
const (
	DefaultDuration  = 30.0 // s
	DefaultAmplitude = 0.5  // rad
	DefaultDraws     = 200
)

// Options say which motion is planned; zero values are defaults.
type Options struct {
	Model  *robot.Model
	Needs  robot.Set                        // what the controller asks for; it has all the joints
	Joints []robot.JointID                  // that move
	From   []float64                        // where each joint of the robot is, rad
	Limits []move.Limits                    // of each joint: see Limits
	Bounds []control.Bounds                 // of each joint
	Servo  func(robot.JointID) *model.Model // what is known of its servo; nil without anything

	Amplitude float64 // greatest distance from the middle, rad
	Duration  float64 // of the sum of sines, s
	Sweeps    bool    // also sweeps of constant speed
	Seed      uint64  // of all that is drawn at random
	Draws     int     // motions to choose from
}

// Figure is what the motion of a joint comes to.
type Figure struct {
	Joint        robot.JointID
	Condition    float64 // of q̈, q̇, sg q̇, 1 and τ, each scaled to length 1
	Way          float64 // from one end to the other, rad
	Quick        float64 // RMS of the quick part, rad
	Velocity     float64 // greatest, rad/s
	Acceleration float64 // greatest, rad/s²
	Effort       float64 // greatest share of what its servo can give; 0 if that is unknown
}

// Shares of limits that are used, and least motions.
const (
	speedShare  = 0.7  // of the velocity limit
	effortShare = 0.7  // of what a servo can give, and of the effort limit
	margin      = 0.03 // from the ends of its range, rad
	leastWay    = 0.12 // from one end to the other, rad
	leastQuick  = 9e-3 // RMS of the quick part, rad: identify needs 8e-3
	mostQuick   = 0.03 // RMS of it, rad
	quickTime   = 11.0 // s: the delay is looked for in windows of 10 s
	turn        = 1.5  // s of approach and return at least
	basePeriod  = 10.0 // s, of the sum of sines
)

// harmonics are the multiples of 0.1 Hz in the sum, to 3.5 Hz.
var harmonics = []float64{1, 2, 3, 5, 8, 13, 21, 35}

// quickHz are the frequencies of the quick part: identify looks above 3 Hz.
var quickHz = []float64{3.2, 4.7}

// planner draws motions.
type planner struct {
	Options
	rng   *rand.Rand
	d     *dynamics.Data
	q     []float64 // a whole configuration, and its derivatives
	v, a  []float64
	tau   []float64
	worst float64 // condition of the best draw so far
}

// Plan returns the best of many motions within the limits, and what it comes to; or, for each joint
// whose limits leave too little motion, what is too little.
func Plan(o Options) (*Program, []Figure, []problem.Problem) {
	o.Amplitude, o.Duration, o.Draws = cmp.Or(o.Amplitude, DefaultAmplitude), cmp.Or(o.Duration, DefaultDuration), cmp.Or(o.Draws, DefaultDraws)
	m := o.Model
	p := &planner{Options: o, rng: rand.New(rand.NewPCG(o.Seed, 0x65786369)), d: dynamics.NewData(m), worst: math.Inf(1),
		q: make([]float64, m.NumQ()), v: make([]float64, m.NumV()), a: make([]float64, m.NumV()), tau: make([]float64, m.NumV())}
	kinematics.NewSpace(m).NeutralTo(p.q)
	for i := range m.Joints() {
		p.q[m.Joints()[i].Q] = o.From[i]
	}
	best, wrong := p.middle()
	if len(wrong) > 0 {
		return nil, nil, wrong
	}
	wrong = p.quick(best)
	p.draw(best)
	p.soften(best)
	if o.Sweeps {
		p.sweeps(best)
	}
	p.ends(best)
	figures := p.figures(best)
	if wrong = append(wrong, p.little(figures)...); len(wrong) > 0 {
		return nil, figures, wrong
	}
	return best, figures, nil
}

// middle puts the middle of each joint where it is, or as near as leaves room for the amplitude.
func (p *planner) middle() (*Program, []problem.Problem) {
	out := &Program{Needs: p.Needs, Farthest: 0.5, Silence: 0.3, Times: Times{Delay: quickTime, Excitation: p.Duration}}
	var wrong []problem.Problem
	for _, j := range p.Joints {
		b, x := &p.Bounds[j], p.From[j]
		low, high := b.Lower+margin, b.Upper-margin
		room := min(p.Amplitude, (high-low)/2)
		if !(2*room >= leastWay) {
			wrong = append(wrong, p.little1(j, "its range leaves", max(2*room, 0), leastWay, "rad"))
			continue
		}
		out.Axes = append(out.Axes, Axis{Joint: j, From: x, Centre: min(max(x, low+room), high-room)})
	}
	return out, wrong
}

func (p *planner) little1(j robot.JointID, what string, value, limit float64, unit string) problem.Problem {
	name := p.Model.Joints()[j].Name
	x := problem.New(TooLittle, "%s %.3g %s, at least %.3g are needed", what, value, unit, limit)
	x.Thing, x.Joint, x.Value, x.Limit = problem.Joint(name), name, value, limit
	return *x
}

// quick gives each joint two sines above 3 Hz or, where accelerations allow no more, one.
func (p *planner) quick(out *Program) (wrong []problem.Problem) {
	for i := range out.Axes {
		a := &out.Axes[i]
		vel, acc := speedShare*p.Limits[a.Joint].VelMax, p.Limits[a.Joint].AccMax
		fits := func(n int) (rms float64) { // each with the same share of the acceleration
			sum := 0.0
			for _, hz := range quickHz[:n] {
				ω := 2 * math.Pi * hz
				size := min(acc/float64(n)/(ω*ω), vel/float64(n)/ω)
				sum += size * size / 2
			}
			return math.Sqrt(sum)
		}
		n := 2
		if fits(2) < 1.3*leastQuick {
			n = 1
		}
		have := fits(n)
		if !(have >= leastQuick) {
			wrong = append(wrong, p.little1(a.Joint, "its acceleration limit leaves a motion above 3 Hz of", have, leastQuick, "rad RMS, by which the delay is measured"))
		}
		scale := min(1, mostQuick/have)
		for k, hz := range quickHz[:n] {
			ω := 2 * math.Pi * hz
			size := min(acc/float64(n)/(ω*ω), vel/float64(n)/ω)
			a.Quick = append(a.Quick, Sine{Amplitude: scale * size * 0.97, Frequency: ω, Phase: 2 * math.Pi * p.rng.Float64() * float64(k+1)})
		}
	}
	return wrong
}

// draw chooses the sums of sines: of many draws the one whose worst joint is conditioned best.
func (p *planner) draw(out *Program) {
	trial := &Program{Axes: make([]Axis, len(out.Axes)), Times: out.Times}
	copy(trial.Axes, out.Axes)
	for range p.Draws {
		for i := range trial.Axes {
			trial.Axes[i].Sum = p.sum(&trial.Axes[i])
		}
		worst := 0.0
		for _, c := range p.conditions(trial) {
			worst = max(worst, c)
		}
		if worst < p.worst || out.Axes[0].Sum == nil {
			p.worst = worst
			for i := range out.Axes {
				out.Axes[i].Sum = trial.Axes[i].Sum
			}
		}
	}
}

// sum draws the amplitudes and phases of a joint, as large as its limits allow.
func (p *planner) sum(a *Axis) []Sine {
	fall := 0.4 + 1.4*p.rng.Float64() // how fast amplitudes fall with frequency
	all := make([]Sine, len(harmonics))
	for k, h := range harmonics {
		all[k] = Sine{Amplitude: (0.3 + 0.7*p.rng.Float64()) * math.Pow(h, -fall), Frequency: 2 * math.Pi * h / basePeriod, Phase: 2 * math.Pi * p.rng.Float64()}
	}
	q, v, acc := peaks(all, p.Duration)
	b, l := &p.Bounds[a.Joint], &p.Limits[a.Joint]
	room := min(p.Amplitude, a.Centre-b.Lower-margin/2, b.Upper-margin/2-a.Centre)
	scale := min(room/q, speedShare*l.VelMax/v, l.AccMax/acc)
	for k := range all {
		all[k].Amplitude *= 0.97 * scale
	}
	return all
}

// grid is how finely motions are looked at, s: a thirtieth of the shortest period.
const grid = 0.01

// peaks are the greatest values of a sum that comes and goes.
func peaks(sum []Sine, length float64) (q, v, a float64) {
	for t := 0.0; t < min(length, basePeriod+2*fading); t += grid {
		for _, s := range []move.State{faded(0, sum, t, length), faded(0, sum, length-t, length)} {
			q, v, a = max(q, math.Abs(s.P)), max(v, math.Abs(s.V)), max(a, math.Abs(s.A))
		}
	}
	return q, v, a
}

// loads computes torques at a time since the sum began.
func (p *planner) loads(x *Program, t float64) {
	joints := p.Model.Joints()
	for i := range x.Axes {
		a := &x.Axes[i]
		s, j := faded(a.Centre, a.Sum, t, x.Times.Excitation), &joints[a.Joint]
		p.q[j.Q], p.v[j.V], p.a[j.V] = s.P, s.V, s.A
	}
	p.d.InverseTo(p.tau, p.q, p.v, p.a, dynamics.Load{})
}

// samples is at how many times of a base period the regressor is looked at.
const samples = 100

// conditions are those of each joint's regressor: q̈, q̇, sg q̇, 1 and τ. A joint whose load does not change is judged
// without it: that parameter is taken from the servo's type.
func (p *planner) conditions(x *Program) []float64 {
	joints := p.Model.Joints()
	columns := make([][5][]float64, len(x.Axes))
	for n := range samples {
		p.loads(x, fading+(float64(n)+0.37)*(min(basePeriod, x.Times.Excitation-2*fading))/samples)
		for i := range x.Axes {
			v := joints[x.Axes[i].Joint].V
			for k, value := range [5]float64{p.a[v], p.v[v], math.Copysign(1, p.v[v]), 1, p.tau[v]} {
				columns[i][k] = append(columns[i][k], value)
			}
		}
	}
	all := make([]float64, len(x.Axes))
	for i := range columns {
		c := columns[i][:]
		if low, high := extremes(c[4]); high-low < lightLoad {
			c = c[:4]
		}
		all[i] = identify.ConditionOf(c)
	}
	return all
}

// lightLoad is a change of torque that does not show in a servo's motion, N·m.
const lightLoad = 0.01

func extremes(x []float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, v := range x {
		low, high = min(low, v), max(high, v)
	}
	return low, high
}

// soften makes the sums smaller until no servo has to give more than its share.
func (p *planner) soften(x *Program) {
	for range 12 {
		over := false
		for i, share := range p.efforts(x) {
			if share > effortShare {
				over = true
				for k := range x.Axes[i].Sum {
					x.Axes[i].Sum[k].Amplitude *= 0.85
				}
			}
		}
		if !over {
			return
		}
	}
}

// efforts are the greatest shares of what servos, or effort limits, can give in the sums.
func (p *planner) efforts(x *Program) []float64 {
	all := make([]float64, len(x.Axes))
	for t := 0.0; t < x.Times.Excitation; t += 3 * grid {
		p.loads(x, t)
		for i := range x.Axes {
			v := p.Model.Joints()[x.Axes[i].Joint].V
			all[i] = max(all[i], p.share(x.Axes[i].Joint, p.a[v], p.v[v], p.tau[v]))
		}
	}
	return all
}

// share is how much of what a joint can give a motion takes.
func (p *planner) share(j robot.JointID, a, v, tau float64) (share float64) {
	if e := p.Bounds[j].Effort; !math.IsInf(e, 1) && e > 0 {
		share = math.Abs(tau) / e
	}
	s := p.Servo(j)
	if s == nil {
		return share
	}
	at := s.AtJoint()
	y := at.A[0]*a + at.A[1]*v + math.Copysign(at.A[2], v) + at.A[3]*tau + at.A[5]
	return max(share, math.Abs(y)/at.Limit(at.Voltage))
}

// sweepSpeeds are those of the sweeps, rad/s, and sweepTime how long each goes one way, s.
var sweepSpeeds = []float64{0.05, 0.08, 0.12, 0.2, 0.35, 0.6, 0.9, 1.2}

const sweepTime = 1.2

// sweeps adds motion of constant speed to and fro. All joints take the same times, so that each
// sweeps while the others do.
func (p *planner) sweeps(x *Program) {
	for i := range x.Axes {
		a := &x.Axes[i]
		b, l := &p.Bounds[a.Joint], &p.Limits[a.Joint]
		room := min(p.Amplitude, a.Centre-b.Lower-margin, b.Upper-margin-a.Centre)
		t := 0.0
		for _, v := range sweepSpeeds {
			// from the middle back by half the way, over to the other side, back again
			v = min(v, speedShare*l.VelMax, 1.6*room/sweepTime)
			a.Sweep, t = toAndFro(a.Sweep, t, v, max(v/(l.AccMax/2), 0.15))
		}
		x.Times.Sweeps = max(x.Times.Sweeps, t)
	}
	for i := range x.Axes {
		k := x.Axes[i].Sweep
		if last := k[len(k)-1].Time; last < x.Times.Sweeps {
			x.Axes[i].Sweep = append(k, Knot{Time: last})
		}
	}
}

// toAndFro appends intervals: half a sweep down, a whole one up, a whole one down, half one up, with turns
// of a length between.
func toAndFro(k []Knot, t, v, length float64) ([]Knot, float64) {
	q := 0.0
	add := func(speed, acceleration, time float64) {
		k = append(k, Knot{Time: t, Position: q, Velocity: speed, Acceleration: acceleration})
		q += time * (speed + time*acceleration/2)
		t += time
	}
	a := v / length
	add(0, -a, length)
	add(-v, 0, sweepTime/2)
	add(-v, a, 2*length)
	add(v, 0, sweepTime)
	add(v, -a, 2*length)
	add(-v, 0, sweepTime)
	add(-v, a, 2*length)
	add(v, 0, sweepTime/2)
	add(v, -a, length)
	k = append(k, Knot{Time: t, Position: q})
	return k, t
}

// ends finds how long the approach and the return take.
func (p *planner) ends(x *Program) {
	longest := 0.0
	for i := range x.Axes {
		a := &x.Axes[i]
		way, l := math.Abs(a.Centre-a.From), &p.Limits[a.Joint]
		// greatest velocity and acceleration of minimum jerk: 15/8 and 10/√3 over the length
		longest = max(longest, 15.0/8*way/(speedShare*l.VelMax), math.Sqrt(10/math.Sqrt(3)*way/(0.8*l.AccMax)))
		if way > 1e-9 {
			longest = max(longest, turn)
		}
	}
	x.Times.Approach, x.Times.Return = longest, longest
}

// figures are what the motion comes to.
func (p *planner) figures(x *Program) []Figure {
	conditions, efforts := p.conditions(x), p.efforts(x)
	all := make([]Figure, len(x.Axes))
	for i := range x.Axes {
		f := &all[i]
		*f = Figure{Joint: x.Axes[i].Joint, Condition: conditions[i], Effort: efforts[i]}
		low, high := math.Inf(1), math.Inf(-1)
		for _, s := range x.Axes[i].Quick {
			f.Quick += s.Amplitude * s.Amplitude / 2
		}
		f.Quick = math.Sqrt(f.Quick)
		for t := 0.0; t < x.Duration(); t += grid {
			s := x.At(i, t)
			low, high = min(low, s.P), max(high, s.P)
			f.Velocity, f.Acceleration = max(f.Velocity, math.Abs(s.V)), max(f.Acceleration, math.Abs(s.A))
		}
		f.Way = high - low
	}
	return all
}

// little names joints that hardly move, or whose servos cannot do what is left.
func (p *planner) little(figures []Figure) (wrong []problem.Problem) {
	for i := range figures {
		f := &figures[i]
		if f.Way < leastWay {
			wrong = append(wrong, p.little1(f.Joint, "limits of speed, acceleration and torque leave", f.Way, leastWay, "rad"))
		}
		if f.Effort > effortShare {
			name := p.Model.Joints()[f.Joint].Name
			x := problem.New(TooLittle, "holding and moving it takes %.0f %% of what its servo can give, at most %.0f %% may be", 100*f.Effort, 100*effortShare).
				With("begin in another pose, or take load off")
			x.Thing, x.Joint, x.Value, x.Limit = problem.Joint(name), name, f.Effort, effortShare
			wrong = append(wrong, *x)
		}
	}
	return wrong
}
