package mujoco

import (
	"math"
	"testing"

	"poise/contact"
	"poise/control/follow"
	"poise/internal/onfeet"
	"poise/kinematics"
	"poise/robot"
	"poise/trajectory"
	"poise/wholebody/stage"
)

// lifted is a motion that lifts hooves by folding their legs, and puts them back.
func lifted(t testing.TB, m *robot.Model, legs ...string) follow.Goal {
	t.Helper()
	goal := follow.Goal{GoalTime: -1}
	var from, to []float64
	for _, leg := range legs {
		for k, by := range []float64{0, 0.9, -1.0, 0.1, 0} {
			name := "joint" + leg + string(rune('1'+k))
			j, ok := m.Joint(name)
			if !ok {
				t.Fatalf("no joint %s", name)
			}
			goal.Joints = append(goal.Joints, name)
			from, to = append(from, m.RestPositions()[j]), append(to, m.RestPositions()[j]+by)
		}
	}
	zero := make([]float64, len(from))
	for _, p := range []struct {
		at float64
		q  []float64
	}{{0.3, from}, {1.1, to}, {2.0, to}, {2.8, from}} {
		goal.Points = append(goal.Points, trajectory.Point{Time: p.at, Position: p.q, Velocity: zero, Acceleration: zero})
	}
	return goal
}

// TestMotionsThatTipOver: motions that lift hooves without shifting the weight make the pony fall in
// cycle 1; in cycle 2 it stands, and tells that a fall was prevented.
func TestMotionsThatTipOver(t *testing.T) {
	t.Parallel()
	bot := pony(t)
	motions := [][]string{{"1", "3"}, {"3", "4"}}
	if long() {
		motions = append(motions, []string{"2", "4"}, []string{"1"}, []string{"1", "2"}, []string{"1", "4"})
	}
	for _, e := range engines {
		for k, legs := range motions {
			p := servosAt(bot, 100, 12, 0)
			var tilt [3]float64
			prevented := 0
			for cycle := 1; cycle <= 2; cycle++ {
				d := drive(t, bot, p, e.of(t, bot, p), cycle, 0)
				d.submit(lifted(t, bot.Model, legs...))
				d.run(3, func(at float64) {
					tilt[cycle] = math.Max(tilt[cycle], math.Acos(math.Min(1, d.e.base().R[8])))
					s, _ := d.l.Snapshot()
					if s.WholeBody.State.Prevented {
						prevented++
					}
					if cycle == 2 && s.WholeBody.State.Status != stage.Served {
						t.Fatalf("%s, legs %v: %v at %g s", e.name, legs, s.WholeBody.State.Status, at)
					}
				})
			}
			t.Logf("%s, legs %v: tilt %.1f° in cycle 1, %.2f° in cycle 2, a fall was prevented for %.2f s", e.name, legs, tilt[1]*180/math.Pi, tilt[2]*180/math.Pi, float64(prevented)*cyclePeriod)
			if k < 2 && tilt[1] < math.Pi/4 || tilt[2] > math.Pi/180 || prevented == 0 {
				t.Errorf("%s, legs %v: tilt %g rad in cycle 1, %g in cycle 2, prevented in %d ticks", e.name, legs, tilt[1], tilt[2], prevented)
			}
		}
	}
}

// TestLiftAfterAShift: the body goes over three hooves, the fourth leaves the ground by 25 mm and comes
// back. The measured zero-moment point keeps half the margin, and no effort jumps.
func TestLiftAfterAShift(t *testing.T) {
	t.Parallel()
	bot := pony(t)
	m := bot.Model
	legs := []string{"leg1", "leg2", "leg3", "leg4"}
	for _, e := range engines {
		for k, leg := range legs {
			if k > 0 && !long() {
				break
			}
			over := onfeet.Over(m, leg)
			up := map[string]float64{leg: 0.025}
			goal := onfeet.Lift(t, m, legs, onfeet.Key{At: 0}, onfeet.Key{At: 1, Shift: over}, onfeet.Key{At: 1.2, Shift: over, Free: []string{leg}}, onfeet.Key{At: 1.5, Shift: over, Free: []string{leg}},
				onfeet.Key{At: 2.1, Shift: over, Lift: up, Free: []string{leg}}, onfeet.Key{At: 2.6, Shift: over, Lift: up, Free: []string{leg}}, onfeet.Key{At: 3.2, Shift: over}, onfeet.Key{At: 3.7, Shift: over}, onfeet.Key{At: 4.7})
			p := servosAt(bot, 100, 12, 0)
			d := drive(t, bot, p, e.of(t, bot, p), 2, 0)
			d.submit(goal)
			b := newBalance(d, leg)
			d.run(5.5, b.look)
			f := &b.figures
			t.Logf("%s, %s: %.1f mm high, tilt %.2f°, margin %.1f mm, below %.0f mm in %d of %d samples, carries %.2f N as it leaves the ground, efforts change by %.3f N·m in a tick, accelerations up to %.0f rad/s²", e.name, leg,
				1e3*f.high, f.tilt*180/math.Pi, 1e3*f.least, 1e3*halfMargin, f.below, f.samples, f.lifted, f.jump, f.steep)
			if f.high < 0.024 || f.tilt > math.Pi/180 || f.least < 0.008 || !f.carried() || !f.off || f.lifted > 0.02*9.81*m.Mass() || f.jump > 0.15 || f.steep > 200 || f.worst != stage.Served || f.prevented > 0 || f.air < 100 {
				t.Errorf("%s, %s: %+v", e.name, leg, *f)
			}
		}
	}
}

