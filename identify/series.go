package identify

import (
	"math"
	"slices"
)

// series is the log of a joint as the fit wants it: the goal as the servo follows it, readings in
// the order of their times, voltage and torque as functions of time.
type series struct {
	begin, end float64 // of the readings, s
	period     float64 // median time between goals, s
	quantum    float64 // least step of the readings, rad
	step       float64 // of the grid that all readings are on, rad; 0 without one
	rows, lost int
	longest    float64 // greatest time between consecutive readings, s

	ramp     []knot // goal against time, without the delay
	readings []reading
	voltage  []knot // where the gain is another than kp, times its share of that
	torque   cubic
	raw      cubic // torque as it was logged, where torque is an instrument of it
	rest     cubic // torque without what the joint's own acceleration takes
	inertia  cubic // that takes it, kg·m²; nothing if only the torque is known
	kp       float64

	warmth, supply float64 // means of temperature and voltage; NaN if unknown
	pwm            float64 // share of readings at which the servo was at its limit; NaN if unknown
}

// knot is a point of a curve of straight lines.
type knot struct{ t, x float64 }

type reading struct {
	t, q   float64
	v, a   float64 // by local smoothing
	torque float64
}

// fullPWM is the share of the supply from which on a servo is at its limit.
const fullPWM = 0.97

// loading is the load of a joint: its torque and, where a robot gave it, the parts of it. With them the
// equation is run with the inertia that the joint carries: its acceleration then need not be known before.
type loading struct{ torque, rest, inertia []knot }

// newSeries prepares the log of a joint; a load, when given, is used in place of the log's.
func newSeries(rows []Row, kp float64, load *loading) *series {
	s := &series{rows: len(rows), kp: kp, warmth: math.NaN(), supply: math.NaN(), pwm: math.NaN()}
	s.period = medianPeriod(rows)
	s.goals(rows)
	s.measured(rows)
	s.means(rows)
	if load == nil {
		load = new(loading)
		for _, r := range rows {
			if !math.IsNaN(r.Torque) {
				load.torque = append(load.torque, knot{r.MeasuredAt, r.Torque})
			}
		}
	}
	s.torque = newCubic(load.torque)
	if s.rest = s.torque; load.inertia != nil {
		s.rest, s.inertia = newCubic(load.rest), newCubic(load.inertia)
	}
	if len(s.readings) > 0 {
		s.begin, s.end = s.readings[0].t, s.readings[len(s.readings)-1].t
	}
	s.smooth()
	return s
}

func medianPeriod(rows []Row) float64 {
	var steps []float64
	for i := 1; i < len(rows); i++ {
		steps = append(steps, rows[i].Time-rows[i-1].Time)
	}
	return median(steps)
}

// goals makes the line along which the servo is led: from where it is to each goal over the play
// time, a goal that comes earlier beginning where the last one had got.
func (s *series) goals(rows []Row) {
	at := rows[0].Goal
	s.ramp = append(s.ramp, knot{rows[0].Time, at})
	for i, r := range rows {
		play := r.PlayTime
		if math.IsNaN(play) {
			play = s.period
		}
		s.ramp = append(s.ramp, knot{r.Time, at})
		end := r.Time + play
		if i+1 < len(rows) && rows[i+1].Time < end {
			at += (r.Goal - at) * (rows[i+1].Time - r.Time) / play
			continue
		}
		at = r.Goal
		s.ramp = append(s.ramp, knot{end, at})
	}
}

func (s *series) measured(rows []Row) {
	for _, r := range rows {
		if math.IsNaN(r.Position) {
			s.lost++
			continue
		}
		s.readings = append(s.readings, reading{t: r.MeasuredAt, q: r.Position})
	}
	slices.SortStableFunc(s.readings, func(a, b reading) int {
		switch {
		case a.t < b.t:
			return -1
		case a.t > b.t:
			return 1
		}
		return 0
	})
	s.step = stepOf(s.readings)
	s.quantum = math.Inf(1)
	for i := 1; i < len(s.readings); i++ {
		s.longest = math.Max(s.longest, s.readings[i].t-s.readings[i-1].t)
		if d := math.Abs(s.readings[i].q - s.readings[i-1].q); d > 1e-5 {
			s.quantum = math.Min(s.quantum, d)
		}
	}
	for i := 1; i < len(rows); i++ {
		s.longest = math.Max(s.longest, rows[i].Time-rows[i-1].Time)
	}
	if math.IsInf(s.quantum, 1) || s.quantum > 0.02 {
		s.quantum = 0
	}
}

func (s *series) means(rows []Row) {
	var warmth, supply, full, pwm, n float64
	for _, r := range rows {
		if !math.IsNaN(r.Temperature) {
			warmth += r.Temperature
			n++
		}
		if !math.IsNaN(r.PWM) {
			pwm++
			if math.Abs(r.PWM) >= fullPWM {
				full++
			}
		}
		if !math.IsNaN(r.Voltage) {
			gain := 1.0
			if !math.IsNaN(r.Kp) {
				gain = r.Kp / s.kp
			}
			s.voltage = append(s.voltage, knot{r.MeasuredAt, r.Voltage * gain})
			supply += r.Voltage
		}
	}
	slices.SortStableFunc(s.voltage, func(a, b knot) int {
		if a.t < b.t {
			return -1
		}
		return 1
	})
	if n > 0 {
		s.warmth = warmth / n
	}
	if pwm > 0 {
		s.pwm = full / pwm
	}
	if len(s.voltage) > 0 {
		s.supply = supply / float64(len(s.voltage))
	}
}

