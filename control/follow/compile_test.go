package follow

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"poise/control"
	"poise/problem"
	"poise/trajectory"
)

// still is a command of a robot at rest in its zero pose.
func still(joints, chains int) *control.Motion {
	m := control.NewMotion(joints, chains, 0)
	return &m
}

// problemsOf compiles a goal that has to be refused.
func problemsOf(t *testing.T, robot string, g *Goal) []*problem.Problem {
	t.Helper()
	m := model(t, robot)
	p, err := Compile(m, Options{}, still(len(m.Joints()), len(m.Chains())), g)
	if err == nil {
		t.Fatalf("accepted: %v", p.Record().Names)
	}
	all := problem.In(err)
	if len(all) == 0 {
		t.Fatalf("an error without problems: %v", err)
	}
	return all
}

func TestRefusalsNameTheThingTheValueAndTheLimit(t *testing.T) {
	point := func(at float64, q ...float64) trajectory.Point { return trajectory.Point{Time: at, Position: q} }
	one := func(points ...trajectory.Point) *Goal { return &Goal{Joints: []string{"joint_1"}, Points: points} }
	for _, tc := range []struct {
		rule  string
		goal  *Goal
		kind  problem.Code
		joint string
		words string
	}{
		{"no joints", &Goal{Points: []trajectory.Point{point(0)}}, NoPoints, "", "names no joints"},
		{"no points", one(), NoPoints, "", "at least one"},
		{"an unknown joint", line("elbow", 1, 0, 0), UnknownJoint, "elbow", `no joint "elbow"`},
		{"a near name is proposed", line("Joint_1", 1, 0, 0), UnknownJoint, "Joint_1", "did you mean \"joint_1\"?"},
		{"a letter is missing", line("joint1", 1, 0, 0), UnknownJoint, "joint1", "did you mean \"joint_1\"?"},
		{"a follower", line("finger_right_joint", 1, 0, 0), UnknownJoint, "finger_right_joint", `follows "finger_left_joint"`},
		{"an unknown chain", line("support/leg9", 1, 0, 1), UnknownJoint, "support/leg9", `no chain "leg9"`},
		{"a chain without contact", line("support/arm", 1, 0, 1), UnknownJoint, "support/arm", "no contact"},
		{"a joint twice", &Goal{Joints: []string{"joint_1", "joint_1"}, Points: []trajectory.Point{point(0, 0, 0)}}, UnknownJoint, "joint_1", "twice"},
		{"too few numbers", one(point(0)), WrongSize, "", "0 numbers for position, want 1"},
		{"too many numbers", one(point(0, 1, 2)), WrongSize, "", "2 numbers for position, want 1"},
		{"velocities of some points", one(trajectory.Point{Position: []float64{0}, Velocity: []float64{0}}, point(1, 0)), WrongSize, "", "all points have them, or none"},
		{"accelerations without velocities", one(trajectory.Point{Position: []float64{0}, Acceleration: []float64{0}}), WrongSize, "", "no velocities"},
		{"an approach of astronomical length", &Goal{Joints: []string{"joint_1"}, Approach: 0.5, Points: []trajectory.Point{point(0, 1e180)}}, BeyondPosition, "joint_1", "position of \"joint_1\" is 1e+180 rad at 0 s, its limit is 2.967"},
		{"not a number", one(point(0, 0), point(1, math.NaN())), NotFinite, "joint_1", "at point 1 is NaN"},
		{"infinite", one(point(0, math.Inf(1))), NotFinite, "joint_1", "+Inf"},
		{"time is no number", one(point(math.NaN(), 0)), NotFinite, "", "time of point 0"},
		{"time stands", one(point(0, 0), point(0, 0.1)), NotRising, "", "not after point 0 at 0 s; times must strictly increase"},
		{"time runs back", one(point(0, 0), point(1, 0), point(0.5, 0)), NotRising, "", "point 2 at 0.5 s is not after point 1 at 1 s"},
		{"time before the beginning", one(point(-1, 0), point(1, 0)), NotRising, "", "before the motion begins"},
		{"beyond the range", line("joint_2", 2, 0, 2.5, 0), BeyondPosition, "joint_2", "position of \"joint_2\" is 2.5 rad at 2 s, its limit is 2.269"},
		{"too fast", line("joint_1", 0.5, 0, 2), BeyondVelocity, "joint_1", "velocity of \"joint_1\" is 6 rad/s at 0.25 s, its limit is 4"},
		{"accelerates too much", line("joint_1", 0.5, 0, 1), BeyondAcceleration, "joint_1", "acceleration"},
		{"moves at its end", one(trajectory.Point{Position: []float64{0}, Velocity: []float64{0}}, trajectory.Point{Time: 1, Position: []float64{0.1}, Velocity: []float64{0.2}}), MovesAtEnd, "joint_1", "at the last point"},
		{"starts elsewhere", within(line("joint_1", 1, 0.3, 0), 0.1, 0), StartTooFar, "joint_1", "0.3 rad away from where the motion starts, 0.1 is allowed"},
		{"a tolerance for another joint", &Goal{Joints: []string{"joint_1"}, Points: []trajectory.Point{point(0, 0)}, Path: []Tolerance{{Joint: "joint_2"}}}, BadTolerance, "joint_2", "does not move"},
		{"a tolerance twice", &Goal{Joints: []string{"joint_1"}, Points: []trajectory.Point{point(0, 0)}, Final: []Tolerance{{Joint: "joint_1"}, {Joint: "joint_1"}}}, BadTolerance, "joint_1", "two goal tolerances"},
		{"a tolerance that is not finite", &Goal{Joints: []string{"joint_1"}, Points: []trajectory.Point{point(0, 0)}, Final: []Tolerance{{Joint: "joint_1", Tolerance: trajectory.Tolerance{Position: math.NaN()}}}}, BadTolerance, "joint_1", "not finite"},
		{"an event after the end", withEvents(line("joint_1", 1, 0, 0), 1.5), BadEvent, "", "at 1.5 s, the motion lasts 1 s"},
		{"an event before the beginning", withEvents(line("joint_1", 1, 0, 0), -0.1), BadEvent, "", "-0.1 s"},
		{"an approach beyond the limits", &Goal{Joints: []string{"joint_1"}, Points: []trajectory.Point{point(0, 0)}, Approach: 1.5}, BadOption, "", "share of 1.5"},
		{"an open loop", &Goal{Joints: []string{"joint_1"}, Points: []trajectory.Point{point(0, 0), point(1, 0.2)}, Loop: true}, OpenLoop, "joint_1", "0.2 rad away from its beginning"},
		{"too long", line("joint_1", 4000, 0, 0.1), TooMuch, "", "at most 3600 s"},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			all := problemsOf(t, "arm6", tc.goal)
			i := slices.IndexFunc(all, func(p *problem.Problem) bool { return p.Code == tc.kind })
			if i < 0 {
				t.Fatalf("%v is not among %v", tc.kind, all)
			}
			if p := all[i]; p.Joint != tc.joint || !strings.Contains(p.Error(), tc.words) {
				t.Errorf("joint %q, %q; want %q, %q", p.Joint, p.Error(), tc.joint, tc.words)
			}
		})
	}
}

