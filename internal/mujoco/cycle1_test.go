package mujoco

import (
	"math"
	"os"
	"testing"

	"poise/contact"
	"poise/internal/squat"
	"poise/kinematics"
	"poise/robot/load"
	"poise/servo/physics"
	"poise/sim"
	"poise/spatial"
)

// long reports whether the tests take their full time: `make oracle` does.
func long() bool { return os.Getenv("POISE_JUDGE") == "long" }

// engines are those that a robot is judged in.
var engines = []struct {
	name string
	of   func(testing.TB, *load.Loaded, plant) engine
}{{"ours", oursOf}, {"MuJoCo", mujocoOf}}

// leads are those of which cycle 0 gets its best, s.
func leads() []float64 {
	if long() {
		return []float64{0, 0.02, 0.04, 0.06, 0.1}
	}
	return []float64{0.06} // the best of those of the long run
}

// TestStandInBothEngines: 20 s at a gain of 100 in cycle 1, beside cycle 0.
func TestStandInBothEngines(t *testing.T) {
	bot := pony(t)
	seconds := 4.0
	if long() {
		seconds = 20
	}
	for _, e := range engines {
		p := servosAt(bot, 100, 12, 0)
		was := drive(t, bot, p, e.of(t, bot, p), 0, 0).measured(seconds, 0)
		now := drive(t, bot, p, e.of(t, bot, p), 1, 0).measured(seconds, 0)
		t.Logf("%s, %g s: cycle 1 %.4f rad, sag %.2f mm, loads within %.2f N, %.2f W; cycle 0 %.4f rad, %.2f mm, %.2f N, %.2f W", e.name, seconds,
			now.joints, 1e3*now.sag, now.force, now.power, was.joints, 1e3*was.sag, was.force, was.power)
		if now.joints > 0.002 || now.sag > 0.001 || now.joints > was.joints/5 {
			t.Errorf("%s: %+v, in cycle 0 %+v", e.name, now, was)
		}
	}
}

// TestSquatInBothEngines: ±30 mm at 0.5 Hz, with models that are right and with ones that are off
// by 20 %, masses by 10 %, on a supply of 10.5 V; beside cycle 0 at its best lead.
func TestSquatInBothEngines(t *testing.T) {
	bot := pony(t)
	m := bot.Model
	for _, e := range engines {
		for _, c := range []struct {
			name       string
			volts, off float64
			rms, share float64 // at most; share of cycle 0's
			force      float64 // N
		}{
			{"models as they are", 12, 0, 0.003, 0.2, 0.5},
			{"models off", 10.5, 0.2, 0.006, 0.3, math.Inf(1)},
		} {
			p := servosAt(bot, 100, c.volts, c.off)
			run := func(cycle int, lead float64) figures {
				d := drive(t, bot, p, e.of(t, bot, p), cycle, lead)
				d.submit(squat.Of(t, m, 4))
				return d.measured(4.6, 1)
			}
			was := figures{joints: math.Inf(1)}
			best := 0.0
			for _, lead := range leads() {
				if f := run(0, lead); f.joints < was.joints {
					was, best = f, lead
				}
			}
			now := run(1, 0)
			t.Logf("%s, %s: cycle 1 %.4f rad, loads within %.2f N, %.2f W; cycle 0 at a lead of %.0f ms %.4f rad, %.2f N, %.2f W", e.name, c.name,
				now.joints, now.force, now.power, 1e3*best, was.joints, was.force, was.power)
			if now.joints > c.rms || now.joints > c.share*was.joints || now.force > c.force || now.sag < 0.05 {
				t.Errorf("%s, %s: %+v, in cycle 0 %+v", e.name, c.name, now, was)
			}
		}
	}
}

// pushLasts is how long a robot is pushed, s.
const pushLasts = 0.1

// TestPushesInBothEngines: in cycle 1 the pony withstands half of m·ω·d to the side and forward, d
// from its centre of mass to the edge of its soles, and at a friction of 0.3 a push of 0.4 N·s;
// from several times as much it falls. How much it withstands is told by the long run.
func TestPushesInBothEngines(t *testing.T) {
	bot := pony(t)
	m := bot.Model
	const weight = 9.81
	com, hull := balanceOf(t, bot)
	for _, e := range engines {
		stands := func(p plant, impulse float64, along spatial.Vec3) bool {
			d := drive(t, bot, p, e.of(t, bot, p), 1, 0)
			d.run(0.3, nil)
			d.e.push(along.Scale(impulse / pushLasts))
			d.run(pushLasts, nil)
			d.e.push(spatial.Vec3{})
			return d.measured(1.6, 0).tilt < math.Pi/4
		}
		p := servosAt(bot, 100, 12, 0)
		for _, way := range []struct {
			name  string
			along spatial.Vec3
		}{{"left", spatial.Vec3{Y: 1}}, {"forward", spatial.Vec3{X: 1}}} {
			bound := m.Mass() * math.Sqrt(weight/com.Z) * edge(hull, com, way.along)
			slippery := p
			slippery.friction = 0.3
			if !stands(p, 0.5*bound, way.along) || !stands(slippery, 0.4, way.along) {
				t.Errorf("%s: pushed %s it falls by %.2f N·s, or by 0.4 N·s at a friction of 0.3", e.name, way.name, 0.5*bound)
			}
			if stands(p, 4*bound, way.along) {
				t.Errorf("%s: pushed %s by %.2f N·s it stands", e.name, way.name, 4*bound)
			}
			if !long() {
				continue
			}
			low, high := 0.5*bound, 4*bound
			for high/low > 1.03 {
				if mid := math.Sqrt(low * high); stands(p, mid, way.along) {
					low = mid
				} else {
					high = mid
				}
			}
			t.Logf("%s: pushed %s it withstands %.2f N·s; m·ω·d is %.2f N·s", e.name, way.name, low, bound)
		}
	}
}

// balanceOf returns the centre of mass of the pony as it stands, and the hull of its soles.
func balanceOf(t testing.TB, bot *load.Loaded) (spatial.Vec3, *contact.Polygon) {
	t.Helper()
	m := bot.Model
	world, err := sim.NewModel(m, sim.Config{Passive: physics.PassiveOf(physics.MotorsOf(m))})
	if err != nil {
		t.Fatal(err)
	}
	start, err := world.Settled(m.RestPositions(), sim.Level())
	if err != nil {
		t.Fatal(err)
	}
	k := kinematics.NewData(m)
	k.UpdatePosition(start)
	com, _ := k.Com()
	var points []contact.Point
	for _, id := range feetOf(m) {
		c := m.Chains()[id]
		sole := &m.Contacts()[c.Contact]
		at := k.Pose(k.At(c.Tip)).Apply(sim.SoleMiddle(sole))
		for i := range 32 {
			sin, cos := math.Sincos(2 * math.Pi * float64(i) / 32)
			points = append(points, contact.Point{X: at.X + sole.Sole*cos, Y: at.Y + sole.Sole*sin})
		}
	}
	hull := new(contact.Polygon)
	hull.Hull(points)
	return com, hull
}

// edge returns how far the edge of a hull is from a point in it, in a direction.
func edge(hull *contact.Polygon, from, along spatial.Vec3) float64 {
	low, high := 0.0, 1.0
	for high-low > 1e-6 {
		mid := (low + high) / 2
		if hull.Margin(contact.Point{X: from.X + mid*along.X, Y: from.Y + mid*along.Y}) > 0 {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}
