package identify

import (
	"math"
	"math/rand/v2"
	"testing"

	"poise/servo/model"
)

// samples feeds an estimate with what a servo of some parameters does, in steps of 5.7 mrad.
func samples(o *Online, truth [4]float64, seed uint64, n int, speed float64) {
	r := rand.New(rand.NewPCG(seed, 9))
	for i := range n {
		t := 0.02 * float64(i)
		v, a := speed*math.Cos(2*t)+0.3*speed*math.Cos(7*t), -2*speed*math.Sin(2*t)-2.1*speed*math.Sin(7*t)
		τ := 0.3 * math.Sin(0.7*t)
		y := truth[0]*a + truth[1]*v + math.Copysign(truth[2], v) + truth[3]*τ
		o.Add(y/1200+0.004*(r.Float64()-0.5), 0, v, a, τ, 100, 12)
	}
}

// TestOnlineEstimatesAndJudges: a servo that is as its model says is told so, one that is not shows how it is; slow motion says
// nothing, and nothing is changed by what does not move.
func TestOnlineEstimatesAndJudges(t *testing.T) {
	m := &model.Model{Kp: 100, Voltage: 12, A: [6]float64{2.1, 54, 12.5, 235}}
	o := NewOnline(m)
	samples(o, [4]float64(m.A[:4]), 1, 50, 1)
	if _, _, ok := o.Estimate(); ok {
		t.Error("something is said after 50 samples")
	}
	samples(o, [4]float64(m.A[:4]), 1, 1500, 1)
	p, rms, ok := o.Estimate()
	if !ok || rms > 0.003 {
		t.Errorf("a servo that fits errs by %g rad", rms)
	}
	for i, limit := range []float64{0.3, 0.05, 0.15, 0.05} {
		if e := p[i]/m.A[i] - 1; math.Abs(e) > limit {
			t.Errorf("a%d is %g, want %g", i, p[i], m.A[i])
		}
	}
	worn := [4]float64{2.1, 70, 22, 235}
	samples(o, worn, 2, 2500, 1)
	if p, rms, _ = o.Estimate(); rms < 0.01 || math.Abs(p[1]/worn[1]-1) > 0.05 || math.Abs(p[2]/worn[2]-1) > 0.15 {
		t.Errorf("a worn servo errs by %g rad, and shows %v", rms, p)
	}
	before := *o
	samples(o, worn, 3, 1000, 0.02)
	if o.θ != before.θ || o.error != before.error {
		t.Error("slow motion counts")
	}
	if m.A[1] != 54 {
		t.Error("the model was changed")
	}
}