// withEvents adds events at some times, named after their number.
// TestAnAbsurdValueIsNamedOnce, with its limit: no joint is named whose curve it spoils, by a way or a time that no number can hold.
func TestAnAbsurdValueIsNamedOnce(t *testing.T) {
	joints := []string{"joint_1", "joint_2", "joint_3"}
	row := func(at, absurd float64) trajectory.Point {
		return trajectory.Point{Time: at, Position: []float64{0.3, absurd, 0.3}}
	}
	for _, absurd := range []float64{1e20, 1e150, 1e300, -1e308} {
		for name, points := range map[string][]trajectory.Point{"where it begins": {row(0, absurd), row(1, absurd)}, "later": {row(0, 0.3), row(1, absurd), row(2, -absurd/2)}} {
			positions := 0
			for _, p := range problemsOf(t, "arm6", &Goal{Joints: joints, Approach: 0.5, Points: points}) {
				if p.Joint != "joint_2" || math.Abs(p.Limit) > 10 || p.Limit == 0 {
					t.Errorf("%g %s: %v", absurd, name, p)
				}
				if p.Code == BeyondPosition && math.Abs(p.Value/absurd-1) < 1e-6 {
					positions++
				}
			}
			if positions != 1 {
				t.Errorf("%g %s: %d positions, must be one", absurd, name, positions)
			}
		}
	}
}

