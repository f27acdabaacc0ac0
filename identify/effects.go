package identify

import (
	"fmt"
	"math"
	"slices"
)

// trial is an effect outside the equation.
type trial struct {
	gain   float64 // by which it makes the cost less
	out    outcome
	values []int // of the effect
}

// shows: by the cost or, where most of what is left is noise, by a value far above its deviation.
func (t *trial) shows() bool {
	if t.gain > believed || t.gain < hopeful || len(t.values) != 1 {
		return t.gain > believed
	}
	σ := t.out.sigma(t.values[0])
	return σ > 0 && t.out.p[t.values[0]] > sure*σ
}

// Gains of the cost from which on an effect is believed.
const (
	believed  = 1.10
	hopeful   = 1.02 // worth another attempt
	sure      = 5    // deviations from zero
	otherLoad = 1.30 // a load that the torque does not explain
	someLoad  = 1.03 // the same, where a large offset speaks of it, too
	white     = 0.10 // autocorrelation below which nothing is left to explain,
	follows   = 0.20 // and above which something is
	smooth    = 0.02 // roughness of a torque that no noise explains
	push      = 0.03 // N·m of a5 that no servo has,
	pushSure  = 10   // in deviations of it
)

// findEffects tries the effects one at a time, refuses what makes the log useless, and keeps those
// that the log shows besides the equation, so that they do not spoil its parameters.
func (f *fitter) findEffects() {
	open := [][]int{{pDamping, pFriction}, {pPlay}, {pDeadBand}, {pSlip}, {pLoadFriction}}
	for first := true; len(open) > 0 && !f.isWhite(); first = false {
		best, at := trial{gain: 1}, 0
		var promising [][]int
		for _, values := range open {
			t := f.attempt(values...)
			if t.gain > best.gain {
				best, at = t, len(promising)
			}
			if t.gain > hopeful {
				promising = append(promising, values)
			}
		}
		drift, limit := f.attempt(pDrift), f.saturation()
		if first {
			f.otherLoad(math.Max(best.gain, math.Max(drift.gain, limit.gain)))
			if f.givenDelay() {
				return // what a wrong delay leaves looks like other effects
			}
		}
		if drift.gain > believed && drift.gain > best.gain && f.refuseDrift(&drift) ||
			limit.gain > believed && limit.gain > best.gain && f.refuseLimit(&limit) || !best.shows() {
			break
		}
		f.best, f.free = best.out, best.out.free
		if slices.Contains(best.values, pPlay) {
			f.calm()
		}
		open = slices.Delete(promising, at, at+1)
	}
	f.name()
	if len(f.r.Effects) == 0 && len(f.r.Reasons) == 0 {
		f.unexplained()
	}
}

// isWhite: residuals are uncorrelated, so nothing is left to explain.
func (f *fitter) isWhite() bool {
	scores := f.best.loss.scores(f.best.rest)
	for lag := 1; lag <= 3; lag++ {
		if math.Abs(autocorrelation(scores, lag)) > white {
			return false
		}
	}
	return true
}

// attempt fits with some more values.
func (f *fitter) attempt(more ...int) trial {
	p := f.best.p
	if more[0] == pPlay || more[0] == pDeadBand || more[0] == pSlip {
		p[more[0]] = 0.003
	}
	return f.from(p, more...)
}

func (f *fitter) from(p values, more ...int) trial {
	free := append(append([]int(nil), f.free...), more...)
	out := f.opt.fit(p, free, 8)
	// at the scale of the smaller: the cost depends on it
	l := f.best.loss
	l.scale = math.Min(out.loss.scale, l.scale)
	return trial{out: out, gain: l.mean(f.best.rest) / l.mean(out.rest), values: more}
}

// saturation starts from the best of some limits.
func (f *fitter) saturation() trial {
	most := f.whole.greatest(&f.best.p)
	p, least := f.best.p, math.Inf(1)
	for _, share := range []float64{0.9, 0.75, 0.6, 0.5, 0.4, 0.3} {
		next := f.best.p
		next[pSaturation] = share * most
		from := f.opt.residuals(&next, nil)
		if c := f.best.loss.mean(f.opt.r[from:]); c < least {
			p, least = next, c
		}
	}
	return f.from(p, pSaturation)
}

func (f *fitter) refuseDrift(t *trial) bool {
	const worst = 3e-3 // s
	ε := t.out.p[pDrift]
	apart := math.Abs(ε) * (f.s.end - f.s.begin)
	if apart < worst || math.Abs(ε) < 5*t.out.sigma(pDrift) {
		return false
	}
	f.refuse(ClockDrift, "the clocks of goals and readings drift by %.0f µs/s, %.1f ms over the log; at most %g ms may be", 1e6*ε, 1e3*apart, 1e3*worst)
	return true
}

