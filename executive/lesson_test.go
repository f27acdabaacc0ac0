package executive

import (
	"math"
	"slices"
	"strings"
	"testing"

	"poise/action"
	"poise/arbiter"
	"poise/control"
	"poise/control/follow"
	"poise/control/pose"
	"poise/control/stream"
	"poise/control/torqueoff"
	"poise/loop"
	"poise/planner"
	"poise/planner/pipeline"
	"poise/problem"
	"poise/robot"
	"poise/servo"
	"poise/trajectory"
)

// What went wrong on real robots of this kind, and must not again. Four lessons are
// about the servo bus and come with its driver; these are the other twelve:
//
//	phantom motions after activation     here; control/stream: TestPhantomInputNeverMovesAJoint
//	jerk when the robot starts           here: TestLessonRobotStartsWhereItIs
//	torque comes back at shutdown        here; control/torqueoff: TestShutdownNeverReenergises
//	operations that wait for each other  here: TestLessonCallbacksMayCallBack (the bus has its own)
//	jumps of inverse kinematics          kinematics/ik: TestNearestBranchWins, TestNearestTurnWithinWideLimits, TestSolutionsAtALimitAreWithinIt
//	body stuck in a stance               control/stance: TestBodyIsNotStuck
//	twists of two conventions            kinematics: TestTwistIsTheDerivativeOfPose, TestJacobianTimesVelocityIsTwist
//	quaternions that drift               kinematics: TestQuaternionOfAnyLength
//	overshoot at ends, creep in holds    control/follow: TestNoOvershootAtEndsNoCreepInHolds
//	oscillation of the gaze              control/lookat: TestNoOscillation
//	unchecked sizes                      here: TestLessonSizesAreChecked
//	speed kept after a switch            here; control/follow: TestNoSpeedIsKeptAfterASwitch
//	goals that last no time              here; control/follow: TestGoalWithoutDuration

// full is a rig with the controllers of the library.
func full(t testing.TB, p parts) *rig {
	t.Helper()
	bot := newRig(t, parts{off: true}) // for its model
	st, err := stream.New(bot.m, control.Transition{})
	if err != nil {
		t.Fatal(err)
	}
	outside, _ := stream.New(bot.m, control.Transition{})
	limp, err := torqueoff.New(bot.m, control.Transition{})
	if err != nil {
		t.Fatal(err)
	}
	poses, err := pose.New(bot.m, control.Transition{})
	if err != nil {
		t.Fatal(err)
	}
	follows := func(set robot.Set, _ *loop.Snapshot) (control.Program, error) {
		return &stream.Program{Needs: set}, nil
	}
	p.model = bot.m
	p.more = []loop.Registration{{Name: "joint_state", Kind: "stream", Controller: st}, {Name: "torque_off", Kind: "torque_off", Controller: limp},
		{Name: "poses", Kind: "pose", Controller: poses}, {Name: "outside_1", Kind: "stream", Controller: outside, Remote: true}}
	p.known = []Controller{
		{Name: "joint_state", Kind: "stream", Operate: follows, Resources: []string{"head", "tail"}},
		{Name: "torque_off", Kind: "torque_off", Operate: func(set robot.Set, _ *loop.Snapshot) (control.Program, error) {
			return &torqueoff.Program{Needs: set}, nil
		}},
		{Name: "poses", Kind: "pose", Replaces: true},
		{Name: "outside_1", Kind: "stream", Operate: follows, Remote: true}}
	return newRig(t, p)
}

// sample is a value of a stream.
func (r *rig) sample(at int64, joint string, q float64) *stream.Sample {
	id, _ := r.m.Joint(joint)
	s := &stream.Sample{At: at, Joints: robot.Leaf(robot.LeafID(id)), Q: make([]float64, len(r.m.Joints()))}
	s.Q[id] = q
	return s
}