func withEvents(g *Goal, times ...float64) *Goal {
	for i, at := range times {
		g.Events = append(g.Events, Event{Time: at, Type: "voice/say", Command: string(rune('a' + i))})
	}
	return g
}

func TestAllProblemsAreReportedAtOnce(t *testing.T) {
	g := &Goal{Joints: []string{"joint_1", "elbow", "joint_2"}, Points: []trajectory.Point{
		{Position: []float64{0, 0, math.NaN()}}, {Position: []float64{0, 0}},
	}, Path: []Tolerance{{Joint: "nose"}}, Approach: -1}
	all := problemsOf(t, "arm6", g)
	for _, k := range []problem.Code{UnknownJoint, NotFinite, NotRising, WrongSize, BadTolerance, BadOption} {
		if !slices.ContainsFunc(all, func(p *problem.Problem) bool { return p.Code == k }) {
			t.Errorf("%v is missing", k)
		}
	}
	many := line("joint_1", 1)
	for i := range 100 {
		many.Points = append(many.Points, trajectory.Point{Time: float64(i), Position: []float64{math.NaN()}})
	}
	if all = problemsOf(t, "arm6", many); len(all) != maxReported {
		t.Errorf("%d problems are listed, want %d", len(all), maxReported)
	}
}

// TestLimitsHoldBetweenPoints: the points are within limits, and the curve through
// them is not; and slowing down as the refusal proposes makes it pass.
func TestLimitsHoldBetweenPoints(t *testing.T) {
	g := &Goal{Joints: []string{"joint_1"}, Points: []trajectory.Point{
		{Time: 0, Position: []float64{0}, Velocity: []float64{0}},
		{Time: 1, Position: []float64{2.9}, Velocity: []float64{2}},
		{Time: 2, Position: []float64{2.9}, Velocity: []float64{0}},
	}}
	all := problemsOf(t, "arm6", g)
	if all[0].Code != BeyondPosition || all[0].At <= 1 || all[0].At >= 2 || all[0].Limit != 2.967 && math.Abs(all[0].Limit-2.967) > 1e-3 {
		t.Errorf("%+v", all[0])
	}

	fast := line("joint_1", 0.4, 0, 0.5, -0.5, 0)
	all = problemsOf(t, "arm6", fast)
	var slower float64
	for _, p := range all {
		if i := strings.Index(p.Help, "at "); i >= 0 {
			var err error
			if slower, err = parse(strings.Fields(p.Help[i+3:])[0]); err != nil {
				t.Fatal(err)
			}
		}
	}
	if !(slower > 0 && slower < 100) {
		t.Fatalf("no speed is proposed: %v", all)
	}
	for i := range fast.Points {
		fast.Points[i].Time /= slower / 100
	}
	m := model(t, "arm6")
	if _, err := Compile(m, Options{}, still(7, 1), fast); err != nil {
		t.Errorf("at %g %% it does not pass: %v", slower, err)
	}
}

