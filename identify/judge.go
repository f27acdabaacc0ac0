package identify

import (
	"math"

	"poise/servo/model"
)

// judge fills the result, tries the parameters on what they were not fitted to, and refuses what
// cannot be trusted.
func (f *fitter) judge(held *series) {
	s, b := f.s, &f.best
	split := s.end - holdOutShare*(s.end-s.begin)
	plain := b.p
	var judging *span
	if held == nil {
		opt := newOptimiser(s.span(s.begin, split), f.st)
		part := opt.fit(b.p, f.free, 12)
		f.agree(&part)
		plain, judging = part.p, s.span(split, s.end)
	} else if len(held.readings) >= minReadings/2 && len(held.voltage) > 0 && len(held.torque.knots) > 0 {
		judging = held.span(held.begin, held.end)
	} else {
		f.refuse(HoldOut, "the log to judge by has %d readings of this joint, at least %d with voltage and torque are needed", len(held.readings), minReadings/2)
	}
	f.publish()
	r := f.r
	r.TrainRMSE = Number(rms(left(f.whole, equation(b.p), f.st)))
	if judging != nil {
		r.RMSE = Number(rms(left(judging, equation(plain), f.st)))
		r.predict = func(m *model.Model) float64 { return predicted(judging, m) }
	}
	if b.p[pA3] > 0 {
		r.RMSETorque = r.RMSE * Number(s.kp*s.supply/b.p[pA3])
	}
	for i := range r.Autocorrelation {
		r.Autocorrelation[i] = Number(autocorrelation(b.rest, i+1))
	}
	f.traces(split, held)
	r.motion = func(point func(t, q, v, a float64), begin float64) { f.whole.follow(&b.p, f.st, begin, point) }
	f.trust()
}

// equation are the values that a model will have: without friction of the load, and warming.
func equation(p values) values {
	q := noEffects()
	for _, i := range []int{pA0, pA1, pA2, pA3, pA5, pDelay, pPlay, pDeadBand, pSlip} {
		q[i] = p[i]
	}
	return q
}

// ofModel are the values of a servo model, seen from the joint.
func ofModel(m *model.Model) values {
	j, p := m.AtJoint(), noEffects()
	p[pA0], p[pA1], p[pA2], p[pA3], p[pA5], p[pDelay] = j.A[0], j.A[1], j.A[2], j.A[3], j.A[5], j.Lead
	p[pA0] = math.Max(p[pA0], 1e-3)
	return p
}

// predicted is by how much a model errs in a span. A model does not say where its play is: it is
// where that errs least.
func predicted(g *span, m *model.Model) float64 {
	p, st := ofModel(m), stribeckOf(m)
	least := rms(left(g, p, st))
	if play := m.AtJoint().Backlash; play > 0 {
		for _, v := range []int{pPlay, pDeadBand, pSlip} {
			q := p
			q[v] = play
			least = math.Min(least, rms(left(g, q, st)))
		}
	}
	return least
}

func stribeckOf(m *model.Model) stribeck {
	j := m.AtJoint()
	return stribeck{j.A[4], math.Max(j.Speed, 1e-3)}
}

// left is what the values leave of a span.
func left(g *span, p values, st stribeck) []float64 {
	o := newOptimiser(g, st)
	from := o.residuals(&p, nil)
	return o.r[from:]
}

// agree refuses parameters that the first part of a log gives otherwise than all of it.
func (f *fitter) agree(part *outcome) {
	const apart = 0.12
	for _, v := range []int{pA0, pA1, pA2, pA3} {
		a, b := part.p[v], f.best.p[v]
		σ := math.Hypot(part.sigma(v), f.best.sigma(v))
		if d := math.Abs(a - b); f.fitted(v) && d > apart*math.Max(a, b) && d > 6*σ && d*f.size(v) > 2*negligible*f.effort() {
			f.refuse(Inconsistent, "a%d is %.4g in the first part and %.4g in all of the log", v, a, b)
		}
	}
}

// publish writes the values as they are at the servo's shaft.
func (f *fitter) publish() {
	r, p, k := f.r, &f.best.p, f.o.gear()
	at := func(x func(int) float64) Parameters {
		return Parameters{A0: Number(x(pA0)), A1: Number(x(pA1)), A2: Number(x(pA2) * k), A3: Number(x(pA3) * k * k), A5: Number(x(pA5) * k)}
	}
	r.Parameters = at(func(v int) float64 { return p[v] })
	r.Sigma = at(f.best.sigma)
	r.Parameters.A4, r.Parameters.Vs = Number(f.st.a4*k), Number(f.st.vs*k)
	r.backlash = (p[pPlay] + p[pDeadBand] + p[pSlip]) * k
	r.Delay, r.DelaySigma, r.DelayMeasured = Number(math.Max(p[pDelay], 0)), Number(f.best.sigma(pDelay)), !f.known
}