// TestARefusalIsNotHiddenByAnotherStream: of a controller with two streams one is refused, value by
// value, and the other taken in the same cycles: the refusal is told all the while, and a second longer.
func TestARefusalIsNotHiddenByAnotherStream(t *testing.T) {
	r := full(t, parts{})
	joint := r.headJoint()
	r.active(r.submit(&Operational{Controller: "joint_state", On: true}))
	at := r.command(joint)
	old := r.sample(r.time()-int64(60e9), joint, at)
	feed := func(samples ...*stream.Sample) string {
		for i, s := range samples {
			s.Stream = i
			r.e.Feed("test", "joint_state", s)
		}
		r.run(1)
		return string(r.stateOf(r.e.State(), "joint_state").Refused.Code)
	}
	for k := range 100 {
		if code := feed(old, r.sample(r.time(), joint, at)); code != "stale" {
			t.Fatalf("cycle %d: refused as %q, want stale", k, code)
		}
	}
	last := r.time()
	for feed(r.sample(r.time(), joint, at)) != "" {
		if r.time()-last > 1_100_000_000 {
			t.Fatal("it is told still, though a second of values was taken")
		}
	}
	if told := r.time() - last; told < 900_000_000 {
		t.Errorf("it was told for %d ms", told/1_000_000)
	}
}

// TestLessonStaleInputAtActivation queues values before the stream is switched on:
// none of them ever moves a joint, and the newest one after that does.
func TestLessonStaleInputAtActivation(t *testing.T) {
	r := full(t, parts{})
	joint := r.headJoint()
	at := r.command(joint)
	for k := range 50 {
		r.e.Feed("test", "joint_state", r.sample(r.time(), joint, at-0.01*float64(k)))
		r.run(1)
	}
	if st := r.e.State(); r.stateOf(st, "joint_state").Refused.Code != "not_active" {
		t.Errorf("refused as %+v", r.stateOf(st, "joint_state").Refused)
	}
	old := r.sample(r.time(), joint, at-0.5)
	r.run(5)
	g := r.active(r.submit(&Operational{Controller: "joint_state", On: true}))
	r.e.Feed("test", "joint_state", old) // on its way for long
	r.seconds(0.3)
	if off := math.Abs(r.command(joint) - at); off > 1e-9 {
		t.Fatalf("an old value moved the joint by %g", off)
	}
	for range 500 {
		r.e.Feed("test", "joint_state", r.sample(r.time(), joint, at-0.2))
		r.run(1)
	}
	if off := math.Abs(r.command(joint) - (at - 0.2)); off > 1e-3 || g.over() {
		t.Errorf("%g off, goal %v", off, g.state())
	}
	if res := g.feedback[len(g.feedback)-1].Resources; !slices.Equal(res, []string{"head", "tail"}) {
		t.Errorf("feedback names %v", res)
	}
}

func (r *rig) stateOf(st State, name string) ControllerState {
	r.t.Helper()
	for _, c := range st.Controllers {
		if c.Name == name {
			return c
		}
	}
	r.t.Fatalf("no controller %q", name)
	return ControllerState{}
}

// TestLessonShutdownGivesNoTorque lets a limb go and then shuts down in every way:
// no joint of it gets torque again.
func TestLessonShutdownGivesNoTorque(t *testing.T) {
	sequential(t)
	ways := map[string]func(*rig){
		"stop 0": func(r *rig) { r.e.Stop("test", 0) }, "stop 1": func(r *rig) { r.e.Stop("test", 1) },
		"power off": func(r *rig) { r.e.Power("test", false) },
		"close":     func(r *rig) { r.e.Stop("test", 1); r.e.Close() },
	}
	for _, name := range []string{"stop 0", "stop 1", "power off", "close"} {
		r := full(t, parts{})
		r.ok(r.e.SetTorque("test", false, []string{"leg1"}))
		r.seconds(0.1)
		leg := r.set("leg1")
		limp := func() (all bool) {
			all = true
			r.e.View(func(s *loop.Snapshot) {
				for leaf := range leg.All {
					if int(leaf) < len(s.Mode) && s.Mode[leaf] != servo.Off {
						all = false
					}
				}
			})
			return all
		}
		if !limp() {
			t.Fatal("the leg is not limp")
		}
		ways[name](r)
		for range 2000 {
			r.run(1)
			if !limp() {
				t.Fatalf("%s: the leg has torque again at tick %d", name, r.n)
			}
		}
	}
}

