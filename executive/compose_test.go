package executive

import (
	"math"
	"reflect"
	"testing"

	"poise/control"
	"poise/control/follow"
	"poise/planner"
	"poise/robot"
	"poise/robot/load"
	"poise/trajectory"
)

func model(t testing.TB, name string) *robot.Model {
	t.Helper()
	bot, err := load.Robot(name, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return bot.Model
}

// TestJoinKeepsTheOthersStill puts motions of two groups behind each other.
func TestJoinKeepsTheOthersStill(t *testing.T) {
	m := model(t, "arm6")
	start := make([]float64, m.NumQ())
	start[1] = 0.3
	of := func(joints []robot.JointID, to float64) *planner.Motion {
		tr := trajectory.New(2, len(joints))
		tr.Points[1].Time = 1
		for k, j := range joints {
			tr.Points[0].Position[k] = start[j]
			tr.Points[1].Position[k] = to
		}
		return &planner.Motion{Joints: joints, Start: start, Trajectory: tr}
	}
	g := joinMotions(m, []*planner.Motion{of([]robot.JointID{0, 1}, 0.5), of([]robot.JointID{6}, 0.02), of([]robot.JointID{0, 1}, 0.1)})
	want := []trajectory.Point{
		{Time: 0, Position: []float64{0, 0.3, 0}}, {Time: 1, Position: []float64{0.5, 0.5, 0}},
		{Time: 2, Position: []float64{0.5, 0.5, 0.02}}, {Time: 3, Position: []float64{0.1, 0.1, 0.02}}}
	if len(g.Points) != len(want) || len(g.Joints) != 3 || g.Joints[2] != "finger_left_joint" {
		t.Fatalf("%+v", g)
	}
	for i := range want {
		if g.Points[i].Time != want[i].Time || !reflect.DeepEqual(g.Points[i].Position, want[i].Position) {
			t.Errorf("point %d: %+v, want %+v", i, g.Points[i], want[i])
		}
	}
}

// TestReturnKeepsItsShareOfTheLimits compiles ways back of all kinds of goals: the
// compiler checks every instant of them.
func TestReturnKeepsItsShareOfTheLimits(t *testing.T) {
	m := model(t, "arm6")
	limits, _, err := control.JointLimits(m, control.Transition{})
	if err != nil {
		t.Fatal(err)
	}
	from := control.NewMotion(len(m.Joints()), len(m.Chains()), 0)
	for _, quantities := range []int{1, 2, 3} {
		g := follow.Goal{Joints: []string{"joint_3", "joint_1"}, Points: []trajectory.Point{
			{Position: []float64{0, 0}}, {Time: 2, Position: []float64{-0.4, 0.9}}}}
		for i := range g.Points {
			if quantities > 1 {
				g.Points[i].Velocity = make([]float64, 2)
			}
			if quantities > 2 {
				g.Points[i].Acceleration = make([]float64, 2)
			}
		}
		own := len(g.Points)
		appendReturn(&g, m, limits, returnSpeed{Share: 0.5, Speed: 1}, from.Q)
		p, err := follow.Compile(m, follow.Options{}, &from, &g)
		if err != nil {
			t.Fatalf("%d quantities: %v", quantities, err)
		}
		q, v, a := make([]float64, 2), make([]float64, 2), make([]float64, 2)
		if p.Curve().StateTo(q, v, a, p.Curve().End()); math.Abs(q[0])+math.Abs(q[1]) > 1e-12 {
			t.Errorf("it ends at %v", q)
		}
		if p.Curve().StateTo(q, v, a, 2); math.Abs(q[1]-0.9) > 1e-12 || math.Abs(v[0])+math.Abs(v[1]) > 1e-9 {
			t.Errorf("at its own end it is at %v with %v", q, v)
		}
		joints := p.Record().Joints
		for at := g.Points[own-1].Time; at < p.Curve().End(); at += 0.001 {
			p.Curve().StateTo(q, v, a, at)
			for k, j := range joints {
				if l := limits[j]; math.Abs(v[k]) > 0.5*l.VelMax*1.0001 || math.Abs(a[k]) > 0.5*l.AccMax*1.0001 {
					t.Fatalf("%d quantities, %g s: velocity %g, acceleration %g", quantities, at, v[k], a[k])
				}
			}
		}
	}
}

// TestSlowerIsTheSamePath compares positions at the same share of time.
func TestSlowerIsTheSamePath(t *testing.T) {
	m := model(t, "arm6")
	from := control.NewMotion(len(m.Joints()), len(m.Chains()), 0)
	g := follow.Goal{Joints: []string{"joint_1"}, Points: []trajectory.Point{
		{Position: []float64{0}, Velocity: []float64{0}, Acceleration: []float64{0}},
		{Time: 1, Position: []float64{0.3}, Velocity: []float64{0.4}, Acceleration: []float64{-0.5}},
		{Time: 2, Position: []float64{0.5}, Velocity: []float64{0}, Acceleration: []float64{0}}}, Events: []follow.Event{{Time: 1}}}
	slow := slower(&g, 0.8)
	a, err := follow.Compile(m, follow.Options{}, &from, &g)
	if err != nil {
		t.Fatal(err)
	}
	b, err := follow.Compile(m, follow.Options{}, &from, &slow)
	if err != nil {
		t.Fatal(err)
	}
	x, y, z := make([]float64, 1), make([]float64, 1), make([]float64, 1)
	for at := 0.0; at <= 2; at += 0.01 {
		a.Curve().StateTo(x, z, z, at)
		b.Curve().StateTo(y, z, z, at/0.8)
		if math.Abs(x[0]-y[0]) > 1e-12 {
			t.Fatalf("%g s: %g and %g", at, x[0], y[0])
		}
	}
	if slow.Events[0].Time != 1.25 || g.Events[0].Time != 1 {
		t.Error("events do not go along")
	}
}

// TestWhatIsLeftOfAPeriodIsNoPoint: a plan of 0.3001 s with a point every 0.1 s has its
// last two 0.1 ms apart; the one before the last is left out, and no other.
func TestWhatIsLeftOfAPeriodIsNoPoint(t *testing.T) {
	m := model(t, "arm6")
	for _, c := range []struct {
		end  float64
		want int
	}{{0.3001, 4}, {0.35, 5}, {0.4, 5}} {
		times := []float64{0, 0.1, 0.2, 0.3, c.end}
		motion := &planner.Motion{Joints: []robot.JointID{0}, Start: make([]float64, m.NumQ()), Trajectory: &trajectory.Trajectory{}}
		for _, at := range times {
			motion.Trajectory.Points = append(motion.Trajectory.Points, trajectory.Point{Time: at, Position: []float64{at}})
		}
		g := joinMotions(m, []*planner.Motion{motion})
		if len(g.Points) != c.want || g.Points[len(g.Points)-1].Time != c.end {
			t.Errorf("a plan that ends at %g s is played with %d points, want %d", c.end, len(g.Points), c.want)
		}
	}
}
