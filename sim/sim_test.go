package sim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"poise/robot"
	"poise/spatial"
	"poise/urdf"
)

// build makes a robot of URDF text.
func build(t testing.TB, text string, base robot.Base) *robot.Model {
	t.Helper()
	doc, _, err := urdf.Parse([]byte(text), "test.urdf")
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := robot.Build(doc, robot.Options{Base: base})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// world is a simulated robot with all that belongs to it.
type world struct {
	t  testing.TB
	m  *Model
	d  *Data
	s  *State
	in Input
}

func simulate(t testing.TB, m *robot.Model, c Config) *world {
	t.Helper()
	M, err := NewModel(m, c)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, m: M, d: NewData(M), s: NewState(M)}
	w.in.Drives = make([]Drive, len(m.Joints()))
	w.in.Ground = Level()
	return w
}

// run makes steps for a time.
func (w *world) run(seconds float64) {
	w.t.Helper()
	for range int(math.Round(seconds / w.m.h)) {
		if f := w.d.Step(w.s, &w.in); f != OK {
			w.t.Fatalf("step %d: %v", w.s.Tick, f)
		}
	}
}

func (w *world) energy() float64 {
	return w.d.dyn.KineticEnergy(w.s.Q, w.s.V) + w.d.dyn.PotentialEnergy(w.s.Q)
}

// throw gives a free body a height, an orientation and velocities at random.
func (w *world) throw(rng *rand.Rand, height float64) {
	w.s.Q[2] = height
	Q, _ := spatial.Quat{W: rng.NormFloat64(), X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()}.Unit()
	w.s.Q[3], w.s.Q[4], w.s.Q[5], w.s.Q[6] = Q.X, Q.Y, Q.Z, Q.W
	for i := range w.s.V {
		w.s.V[i] = 2 * rng.NormFloat64()
	}
}

// energyFalls runs three seconds and fails if the energy rises by more than slack (J) in a step.
func (w *world) energyFalls(what string, slack float64) {
	w.t.Helper()
	last := w.energy()
	for range 3000 {
		w.run(w.m.h)
		now := w.energy()
		if now > last+slack {
			w.t.Fatalf("%s: energy rose from %.9g to %.9g J in step %d", what, last, now, w.s.Tick)
		}
		last = now
	}
}

// inertia writes an <inertial> of a box, a ball or a rod.
func inertial(mass, x, y, z float64) string {
	return fmt.Sprintf(`<inertial><mass value="%g"/><inertia ixx="%g" iyy="%g" izz="%g" ixy="0" ixz="0" iyz="0"/></inertial>`, mass, x, y, z)
}

func boxLink(name string, mass, x, y, z float64) string {
	return fmt.Sprintf(`<link name=%q>%s<collision><geometry><box size="%g %g %g"/></geometry></collision></link>`, name,
		inertial(mass, mass*(y*y+z*z)/12, mass*(x*x+z*z)/12, mass*(x*x+y*y)/12), x, y, z)
}

func ball(mass, radius float64) string {
	I := 0.4 * mass * radius * radius
	return fmt.Sprintf(`<robot name="ball"><link name="ball">%s<collision><geometry><sphere radius="%g"/></geometry></collision></link></robot>`, inertial(mass, I, I, I), radius)
}

func brick(mass, x, y, z float64) string {
	return `<robot name="block">` + boxLink("block", mass, x, y, z) + `</robot>`
}

const g = robot.StandardGravity

// TestBallDropsAndStays: it falls as ½gt² says, to the last digits, and then rests on the
// ground without a bounce.
func TestBallDropsAndStays(t *testing.T) {
	w := simulate(t, build(t, ball(0.3, 0.1), robot.BaseFloating), Config{})
	w.s.Q[2] = 1.1
	w.run(0.4)
	if want := 1.1 - g*0.4*0.4/2; math.Abs(w.s.Q[2]-want) > 1e-12 {
		t.Errorf("after 0.4 s it is at %.15g, want %.15g", w.s.Q[2], want)
	}
	w.run(1)
	if z := w.s.Q[2]; math.Abs(z-0.1) > 2*slop || math.Abs(w.s.V[2]) > 1e-9 {
		t.Errorf("at rest it is at %.9g and moves with %g", z, w.s.V[2])
	}
	force := 0.0
	for _, c := range w.d.ContactsTo(nil) {
		force += c.Force.Z
	}
	if math.Abs(force-0.3*g) > 1e-9 {
		t.Errorf("the ground carries %g N, want %g N", force, 0.3*g)
	}
}

