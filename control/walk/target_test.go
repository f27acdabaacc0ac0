package walk_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"poise/control"
	"poise/control/walk"
	"poise/gait"
	"poise/loop"
	"poise/robot"
	"poise/spatial"
)

// at returns where the base is commanded to be; in a rig without feet of its own it is measured there.
func (w *walker) at() spatial.Pose { return w.Now.Measured.Base.Pose }

// ends runs until a goal is over, for so long at most.
func (w *walker) ends(goal uint64, within float64) control.Reason {
	w.t.Helper()
	for begin := w.Seconds(); w.Seconds() < begin+within; {
		w.run(w.Dt, nil)
		if st, why, over := w.Ended(goal); over {
			if st != control.Done && why.Code == control.OK {
				w.t.Fatalf("it ended with %v", st)
			}
			return why
		}
	}
	w.t.Fatalf("it is not over after %g s, at %v", within, w.at().P)
	return control.Reason{}
}

// TestWalksToAPlace: ahead, beside, behind and turned it comes to where it was to be, and stands; a second place replaces the
// first on the way, at any instant, without a jump; velocities do not lead it meanwhile.
func TestWalksToAPlace(t *testing.T) {
	for seed, to := range []walk.Target{
		{At: gait.Point{X: 0.25}}, {At: gait.Point{X: 0.1, Y: 0.1}, Yaw: 0.5}, {At: gait.Point{X: -0.12, Y: -0.03}, Yaw: -0.3}, {Yaw: 1}, {At: gait.Point{X: 0.3, Y: 0.4}},
	} {
		w := setup(t, "stand")
		w.run(0.2, nil)
		base := w.at().P
		to.At.X, to.At.Y, to.Near, to.NearYaw = to.At.X+base.X, to.At.Y+base.Y, 0.02, 0.05
		p, err := walk.Walk(w.M)
		if err != nil {
			t.Fatal(err)
		}
		first := *p
		first.To = &to
		if seed%2 == 0 {
			first.Gait = "trot"
		}
		goal := w.Start("walk", &first)
		w.Reports = nil
		w.Feed("walk", &walk.Velocity{At: w.Tick().Time, Velocity: gait.Velocity{X: 1}})
		if seed == 4 { // another place on the way
			rng := rand.New(rand.NewPCG(9, uint64(seed)))
			w.run(2+rng.Float64(), nil)
			next := to
			next.At.X -= 0.15
			second := *p
			second.To = &next
			to = next
			replaced := goal
			goal = 77
			w.Send(loop.Order{Kind: loop.StartGoal, Controller: w.Controller("walk"), Goal: goal, Program: &second})
			w.run(3*w.Dt, nil) // every tick is judged
			if _, why, over := w.Ended(replaced); !over || why.Code != control.Replaced {
				t.Errorf("the first: %v %+v", over, why)
			}
		}
		if why := w.ends(goal, 40); why.Code != control.OK {
			t.Errorf("%+v: %+v", to, why)
		}
		way, turn := to.Remaining(w.at())
		if way > 0.02 || math.Abs(turn) > 0.05 || !w.still() {
			t.Errorf("%+v: it is %g m and %g rad away, still %v", to, way, turn, w.still())
		}
		t.Logf("%+v: %.1f s, %d steps, %.1f mm and %.3f rad away", to, w.Seconds(), w.steps, 1e3*way, turn)
	}
}

// TestWalksByFootsteps: each hoof is put where it was to be; what is out of reach is refused by how much.
func TestWalksByFootsteps(t *testing.T) {
	w := setup(t, "stand")
	w.run(0.2, nil)
	p, err := walk.Walk(w.M)
	if err != nil {
		t.Fatal(err)
	}
	X := w.at()
	want := map[robot.ChainID]spatial.Vec3{}
	for round := range 2 {
		for _, name := range []string{"leg3", "leg1", "leg4", "leg2"} {
			id, _ := w.M.Chain(name)
			foot := w.foot(id, X)
			foot.X += 0.03 * float64(round+1)
			want[id] = foot
			p.Steps = append(p.Steps, walk.Step{Chain: id, At: gait.Point{X: foot.X, Y: foot.Y}})
		}
	}
	far := *p
	far.Steps = append([]walk.Step(nil), p.Steps...)
	far.Steps[2].At.X += 0.2
	if why, refused := w.Refused(w.Ask("walk", &far)); !refused || why.Code != control.LimbUnreachable || why.Value <= why.Max {
		t.Errorf("out of reach: refused %v, %+v", refused, why)
	}
	if why := w.ends(w.Start("walk", p), 20); why.Code != control.OK {
		t.Errorf("%+v", why)
	}
	for id, place := range want {
		if at := w.foot(id, w.Now.Command.Base.Pose); at.Sub(place).Norm() > 0.002 {
			t.Errorf("%s is at %v, it was to be at %v", w.M.Chains()[id].Name, at, place)
		}
	}
	if w.steps != 8 {
		t.Errorf("%d steps", w.steps)
	}
}

