package smooth_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"poise/internal/randbot"
	"poise/kinematics"
	"poise/planner"
	"poise/planner/path"
	"poise/planner/track"
	"poise/robot"
	"poise/robot/load"
	"poise/spatial"
)

const seed = 11

// randomArm is an arm of six or seven axes of random size, with random limits and
// no jerk limit.
func randomArm(t *testing.T, rng *rand.Rand, joints int) *robot.Model {
	t.Helper()
	axes := []string{"0 0 1", "0 1 0", "0 1 0", "1 0 0", "0 1 0", "1 0 0"}
	if joints == 7 {
		axes = []string{"0 0 1", "0 1 0", "0 0 1", "0 1 0", "0 0 1", "0 1 0", "0 0 1"}
	}
	text, limits := `<robot name="arm"><link name="link0"/>`, "joint_limits:\n"
	for i, axis := range axes {
		x, z := 0.05*rng.Float64(), 0.05+0.35*rng.Float64()
		if joints == 6 && i > 3 {
			x, z = 0, 0 // the wrist's axes meet
		}
		text += fmt.Sprintf(`<link name="link%d"/><joint name="joint%d" type="revolute"><parent link="link%d"/><child link="link%d"/>`+
			`<origin xyz="%g 0 %g"/><axis xyz="%s"/><limit lower="-3" upper="3" effort="1" velocity="%g"/></joint>`,
			i+1, i+1, i, i+1, x, z, axis, 1+3*rng.Float64())
		limits += fmt.Sprintf("  joint%d: {has_acceleration_limits: true, max_acceleration: %g, has_deceleration_limits: true, max_deceleration: %g}\n",
			i+1, 2+8*rng.Float64(), -2-8*rng.Float64())
	}
	text += fmt.Sprintf(`<link name="tool"/><joint name="flange" type="fixed"><parent link="link%d"/><child link="tool"/><origin xyz="0.1 0 0.1"/></joint></robot>`, joints)
	dir := t.TempDir()
	writeFile(t, dir+"/arm.urdf", text)
	writeFile(t, dir+"/arm.srdf", `<robot name="arm"><group name="arm"><chain base_link="link0" tip_link="tool"/></group></robot>`)
	writeFile(t, dir+"/joint_limits.yaml", limits)
	writeFile(t, dir+"/pilz_cartesian_limits.yaml", fmt.Sprintf("cartesian_limits: {max_trans_vel: %g, max_trans_acc: %g, max_trans_dec: %g, max_rot_vel: %g}\n",
		0.3+rng.Float64(), 0.5+3*rng.Float64(), -0.5-3*rng.Float64(), 0.5+2*rng.Float64()))
	r, err := load.Robot(renamed(t, dir, "arm"), load.Options{})
	must(t, err)
	return r.Model
}

// renamed returns the folder under the name of the files in it.
func renamed(t *testing.T, dir, name string) string {
	to := filepath.Join(t.TempDir(), name)
	must(t, os.Rename(dir, to))
	return to
}

// Random lines on real and random arms: the path is kept to a micrometre, rotation
// is that of slerp, limits hold at every instant, and no motion takes longer than
// the trapezoid that is slowed as a whole.
func TestRandomLinesKeepPathAndLimits(t *testing.T) {
	count := 20
	if testing.Short() {
		count = 3
	}
	arms := map[string]func(rng *rand.Rand) *bench{}
	for _, c := range [][2]string{{"arm6", "manipulator"}, {"prbt", "manipulator"}, {"panda", "panda_arm"}, {"fanuc", "manipulator"}} {
		b := newBench(t, loadRobot(t, c[0]), c[1])
		if b.m.CartesianLimits() == nil {
			t.Fatalf("%s has no Cartesian limits", c[0])
		}
		arms[c[0]] = func(*rand.Rand) *bench { return b }
	}
	for _, n := range []int{6, 7} {
		arms[fmt.Sprintf("random arm of %d axes", n)] = func(rng *rand.Rand) *bench { return newBench(t, randomArm(t, rng, n), "arm") }
	}
	for name, arm := range arms {
		t.Run(name, func(t *testing.T) {
			rng := randbot.New(seed)
			refused := map[planner.Kind]int{}
			for planned := 0; planned < count; {
				b := arm(rng)
				b.T = t
				for tries := 0; tries < 40; tries++ {
					why := b.randomLine(rng)
					if t.Failed() {
						t.Fatalf("seed %d, line %d", seed, planned)
					}
					if why == nil {
						planned++
						break
					}
					if refused[why.Kind]++; why.Kind != planner.NoSolution {
						t.Fatalf("seed %d: %v", seed, why)
					}
				}
			}
			t.Logf("%d lines planned, refused %v", count, refused)
		})
	}
}

