package identify

import (
	"fmt"
	"math"

	"poise/servo/model"
)

// Options are what a log does not say.
type Options struct {
	Kp      float64      // gain of rows that name none
	Voltage float64      // of rows that name none, V; 0 is unknown
	Delay   float64      // from sending a goal to its effect, s; NaN if it has to be measured
	Gear    float64      // turns of the servo for one of the joint; 0 is 1
	Type    *model.Model // of the servo's type, for what the load cannot excite; nil if unknown

	hasty bool // without effects outside the equation: only the motion is wanted
}

// Limits of what is accepted.
const (
	minDuration  = 6.0  // s
	minReadings  = 120  //
	maxLoss      = 0.25 // share of readings
	maxGap       = 0.3  // s without a reading, and at least gapPeriods
	gapPeriods   = 8
	minRange     = 0.05 // rad that the joint has to move
	minMoving    = 0.15 // share of readings above movingSpeed, to each side a quarter of it
	minTorque    = 1e-3 // N·m by which the load has to change
	fairTorque   = 0.03 // N·m, of a load that is expected to show
	minFast      = 8e-3 // RMS of goals above fastFrom, rad
	maxPWM       = 0.02 // share of readings at the servo's limit
	maxRMSE      = 0.01 // rad, of the hold-out
	maxCondition = 30
	maxDelaySpan = 3e-3 // standard deviation of a measured delay, s
	holdOutShare = 1.0 / 3
)

// maxSigma is the greatest standard deviation of a0 … a3, as a share of the value.
var maxSigma = [4]float64{0.15, 0.06, 0.15, 0.06}

// negligible is the share of y below which the uncertainty of a parameter does not matter.
const negligible = 0.01

type fitter struct {
	o    Options
	r    *Result
	s    *series
	rows []Row

	whole *span
	opt   *optimiser
	free  []int
	best  outcome
	st    stribeck
	known bool // the delay was given

	loadGain float64 // by which a load of another angle makes the cost less
}

// Fit finds the parameters of a joint and judges them: on another log, or on the last third.
func Fit(j, holdout *Joint, o Options) *Result { return fit(j, holdout, o, nil, nil) }

// fit is Fit with other loads than the logs have; nil for theirs.
func fit(j, holdout *Joint, o Options, load, heldLoad *loading) *Result {
	f := &fitter{o: o, r: newResult(j.Name), rows: j.Rows, known: !math.IsNaN(o.Delay)}
	f.r.Kp, f.r.Gear = Number(o.gain(j.Rows)), Number(o.gear())
	if !f.usable(load) {
		f.units()
		return f.r
	}
	f.estimate()
	var held *series
	if holdout != nil {
		held = newSeries(o.filled(holdout.Rows), o.gain(holdout.Rows), heldLoad)
	}
	f.judge(held)
	if f.r.Accepted = len(f.r.Reasons) == 0; !f.r.Accepted {
		f.units()
	}
	return f.r
}