// TestLessonSizesAreChecked sends goals and commands with empty, short, long and
// senseless contents: each is refused with a word, nothing fails.
func TestLessonSizesAreChecked(t *testing.T) {
	r := full(t, parts{library: shelf(t)})
	nan, head := math.NaN(), r.headJoint()
	point := func(q ...float64) []trajectory.Point { return []trajectory.Point{{Position: q}} }
	goals := []Goal{
		&Follow{}, &Follow{Goal: follow.Goal{Joints: []string{head}}}, &Follow{Goal: follow.Goal{Points: point(1)}},
		&Follow{Goal: follow.Goal{Joints: []string{head}, Points: point()}}, &Follow{Goal: follow.Goal{Joints: []string{head}, Points: point(1, 2)}},
		&Follow{Goal: follow.Goal{Joints: []string{head}, Points: point(nan)}, Return: true}, &Follow{Goal: follow.Goal{Joints: []string{head, head}, Points: point(0, 0)}},
		&Follow{Goal: follow.Goal{Joints: []string{"", "?"}, Points: point(0, 0)}, Append: true, Return: true},
		&Follow{Goal: r.nod(head, 0), Rate: nan}, &Follow{Goal: r.nod(head, 0), Rate: 3},
		&Execute{}, &Execute{Goal: follow.Goal{Joints: []string{head}, Points: point()}},
		&Play{}, &Play{Name: "unknown"}, &Play{Name: "broken"}, &Pose{}, &Pose{Name: "stnd"},
		&Perform{}, &Perform{Controller: "swing"}, &Perform{Controller: "swing", Program: &torqueoff.Program{}},
		&Operational{}, &Operational{Controller: "swing", On: true, Resources: []string{"wing"}},
		&Operational{Controller: "trajectory", On: true}, &Operational{Controller: "torque_off", On: true},
		&Move{}, &Move{Question: pipeline.Question{Items: []planner.Item{{}}, Pipeline: "ompl"}}, &Move{Question: pipeline.Question{Items: []planner.Item{{}}}}, &Move{Question: pipeline.Question{Items: []planner.Item{{}, {}}, Sequence: true}},
	}
	for i, g := range goals {
		x := r.submit(g)
		c := r.ended(x, 1)
		if c.To != action.Rejected && c.To != action.Aborted || len(c.Result.Explanations) == 0 || c.Result.Code == "" {
			t.Errorf("goal %d, %T: %v, %+v", i, g, c.To, c.Result)
		}
		for _, why := range c.Result.Explanations {
			if why.Text == "" || why.Code == "" {
				t.Errorf("goal %d, %T: %+v", i, g, why)
			}
		}
		if o := r.answer(r.e.CheckGoal("test", g)); o.OK() && c.To == action.Rejected {
			t.Errorf("goal %d, %T: its check passes", i, g)
		}
	}
	for i, a := range []*Answer{
		r.e.Place("test", []string{head}, nil), r.e.Place("test", []string{"unknown"}, []float64{0}), r.e.Place("test", []string{head}, []float64{nan}),
		r.e.Place("test", []string{head}, []float64{9}), r.e.SetSpeed("test", nan, ""), r.e.SetSpeed("test", 1, "unknown"), r.e.Pause("test", "unknown"),
		r.e.SetTorque("test", false, []string{"unknown"}), r.e.SwitchControllers("test", Switch{Start: []string{""}}),
	} {
		if o := r.answer(a); o.OK() || o.Explanations[0].Text == "" {
			t.Errorf("command %d was carried out", i)
		}
	}
	if why := r.e.Feed("test", "unknown", nil); len(why) == 0 {
		t.Error("a value for an unknown controller")
	}
	r.e.Feed("test", "joint_state", nil)
	r.e.Feed("test", "swing", &stream.Sample{})
	r.run(5)
	if n := len(r.e.State().Goals); n > 0 {
		t.Errorf("%d goals are left", n)
	}
}