// TestBallRollsDown: on a slope a ball that does not slip accelerates with 5/7·g·sin, and
// its surface stays at rest where it touches.
func TestBallRollsDown(t *testing.T) {
	const angle, r = 0.2, 0.1
	w := simulate(t, build(t, ball(0.3, r), robot.BaseFloating), Config{})
	w.in.Ground.SetSlope(0, angle)
	n := w.in.Ground.R.Col(2)
	w.s.Q[0], w.s.Q[2] = r*n.X, r*n.Z
	w.run(1)
	way := math.Hypot(w.s.Q[0]-r*n.X, w.s.Q[2]-r*n.Z)
	if want := 5.0 / 7 * g * math.Sin(angle) / 2; math.Abs(way/want-1) > 0.002 {
		t.Errorf("it rolled %g m, want %g m", way, want)
	}
}

// TestSlidingBallBeginsToRoll: pushed without spin it slips until 5/7 of its speed is left.
func TestSlidingBallBeginsToRoll(t *testing.T) {
	const r, v0 = 0.1, 2.0
	w := simulate(t, build(t, ball(0.3, r), robot.BaseFloating), Config{})
	w.in.Ground.Friction = 0.3
	w.s.Q[2], w.s.V[0] = r, v0
	w.run(1)
	speed := math.Hypot(w.s.V[0], w.s.V[2]) // in its own axes, which turn
	if want := 5.0 / 7 * v0; math.Abs(speed-want) > 1e-3 {
		t.Errorf("it rolls with %g m/s, want %g m/s", speed, want)
	}
}

// onSlope puts a block onto a slope.
func onSlope(t *testing.T, friction, pitch float64) *world {
	w := simulate(t, build(t, brick(2, 0.2, 0.1, 0.06), robot.BaseFloating), Config{})
	w.in.Ground.Friction = friction
	w.in.Ground.SetSlope(0, pitch)
	n := w.in.Ground.R.Col(2).Scale(0.03)
	Q := w.in.Ground.R.Quat()
	copy(w.s.Q, []float64{n.X, n.Y, n.Z, Q.X, Q.Y, Q.Z, Q.W})
	return w
}

// TestBlockOnASlope: it stays below the friction angle, and slides beyond it with
// g·(sin − μ·cos).
func TestBlockOnASlope(t *testing.T) {
	const μ = 0.5
	angle := math.Atan(μ)
	w := onSlope(t, μ, angle-0.002)
	before := spatial.Vec3{X: w.s.Q[0], Z: w.s.Q[2]}
	w.run(5)
	if way := (spatial.Vec3{X: w.s.Q[0], Z: w.s.Q[2]}).Sub(before).Norm(); way > 1e-5 {
		t.Errorf("below the friction angle it crept by %g m in 5 s", way)
	}
	for _, more := range []float64{0.01, 0.1, 0.4} {
		w := onSlope(t, μ, angle+more)
		before := spatial.Vec3{X: w.s.Q[0], Z: w.s.Q[2]}
		w.run(1)
		way := (spatial.Vec3{X: w.s.Q[0], Z: w.s.Q[2]}).Sub(before).Norm()
		want := g * (math.Sin(angle+more) - μ*math.Cos(angle+more)) / 2
		if math.Abs(way-want) > 0.002*want+1e-4 {
			t.Errorf("%g rad beyond the friction angle it slid %g m, want %g m", more, way, want)
		}
	}
}