// randomLine plans one and checks it, or says why it was refused.
func (b *bench) randomLine(rng *rand.Rand) *planner.Refusal {
	b.Helper()
	kinematics.NewSpace(b.m).RandomTo(b.q, rng)
	X := tipAt(b.m, b.g, b.q)
	Y := spatial.Pose{P: X.P.Add(randomVec(rng).Scale(0.4)), R: spatial.ExpRotation(randomVec(rng)).Matrix().Mul(X.R)}
	r := b.lin(Y.P, Y.R.Quat())
	r.VelocityScaling, r.AccelerationScaling = 0.05+0.95*rng.Float64(), 0.05+0.95*rng.Float64()
	b.p.Sampling = []float64{0.001, 0.004, 0.02}[rng.IntN(3)]
	mo, why := b.p.Plan(context.Background(), &r, b.q)
	if why != nil {
		return why
	}
	checkMotion(b.T, b.m, mo, b.p.Sampling)
	b.onLine(mo, X, Y)
	b.notSlowerThanUniform(mo, &r, X, Y)
	return nil
}

func randomVec(rng *rand.Rand) spatial.Vec3 {
	return spatial.Vec3{X: 2*rng.Float64() - 1, Y: 2*rng.Float64() - 1, Z: 2*rng.Float64() - 1}
}

// onLine asks that samples are on the line, turned as slerp turns.
func (b *bench) onLine(mo *planner.Motion, X, Y spatial.Pose) {
	b.Helper()
	u := Y.P.Sub(X.P)
	turn := path.TurnBetween(X.R, Y.R)
	poses, _, _ := b.tool(mo)
	for i, Z := range poses {
		share := Z.P.Sub(X.P).Dot(u) / u.Dot(u)
		if off := Z.P.Sub(X.P.Add(u.Scale(share))).Norm(); off > tolPath {
			b.Fatalf("point %d is %.3g m off the line", i, off)
		}
		want := spatial.AxisAngle(turn.Axis, turn.Angle*share).Mul(X.R)
		if off := path.TurnBetween(want, Z.R).Angle; off > 2*tolPath {
			b.Fatalf("point %d is %.3g rad off the slerp", i, off)
		}
	}
	b.near("end", poses[len(poses)-1].P, Y.P)
}

// notSlowerThanUniform compares with the trapezoid along the line that is slowed
// as a whole until every joint keeps its limits.
func (b *bench) notSlowerThanUniform(mo *planner.Motion, r *planner.Request, X, Y spatial.Pose) {
	b.Helper()
	limits := limitsOf(b.m, mo.Joints, 1, 1)
	if limits.Jerk != nil {
		return // a trapezoid knows none
	}
	l := b.m.CartesianLimits()
	dist, angle := Y.P.Sub(X.P).Norm(), path.TurnBetween(X.R, Y.R).Angle
	rot := min(l.MaxTransAcc.Value, -l.MaxTransDec.Value) / l.MaxTransVel.Value * l.MaxRotVel.Value
	// rotation no faster than scaled, as in Pilz
	v := min(l.MaxTransVel.Value*r.VelocityScaling, dist/angle*l.MaxRotVel.Value*r.VelocityScaling)
	a := min(l.MaxTransAcc.Value, -l.MaxTransDec.Value, dist/angle*rot) * r.AccelerationScaling
	ramp := min(v/a, math.Sqrt(dist/a))
	v = a * ramp
	total := 2*ramp + (dist-a*ramp*ramp)/v

	tr, why := track.New(b.m, mo.Joints, b.g.Tip)
	if why != nil {
		b.Fatal(why)
	}
	curves, why := tr.Follow(context.Background(), []path.Path{path.NewLine(X.P, Y.P, path.TurnBetween(X.R, Y.R), path.Coupling{})}, b.q, nil)
	if why != nil {
		return // it took another way through the joints
	}
	n := len(mo.Joints)
	q, d, dd := make([]float64, n), make([]float64, n), make([]float64, n)
	slow := 1.0
	steps := 20_000 // near a singularity a joint moves for milliseconds only
	if testing.Short() {
		steps = 2000
	}
	for i := range steps {
		t := total * (float64(i) + 0.5) / float64(steps)
		s, ds, dds := v*(t-ramp/2), v, 0.0
		if t < ramp {
			s, ds, dds = a*t*t/2, a*t, a
		} else if left := total - t; left < ramp {
			s, ds, dds = dist-a*left*left/2, a*left, -a
		}
		curves[0].StateTo(q, d, dd, s)
		for j := range n {
			vel, acc := d[j]*ds, dd[j]*ds*ds+d[j]*dds
			slow = max(slow, math.Abs(vel)/limits.Velocity[j], math.Sqrt(math.Abs(acc)/max(limits.Acceleration[j], limits.Deceleration[j])))
		}
	}
	if uniform := total * slow; duration(mo) > 1.005*uniform+3*b.p.Sampling {
		b.Errorf("takes %.5g s, a trapezoid slowed as a whole by %.4g %.5g s", duration(mo), slow, uniform)
	}
}