// TestLessonZeroDuration plays motions that last no time.
func TestLessonZeroDuration(t *testing.T) {
	r := newRig(t, parts{})
	head := r.headJoint()
	one := follow.Goal{Joints: []string{head}, Points: []trajectory.Point{{Position: []float64{r.command(head)}}}}
	r.mustEnd(r.submit(&Follow{Goal: one}), 2, action.Succeeded, action.Finished, "ok")
	two := one
	two.Points = append(slices.Clone(one.Points), one.Points[0])
	c := r.mustEnd(r.submit(&Follow{Goal: two}), 2, action.Rejected, action.ConditionsUnmet, "time_does_not_increase")
	if x := c.Result.Explanations[0]; !strings.Contains(x.Text, "0 s") {
		t.Errorf("%+v", x)
	}
}

// TestLessonCallbacksMayCallBack lets callbacks use the executive: operations that
// waited for each other blocked the original for ever.
func TestLessonCallbacksMayCallBack(t *testing.T) {
	r := newRig(t, parts{})
	head := r.headJoint()
	chain := 0
	var next func(c Change)
	next = func(c Change) {
		if c.To == action.Succeeded && chain < 3 {
			chain++
			r.e.State()
			r.e.Cancel("test", "follow", "unknown", 0)
			if _, err := r.e.Submit("test", "", 0, &Follow{Goal: r.nod(head, -0.05)}, Watch{Changed: next, Feedback: func(Feedback) { r.e.State() }}); err != nil {
				t.Error(err)
			}
		}
	}
	r.e.Submit("test", "", 0, &Follow{Goal: r.nod(head, -0.05)}, Watch{Changed: next})
	r.until(12, "three more goals", func() bool { return chain == 3 && len(r.e.State().Goals) == 0 })
}

// TestLessonRobotStartsWhereItIs switches power on in a pose that was not commanded:
// the first commands are that pose.
func TestLessonRobotStartsWhereItIs(t *testing.T) {
	r := newRig(t, parts{off: true})
	id, _ := r.m.Joint("joint51")
	if !r.bus.PoseByHand(int(id), -0.7) {
		t.Fatal("the joint has torque")
	}
	r.run(3)
	r.ok(r.e.Power("test", true))
	for range 300 {
		r.run(1)
		if off := math.Abs(r.command("joint51") + 0.7); off > 1e-9 {
			t.Fatalf("tick %d: commanded %g away from where it is", r.n, off)
		}
	}
}

// TestLessonSpeedIsNotKeptAfterASwitch takes a joint away in full motion and gives
// it nothing to do: it stops by the shortest way and stays.
func TestLessonSpeedIsNotKeptAfterASwitch(t *testing.T) {
	r := newRig(t, parts{})
	head := r.headJoint()
	g := r.active(r.submit(&Follow{Goal: r.nod(head, -0.8)}))
	r.seconds(0.5)
	r.ok(r.e.SwitchControllers("test", Switch{Stop: []string{"trajectory"}}))
	r.mustEnd(g, 1, action.Aborted, action.ServerStopped, "not_running")
	r.seconds(1)
	if v := r.speed(head); v != 0 {
		t.Errorf("speed %g", v)
	}
}

// TestTorqueOfSingleLimbs lets limbs go and gives them back, one after the other.
func TestTorqueOfSingleLimbs(t *testing.T) {
	r := full(t, parts{})
	limp := func() []string { return r.e.State().Limp }
	r.ok(r.e.SetTorque("test", false, []string{"leg1"}))
	r.ok(r.e.SetTorque("test", false, []string{"head"}))
	r.run(5)
	if got := limp(); !slices.Equal(got, []string{"leg1", "head"}) {
		t.Errorf("limp: %v", got)
	}
	id, _ := r.m.Joint(r.headJoint())
	r.bus.PoseByHand(int(id), -0.5)
	r.seconds(0.1)
	r.ok(r.e.SetTorque("test", true, []string{"head"}))
	r.seconds(0.2)
	if q := r.command(r.headJoint()); math.Abs(q+0.5) > 1e-6 {
		t.Errorf("the head is held at %g, it was put to -0.5", q)
	}
	if got := limp(); slices.Contains(got, "head") || len(got) == 0 {
		t.Errorf("limp: %v", got)
	}
	r.ok(r.e.SetTorque("test", true, []string{"leg1"}))
	r.run(5)
	if got := limp(); len(got) > 0 {
		t.Errorf("limp: %v", got)
	}
	r.ok(r.e.SetTorque("test", false, nil))
	if st := r.e.State(); st.Power == loop.Enabled {
		t.Errorf("power %v", st.Power)
	}
	r.ok(r.e.SetTorque("test", true, nil))
}