// TestFootstepsWaitForAStand: footsteps that would replace a walk on its way are refused by its speed; from its stand they begin.
func TestFootstepsWaitForAStand(t *testing.T) {
	w := setup(t, "stand")
	w.begin()
	w.run(3, &gait.Velocity{X: 0.05})
	p, err := walk.Walk(w.M)
	if err != nil {
		t.Fatal(err)
	}
	step := func() {
		id, _ := w.M.Chain("leg3")
		foot := w.foot(id, w.at())
		p.Steps = []walk.Step{{Chain: id, At: gait.Point{X: foot.X, Y: foot.Y}}}
	}
	step()
	if why, refused := w.Refused(w.Ask("walk", p)); !refused || why.Code != control.StillWalks || !(why.Value > 0.01) {
		t.Errorf("while it walks: refused %v: %+v", refused, why)
	}
	w.n = 0 // ticks passed without a look at them
	w.stands(10, nil)
	step()
	if why := w.ends(w.Start("walk", p), 10); why.Code != control.OK {
		t.Errorf("from its stand: %+v", why)
	}
}

// TestFootstepsThatTurnTooFar: each is taken to its end, or refused beforehand by how far its sole would be turned.
func TestFootstepsThatTurnTooFar(t *testing.T) {
	for yaw, taken := range map[float64]bool{-1.5: true, 1.5: true, 1.65: false, -1.7: false, 3: false} {
		w := setup(t, "stand")
		w.run(0.2, nil)
		p, err := walk.Walk(w.M)
		if err != nil {
			t.Fatal(err)
		}
		id, _ := w.M.Chain("leg1")
		foot := w.foot(id, w.at())
		p.Steps = []walk.Step{{Chain: id, At: gait.Point{X: foot.X, Y: foot.Y}, Yaw: yaw}}
		if taken {
			if why := w.ends(w.Start("walk", p), 10); why.Code != control.OK {
				t.Errorf("%g rad: %+v", yaw, why)
			}
			continue
		}
		if why, refused := w.Refused(w.Ask("walk", p)); !refused || why.Code != control.LimbUnreachable || math.Abs(why.Value-math.Abs(yaw)) > 1e-9 || math.Abs(why.Max-math.Pi/2) > 0.01 {
			t.Errorf("%g rad: refused %v: %+v", yaw, refused, why)
		}
	}
}

// TestFootstepsTurnTheShortWay: headings are within ±π, and footsteps that turn the robot by more than that go on to its other end. Feet turn by
// what one footstep is beside the one before, never by a whole turn.
func TestFootstepsTurnTheShortWay(t *testing.T) {
	const rounds, by = 13, 0.3
	w := setup(t, "stand")
	w.run(0.2, nil)
	p, err := walk.Walk(w.M)
	if err != nil {
		t.Fatal(err)
	}
	var middle spatial.Vec3
	legs := []string{"leg3", "leg1", "leg4", "leg2"}
	var feet []spatial.Vec3
	for _, name := range legs {
		id, _ := w.M.Chain(name)
		feet = append(feet, w.foot(id, w.at()))
		middle = middle.Add(feet[len(feet)-1].Scale(1. / 4))
	}
	for round := range rounds {
		yaw := math.Remainder(by*float64(round+1), 2*math.Pi)
		for i, name := range legs {
			id, _ := w.M.Chain(name)
			at := middle.Add(spatial.TurnZ(yaw).MulVec(feet[i].Sub(middle)))
			p.Steps = append(p.Steps, walk.Step{Chain: id, At: gait.Point{X: at.X, Y: at.Y}, Yaw: yaw})
		}
	}
	if why := w.ends(w.Start("walk", p), 60); why.Code != control.OK {
		t.Fatalf("%+v", why)
	}
	X := w.Now.Command.Base.Pose
	if off := math.Remainder(math.Atan2(X.R[3], X.R[0])-rounds*by, 2*math.Pi); math.Abs(off) > 0.05 || w.steps != 4*rounds {
		t.Errorf("the body looks %g rad beside its footsteps, after %d steps", off, w.steps)
	}
}

// foot returns the sole of a limb, with the base somewhere.
func (w *walker) foot(id robot.ChainID, X spatial.Pose) spatial.Vec3 {
	w.t.Helper()
	for i, f := range w.feet {
		if f.Chain == id {
			return w.ground.PointsTo(nil, w.Now.Command.Q, w.feet[i:i+1], X)[0]
		}
	}
	w.t.Fatalf("chain %d has no foot", id)
	return spatial.Vec3{}
}
