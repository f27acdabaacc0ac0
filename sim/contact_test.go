package sim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"poise/robot"
	"poise/robot/load"
	"poise/spatial"
)

// stack is some boxes that are free of each other.
func stack(n int, mass func(i int) float64) string {
	var b strings.Builder
	b.WriteString(`<robot name="stack"><link name="world"/>`)
	for i := range n {
		b.WriteString(boxLink(fmt.Sprintf("box%d", i), mass(i), 0.1, 0.1, 0.05))
		fmt.Fprintf(&b, `<joint name="free%d" type="floating"><parent link="world"/><child link="box%d"/></joint>`, i, i)
	}
	b.WriteString(`</robot>`)
	return b.String()
}

// TestStackStaysForAMinute: three free boxes of one URDF, put on each other a little askew,
// stand for 60 s where they were put.
func TestStackStaysForAMinute(t *testing.T) {
	const n = 3
	w := simulate(t, build(t, stack(n, func(int) float64 { return 0.5 }), robot.BaseFixed), Config{})
	before := make([]float64, len(w.s.Q))
	for i := range n {
		q := w.s.Q[7*i : 7*i+7]
		q[0], q[1], q[2] = 0.004*float64(i%2), 0.003*float64(i%3), 0.025+0.05*float64(i)
		q[5], q[6] = math.Sin(0.05*float64(i)), math.Cos(0.05*float64(i))
	}
	copy(before, w.s.Q)
	w.run(60)
	for i := range n {
		q, p := w.s.Q[7*i:7*i+7], before[7*i:7*i+7]
		if way := math.Hypot(q[0]-p[0], q[1]-p[1]); way > 1e-3 || math.Abs(q[2]-p[2]) > 1e-3 {
			t.Errorf("box %d moved by %g m, to height %g from %g", i, way, q[2], p[2])
		}
		if turn := math.Abs(q[3]*p[6]-q[6]*p[3]) + math.Abs(q[4]) + math.Abs(q[5]*p[6]-q[6]*p[5]); turn > 2e-3 {
			t.Errorf("box %d turned by %g rad", i, turn)
		}
	}
	weight := 0.0
	for _, c := range w.d.ContactsTo(nil) {
		if c.Other == robot.NoFrame {
			weight += c.Force.Z
		}
	}
	if math.Abs(weight-n*0.5*g) > 0.01 {
		t.Errorf("the ground carries %g N of %g N", weight, n*0.5*g)
	}
}

// TestPlanksCross: boxes that touch with no corner of either inside the other.
func TestPlanksCross(t *testing.T) {
	text := `<robot name="planks"><link name="world"/>` + boxLink("a", 1, 1, 0.1, 0.05) + boxLink("b", 1, 0.1, 1, 0.05) +
		`<joint name="ja" type="floating"><parent link="world"/><child link="a"/></joint>
		<joint name="jb" type="floating"><parent link="world"/><child link="b"/></joint></robot>`
	w := simulate(t, build(t, text, robot.BaseFixed), Config{})
	w.s.Q[2], w.s.Q[9] = 0.025, 0.1
	w.run(2)
	if math.Abs(w.s.Q[9]-0.075) > 1e-4 || math.Abs(w.s.Q[2]-0.025) > 1e-4 {
		t.Errorf("planks lie at %g and %g, want 0.025 and 0.075", w.s.Q[2], w.s.Q[9])
	}
}

// TestEnergyIsNeverGainedAtContacts: bodies of every shape are thrown onto the ground; from
// the first touch on, energy only falls.
func TestEnergyIsNeverGainedAtContacts(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	shapes := []string{`<box size="0.2 0.1 0.05"/>`, `<sphere radius="0.06"/>`, `<cylinder radius="0.05" length="0.12"/>`, `<capsule radius="0.03" length="0.1"/>`}
	for _, shape := range shapes {
		for _, friction := range []float64{0, 0.3, 2} {
			text := `<robot name="thing"><link name="thing">` + inertial(0.7, 0.001, 0.0015, 0.002) + `<collision><geometry>` + shape + `</geometry></collision></link></robot>`
			w := simulate(t, build(t, text, robot.BaseFloating), Config{})
			w.in.Ground.Friction = friction
			w.throw(rng, 0.4)
			w.energyFalls(fmt.Sprintf("%s, friction %g", shape, friction), 2e-5) // what first-order steps make of a spin, and positions moved apart
		}
	}
}