// TestPlaceTheVirtualRobot puts joints somewhere at once, unless a goal moves them.
func TestPlaceTheVirtualRobot(t *testing.T) {
	r := full(t, parts{})
	r.checks = false // it jumps on purpose
	r.ok(r.e.Place("test", []string{"joint51", "tail_joint1"}, []float64{-0.4, 0.3}))
	r.run(2)
	if a, b := r.command("joint51"), r.command("tail_joint1"); a != -0.4 || b != 0.3 {
		t.Errorf("at %g and %g", a, b)
	}
	r.active(r.submit(&Operational{Controller: "sway", On: true}))
	o := r.answer(r.e.Place("test", []string{"joint51", "tail_joint1"}, []float64{0, 0}))
	if o.OK() || o.Explanations[0].Owner != "sway" || o.Explanations[0].Joint != "tail_joint1" {
		t.Errorf("%+v", o.Explanations)
	}
	if q := r.command("joint51"); q != -0.4 {
		t.Errorf("half placed: %g", q)
	}
}

// TestControllersOutsideHavePriorities: what a request says of its priorities decides
// who wins, and one that cannot be read is refused.
func TestControllersOutsideHavePriorities(t *testing.T) {
	for _, tc := range []struct {
		name                 string
		pending, operational []float32
		want                 string // owner of the head
	}{
		{"none: those of its seat", nil, nil, "swing"},
		{"low", []float32{-1, -1}, []float32{-1, -1}, "swing"},
		{"high", []float32{5, 1e6}, []float32{5, 1e6}, "gait"},
		{"one list for both", []float32{5, 1e6}, nil, "gait"},
		{"high for the other resource only", []float32{1e6, -1}, nil, "swing"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := full(t, parts{settings: loop.Settings{Policy: arbiter.PolicyPriority}, rank: map[string]float32{"swing": 9}})
			r.active(r.submit(&Operational{Controller: "swing", On: true}))
			why := r.e.Outside().Request("wire", OutsideRequest{Name: "gait", Session: "wire", ID: 7, Resources: []string{"tail", "head"}, Pending: tc.pending, Operational: tc.operational}, func(News) {})
			if len(why) > 0 {
				t.Fatal(why)
			}
			r.run(3)
			r.e.Outside().Report(OutsideState{Name: "gait", Session: "wire", ID: 7, Operational: true})
			r.run(3)
			for _, o := range r.e.State().Owners {
				if o.Resource == "head" && o.Owner != tc.want {
					t.Errorf("the head is %q's, want %s", o.Owner, tc.want)
				}
			}
		})
	}
	r := full(t, parts{})
	for _, x := range []struct {
		request OutsideRequest
		want    string
	}{
		{OutsideRequest{Name: "gait", Session: "wire", Resources: []string{"tail"}, Pending: []float32{1, 2}}, "2 pending priorities for 1 resources"},
		{OutsideRequest{Name: "gait", Session: "wire", Resources: []string{"tail"}, Operational: []float32{float32(math.NaN())}}, "operational priority 1 is NaN"},
	} {
		if why := problem.Join(r.e.Outside().Request("wire", x.request, nil)); !strings.Contains(why, x.want) {
			t.Errorf("%q does not say %q", why, x.want)
		}
	}
}