// smoothing is half the width of the local cubic that smooths readings, s.
const smoothing = 0.09

// smooth finds velocity and acceleration of each reading by a cubic through its neighbours
// (Savitzky and Golay, for times that are not even), and their torque.
func (s *series) smooth() {
	r := s.readings
	half := math.Max(smoothing, 3.2*s.period)
	points := make([]knot, len(r))
	for i := range r {
		points[i] = knot{r[i].t, r[i].q}
	}
	first := 0
	for i := range r {
		for r[i].t-r[first].t > half {
			first++
		}
		last := i
		for last < len(r) && r[last].t-r[i].t <= half {
			last++
		}
		if c, ok := localCubic(points[first:last], r[i].t, half); ok {
			r[i].v, r[i].a = c[1], 2*c[2]
		}
		r[i].torque = s.torque.at(r[i].t)
	}
}

// localCubic fits c0 + c1·Δt + c2·Δt² + c3·Δt³ about a time, neighbours weighing less with their
// distance.
func localCubic(k []knot, t, half float64) (c [4]float64, ok bool) {
	A, b := make([]float64, 16), make([]float64, 4)
	for _, p := range k {
		x := (p.t - t) / half
		w := 1 - math.Abs(x*x*x)
		row := [4]float64{1, x, x * x, x * x * x}
		for i := range 4 {
			b[i] += w * row[i] * p.x
			for j := range 4 {
				A[4*i+j] += w * row[i] * row[j]
			}
		}
	}
	if !solve(A, b, 4) {
		return c, false
	}
	return [4]float64{b[0], b[1] / half, b[2] / (half * half), b[3] / (half * half * half)}, true
}

// roughness is how much of the torque jumps from sample to sample: RMS of what a local cubic leaves,
// over the RMS about the mean.
func (s *series) roughness() float64 {
	k := s.torque.knots
	half := 4.5 * s.period
	rest, all, mean := 0.0, 0.0, 0.0
	for _, p := range k {
		mean += p.x / float64(len(k))
	}
	first, last := 0, 0
	for _, p := range k {
		for p.t-k[first].t > half {
			first++
		}
		for last < len(k) && k[last].t-p.t <= half {
			last++
		}
		if c, ok := localCubic(k[first:last], p.t, half); ok {
			rest += (p.x - c[0]) * (p.x - c[0])
		}
		all += (p.x - mean) * (p.x - mean)
	}
	if all == 0 {
		return 0
	}
	return math.Sqrt(rest / all)
}

// line is a cursor on a curve of straight lines; times may not go back.
type line struct {
	knots []knot
	i     int
}

// at returns the value and the slope.
func (l *line) at(t float64) (x, slope float64) {
	k := l.knots
	for l.i+1 < len(k) && k[l.i+1].t <= t {
		l.i++
	}
	if t <= k[0].t {
		return k[0].x, 0
	}
	if l.i+1 == len(k) {
		return k[l.i].x, 0
	}
	a, b := k[l.i], k[l.i+1]
	slope = (b.x - a.x) / (b.t - a.t)
	return a.x + slope*(t-a.t), slope
}

// cubic is a natural cubic spline.
type cubic struct {
	knots  []knot
	second []float64 // derivatives
}

func newCubic(k []knot) cubic {
	k = slices.Clone(k)
	slices.SortStableFunc(k, func(a, b knot) int {
		if a.t < b.t {
			return -1
		}
		return 1
	})
	k = slices.CompactFunc(k, func(a, b knot) bool { return math.Abs(b.t-a.t) < 1e-6 })
	c := cubic{knots: k, second: make([]float64, len(k))}
	u := make([]float64, len(k))
	for i := 1; i < len(k)-1; i++ { // tridiagonal, after Press et al., "Numerical Recipes", 3.3
		h0, h1 := k[i].t-k[i-1].t, k[i+1].t-k[i].t
		sig := h0 / (h0 + h1)
		p := sig*c.second[i-1] + 2
		c.second[i] = (sig - 1) / p
		u[i] = (6*((k[i+1].x-k[i].x)/h1-(k[i].x-k[i-1].x)/h0)/(h0+h1) - sig*u[i-1]) / p
	}
	for i := len(k) - 2; i >= 1; i-- {
		c.second[i] = c.second[i]*c.second[i+1] + u[i]
	}
	return c
}

func (c *cubic) at(t float64) float64 {
	k := c.knots
	switch {
	case len(k) == 0:
		return 0
	case t <= k[0].t:
		return k[0].x
	case t >= k[len(k)-1].t:
		return k[len(k)-1].x
	}
	i, _ := slices.BinarySearchFunc(k, t, func(a knot, t float64) int {
		if a.t <= t {
			return -1
		}
		return 1
	})
	a, b := k[i-1], k[i]
	h := b.t - a.t
	p, q := (b.t-t)/h, (t-a.t)/h
	return p*a.x + q*b.x + ((p*p*p-p)*c.second[i-1]+(q*q*q-q)*c.second[i])*h*h/6
}

func median(x []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	x = slices.Clone(x)
	slices.Sort(x)
	return x[len(x)/2]
}
