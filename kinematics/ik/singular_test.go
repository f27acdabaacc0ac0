package ik_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"poise/kinematics"
	"poise/kinematics/ik"
	"poise/robot"
	"poise/urdf"
)

// wristArm returns an arm with a spherical wrist, each joint limited to ±most.
func wristArm(t *testing.T, most float64) *bench {
	t.Helper()
	axes := [6]string{"0 0 1", "0 1 0", "0 1 0", "1 0 0", "0 1 0", "1 0 0"}
	places := [6]string{"0 0 0.3", "0 0 0.1", "0 0 0.4", "0.3 0 0", "0 0 0", "0 0 0"}
	var s strings.Builder
	s.WriteString(`<robot name="wrist"><link name="l0"/>`)
	for i := range axes {
		fmt.Fprintf(&s, `<link name="l%d"/><joint name="j%d" type="revolute"><parent link="l%d"/><child link="l%d"/>
			<origin xyz="%s"/><axis xyz="%s"/><limit lower="%g" upper="%g" effort="1" velocity="1"/></joint>`,
			i+1, i+1, i, i+1, places[i], axes[i], -most, most)
	}
	s.WriteString(`</robot>`)
	doc, _, err := urdf.Parse([]byte(s.String()), "wrist.urdf")
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := robot.Build(doc, robot.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &bench{m: m, s: solver(t, m, ik.Options{}, "l6"), d: kinematics.NewData(m), space: kinematics.NewSpace(m),
		tip: frame(t, m, "l6"), rng: rand.New(rand.NewPCG(5, 6)),
		truth: make([]float64, 6), seed: make([]float64, 6), q: make([]float64, 6)}
}

// singularPoses put an arm of wristArm where angles do not matter one by one;
// false if this is impossible for the joints drawn.
var singularPoses = []struct {
	name string
	make func(q []float64) bool
}{
	{"axes 4 and 6 in line", func(q []float64) bool { q[4] = 0; return true }},
	{"axes 4 and 6 nearly in line", func(q []float64) bool { q[4] = 1e-10; return true }},
	{"wrist on axis 1", wristOnFirstAxis},
	{"wrist next to axis 1", func(q []float64) bool { ok := wristOnFirstAxis(q); q[2] += 1e-8; return ok }},
	{"both", func(q []float64) bool { q[4] = 0; return wristOnFirstAxis(q) }},
}

func wristOnFirstAxis(q []float64) bool {
	c := -0.4 / 0.3 * math.Sin(q[1]) // 0.4·sin θ2 + 0.3·cos(θ2 + θ3) = 0
	q[2] = math.Acos(min(max(c, -1), 1)) - q[1]
	return math.Abs(c) < 1
}

// TestSingularPosesAreSolvedWithinNarrowLimits: where a pose leaves angles
// undetermined, those of the seed may take the others beyond their limits although
// other angles would not. Seeds outside the limits are no excuse.
func TestSingularPosesAreSolvedWithinNarrowLimits(t *testing.T) {
	for _, most := range []float64{1.5, 6} {
		b := wristArm(t, most)
		if !b.s.ClosedForm() {
			t.Fatal("no closed form found")
		}
		for _, c := range singularPoses {
			cases := 0
			for range 600 {
				b.draw()
				for i := range b.seed {
					b.seed[i] *= 2
				}
				if !c.make(b.truth) || within(b.m, b.truth) != nil {
					continue
				}
				cases++
				want := b.pose(b.truth)
				r := b.s.PoseTo(b.q, want, b.seed)
				p, rot := off(b.d, b.q, b.tip, want)
				if r.Status != ik.Solved || p > tolPosition || rot > tolRotation || within(b.m, b.q) != nil {
					t.Fatalf("%s, limits ±%g: %v, %g m and %g rad away, limits: %v\nfrom %v\nseed %v", c.name, most, r.Status, p, rot, within(b.m, b.q), b.truth, b.seed)
				}
			}
			if cases < 50 {
				t.Errorf("%s: only %d cases", c.name, cases)
			}
		}
	}
}

// TestTurnOfAxesInLineIsSharedNearestToTheSeed compares with a search over the
// ways to split the turn between joints 4 and 6, the arm as it is.
func TestTurnOfAxesInLineIsSharedNearestToTheSeed(t *testing.T) {
	const most = 1.5
	b := wristArm(t, most)
	for range 300 {
		b.draw()
		b.truth[4] = 0
		want := b.pose(b.truth)
		if r := b.s.PoseTo(b.q, want, b.seed); r.Status != ik.Solved {
			t.Fatalf("%v from %v, seed %v", r.Status, b.truth, b.seed)
		}
		got := 0.0
		for i := range b.q {
			got += math.Abs(b.q[i] - b.seed[i])
		}
		arm := math.Abs(b.seed[4])
		for i := range 3 {
			arm += math.Abs(b.truth[i] - b.seed[i])
		}
		for θ4 := -most; θ4 <= most; θ4 += 1e-3 {
			θ6 := b.truth[3] + b.truth[5] - θ4
			if split := arm + math.Abs(θ4-b.seed[3]) + math.Abs(θ6-b.seed[5]); math.Abs(θ6) <= most && split < got-1e-6 {
				t.Fatalf("the answer %v is %g away, joint 4 at %g only %g\nfrom %v\nseed %v", b.q, got, θ4, split, b.truth, b.seed)
			}
		}
	}
	want := b.pose(b.truth)
	if n := testing.AllocsPerRun(100, func() { b.s.PoseTo(b.q, want, b.seed) }); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

// TestSolutionsAtALimitAreWithinIt: rounding, above all of whole turns, must
// neither leave an angle a hair outside nor cost a turn.
func TestSolutionsAtALimitAreWithinIt(t *testing.T) {
	for _, a := range arms {
		b := newBench(t, a.file, a.tip, ik.Options{})
		for _, id := range b.s.Joints() {
			j := b.m.Joints()[id]
			for i := range few(100) {
				b.draw()
				b.truth[j.Q] = j.Limits.Lower.Value
				if i%2 == 0 {
					b.truth[j.Q] = j.Limits.Upper.Value
				}
				want := b.pose(b.truth)
				if r := b.s.PoseTo(b.q, want, b.seed); r.Status != ik.Solved || within(b.m, b.q) != nil {
					t.Fatalf("%s, %s at %g: %v, %v\nseed %v", a.name, j.Name, b.truth[j.Q], r.Status, within(b.m, b.q), b.seed)
				}
				got, drawn := 0.0, 0.0
				for _, id := range b.s.Joints() {
					k := b.m.Joints()[id].Q
					got += math.Abs(b.q[k] - b.seed[k])
					drawn += math.Abs(b.truth[k] - b.seed[k])
				}
				if a.closed && got > drawn+1e-5 {
					t.Fatalf("%s, %s at %g: the answer is %g away from the seed, the joints drawn %g", a.name, j.Name, b.truth[j.Q], got, drawn)
				}
			}
		}
	}
}