// TestControllersOutside gives resources to a controller in another process, and
// takes them back when it falls silent.
func TestControllersOutside(t *testing.T) {
	r := full(t, parts{})
	var told []News
	r.active(r.submit(&Operational{Controller: "swing", On: true}))
	why := r.e.Outside().Request("wire", OutsideRequest{Name: "gait", Session: "wire", ID: 7, Resources: []string{"tail"}}, func(a News) { told = append(told, a) })
	if len(why) > 0 {
		t.Fatal(why)
	}
	r.run(5)
	owner := func(a News, resource string) string { return a.Owners[slices.Index(a.Resources, resource)] }
	if len(told) != 1 || told[0].Kind != Offered || told[0].Requests[0] != 7 || owner(told[0], "tail") != "gait" || owner(told[0], "head") != "swing" || owner(told[0], "leg1") != "" {
		t.Fatalf("%+v", told)
	}
	for _, o := range r.e.State().Owners {
		if o.Resource == "tail" && o.Owner != "swing" {
			t.Fatalf("the tail is %q's before it confirmed", o.Owner)
		}
	}
	r.e.Outside().Report(OutsideState{Name: "gait", Session: "wire", ID: 7, Operational: true})
	r.run(5)
	if len(told) != 2 || told[1].Kind != Granted || owner(told[1], "tail") != "gait" {
		t.Fatalf("%+v", told)
	}
	seat, ok := r.e.Outside().Controller("gait", "wire")
	if !ok || seat != "outside_1" {
		t.Fatal(seat)
	}
	for range 400 { // values are signs of life
		r.e.Feed("wire", seat, r.sample(r.time(), "tail_joint1", 0.2))
		r.run(1)
	}
	if q := r.command("tail_joint1"); math.Abs(q-0.2) > 0.05 {
		t.Errorf("the tail is at %g", q)
	}
	if why := r.e.Outside().Request("wire", OutsideRequest{Name: "other", Session: "wire", ID: 1, Resources: []string{"head"}}, nil); len(why) == 0 {
		t.Error("a seat for a second one")
	}
	r.seconds(0.5)
	if st := r.stateOf(r.e.State(), seat); st.Active {
		t.Error("it is silent, and still has the tail")
	}
	if last := told[len(told)-1]; last.Kind != Ended || len(last.Why) != 1 || last.Why[0].Code != "lease_expired" {
		t.Errorf("the end of the lease was told as %+v", last)
	}
	if !slices.ContainsFunc(r.audits, func(a Audit) bool { return strings.Contains(a.Result, "no sign of life") }) {
		t.Errorf("the end of the lease is not audited as what it is: %+v", r.audits)
	}
	// denied: the requester is answered
	told = nil
	r.ok(r.e.Stop("test", 2))
	r.e.Outside().Request("wire", OutsideRequest{Name: "gait", Session: "wire", ID: 8, Resources: []string{"tail"}}, func(a News) { told = append(told, a) })
	r.run(5)
	if len(told) != 1 || told[0].Kind != Denied || told[0].Requests[0] != 8 || owner(told[0], "tail") != "" {
		t.Errorf("%+v", told)
	}
}

// TestARequestBehindAConfirmedOne: a controller outside confirms one request and asks anew in the same tick. The confirmed one begins, and stays
// the controller's when the newer one is denied.
func TestARequestBehindAConfirmedOne(t *testing.T) {
	r := full(t, parts{})
	var told []News
	ask := func(id uint32) {
		t.Helper()
		if why := r.e.Outside().Request("wire", OutsideRequest{Name: "gait", Session: "wire", ID: id, Resources: []string{"tail"}}, func(a News) { told = append(told, a) }); len(why) > 0 {
			t.Fatal(why)
		}
	}
	confirm := func(id uint32) {
		r.e.Outside().Report(OutsideState{Name: "gait", Session: "wire", ID: id, Operational: true})
	}
	ask(1)
	r.run(5)
	confirm(1)
	r.run(5)
	ask(2)
	r.run(5)
	confirm(2)
	ask(3) // which it never confirms
	r.until(2, "request 3 is denied", func() bool { return told[len(told)-1].Kind == Denied })
	kinds := make([]NewsKind, len(told))
	for i, n := range told {
		kinds[i] = n.Kind
	}
	if denied := told[len(told)-1]; !slices.Equal(denied.Requests, []uint32{3, 2}) {
		t.Errorf("told %v; the denial is of requests %v, it should be of 3 while 2 runs", kinds, denied.Requests)
	}
	if !r.e.Outside().Active("gait", "wire") {
		t.Error("it has the tail, and does not count as active")
	}
	for _, o := range r.e.State().Owners {
		if o.Resource == "tail" && o.Owner != "gait" {
			t.Errorf("the tail is %q's", o.Owner)
		}
	}
}