func (f *fitter) refuseLimit(t *trial) bool {
	over, n := 0, 0
	ramp := line{knots: f.s.ramp}
	for _, r := range f.whole.readings() {
		goal, _ := ramp.at(r.t - t.out.p[pDelay])
		if math.Abs(f.s.kp*(goal-r.q)) > t.out.p[pSaturation] {
			over++
		}
		n++
	}
	if float64(over) < 0.005*float64(n) {
		return false
	}
	f.refuse(Saturated, "the servo gives no more than %.3g·U in %.1f %% of the readings: its limit; slower or smaller motion is needed", t.out.p[pSaturation], 100*float64(over)/float64(n))
	return true
}

// otherLoad refuses a torque without noise that does not explain the load: a load that depends on
// the angle in another way explains it better than all else.
func (f *fitter) otherLoad(others float64) {
	t := f.attempt(pSin, pCos)
	f.loadGain = t.gain
	if t.gain > otherLoad && t.gain > others && f.s.roughness() < smooth {
		f.refuse(AnotherRobot, "the torque does not explain the load, which a torque of the joint's angle would (residuals %.2g times): that of another robot or joint", 1/math.Sqrt(t.gain))
	}
}

// unexplained reports correlated residuals that no effect explains. Where the servo would have to push
// all the time besides, and a load of another angle explains some of it, the torque is that of another load.
func (f *fitter) unexplained() {
	ρ := math.Inf(1)
	for lag := 1; lag <= 3; lag++ {
		ρ = math.Min(ρ, autocorrelation(f.best.rest, lag))
	}
	if ρ < follows {
		return
	}
	a5, a3 := f.best.p[pA5], f.best.p[pA3]
	if offset := math.Abs(a5) / math.Max(a3, 1e-9); offset > push && math.Abs(a5) > pushSure*f.best.sigma(pA5) && f.loadGain > someLoad {
		f.refuse(AnotherRobot, "the servo would push with %.2g N·m all the time, and residuals are correlated (autocorrelation %.2f): the torque is that of another load", offset, ρ)
		return
	}
	f.r.Effects = append(f.r.Effects, Effect{Name: "unexplained", Value: Number(ρ),
		Text: fmt.Sprintf("residuals are correlated (autocorrelation %.2f): something acts that the equation does not have, and the parameters may be off by more than their deviations", ρ)})
}

// givenDelay refuses a delay that fast motion contradicts.
func (f *fitter) givenDelay() (refused bool) {
	const worst = 6e-3 // s
	if !f.known || f.s.fastMotion() < minFast {
		return false
	}
	t := f.attempt(pDelay)
	d := t.out.p[pDelay]
	if off := math.Abs(d - f.o.Delay); t.gain > believed && off > math.Max(worst, 6*t.out.sigma(pDelay)) {
		f.refuse(Delay, "the delay is given as %.1f ms, the log shows %.1f ms", 1e3*f.o.Delay, 1e3*d)
		return true
	}
	return false
}

// name tells of the effects that were kept.
func (f *fitter) name() {
	p := &f.best.p
	add := func(name string, value float64, unit, text string, a ...any) {
		f.r.Effects = append(f.r.Effects, Effect{Name: name, Value: Number(value), Unit: unit, Text: fmt.Sprintf(text, a...)})
	}
	if f.fitted(pPlay) && p[pPlay] > 0 {
		add("backlash", p[pPlay], "rad", "the gear has %.2g° of play", p[pPlay]*180/math.Pi)
	}
	if f.fitted(pDeadBand) && p[pDeadBand] > 0 {
		add("backlash", p[pDeadBand], "rad", "the servo gives nothing within %.2g° about its goal: play of its gear, or a dead band", p[pDeadBand]*180/math.Pi)
	}
	if f.fitted(pSlip) && p[pSlip] > 0 {
		add("backlash", p[pSlip], "rad", "readings lag by %.2g° when the motion turns: the sensor or what it sits on is loose", p[pSlip]*180/math.Pi)
	}
	if f.fitted(pLoadFriction) && p[pLoadFriction] > 0 {
		add("load_friction", p[pLoadFriction]/math.Max(p[pA3], 1e-9), "", "friction grows with the load, by %.0f %% of it", 100*p[pLoadFriction]/math.Max(p[pA3], 1e-9))
	}
	if f.fitted(pDamping) {
		add("warming", p[pFriction], "", "over the log damping changes by %+.0f %%, dry friction by %+.0f %%; the parameters are those in the middle", 100*p[pDamping], 100*p[pFriction])
	}
}