// Random arcs, through a point and about a centre, on the same arms.
func TestRandomArcsKeepPathAndLimits(t *testing.T) {
	count := 25
	if testing.Short() {
		count = 4
	}
	for _, name := range []string{"arm6", "prbt"} {
		b := newBench(t, loadRobot(t, name), "manipulator")
		rng := randbot.New(seed)
		for planned := 0; planned < count; {
			kinematics.NewSpace(b.m).RandomTo(b.q, rng)
			X := tipAt(b.m, b.g, b.q)
			centre := X.P.Add(randomVec(rng).Scale(0.2))
			normal, ok := randomVec(rng).Cross(X.P.Sub(centre)).Unit()
			if !ok {
				continue
			}
			angle := 0.3 + 5.5*rng.Float64()
			on := func(a float64) spatial.Vec3 {
				return centre.Add(spatial.AxisAngle(normal, a).MulVec(X.P.Sub(centre)))
			}
			R := spatial.ExpRotation(randomVec(rng).Scale(0.3)).Matrix().Mul(X.R)
			r := b.circ("interim", on(angle), on(angle*0.4))
			if rng.IntN(2) == 0 && angle < 3 {
				r = b.circ("center", on(angle), centre)
			}
			r.Goals = b.pose(on(angle), R.Quat())
			b.p.Sampling = []float64{0.001, 0.01}[rng.IntN(2)]
			mo, why := b.p.Plan(context.Background(), &r, b.q)
			if why != nil {
				if why.Kind != planner.NoSolution {
					t.Fatalf("%s: seed %d: %v", name, seed, why)
				}
				continue
			}
			planned++
			checkMotion(t, b.m, mo, b.p.Sampling)
			radius, way := X.P.Sub(centre).Norm(), 0.0
			poses, _, _ := b.tool(mo)
			for i, Z := range poses {
				d := Z.P.Sub(centre)
				if math.Abs(d.Norm()-radius) > tolPath || math.Abs(d.Dot(normal)) > tolPath {
					t.Fatalf("%s: seed %d, arc %d: point %d is off the circle", name, seed, planned, i)
				}
				if i > 0 {
					way += Z.P.Sub(poses[i-1].P).Norm()
				}
			}
			b.near("end", poses[len(poses)-1].P, on(angle))
			if math.Abs(way-radius*angle) > 1e-3*radius*angle {
				t.Fatalf("%s: seed %d, arc %d: went %g m, want %g", name, seed, planned, way, radius*angle)
			}
			if t.Failed() {
				t.Fatalf("%s: seed %d, arc %d", name, seed, planned)
			}
		}
	}
}

// Random sequences of all commands with random radii: planned or refused with a
// reason, and within limits.
func TestRandomSequencesKeepLimits(t *testing.T) {
	count := 40
	if testing.Short() {
		count = 8
	}
	for _, name := range []string{"arm6", "prbt"} {
		b := newBench(t, loadRobot(t, name), "manipulator")
		b.p.Sampling = 0.004
		if name == "prbt" {
			copy(b.q, current)
		}
		rng := randbot.New(seed)
		planned, refused := 0, map[planner.Kind]int{}
		for range count {
			items := b.randomItems(rng)
			all, why := b.p.Sequence(context.Background(), items, b.q)
			if why != nil {
				refused[why.Kind]++
				if why.Kind == planner.LimitExceeded || why.Text == "" || why.Item == planner.None {
					t.Fatalf("%s: seed %d: %+v", name, seed, why)
				}
				continue
			}
			planned++
			for _, m := range all {
				checkMotion(t, b.m, m, b.p.Sampling)
			}
			if t.Failed() {
				t.Fatalf("%s: seed %d, sequence %d", name, seed, planned)
			}
		}
		t.Logf("%s: %d planned, refused %v", name, planned, refused)
		if planned < count/10 {
			t.Errorf("%s: only %d of %d planned", name, planned, count)
		}
	}
}

// randomItems is a sequence in front of the arm.
func (b *bench) randomItems(rng *rand.Rand) (items []planner.Item) {
	place := func() spatial.Vec3 {
		return spatial.Vec3{X: 0.35 + 0.15*rng.Float64(), Y: 0.6*rng.Float64() - 0.3, Z: 0.35 + 0.25*rng.Float64()}
	}
	facing := func() spatial.Quat { return spatial.ExpRotation(randomVec(rng).Scale(0.4)).Mul(down) }
	n := 2 + rng.IntN(4)
	for i := range n {
		var r planner.Request
		switch rng.IntN(4) {
		case 0:
			r = b.request(planner.PTP)
		case 1:
			r = b.circ("interim", place(), place())
		default:
			r = b.request(planner.LIN)
		}
		r.Goals = b.pose(place(), facing())
		r.VelocityScaling, r.AccelerationScaling = 0.1+0.9*rng.Float64(), 0.1+0.9*rng.Float64()
		item := planner.Item{Request: r}
		if i < n-1 && rng.IntN(3) > 0 {
			item.Radius = 0.06 * rng.Float64()
		}
		items = append(items, item)
	}
	return items
}