func TestTolerancesReadAsInROS(t *testing.T) {
	m := model(t, "arm6")
	g := arm(1, make([]float64, 6), make([]float64, 6))
	g.Joints = append(g.Joints, "finger_left_joint")
	for i := range g.Points {
		g.Points[i].Position = append(g.Points[i].Position, 0.01)
	}
	compile := func(o Options) *Program {
		t.Helper()
		p, err := Compile(m, o, nil, g)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	const without = -1
	none := trajectory.Tolerance{Position: without, Velocity: without, Acceleration: without}
	p := compile(Options{})
	for k := range p.Record().Path {
		if p.Record().Path[k] != none || p.Record().Final[k] != none {
			t.Errorf("column %d: empty lists give %v and %v", k, p.Record().Path[k], p.Record().Final[k])
		}
	}
	g.Path = []Tolerance{{Joint: "joint_2", Tolerance: trajectory.Tolerance{Position: 0.1, Velocity: 2}}, {Joint: "joint_3", Tolerance: trajectory.Tolerance{Position: -1}}, {Joint: "joint_4"}}
	p = compile(Options{})
	want := []float64{defaultPath, 0.1, without, defaultPath, defaultPath, defaultPath, defaultPathSlide}
	for k := range want {
		if p.Record().Path[k].Position != want[k] {
			t.Errorf("column %d: %g, want %g", k, p.Record().Path[k].Position, want[k])
		}
		if p.Record().Final[k] != none {
			t.Errorf("column %d: goal tolerance %v out of nothing", k, p.Record().Final[k])
		}
	}
	if p.Record().Path[1].Velocity != 2 || p.Record().Path[0].Velocity != without {
		t.Errorf("velocities %v", p.Record().Path)
	}
	p = compile(Options{Path: trajectory.Tolerance{Position: 0.3, Velocity: 1}})
	if p.Record().Path[3].Position != 0.3 || p.Record().Path[3].Velocity != 1 || p.Record().Path[2].Position != without || p.Record().Path[1].Position != 0.1 {
		t.Errorf("%v", p.Record().Path)
	}
	if p.Record().GoalTime != defaultGoalTime || compile(Options{GoalTime: 3}).Record().GoalTime != 3 {
		t.Error("goal time 0 is not the default")
	}
	g.Path[0].Position = math.Inf(1)
	if compile(Options{}).Record().Path[1].Position != without {
		t.Error("an infinite tolerance is not none")
	}
	if g.GoalTime = -1; compile(Options{GoalTime: 3}).Record().GoalTime != -1 {
		t.Error("negative goal time is not for ever")
	}
}

// TestSupportTracks reads the numbers of support columns as the original did.
func TestSupportTracks(t *testing.T) {
	m := model(t, "pony")
	leg1, _ := m.Chain("leg1")
	own := m.Chains()[leg1].Contact
	g := &Goal{Joints: []string{"support/leg1", "joint21"}}
	values := []float64{-3, 0, 0.4, 1, 1.25, 2.5, 9.5}
	for i, x := range values {
		g.Points = append(g.Points, trajectory.Point{Time: float64(i), Position: []float64{x, 0}})
	}
	p, err := Compile(m, Options{}, nil, g)
	if err != nil {
		t.Fatal(err)
	}
	want := []control.Support{{Contact: own}, {Contact: own}, {Weight: 0.4, Contact: own}, {Weight: 1, Contact: own},
		{Weight: 0.25, Contact: 1}, {Weight: 0.5, Contact: 2}, {Weight: 0.5, Contact: own}}
	leg2, _ := m.Chain("leg2")
	if x := chainOf(p.Record().Chains, leg1); !slices.Equal(x.Track, want) {
		t.Errorf("%v, want %v", x.Track, want)
	}
	if x := chainOf(p.Record().Chains, leg2); x == nil || x.Track != nil {
		t.Errorf("the driven leg has %v, and should be free", x)
	}
	res, _ := m.Resources()
	needs, _ := p.Claim()
	for _, name := range []string{"support/leg1", "joint21", "support/leg2"} {
		if s, _ := res.Find(name); !needs.Contains(s) {
			t.Errorf("%s is not claimed", name)
		}
	}
	if needs.Len() != 3 {
		t.Errorf("%d leaves are claimed, want 3", needs.Len())
	}
}

// TestApproachCarriesWhatCarriesAtBothEnds: on the way to its first point a leg carries
// only if it does so now and there.
func TestApproachCarriesWhatCarriesAtBothEnds(t *testing.T) {
	m := model(t, "pony")
	leg1, _ := m.Chain("leg1")
	own := m.Chains()[leg1].Contact
	for _, c := range []struct {
		now         control.Support
		first, want float64
	}{
		{control.Support{Weight: 1, Contact: own}, 1, 1}, {control.Support{Weight: 1, Contact: own}, 0.5, 0.5}, {control.Support{Weight: 0.2, Contact: own}, 0.5, 0.2},
		{control.Support{Contact: own}, 1, 0}, {control.Support{Weight: 1, Contact: own}, 0, 0}, {control.Support{Weight: 1, Contact: own + 1}, 1, 0},
	} {
		from := control.NewMotion(len(m.Joints()), len(m.Chains()), 0)
		from.Support[leg1] = c.now
		g := &Goal{Joints: []string{"joint12", "support/leg1"}, Approach: 0.5, Points: []trajectory.Point{
			{Position: []float64{0.3, c.first}}, {Time: 1, Position: []float64{0.2, 1}}}}
		p, err := Compile(m, Options{Transition: control.Transition{Acceleration: 8}}, &from, g)
		if err != nil {
			t.Fatal(err)
		}
		on := make([]control.Support, len(m.Chains()))
		for _, tc := range []struct{ at, want float64 }{{p.Curve().Start(), c.want}, {-1e-6, c.want}, {0, c.first}, {1, 1}} {
			if p.supportTo(on, nil, tc.at); on[leg1].Weight != tc.want {
				t.Errorf("%+v, then %g: at %g s it carries %g, want %g", c.now, c.first, tc.at, on[leg1].Weight, tc.want)
			}
		}
	}
}

// TestRefusalsTellTheTimeOfTheTable: a part that is played backwards and faster is
// refused at the time of the row that is too fast.
func TestRefusalsTellTheTimeOfTheTable(t *testing.T) {
	m := model(t, "arm6")
	g := line("joint_1", 1, 0, 0.1, 0.2, 2.9)
	g.Table = TableTime{Zero: 8, Pace: -2}
	_, err := Compile(m, Options{}, nil, g)
	for _, p := range problem.In(err) {
		if p.At < 2 || p.At > 4 || !strings.Contains(p.Text, fmt.Sprintf("at %.4g s", p.At)) {
			t.Errorf("at %g s: %s", p.At, p.Text)
		}
	}
	if err == nil {
		t.Error("it is not refused")
	}
}

// TestCurveRestsOnHolds: a point that comes twice is a hold, at rest, also when the
// two differ as hand-taught poses do; a slow move that is sampled densely is none.
func TestCurveRestsOnHolds(t *testing.T) {
	curve, err := line("x", 1, 0, 0.5, 0.5003, 0.2).Curve(nil)
	if err != nil {
		t.Fatal(err)
	}
	q, v, a := []float64{0}, []float64{0}, []float64{0}
	for at := 1.0; at <= 2; at += 0.01 {
		curve.StateTo(q, v, a, at)
		if math.Abs(v[0]) > 0.0006 || q[0] < 0.5-1e-12 || q[0] > 0.5003+1e-12 {
			t.Fatalf("%g s: at %g with %g: it creeps", at, q[0], v[0])
		}
	}
	dense := make([]float64, 1001)
	for i := range dense {
		dense[i] = 0.1 * float64(i) / 1000 // 0.1 rad/s at 1 kHz
	}
	if curve, err = line("x", 0.001, dense...).Curve(nil); err != nil {
		t.Fatal(err)
	}
	if curve.StateTo(q, v, a, 0.5); math.Abs(v[0]-0.1) > 1e-9 {
		t.Errorf("a slow move stops at every sample: %g", v[0])
	}
}

func parse(s string) (float64, error) { return strconv.ParseFloat(s, 64) }
