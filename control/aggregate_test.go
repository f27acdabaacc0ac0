package control

import (
	"math"
	"testing"

	"poise/arbiter"
	"poise/robot"
	"poise/robot/load"
	"poise/spatial"
)

func ponyAggregate(t *testing.T) (*Aggregate, *robot.Model, func(name string) robot.Set) {
	t.Helper()
	bot, err := load.Robot("pony", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := NewAggregate(bot.Model)
	if err != nil {
		t.Fatal(err)
	}
	res, err := bot.Model.Resources()
	if err != nil {
		t.Fatal(err)
	}
	return a, bot.Model, func(name string) robot.Set {
		s, ok := res.Find(name)
		if !ok {
			t.Fatalf("no resource %q", name)
		}
		return s
	}
}

func newReferenceFor(a *Aggregate, m *robot.Model) *Reference {
	r := NewReference(len(m.Joints()), len(m.Chains()), a.Outputs())
	r.Reset()
	return r
}

func TestOnlyTheOwnerWrites(t *testing.T) {
	a, m, find := ponyAggregate(t)
	leg, head := find("leg1"), find("head")
	r := newReferenceFor(a, m)
	r.Has = leg.Union(head)
	for j := range r.Q {
		r.Q[j] = 0.5
	}
	a.Begin()
	a.Take(3, leg, r) // it owns the leg alone
	a.End()
	for leaf, who := range a.Writer {
		want := arbiter.NoClient
		if leg.Has(robot.LeafID(leaf)) {
			want = 3
		}
		if who != want {
			t.Errorf("leaf %d is written by %d, want %d", leaf, who, want)
		}
	}
}

func TestAgesAndVanishedOwners(t *testing.T) {
	a, m, find := ponyAggregate(t)
	leg, base := find("leg1"), find("base")
	r := newReferenceFor(a, m)
	joint := firstLeaf(leg)
	chain, _ := m.Chain("leg1")
	r.Has = leg.Union(base)
	r.Tau[joint], r.Stiff[joint] = 0.7, 0.5
	r.Support[chain] = Support{Weight: 0.25, Friction: 0.6, Normal: spatial.Vec3{Z: 2}, Wrench: spatial.Wrench{Force: spatial.Vec3{Z: 7}}}
	push := spatial.Twist{Linear: spatial.Vec3{X: 1}}
	r.Base = BaseRef{Pose: spatial.IdentityPose, Twist: push, Acceleration: push}
	r.Limb[chain] = LimbRef{Pose: spatial.IdentityPose, Has: true}
	if a.Age[joint] != math.MaxUint32 {
		t.Errorf("age of a leaf that was never written is %d", a.Age[joint])
	}
	a.Begin()
	if leaf, ok := a.Take(0, leg.Union(base), r); !ok {
		t.Fatalf("leaf %d was refused", leaf)
	}
	a.End()
	m1 := a.Motion
	if m1.Tau[joint] != 0.7 || m1.Stiff[joint] != 0.5 || m1.Support[chain].Weight != 0.25 || !m1.Base.Has || m1.Base.Twist.Linear.X != 1 || !m1.Limb[chain].Has {
		t.Errorf("not taken over: %+v", m1)
	}
	if s := m1.Support[chain]; s.Friction != 0.6 || s.Normal != (spatial.Vec3{Z: 1}) || s.Wrench.Force.Z != 7 || m1.Base.Acceleration != push {
		t.Errorf("not taken over: %+v, base %+v", s, m1.Base)
	}
	if !a.Fresh.Contains(leg) {
		t.Error("a new writer is not fresh")
	}
	for age := uint32(1); age < 4; age++ {
		a.Begin()
		a.End()
		if a.Writer[joint] != arbiter.NoClient || a.Age[joint] != age || a.Age[firstLeaf(base)] != age {
			t.Errorf("writer %d, ages %d %d, want %d", a.Writer[joint], a.Age[joint], a.Age[firstLeaf(base)], age)
		}
		if a.Fresh.Has(joint) != (age == 1) {
			t.Errorf("age %d: fresh %v", age, a.Fresh.Has(joint))
		}
	}
	m2 := a.Motion
	if m2.Tau[joint] != 0 || m2.Stiff[joint] != 1 || m2.Base.Twist != (spatial.Twist{}) || m2.Limb[chain].Has {
		t.Errorf("the past lives on: %+v", m2)
	}
	if s := m2.Support[chain]; s.Wrench != (spatial.Wrench{}) || s.Friction != 0.6 || s.Normal != (spatial.Vec3{Z: 1}) || m2.Base.Acceleration != (spatial.Twist{}) {
		t.Errorf("an unowned contact and base: %+v, %+v", s, m2.Base)
	}
	if m2.Support[chain].Weight != 0.25 || m2.Base.Pose != spatial.IdentityPose {
		t.Error("what is held has changed")
	}
}

// TestNonFiniteIsNoReference: one non-finite number, anywhere, and nothing of the
// reference is taken.
func TestNonFiniteIsNoReference(t *testing.T) {
	a, m, find := ponyAggregate(t)
	leg := find("leg1").Union(find("base"))
	joint := firstLeaf(leg)
	chain, _ := m.Chain("leg1")
	nan, inf := math.NaN(), math.Inf(1)
	for name, spoil := range map[string]func(*Reference){
		"position":     func(r *Reference) { r.Q[joint] = nan },
		"velocity":     func(r *Reference) { r.V[joint] = inf },
		"acceleration": func(r *Reference) { r.A[joint] = -inf },
		"torque":       func(r *Reference) { r.Tau[joint] = nan },
		"stiffness":    func(r *Reference) { r.Stiff[joint] = nan },
		"support":      func(r *Reference) { r.Support[chain].Weight = nan },
		"wrench":       func(r *Reference) { r.Support[chain].Wrench.Torque.X = nan },
		"friction":     func(r *Reference) { r.Support[chain].Friction = inf },
		"normal":       func(r *Reference) { r.Support[chain].Normal.Y = nan },
		"base speeds":  func(r *Reference) { r.Base.Acceleration.Linear.X = nan },
		"limb speeds":  func(r *Reference) { r.Limb[chain].Has = true; r.Limb[chain].Acceleration.Angular.Z = inf },
		"base":         func(r *Reference) { r.Base.Pose.P.Y = inf },
		"base twist":   func(r *Reference) { r.Base.Twist.Angular.Z = nan },
		"limb":         func(r *Reference) { r.Limb[chain].Has = true; r.Limb[chain].Pose.R[4] = nan },
	} {
		r := newReferenceFor(a, m)
		r.Has = leg
		spoil(r)
		a.Begin()
		if _, ok := a.Take(1, leg, r); ok {
			t.Errorf("%s: taken", name)
		}
		a.End()
		for leaf, who := range a.Writer {
			if who != arbiter.NoClient {
				t.Errorf("%s: leaf %d was taken all the same", name, leaf)
			}
		}
	}
}

func TestWholeLimbsHaveTheirSupport(t *testing.T) {
	a, _, find := ponyAggregate(t)
	leg, support := find("leg1"), find("support/leg1")
	if got := a.Whole(leg.Minus(support)); got != leg {
		t.Errorf("%v, want %v", got, leg)
	}
	part := leg.Minus(support).Without(firstLeaf(leg))
	if got := a.Whole(part); got != part {
		t.Error("part of a leg has its support")
	}
}

// TestReferencesOfALimbEndWithTheirController: a new owner of the joints of a limb that gives no reference of its tip ends that of the owner before.
func TestReferencesOfALimbEndWithTheirController(t *testing.T) {
	a, m, find := ponyAggregate(t)
	leg := find("leg1")
	chain, _ := m.Chain("leg1")
	r := newReferenceFor(a, m)
	take := func(who arbiter.ClientID, tip bool) bool {
		r.Reset()
		r.Has = leg
		r.Limb[chain] = LimbRef{Pose: spatial.IdentityPose, Has: tip}
		a.Begin()
		a.Take(who, leg, r)
		a.End()
		return a.Motion.Limb[chain].Has
	}
	for k, c := range []struct {
		who arbiter.ClientID
		tip bool
	}{{1, true}, {1, true}, {2, false}, {2, true}, {2, false}, {1, true}} {
		if got := take(c.who, c.tip); got != c.tip {
			t.Errorf("tick %d: an intent of the limb %v, want %v", k, got, c.tip)
		}
	}
}

func TestAggregateDoesNotAllocate(t *testing.T) {
	a, m, find := ponyAggregate(t)
	leg := find("leg1")
	r := newReferenceFor(a, m)
	r.Has = leg
	if n := testing.AllocsPerRun(100, func() {
		a.Begin()
		a.Take(0, leg, r)
		a.End()
		a.Whole(leg)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