// units says of a log that is refused if its numbers look like those of other units.
func (f *fitter) units() {
	const slow, far = 1.0, 8 * math.Pi // s between goals, rad of a joint
	if f.s == nil {
		return
	}
	if f.s.period > slow {
		f.r.Details = append(f.r.Details, fmt.Sprintf("goals are %.3g s apart: times are in seconds; are these milliseconds?", f.s.period))
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, r := range f.s.readings {
		low, high = math.Min(low, r.q), math.Max(high, r.q)
	}
	if high-low > far {
		f.r.Details = append(f.r.Details, fmt.Sprintf("the joint moves by %.3g rad: positions are in radians; are these degrees?", high-low))
	}
}

func (o *Options) gear() float64 {
	if o.Gear == 0 {
		return 1
	}
	return o.Gear
}

// gain is the usual one of a log.
func (o *Options) gain(rows []Row) float64 {
	var all []float64
	for _, r := range rows {
		if !math.IsNaN(r.Kp) {
			all = append(all, r.Kp)
		}
	}
	if len(all) == 0 {
		return o.Kp
	}
	return median(all)
}

// filled are rows with the voltage of the options where they have none.
func (o *Options) filled(rows []Row) []Row {
	if o.Voltage == 0 {
		return rows
	}
	rows = append([]Row(nil), rows...)
	for _, r := range rows {
		if !math.IsNaN(r.Voltage) {
			return rows // a reading lost here and there is bridged
		}
	}
	for i := range rows {
		rows[i].Voltage = o.Voltage
	}
	return rows
}

func (f *fitter) refuse(reason, format string, a ...any) {
	for _, r := range f.r.Reasons {
		if r == reason {
			f.r.Details = append(f.r.Details, fmt.Sprintf(format, a...))
			return
		}
	}
	f.r.Reasons = append(f.r.Reasons, reason)
	f.r.Details = append(f.r.Details, fmt.Sprintf(format, a...))
}

// usable prepares the log and refuses what no fit can use.
func (f *fitter) usable(load *loading) bool {
	r := f.r
	if len(f.rows) < 2 {
		f.refuse(TooShort, "%d rows, at least %d readings are needed", len(f.rows), minReadings)
		return false
	}
	s := newSeries(f.o.filled(f.rows), f.o.gain(f.rows), load)
	f.s = s
	r.Voltage, r.Temperature, r.Period = Number(s.supply), Number(s.warmth), Number(s.period)
	r.Readings, r.Lost, r.Duration = len(s.readings), s.lost, Number(s.end-s.begin)
	if s.end-s.begin < minDuration || len(s.readings) < minReadings {
		f.refuse(TooShort, "%.3g s with %d readings, at least %g s and %d are needed", s.end-s.begin, len(s.readings), minDuration, minReadings)
	}
	if share := float64(s.lost) / float64(s.rows); share > maxLoss {
		f.refuse(Gaps, "%.0f %% of the readings are lost, at most %.0f %% may be", 100*share, 100*maxLoss)
	}
	if most := math.Max(maxGap, gapPeriods*s.period); s.longest > most {
		f.refuse(Gaps, "%.3g s pass without a goal or a reading, at most %.3g s may", s.longest, most)
	}
	if len(s.voltage) == 0 {
		f.refuse(NoVoltage, "no row has a voltage, and none is known of the robot's servo")
	}
	if len(s.torque.knots) == 0 {
		f.refuse(NoTorque, "no row has a torque: name the robot, so that it can be computed")
	}
	if s.pwm > maxPWM {
		f.refuse(Saturated, "the servo is at its limit in %.0f %% of the readings, at most %.0f %% may be", 100*s.pwm, 100*maxPWM)
	}
	if len(r.Reasons) == 0 {
		f.excited()
	}
	return len(r.Reasons) == 0
}

// excited asks for motion, and for the delay.
func (f *fitter) excited() {
	s := f.s
	low, high, up, down, error, speed, both := math.Inf(1), math.Inf(-1), 0.0, 0.0, 0.0, 0.0, 0.0
	ramp := line{knots: s.ramp}
	for _, r := range s.readings {
		low, high = math.Min(low, r.q), math.Max(high, r.q)
		goal, _ := ramp.at(r.t)
		if math.Abs(r.v) > movingSpeed {
			e := goal - r.q
			error, speed, both = error+e*e, speed+r.v*r.v, both+e*r.v
			if r.v > 0 {
				up++
			} else {
				down++
			}
		}
	}
	n := float64(len(s.readings))
	switch {
	case high-low < minRange:
		f.refuse(NoExcitation, "the joint moves by %.3g rad, at least %g are needed", high-low, minRange)
	case up+down < minMoving*n || math.Min(up, down) < minMoving/4*n:
		f.refuse(NoExcitation, "the joint is faster than %g rad/s in %.0f %% of the readings (%.0f %% upwards), at least %.0f %% are needed, to both sides",
			movingSpeed, 100*(up+down)/n, 100*up/n, 100*minMoving)
	}
	// the goal leads what follows it
	if len(f.r.Reasons) == 0 && both < -0.3*math.Sqrt(error*speed) {
		f.refuse(Swapped, "positions lead the goals: the columns goal and position are swapped, or clocks differ")
	}
	if fast := s.fastMotion(); !f.known && fast < minFast {
		f.refuse(Delay, "the delay is not given, and goals have %.2g rad above %g Hz, at least %g are needed to measure it", fast, fastFrom, minFast)
	}
}

const (
	fastFrom    = 3.0   // Hz
	fastTo      = 12.0  // Hz
	fastSegment = 10.0  // s
	fastStep    = 0.011 // s
)

// fastMotion is the RMS of the goals above fastFrom, in the stretch where it is greatest.
func (s *series) fastMotion() (most float64) {
	n := int(math.Min(fastSegment, s.end-s.begin) / fastStep)
	x := make([]float64, n)
	for begin := s.begin; begin+float64(n)*fastStep <= s.end+fastStep; begin += float64(n) * fastStep / 2 {
		ramp, mean := line{knots: s.ramp}, 0.0
		for i := range x {
			x[i], _ = ramp.at(begin + float64(i)*fastStep)
			mean += x[i] / float64(n)
		}
		for i := range x { // Hann
			x[i] = (x[i] - mean) * (1 - math.Cos(2*math.Pi*(float64(i)+0.5)/float64(n)))
		}
		power := 0.0
		for k := int(math.Ceil(fastFrom * float64(n) * fastStep)); float64(k) < fastTo*float64(n)*fastStep; k++ {
			power += goertzel(x, k)
		}
		most = math.Max(most, math.Sqrt(power))
	}
	return most
}

// goertzel is half the squared amplitude of the k-th harmonic, by Goertzel's recursion; the window's
// power is divided out.
func goertzel(x []float64, k int) float64 {
	c := 2 * math.Cos(2*math.Pi*float64(k)/float64(len(x)))
	a, b := 0.0, 0.0
	for _, v := range x {
		a, b = v+c*a-b, a
	}
	amplitude := 4 * (a*a + b*b - c*a*b) / float64(len(x)*len(x))
	return amplitude / 2 / 1.5
}

// estimate finds the values on the whole log.
func (f *fitter) estimate() {
	s := f.s
	f.whole = s.span(s.begin, s.end)
	f.opt = newOptimiser(f.whole, stribeck{})
	f.free = []int{pA0, pA1, pA2, pA3, pA5}
	if !f.known {
		f.free = append(f.free, pDelay)
	}
	start := f.start()
	if f.torqueRange() < minTorque {
		f.take(&start, pA3)
	}
	f.best = f.opt.fit(start, f.free, 25)
	if st, ok := stribeckCurve(s.sweeps(f.best.p[pDelay])); ok {
		f.st, f.opt.st = st, st
		f.best = f.opt.fit(f.best.p, f.free, 15)
	}
	for _, value := range []int{pA3, pA0} { // what the load cannot excite
		if f.o.Type != nil && f.fitted(value) && (f.uncertain(value) || f.unseen(value)) {
			p := f.best.p
			f.take(&p, value)
			f.best = f.opt.fit(p, f.free, 15)
		}
	}
	if !f.o.hasty {
		f.findEffects()
	}
}

// start is the best of the guesses for some delays.
func (f *fitter) start() values {
	if f.known {
		p, _, c := f.whole.guess(f.o.Delay)
		f.r.Condition = Number(c)
		return p
	}
	var best values
	least := math.Inf(1)
	for d := -0.024; d < 0.1; d += 0.008 {
		p, left, c := f.whole.guess(d)
		if left < least || math.IsInf(least, 1) {
			best, least, f.r.Condition = p, left, Number(c)
		}
	}
	return best
}

// torqueRange is by how much the torque changes.
func (f *fitter) torqueRange() float64 {
	low, high := math.Inf(1), math.Inf(-1)
	for _, k := range f.s.torque.knots {
		low, high = math.Min(low, k.x), math.Max(high, k.x)
	}
	return high - low
}

// take fixes a value at that of the servo's type.
func (f *fitter) take(p *values, value int) {
	for i, v := range f.free {
		if v == value {
			f.free = append(append([]int(nil), f.free[:i]...), f.free[i+1:]...)
			break
		}
	}
	if f.o.Type == nil {
		p[value] = 0
		return
	}
	t := f.o.Type.AtJoint()
	p[value] = t.A[map[int]int{pA0: 0, pA3: 3}[value]]
	f.r.Taken = append(f.r.Taken, fmt.Sprintf("a%d", map[int]int{pA0: 0, pA3: 3}[value]))
}

func (f *fitter) fitted(value int) bool {
	for _, v := range f.free {
		if v == value {
			return true
		}
	}
	return false
}

// uncertain: the standard deviation is too great, and it matters.
func (f *fitter) uncertain(value int) bool {
	σ := f.best.sigma(value)
	if math.IsInf(σ, 1) || math.IsNaN(σ) {
		return true
	}
	return σ > maxSigma[value]*f.best.p[value] && σ*f.size(value) > negligible*f.effort()
}

// unseen: the log tells less of a parameter than its type does, to within what may be uncertain.
func (f *fitter) unseen(value int) bool {
	t := f.o.Type.AtJoint()
	typical := t.A[map[int]int{pA0: 0, pA3: 3}[value]]
	least, _ := bounds(value)
	if f.best.p[value] <= least { // a value at its bound has no deviation
		return value == pA3 && typical*f.variation() < faint*f.effort()
	}
	return f.best.sigma(value) > maxSigma[value]*typical
}

// faint is the share of y below which a load does not show.
const faint = 0.03

// variation is the standard deviation of the torque.
func (f *fitter) variation() float64 {
	mean, square, n := 0.0, 0.0, float64(len(f.whole.readings()))
	for _, r := range f.whole.readings() {
		mean, square = mean+r.torque/n, square+r.torque*r.torque/n
	}
	return math.Sqrt(math.Max(square-mean*mean, 0))
}

// size is the RMS of what a parameter is multiplied with.
func (f *fitter) size(value int) float64 {
	sum := 0.0
	for _, r := range f.whole.readings() {
		x := [4]float64{r.a, r.v, 1, r.torque}[value]
		sum += x * x
	}
	return math.Sqrt(sum / float64(len(f.whole.readings())))
}

// effort is the RMS of y.
func (f *fitter) effort() float64 {
	p, sum := &f.best.p, 0.0
	for _, r := range f.whole.readings() {
		y := p[pA0]*r.a + p[pA1]*r.v + math.Copysign(p[pA2], r.v) + p[pA3]*r.torque + p[pA5]
		sum += y * y
	}
	return math.Sqrt(sum / float64(len(f.whole.readings())))
}
