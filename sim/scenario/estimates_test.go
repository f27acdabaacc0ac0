package scenario

import (
	"math"
	"testing"

	"poise/robot/load"
	"poise/spatial"
)

// TestEvenLoads: forces that carry a weight are told by hand in these cases.
func TestEvenLoads(t *testing.T) {
	square := []spatial.Vec3{{X: 1, Y: 1}, {X: -1, Y: 1}, {X: -1, Y: -1}, {X: 1, Y: -1}}
	for _, c := range []struct {
		name string
		at   []spatial.Vec3
		com  spatial.Vec3
		want []float64
	}{
		{"in the middle", square, spatial.Vec3{Z: 2}, []float64{3, 3, 3, 3}},
		{"half way to the front", square, spatial.Vec3{X: 0.5}, []float64{4.5, 1.5, 1.5, 4.5}},
		{"over one of four", square, spatial.Vec3{X: 1, Y: 1}, []float64{12, 0, 0, 0}},
		{"three", square[:3], spatial.Vec3{X: -1. / 3, Y: 1. / 3}, []float64{4, 4, 4}},
		{"two, beside their line", square[:2], spatial.Vec3{X: 0.5, Y: 3}, []float64{9, 3}},
		{"one", square[:1], spatial.Vec3{X: -7}, []float64{12}},
	} {
		got := evenLoads(nil, c.at, c.com, 12)
		for i := range c.want {
			if math.Abs(got[i]-c.want[i]) > 1e-6 {
				t.Errorf("%s: %v, want %v", c.name, got, c.want)
				break
			}
		}
	}
}

// TestForceError: what flat soles and soft legs carry differs from even loads by little,
// and by as much as a push changes it.
func TestForceError(t *testing.T) {
	p := prepare(t, loaded(t, "pony", load.Options{}), `duration: 2.5`+stand+`
do:
  - {at: 1.5, push: {link: base_link, force: [0, 0, -8], for: 0.5}}
expect:
  - {name: stands, what: force_error, max: 2, from: 1, to: 1.4}
  - {name: pushed down, what: force_error, min: 2, from: 1.8, to: 1.95, of: mean}
  - {name: and over, what: force_error, max: 2, from: 2.3}`)
	r, err := p.Run(1, Watch{})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Pass() {
		t.Errorf("%+v", r.Criteria)
	}
}

// TestOdometryError: a robot that stands knows where it is; one that is pushed over the
// floor on its feet does not see the way that they slipped.
func TestOdometryError(t *testing.T) {
	for _, c := range []struct{ name, do, expect string }{
		{"stands", "", "{what: odometry_error, max: 0.001}"},
		{"crouches", "do: [{at: 0.2, joints: {joint12: -0.6, joint13: 1.1, joint14: -0.5, joint22: -0.6, joint23: 1.1, joint24: -0.5, joint32: -0.6, joint33: 1.1, joint34: -0.5, joint42: -0.6, joint43: 1.1, joint44: -0.5}, in: 1}]",
			"{what: odometry_error, max: 0.005}"},
		{"slides", "world: {friction: 0.05}\ndo: [{at: 0.2, push: {link: base_link, force: [4, 0, 0], for: 0.4}}]", "{what: odometry_error, min: 0.03, of: last}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := prepare(t, loaded(t, "pony", load.Options{}), "duration: 1.5"+stand+c.do+"\nexpect: ["+c.expect+", {what: fallen, is: false}]")
			r, err := p.Run(1, Watch{})
			if err != nil {
				t.Fatal(err)
			}
			if !r.Pass() {
				t.Errorf("%v %+v", *r.Criteria[0].Value, r.Criteria)
			}
		})
	}
}

// TestOdometryOfAMinute: a minute of standing, with servos that have steps and friction, moves
// odometry by less than a millimetre, with the inertial unit that physics has.
func TestOdometryOfAMinute(t *testing.T) {
	p := prepare(t, loaded(t, "pony", load.Options{}), "duration: 60\nstart: {pose: stand}\nmodel: {}\nexpect: [{what: odometry_error, max: 0.001}, {what: fallen, is: false}]")
	r, err := p.Run(1, Watch{})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%.3f mm at most", 1e3*r.Figures["odometry_error"].Greatest)
	if !r.Pass() {
		t.Errorf("%+v", r.Criteria)
	}
}
