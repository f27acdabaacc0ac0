package estimate

import (
	"math"
	"math/rand/v2"
	"testing"

	"poise/contact"
	"poise/control"
	"poise/kinematics"
	"poise/robot"
	"poise/robot/load"
	"poise/spatial"
)

const period = 0.001 // s

// Tolerances: of positions that are exact up to rounding, and of differences over a
// period whose third derivatives are of the order of one.
const (
	rounding = 1e-12 // m, rad
	speedOff = 2e-6  // m/s, rad/s
	accOff   = 1e-5  // m/s², rad/s²
)

func model(t testing.TB, name string) *robot.Model {
	t.Helper()
	r, err := load.Robot(name, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r.Model
}

func odometry(t testing.TB, m *robot.Model) *Odometry {
	t.Helper()
	o, err := NewOdometry(m)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// crouched returns the joints of a pony with bent legs.
func crouched(t testing.TB, m *robot.Model) []float64 {
	t.Helper()
	q := m.RestPositions()
	p, ok := m.Pose("crouched")
	if !ok {
		t.Fatal("no pose crouched")
	}
	for i, j := range p.Joints {
		q[j] = p.Q[i][0]
	}
	return q
}

// world is the kinematics of a robot with its base somewhere: the independent way to
// where its feet are.
type world struct {
	m *robot.Model
	d *kinematics.Data
	q []float64
	v []float64
	a []float64
}

func newWorld(m *robot.Model) *world {
	return &world{m: m, d: kinematics.NewData(m), q: make([]float64, m.NumQ()), v: make([]float64, m.NumV()), a: make([]float64, m.NumV())}
}

// points returns the contact points of a foot in the world, their velocities and
// accelerations.
func (w *world) points(b *control.BaseRef, in *Input, f contact.Foot) (p, v, a []spatial.Vec3) {
	r, x, ω, dv, dω := b.Pose.R.Quat(), b.Pose.P, b.Twist.Angular, b.Acceleration.Linear, b.Acceleration.Angular
	copy(w.q, []float64{x.X, x.Y, x.Z, r.X, r.Y, r.Z, r.W})
	copy(w.v, []float64{b.Twist.Linear.X, b.Twist.Linear.Y, b.Twist.Linear.Z, ω.X, ω.Y, ω.Z})
	copy(w.a, []float64{dv.X, dv.Y, dv.Z, dω.X, dω.Y, dω.Z})
	for i, j := range w.m.Joints() {
		w.q[j.Q], w.v[j.V], w.a[j.V] = in.Q[i], at(in.V, i), at(in.A, i)
	}
	w.d.UpdatePosition(w.q)
	w.d.UpdateVelocity(w.v)
	w.d.UpdateAcceleration(w.a)
	tip := w.d.At(w.m.Chains()[f.Chain].Tip)
	for _, local := range w.m.Contacts()[f.Contact].Points {
		place := tip.Offset(spatial.Pose{R: spatial.Identity3, P: local})
		p = append(p, w.d.Pose(place).P)
		v = append(v, w.d.Twist(place).Linear)
		a = append(a, w.d.Acceleration(place).Linear)
	}
	return p, v, a
}

// waves move joints smoothly about a pose.
type waves struct {
	middle, size, speed, phase []float64
}

func newWaves(rng *rand.Rand, middle []float64, size float64) *waves {
	w := &waves{middle: middle}
	for range middle {
		w.size = append(w.size, size*(rng.Float64()-0.5))
		w.speed = append(w.speed, 1+2*rng.Float64())
		w.phase = append(w.phase, 6*rng.Float64())
	}
	return w
}

func (w *waves) input(t float64, feet []Foot) *Input {
	in := &Input{Time: t, Feet: feet}
	for j, m := range w.middle {
		s, c := math.Sincos(w.speed[j]*t + w.phase[j])
		k := w.size[j]
		in.Q = append(in.Q, m+k*s)
		in.V = append(in.V, k*w.speed[j]*c)
		in.A = append(in.A, -k*w.speed[j]*w.speed[j]*s)
	}
	return in
}

func between(a, b spatial.Twist) float64 {
	return max(a.Linear.Sub(b.Linear).Norm(), a.Angular.Sub(b.Angular).Norm())
}

func apart(X, Y spatial.Pose) float64 {
	d := X.Inverse().Mul(Y)
	return max(d.P.Norm(), d.R.Quat().Log().Norm())
}

// differ returns how far twist and acceleration are from the differences of three
// consecutive motions.
func differ(before, now, after *control.BaseRef) (twist, acceleration float64) {
	d := before.Pose.Inverse().Mul(after.Pose)
	twist = between(spatial.LogTwist(d.R.Quat(), d.P).Scale(1/(2*period)), now.Twist)
	change := after.Twist.Add(before.Twist.Scale(-1)).Scale(1 / (2 * period))
	return twist, between(change, now.Acceleration)
}

// TestAFixedFootStaysWhereItIs: on one foot that keeps all directions (three points),
// forward kinematics from the base that odometry finds brings the foot back to its
// place, and it neither moves nor accelerates there; twist and acceleration are the
// differences of the pose.
func TestAFixedFootStaysWhereItIs(t *testing.T) {
	m := model(t, "pony")
	id, ok := m.Contact("hoof_fixed")
	if !ok {
		t.Skip("the robot has no contact that keeps all directions")
	}
	leg, _ := m.Chain("leg2")
	f := contact.Foot{Chain: leg, Contact: id}
	w, rng := newWorld(m), rand.New(rand.NewPCG(21, 1))
	for n := range 10 {
		o, move := odometry(t, m), newWaves(rng, crouched(t, m), 0.4)
		var history []control.BaseRef
		var places []spatial.Vec3
		for k := range 400 {
			in := move.input(float64(k)*period, Alike([]contact.Foot{f}))
			b := o.Update(in)
			p, v, a := w.points(&b, in, f)
			if k == 0 {
				places = p
			}
			for i := range p {
				if off := p[i].Sub(places[i]).Norm(); off > rounding || v[i].Norm() > 1e-11 || a[i].Norm() > 1e-10 {
					t.Fatalf("case %d of seed 21, 1, tick %d: the foot is %g m from its place, at %g m/s, %g m/s²", n, k, off, v[i].Norm(), a[i].Norm())
				}
			}
			if o.Slip() > rounding {
				t.Fatalf("case %d, tick %d: slip %g m", n, k, o.Slip())
			}
			if history = append(history, b); k > 1 {
				if twist, acc := differ(&history[k-2], &history[k-1], &history[k]); twist > 1e-5 || acc > 1e-4 {
					t.Fatalf("case %d, tick %d: twist %g, acceleration %g off the differences", n, k, twist, acc)
				}
			}
		}
	}
}

func legs(t testing.TB, m *robot.Model) []contact.Foot {
	t.Helper()
	g, err := contact.NewGround(m)
	if err != nil {
		t.Fatal(err)
	}
	return g.DefaultFeetTo(nil)
}

// TestRatesOfFeetThatDisagree: four legs move at random and work against each other;
// twist and acceleration are the differences of the pose all the same, whatever the
// weights.
func TestRatesOfFeetThatDisagree(t *testing.T) {
	m := model(t, "pony")
	rng := rand.New(rand.NewPCG(21, 2))
	for n := range 20 {
		feet := Alike(legs(t, m))
		for i := range feet {
			feet[i].Weight = 0.1 + rng.Float64()
		}
		o, move := odometry(t, m), newWaves(rng, crouched(t, m), 0.1)
		var history []control.BaseRef
		slip, fastest := 0.0, 0.0
		for k := range 200 {
			b := o.Update(move.input(float64(k)*period, feet))
			slip, fastest = max(slip, o.Slip()), max(fastest, b.Twist.Linear.Norm())
			if history = append(history, b); k < 2 {
				continue
			}
			if twist, acc := differ(&history[k-2], &history[k-1], &history[k]); twist > speedOff || acc > accOff {
				t.Fatalf("case %d of seed 21, 2, tick %d: twist %g, acceleration %g off the differences", n, k, twist, acc)
			}
		}
		if slip < 1e-3 || fastest < 1e-3 {
			t.Errorf("case %d: the feet disagree by %g m only, at up to %g m/s", n, slip, fastest)
		}
	}
}

// TestFeetComeAndGo: of four feet that disagree by millimetres some are lifted and put
// down at random; pose and twist go on without a step, acceleration too.
func TestFeetComeAndGo(t *testing.T) {
	m := model(t, "pony")
	rng := rand.New(rand.NewPCG(21, 3))
	all := Alike(legs(t, m))
	o, move := odometry(t, m), newWaves(rng, crouched(t, m), 0.1)
	feet := all
	last := o.Update(move.input(0, feet))
	changes, slip, pose, twist, acc := 0, 0.0, 0.0, 0.0, 0.0
	for k := 1; k < 20000; k++ {
		if rng.IntN(150) == 0 {
			feet = nil
			for _, f := range all {
				if rng.IntN(3) > 0 {
					feet = append(feet, f)
				}
			}
			changes++
		}
		now := o.Update(move.input(float64(k)*period, feet))
		slip = max(slip, o.Slip())
		on := last.At(period) // as it would go on
		pose, twist = max(pose, apart(on.Pose, now.Pose)), max(twist, between(on.Twist, now.Twist))
		acc = max(acc, between(last.Acceleration, now.Acceleration))
		last = now
	}
	// what a bridge of a fifth of a radian over T = 0.06 s changes in a period by its
	// third derivative, 0.2/T³; without bridges the pose jumps by as much as the slip
	if pose > 2e-6 || twist > 1e-3 || acc > 2 || slip < 5e-3 {
		t.Errorf("seed 21, 3: the pose jumps by %g, the twist by %g, the acceleration by %g; slip %g", pose, twist, acc, slip)
	}
	t.Logf("%d changes, feet up to %.4f m from their places", changes, slip)
}

// TestAFootFadesOut: the less a foot weighs the less it counts, down to as little as
// one that is not there.
func TestAFootFadesOut(t *testing.T) {
	m := model(t, "pony")
	feet := Alike(legs(t, m))
	move := newWaves(rand.New(rand.NewPCG(21, 4)), crouched(t, m), 0.1)
	at := func(weight float64) control.BaseRef {
		o := odometry(t, m)
		faded := append([]Foot{}, feet...)
		faded[1].Weight = weight
		if weight == 0 {
			faded = append(faded[:1], faded[2:]...)
		}
		first := o.Update(move.input(0, feet))
		o.Set(0, first)
		o.Update(move.input(0, faded))
		return o.Update(move.input(0.1, faded))
	}
	gone, off := at(0), math.Inf(1)
	for _, weight := range []float64{1, 1e-2, 1e-4, 1e-6} {
		b := at(weight)
		now := apart(b.Pose, gone.Pose)
		if now > off/20 || between(b.Twist, gone.Twist) > 10*weight {
			t.Errorf("with weight %g it is %g away, and %g in speed", weight, now, between(b.Twist, gone.Twist))
		}
		off = now
	}
}

// TestOdometryDoesNotCareWhereItIs: with the base placed elsewhere everything happens
// there.
func TestOdometryDoesNotCareWhereItIs(t *testing.T) {
	m := model(t, "pony")
	feet := Alike(legs(t, m))
	here, there := odometry(t, m), odometry(t, m)
	move := newWaves(rand.New(rand.NewPCG(21, 5)), crouched(t, m), 0.1)
	X := spatial.Pose{R: spatial.FromRPY(0.2, -0.1, 2), P: spatial.Vec3{X: 3, Y: -1, Z: 0.5}}
	begin := here.Update(move.input(0, feet))
	there.Place(X.Mul(begin.Pose))
	for k := range 500 {
		on := feet
		if k > 100 && k < 300 {
			on = feet[:3]
		}
		a, b := here.Update(move.input(float64(k)*period, on)), there.Update(move.input(float64(k)*period, on))
		if off := apart(X.Mul(a.Pose), b.Pose); off > 1e-11 || between(a.Twist, b.Twist) > 1e-9 {
			t.Fatalf("tick %d: %g apart", k, off)
		}
	}
}

// TestOrientationIsTaken: with the orientation given, a single point is enough for the
// place of the base, and forward kinematics brings the point back.
func TestOrientationIsTaken(t *testing.T) {
	m := model(t, "pony")
	id, _ := m.Contact("hoof_center")
	leg, _ := m.Chain("leg3")
	f := contact.Foot{Chain: leg, Contact: id}
	o, w := odometry(t, m), newWorld(m)
	move := newWaves(rand.New(rand.NewPCG(21, 6)), crouched(t, m), 0.2)
	var place spatial.Vec3
	for k := range 300 {
		s := float64(k) * period
		in := move.input(s, Alike([]contact.Foot{f}))
		r, rate := spatial.Vec3{X: 0.1 * math.Sin(s), Y: 0.2 * s}, spatial.Vec3{X: 0.1 * math.Cos(s), Y: 0.2}
		in.Orientation = Orientation{R: spatial.ExpRotation(r).Matrix(), Rate: spatial.ExpRate(r, rate), Has: true}
		b := o.Update(in)
		p, v, _ := w.points(&b, in, f)
		if k == 0 {
			place = p[0]
		}
		if off := p[0].Sub(place).Norm(); off > rounding || v[0].Norm() > 1e-11 || apart(spatial.Pose{R: b.Pose.R}, spatial.Pose{R: in.Orientation.R}) > rounding {
			t.Fatalf("tick %d: the point is %g m from its place, at %g m/s", k, off, v[0].Norm())
		}
	}
}

// TestWhatOneFootLeavesOpenStays: on one upright hoof the yaw is not determined; it stays as
// it is while the leg moves up and down.
func TestWhatOneFootLeavesOpenStays(t *testing.T) {
	m := model(t, "pony")
	feet := Alike(legs(t, m))[:1]
	o, move := odometry(t, m), newWaves(rand.New(rand.NewPCG(21, 7)), crouched(t, m), 0)
	o.Place(spatial.Pose{R: spatial.TurnZ(0.3), P: spatial.Vec3{Z: 0.2}})
	first := o.Update(move.input(0, feet))
	for k := range 60000 { // a minute
		b := o.Update(move.input(float64(k)*period, feet))
		if off := apart(first.Pose, b.Pose); off > 1e-9 {
			t.Fatalf("tick %d: the base has crept by %g", k, off)
		}
	}
}

// TestOwnersHandTheBaseOver: an owner that knows where the base is says so for a while;
// then odometry goes on from there, without a step.
func TestOwnersHandTheBaseOver(t *testing.T) {
	m := model(t, "pony")
	feet := Alike(legs(t, m))
	rng := rand.New(rand.NewPCG(21, 8))
	truth, o := odometry(t, m), odometry(t, m)
	move := newWaves(rng, crouched(t, m), 0.1)
	var last control.BaseRef
	for k := range 1000 {
		in := move.input(float64(k)*period, feet)
		want := truth.Update(in)
		if k < 500 {
			o.Set(in.Time, want)
			last = want
			continue
		}
		now := o.Update(in)
		on := last.At(period)
		if apart(on.Pose, now.Pose) > 1e-7 || between(on.Twist, now.Twist) > 2e-4 {
			t.Fatalf("tick %d: the pose jumps by %g, the twist by %g", k, apart(on.Pose, now.Pose), between(on.Twist, now.Twist))
		}
		last = now
	}
}

// TestInTheAirItComesToRest: without feet the base goes on and stops, and feet that land
// stand where they are.
func TestInTheAirItComesToRest(t *testing.T) {
	m := model(t, "pony")
	feet := Alike(legs(t, m))
	o, move := odometry(t, m), newWaves(rand.New(rand.NewPCG(21, 9)), crouched(t, m), 0.1)
	var last control.BaseRef
	for k := range 3000 {
		on := feet
		if k >= 100 {
			on = nil
		}
		now := o.Update(move.input(float64(k)*period, on))
		if next := last.At(period); k > 0 && (apart(next.Pose, now.Pose) > 1e-7 || between(next.Twist, now.Twist) > 2e-4) {
			t.Fatalf("tick %d: the pose jumps by %g", k, apart(next.Pose, now.Pose))
		}
		last = now
	}
	if last.Twist != (spatial.Twist{}) || last.Acceleration != (spatial.Twist{}) || o.Slip() != 0 {
		t.Errorf("in the air it still moves: %+v", last.Twist)
	}
}

// TestOdometryWalks: a hoof is lifted, put elsewhere and carries again; the base does
// not move for it, and afterwards all four hooves keep their new places.
func TestOdometryWalks(t *testing.T) {
	m := model(t, "pony")
	all := Alike(legs(t, m))
	o, q := odometry(t, m), crouched(t, m)
	now := 0.0
	update := func(feet []Foot) spatial.Pose {
		now += period
		return o.Update(&Input{Time: now, Q: q, Feet: feet}).Pose
	}
	at := update(all)
	if X := update(all); X != at {
		t.Error("the base moves although nothing does")
	}
	for range 10 {
		q[1] += 0.02 // of leg1, which is in the air
		if X := update(all[1:]); apart(X, at) > 1e-9 {
			t.Fatalf("a free leg moves the base by %g", apart(X, at))
		}
	}
	if X := update(all); apart(X, at) > 1e-9 || o.Slip() > 1e-9 {
		t.Errorf("landing moves the base by %g, slip %g", apart(X, at), o.Slip())
	}
	q[1] += 0.1 // now it carries: hooves disagree, and odometry says so
	update(all)
	if o.Slip() < 1e-3 {
		t.Errorf("slip %g m", o.Slip())
	}
	o.Place(spatial.Pose{R: spatial.TurnZ(1), P: spatial.Vec3{X: 2}})
	if X := update(all); math.Abs(X.P.X-2) > 1e-9 {
		t.Errorf("placed at x = 2 the base is at %v", X.P)
	}
}

func TestUpdatesDoNotAllocate(t *testing.T) {
	m := model(t, "pony")
	feet := Alike(legs(t, m))
	rng := rand.New(rand.NewPCG(21, 10))
	o, move := odometry(t, m), newWaves(rng, crouched(t, m), 0.1)
	var inputs []*Input
	for k := range 100 {
		in := move.input(float64(k)*period, feet)
		if k%10 > 5 {
			in.Feet = feet[k%4:]
		}
		inputs = append(inputs, in)
	}
	k := 0
	if n := testing.AllocsPerRun(200, func() {
		o.Update(inputs[k%100])
		k++
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkOdometry is one update of a pony that moves on four feet.
func BenchmarkOdometry(b *testing.B) {
	m := model(b, "pony")
	feet := Alike(legs(b, m))
	o, move := odometry(b, m), newWaves(rand.New(rand.NewPCG(21, 11)), crouched(b, m), 0.1)
	var inputs []*Input
	for k := range 1000 {
		inputs = append(inputs, move.input(float64(k)*period, feet))
	}
	b.ReportAllocs()
	k := 0
	for b.Loop() {
		o.Update(inputs[k%1000])
		k++
	}
}