// TestDiagonalSlideFollowsItsPush: friction has no corners. A block that is sent off in any
// direction keeps it within 1°, and stops after v²/2μg.
func TestDiagonalSlideFollowsItsPush(t *testing.T) {
	const μ, v0 = 0.3, 1.0
	for _, heading := range []float64{0, 0.3, math.Pi / 4, 1.1, math.Pi / 2, 2.5, -2} {
		w := simulate(t, build(t, brick(2, 0.2, 0.2, 0.02), robot.BaseFloating), Config{})
		w.in.Ground.Friction = μ
		w.s.Q[2] = 0.01
		w.s.V[0], w.s.V[1] = v0*math.Cos(heading), v0*math.Sin(heading)
		w.run(1)
		way := math.Hypot(w.s.Q[0], w.s.Q[1])
		if want := v0 * v0 / (2 * μ * g); math.Abs(way/want-1) > 0.01 {
			t.Errorf("heading %g: it slid %g m, want %g m", heading, way, want)
		}
		if off := math.Atan2(w.s.Q[1], w.s.Q[0]) - heading; math.Abs(off) > math.Pi/180 {
			t.Errorf("heading %g: it went off by %g°", heading, off*180/math.Pi)
		}
	}
	// and one that is pushed by a force
	for _, heading := range []float64{0.2, 0.7, 1.3} {
		w := simulate(t, build(t, brick(2, 0.2, 0.2, 0.02), robot.BaseFloating), Config{})
		w.in.Ground.Friction, w.s.Q[2] = μ, 0.01
		w.in.Pushes = []Push{{Body: 1, Point: spatial.Vec3{Z: -0.01}, Force: spatial.Vec3{X: 8 * math.Cos(heading), Y: 8 * math.Sin(heading)}}}
		w.run(0.5)
		if off := math.Atan2(w.s.Q[1], w.s.Q[0]) - heading; math.Abs(off) > math.Pi/180 {
			t.Errorf("pushed at %g: it went off by %g°", heading, off*180/math.Pi)
		}
		if way, want := math.Hypot(w.s.Q[0], w.s.Q[1]), (8/2.0-μ*g)*0.5*0.5/2; math.Abs(way/want-1) > 0.01 {
			t.Errorf("pushed at %g: it slid %g m, want %g m", heading, way, want)
		}
	}
}

// pendulum is a chain of rods that hang on hinges about y.
func pendulum(links int, l, mass float64, extra string) string {
	var b strings.Builder
	b.WriteString(`<robot name="pendulum"><link name="l0"/>`)
	for i := 1; i <= links; i++ {
		I := mass * l * l / 12
		fmt.Fprintf(&b, `<link name="l%d"><inertial><origin xyz="0 0 %g"/><mass value="%g"/><inertia ixx="%g" iyy="%g" izz="1e-6" ixy="0" ixz="0" iyz="0"/></inertial></link>`, i, -l/2, mass, I, I)
		at := 0.0
		if i > 1 {
			at = -l
		}
		fmt.Fprintf(&b, `<joint name="j%d" type="continuous"><parent link="l%d"/><child link="l%d"/><origin xyz="0 0 %g"/><axis xyz="0 1 0"/>%s</joint>`, i, i-1, i, at, extra)
	}
	b.WriteString(`</robot>`)
	return b.String()
}

// TestPendulum: a rod that swings wide keeps time with the equation of a pendulum,
// integrated a thousand times finer.
func TestPendulum(t *testing.T) {
	const l, θ0 = 0.5, 2.0
	w := simulate(t, build(t, pendulum(1, l, 0.4, ""), robot.BaseFixed), Config{})
	w.s.Q[0] = θ0
	w.run(5)
	// θ̈ = −3g/2l·sin θ, by Störmer and Verlet
	const h = 1e-5
	θ, ω := θ0, 0.0
	for range int(math.Round(5 / h)) {
		ω -= h / 2 * 1.5 * g / l * math.Sin(θ)
		θ += h * ω
		ω -= h / 2 * 1.5 * g / l * math.Sin(θ)
	}
	if math.Abs(w.s.Q[0]-θ) > 1e-5 || math.Abs(w.s.V[0]-ω) > 1e-4 {
		t.Errorf("after 5 s at %.9g with %.9g, want %.9g with %.9g", w.s.Q[0], w.s.V[0], θ, ω)
	}
}