// halfMargin is half of that which the zero-moment point of the command keeps, m.
const halfMargin = 0.005

// balance watches how a robot is balanced in its engine.
type balance struct {
	d        *driven
	kin      *kinematics.Data
	q        []float64
	leg      robot.ChainID
	lightest float64 // least load of a hoof, N
	load     []float64
	was      []float64
	figures  seen
}

// seen is what was seen.
type seen struct {
	tilt, high float64
	least      float64 // margin of the measured zero-moment point
	below      int     // samples with less than half the margin
	samples    int
	jump       float64 // of an effort in a tick
	steep      float64 // acceleration of a joint
	worst      stage.Status
	prevented  int
	air        int // samples in which the hoof does not stand
	off        bool
	lifted     float64 // load of the hoof in the tick before it is above the ground, N
	was        float64
}

// onGround is the height below which a hoof touches the ground, m.
const onGround = 0.001

// carried reports whether the measured zero-moment point kept half the margin in 99.9 % of the samples.
func (f *seen) carried() bool { return f.samples > 0 && float64(f.below) <= 0.001*float64(f.samples) }

// liftOff notes what a hoof carries in the cycle before it leaves the ground.
func (f *seen) liftOff(high, load float64) {
	if !f.off && high > onGround {
		f.off, f.lifted = true, math.Max(f.was, load)
	}
	f.was = load
}

func newBalance(d *driven, leg string) *balance {
	b := &balance{d: d, kin: kinematics.NewData(d.m), q: make([]float64, d.m.NumQ()), load: make([]float64, len(feetOf(d.m)))}
	b.leg, _ = d.m.Chain(leg)
	b.was = append(b.was, d.l.Command().Tau...)
	b.figures.least, b.lightest = math.Inf(1), math.Inf(1)
	return b
}

func (b *balance) look(at float64) {
	f, d := &b.figures, b.d
	X := d.e.base()
	f.tilt = math.Max(f.tilt, math.Acos(math.Min(1, X.R[8])))
	R := X.R.Quat()
	copy(b.q, []float64{X.P.X, X.P.Y, X.P.Z, R.X, R.Y, R.Z, R.W})
	joints := make([]float64, len(d.m.Joints()))
	d.e.truth(joints)
	for i, j := range d.m.Joints() {
		b.q[j.Q] = joints[i]
	}
	b.kin.UpdatePosition(b.q)
	d.e.loads(b.load)
	c := d.l.Command()
	var soles []contact.Point
	for k, id := range feetOf(d.m) {
		b.lightest = math.Min(b.lightest, b.load[k])
		chain := &d.m.Chains()[id]
		p := b.kin.Pose(b.kin.At(chain.Tip)).Apply(d.m.Contacts()[chain.Contact].Points[0])
		if p.Z < onGround { // whatever the command says
			soles = append(soles, contact.Point{X: p.X, Y: p.Y})
		}
		if id == b.leg {
			f.high = math.Max(f.high, p.Z)
			f.liftOff(p.Z, b.load[k])
			if c.Support[id].Weight == 0 {
				f.air++
			}
		}
	}
	var hull contact.Polygon
	hull.Hull(soles)
	margin := hull.Margin(d.e.zmp())
	f.samples++
	if margin < halfMargin {
		f.below++
	}
	f.least = math.Min(f.least, margin)
	for j := range c.Tau {
		f.jump = math.Max(f.jump, math.Abs(c.Tau[j]-b.was[j]))
		if !d.m.Joints()[j].Virtual {
			f.steep = math.Max(f.steep, math.Abs(c.A[j]))
		}
	}
	copy(b.was, c.Tau)
	s, _ := d.l.Snapshot()
	w := &s.WholeBody
	f.worst = max(f.worst, w.State.Status)
	if w.State.Prevented {
		f.prevented++
	}
}