// traces keeps curves for a plot.
func (f *fitter) traces(split float64, held *series) {
	t := &f.r.Traces
	t.HoldOut = split
	if held != nil {
		t.HoldOut = math.NaN()
	}
	p := equation(f.best.p)
	o := newOptimiser(f.whole, f.st)
	o.residuals(&p, nil)
	ramp := line{knots: f.s.ramp}
	for i, r := range f.whole.readings() {
		goal, _ := ramp.at(r.t - p[pDelay])
		t.Time, t.Measured = append(t.Time, r.t), append(t.Measured, r.q)
		t.Predicted, t.Goal = append(t.Predicted, o.q[i]), append(t.Goal, goal)
	}
}

// earliest is by how much a measured delay may be below zero, by chance, s.
const earliest = 2e-3

// plausible is by which factor a parameter may differ from that of the servo's type.
const plausible = 2.2

// trust refuses by the figures.
func (f *fitter) trust() {
	r, b := f.r, &f.best
	if !(float64(r.RMSE) <= maxRMSE) && !math.IsNaN(float64(r.RMSE)) {
		f.refuse(HoldOut, "positions of the hold-out are predicted with an error of %.4f rad (RMS), at most %g may be", float64(r.RMSE), maxRMSE)
	}
	if !(float64(r.TrainRMSE) <= maxRMSE) {
		f.refuse(HoldOut, "positions that were fitted are explained with an error of %.4f rad (RMS), at most %g may be", float64(r.TrainRMSE), maxRMSE)
	}
	if c := float64(r.Condition); !(c <= maxCondition) && len(r.Taken) == 0 {
		f.refuse(Condition, "the condition number is %.3g, at most %d may be: the motion does not tell the parameters apart", c, maxCondition)
	}
	names := []string{"a0", "a1", "a2", "a3"}
	for v, name := range names {
		least, _ := bounds(v)
		switch {
		case !f.fitted(v):
		case b.p[v] <= least && v == pA3:
			f.refuse(AnotherRobot, "a3 would be negative: the torque is not that of this joint, or has the wrong sign")
		case b.p[v] <= least && v == pA1:
			f.refuse(Negative, "%s would be negative: the log does not show a servo that follows its goals", name)
		case v == pA3 && f.torqueRange() >= fairTorque && !(b.sigma(v) < 0.3*b.p[v]):
			f.refuse(AnotherRobot, "a3 is %.4g ± %.2g: the torque does not show in the motion; it is not that of this joint", b.p[v], b.sigma(v))
		case f.uncertain(v):
			f.refuse(Uncertain, "%s is %.4g ± %.2g, at most %.0f %% may be uncertain", name, b.p[v], b.sigma(v), 100*maxSigma[v])
		}
	}
	if f.o.Type == nil && (f.torqueRange() < minTorque || f.torqueRange() < fairTorque && f.uncertain(pA3)) {
		f.refuse(NoExcitation, "the load changes by %.2g N·m: a3 cannot be found, and no servo type is known of which to take it", f.torqueRange())
	}
	if d := b.p[pDelay]; !f.known && (d < -earliest || d >= maxDelay) {
		f.refuse(Delay, "the log shows a delay of %.1f ms: clocks of goals and readings differ, or the log does not show it", 1e3*d)
	}
	if σ := b.sigma(pDelay); !f.known && !(σ <= maxDelaySpan) {
		f.refuse(Delay, "the delay is measured as %.1f ± %.1f ms, at most %g ms may be uncertain", 1e3*b.p[pDelay], 1e3*σ, 1e3*maxDelaySpan)
	}
	if f.o.Type == nil {
		return
	}
	t := f.o.Type.AtJoint()
	for _, v := range []int{pA1, pA3} {
		if want := t.A[v]; f.fitted(v) && want > 0 && (b.p[v] > plausible*want || b.p[v] < want/plausible) {
			f.refuse(AnotherRobot, "%s is %.4g, that of the servo's type %.4g: more than %g times apart; another servo or robot, or a torque wrong by a factor", names[v], b.p[v], want, plausible)
		}
	}
}