// TestMomentumOfFreeFlight: a pony that flails in free fall keeps its angular momentum
// about its centre of mass, and its centre of mass falls freely.
func TestMomentumOfFreeFlight(t *testing.T) {
	bot, err := load.Robot("pony", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := simulate(t, bot.Model, Config{})
	w.in.Ground = nil
	rng := rand.New(rand.NewPCG(5, 6))
	for i, v := range w.m.dof {
		w.s.V[v] = 0.1 * rng.NormFloat64() // slow enough to keep away from limits, which are steps of first order
		if i < 6 {
			w.s.V[v] = 3 * rng.NormFloat64()
		}
	}
	momentum := func() (h spatial.Momentum, c spatial.Vec3) {
		k := w.d.kin
		k.UpdatePosition(w.s.Q)
		c, _ = k.Com()
		h, _ = w.d.dyn.Momentum(w.s.Q, w.s.V)
		return h, c
	}
	before, at := momentum()
	const seconds = 0.3
	w.run(seconds)
	after, now := momentum()
	if off := after.Angular.Sub(before.Angular).Norm(); off > 1e-6 {
		t.Errorf("angular momentum about the centre went from %v to %v", before.Angular, after.Angular)
	}
	v := before.Linear.Scale(1 / bot.Model.Mass())
	want := at.Add(v.Scale(seconds)).Add(spatial.Vec3{Z: -g * seconds * seconds / 2})
	if off := now.Sub(want).Norm(); off > 5e-6 {
		t.Errorf("the centre of mass is %g m from where it should be", off)
	}
}

// TestStatesStayBounded: torques at random, targets that contradict each other, ground without
// and with huge friction, a start inside the ground and masses over six decades leave a
// state that is bounded.
func TestStatesStayBounded(t *testing.T) {
	bot, err := load.Robot("pony", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(8, 9))
	for _, friction := range []float64{0, 0.8, 1e6} {
		for _, height := range []float64{0.3, 0.1, -0.05} {
			w := simulate(t, bot.Model, Config{})
			w.in.Ground.Friction = friction
			w.s.Q[2] = height
			for step := range 1500 {
				if step%50 == 0 {
					for i := range w.in.Drives {
						switch rng.IntN(3) {
						case 0:
							w.in.Drives[i] = Drive{Effort: 4.8 * (rng.Float64() - 0.5)}
						case 1:
							w.in.Drives[i] = Drive{Position: 20 * (rng.Float64() - 0.5), Kp: 1000, Kd: 1, Limit: 2.4}
						default:
							w.in.Drives[i] = Drive{Position: rng.NormFloat64(), Kp: 12, Limit: 2.4}
						}
					}
				}
				if f := w.d.Step(w.s, &w.in); f != OK {
					t.Fatalf("friction %g, height %g: step %d: %v", friction, height, step, f)
				}
				if z := w.s.Q[2]; !(z > -0.2 && z < 1.5) || !bounded(w.s.Q, 100) {
					t.Fatalf("friction %g, height %g: step %d: base at %g m", friction, height, step, z)
				}
			}
		}
	}
	for _, light := range []bool{true, false} {
		mass := func(i int) float64 { return math.Pow(1000, float64(i)) * 1e-3 }
		if light {
			mass = func(i int) float64 { return math.Pow(1000, float64(2-i)) * 1e-3 }
		}
		w := simulate(t, build(t, stack(3, mass), robot.BaseFixed), Config{})
		for i := range 3 {
			w.s.Q[7*i+2] = 0.03 + 0.06*float64(i)
		}
		fault := OK
		for range 3000 {
			if fault = w.d.Step(w.s, &w.in); fault != OK {
				break
			}
		}
		if !bounded(w.s.Q, 1) || fault != OK {
			t.Errorf("masses over six decades: %v, %v", fault, w.s.Q)
		}
	}
	// numbers that are not finite are a fault, and the state stays
	w := simulate(t, bot.Model, Config{})
	w.s.Q[2] = 0.3
	w.run(0.1)
	copyOf := NewState(w.m)
	copyOf.Copy(w.s)
	for _, x := range []float64{math.NaN(), math.Inf(1), 1e300} {
		w.in.Drives[0] = Drive{Effort: x}
		if f := w.d.Step(w.s, &w.in); f == OK {
			t.Errorf("a torque of %g is taken", x)
		}
		for i := range w.s.Q {
			if w.s.Q[i] != copyOf.Q[i] {
				t.Fatalf("a torque of %g left q[%d] = %g", x, i, w.s.Q[i])
			}
		}
	}
}

// TestSameRunBitForBit: two runs with their own memory agree in every bit, and a copy of a
// state goes on as the original.
func TestSameRunBitForBit(t *testing.T) {
	bot, err := load.Robot("pony", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	start := func() *world {
		w := simulate(t, bot.Model, Config{})
		w.s.Q[2] = 0.25
		for i := range w.in.Drives {
			w.in.Drives[i] = Drive{Kp: 12, Kd: 0.2, Limit: 2.35}
		}
		return w
	}
	a, b := start(), start()
	a.run(0.7)
	b.run(0.3)
	c := start()
	c.s.Copy(b.s)
	c.run(0.4)
	for i := range a.s.Q {
		if a.s.Q[i] != c.s.Q[i] {
			t.Fatalf("q[%d] is %v and %v", i, a.s.Q[i], c.s.Q[i])
		}
	}
}

// TestAThinPlateLifts: a robot that begins with a hoof in a plate of 3 mm on the ground stands on
// the plate, not below it.
func TestAThinPlateLifts(t *testing.T) {
	bot, err := load.Robot("pony", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const thick = 0.003
	g := Level()
	g.Boxes = []Box{{Pose: spatial.Pose{R: spatial.Identity3, P: spatial.Vec3{X: 0.1024, Y: 0.0386, Z: thick / 2}}, Half: spatial.Vec3{X: 0.03, Y: 0.03, Z: thick / 2}}}
	m, err := NewModel(bot.Model, Config{})
	if err != nil {
		t.Fatal(err)
	}
	flat, err := m.Settled(bot.Model.RestPositions(), Level())
	if err != nil {
		t.Fatal(err)
	}
	q, err := m.Settled(bot.Model.RestPositions(), g)
	if err != nil {
		t.Fatal(err)
	}
	if up := q[2] - flat[2]; math.Abs(up-thick) > 1e-5 {
		t.Errorf("it is put down %g m higher, want %g", up, thick)
	}
	for _, z := range []float64{0, 1e-4, 1e-3, 0.0029} { // of a point in the middle of the plate
		d, n := 0.0, spatial.Vec3{}
		if _, d, n = g.box(spatial.Vec3{X: 0.1024, Y: 0.0386, Z: z}, 1, -1); math.Abs(d-(z-thick)) > 1e-12 || n.Z < 0.999 {
			t.Errorf("at %g m it is %g m from the plate, the way out is %v", z, d, n)
		}
	}
	// the side of a step is left sideways, and a shelf by its lower side
	g.Boxes = []Box{{Pose: spatial.Pose{R: spatial.Identity3, P: spatial.Vec3{Z: 0.05}}, Half: spatial.Vec3{X: 0.1, Y: 0.1, Z: 0.05}}}
	if _, d, n := g.box(spatial.Vec3{X: 0.0995, Z: 0.001}, 1, -1); math.Abs(d+0.0005) > 1e-12 || n.X < 0.999 {
		t.Errorf("beside a step: %g m, %v", d, n)
	}
	g.Boxes[0].Pose.P.Z = 0.3
	if _, d, n := g.box(spatial.Vec3{Z: 0.251}, 1, -1); math.Abs(d+0.001) > 1e-12 || n.Z > -0.999 {
		t.Errorf("below a shelf: %g m, %v", d, n)
	}
}

func TestStepDoesNotAllocate(t *testing.T) {
	bot, err := load.Robot("pony", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := simulate(t, bot.Model, Config{})
	w.s.Q[2] = 0.2
	w.in.Ground.Boxes = []Box{{Pose: spatial.IdentityPose, Half: spatial.Vec3{X: 0.1, Y: 0.1, Z: 0.01}}}
	w.in.Pushes = []Push{{Body: 1, Force: spatial.Vec3{X: 1}}}
	contacts := make([]Contact, 0, 1000)
	if n := testing.AllocsPerRun(500, func() {
		if w.d.Step(w.s, &w.in) != OK {
			t.Fatal("fault")
		}
		contacts = w.d.ContactsTo(contacts[:0])
	}); n != 0 {
		t.Errorf("a step allocates %v times", n)
	}
	boxes := simulate(t, build(t, stack(3, func(int) float64 { return 1 }), robot.BaseFixed), Config{})
	for i := range 3 {
		boxes.s.Q[7*i+2] = 0.025 + 0.05*float64(i)
	}
	if n := testing.AllocsPerRun(500, func() { boxes.d.Step(boxes.s, &boxes.in) }); n != 0 {
		t.Errorf("a step of boxes allocates %v times", n)
	}
}

func TestRefusals(t *testing.T) {
	for text, want := range map[string]string{
		`<robot name="bare"><link name="a">` + inertial(1, 1, 1, 1) + `</link></robot>`: `robot "bare" floats, and has neither contact points nor collision shapes`,
		`<robot name="air"><link name="a"/></robot>`:                                    `robot "air" has no mass`,
		`<robot name="arm"><link name="a">` + inertial(1, 1, 1, 1) + `</link><link name="b"/>
			<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint></robot>`: `what joint "j" moves has no mass`,
	} {
		if _, err := NewModel(build(t, text, robot.BaseFloating), Config{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