// TestDampedPendulum: with damping and a spring of its motor the step is implicit and of
// first order; it stays near the fine solution and comes nearer as steps get shorter.
func TestDampedPendulum(t *testing.T) {
	const l, mass, d, kp = 0.5, 0.4, 0.02, 1.5
	I := mass * l * l / 3
	const h = 1e-5
	θ, ω := 1.0, 0.0
	for range int(math.Round(3 / h)) {
		ω += h * (-mass*g*l/2*math.Sin(θ) - d*ω - kp*(θ-0.2)) / I
		θ += h * ω
	}
	last := math.Inf(1)
	for _, step := range []float64{0.002, 0.001, 0.0005} {
		w := simulate(t, build(t, pendulum(1, l, mass, fmt.Sprintf(`<dynamics damping="%g"/>`, d)), robot.BaseFixed), Config{Step: step})
		w.s.Q[0] = 1
		w.in.Drives[0] = Drive{Position: 0.2, Kp: kp}
		w.run(3)
		err := math.Abs(w.s.Q[0] - θ)
		if err > 12*step || err > 0.7*last {
			t.Errorf("step %g s: at %g, want %g", step, w.s.Q[0], θ)
		}
		last = err
	}
}

// TestDoublePendulum: chaos sets in late enough to compare half a second of it with the
// same robot in steps fifty times finer; energy is kept for longer.
func TestDoublePendulum(t *testing.T) {
	bot := build(t, pendulum(2, 0.3, 0.2, ""), robot.BaseFixed)
	w, fine := simulate(t, bot, Config{}), simulate(t, bot, Config{Step: 2e-5})
	for _, x := range []*world{w, fine} {
		x.s.Q[0], x.s.Q[1] = 2.2, 0.7
		x.run(1)
	}
	for i := range w.s.Q {
		if math.Abs(w.s.Q[i]-fine.s.Q[i]) > 1e-5 {
			t.Errorf("joint %d at %g, finer steps give %g", i, w.s.Q[i], fine.s.Q[i])
		}
	}
	before := w.energy()
	w.run(10)
	if now := w.energy(); math.Abs(now-before) > 1e-5 {
		t.Errorf("energy went from %g to %g J in 10 s", before, now)
	}
}

// TestSpinningTop: a fast top precesses steadily at the rate that makes its torque,
// I₃·ω₃·Ω − (I₁−I₃)·Ω²·cos θ = m·g·l; it stands on its tip, which does not slip.
func TestSpinningTop(t *testing.T) {
	const mass, l, I1, I3, tilt, spin = 0.2, 0.05, 2e-4, 1e-4, 0.3, 300.0
	text := fmt.Sprintf(`<robot name="top"><link name="top"><inertial><origin xyz="0 0 %g"/><mass value="%g"/><inertia ixx="%g" iyy="%g" izz="%g" ixy="0" ixz="0" iyz="0"/></inertial>
		<collision><geometry><sphere radius="1e-5"/></geometry></collision></link></robot>`, l, mass, I1, I1, I3)
	w := simulate(t, build(t, text, robot.BaseFloating), Config{Step: 0.0001})
	w.in.Ground.Friction = 100 // the tip stays where it is
	// about the tip
	A := I1 + mass*l*l
	// slow root of (I₃·Ω·(n + Ω·cos θ) − A·Ω²·cos θ) = m·g·l with ω₃ = n + Ω·cos θ = spin
	a, b, c := A*math.Cos(tilt), -I3*spin, mass*g*l
	Ω := (-b - math.Sqrt(b*b-4*a*c)) / (2 * a)
	Q := spatial.AxisAngle(spatial.Vec3{Y: 1}, tilt).Quat()
	copy(w.s.Q[3:], []float64{Q.X, Q.Y, Q.Z, Q.W})
	w.s.Q[2] = 1e-5
	up := Q.Matrix().TMulVec(spatial.Vec3{Z: 1})
	ω := up.Scale(Ω).Add(spatial.Vec3{Z: spin - Ω*math.Cos(tilt)})
	w.s.V[3], w.s.V[4], w.s.V[5] = ω.X, ω.Y, ω.Z
	w.run(1)
	Q = spatial.Quat{X: w.s.Q[3], Y: w.s.Q[4], Z: w.s.Q[5], W: w.s.Q[6]}
	axis := Q.Matrix().Col(2)
	turned := math.Remainder(math.Atan2(axis.Y, axis.X)-Ω, 2*math.Pi)
	if math.Abs(turned) > 0.02*Ω {
		t.Errorf("after 1 s it is %g rad off; it precesses with %g rad/s", turned, Ω)
	}
	if now := math.Acos(axis.Z); math.Abs(now-tilt) > 0.02 {
		t.Errorf("it leans by %g rad, want %g", now, tilt)
	}
}
