package motion

import (
	"math"
	"reflect"
	"testing"

	"poise/control/follow"
	"poise/robot"
	"poise/robot/load"
	"poise/trajectory"
)

func loaded(t testing.TB, name string) *robot.Model {
	t.Helper()
	bot, err := load.Robot(name, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return bot.Model
}

// supportedMotion is a motion with supports, events and tolerances.
func supportedMotion(m *robot.Model) *Document {
	d := &Document{Chains: []string{"leg1"}, GoalTimeTolerance: 0.5,
		Joints: []Joint{{Name: "joint52", Enabled: true, Path: &trajectory.Tolerance{Position: 0.2}}, {Name: "joint51", Enabled: true, Goal: &trajectory.Tolerance{Position: -1}}},
		Events: []follow.Event{{Time: 0.5, Type: "voice/say", Command: "hi", Options: "x"}}}
	for _, j := range m.Joints() {
		d.Columns = append(d.Columns, j.Name)
	}
	for i := range 3 {
		p := Point{Time: float64(i), Enabled: true, Supports: []float64{float64(i % 2)}, Positions: make([]float64, len(d.Columns))}
		p.Positions[24], p.Positions[25] = -0.1*float64(i), 0.2*float64(i)
		d.Points = append(d.Points, p)
	}
	d.Order = []string{"joint52", "joint51", "support/leg1"}
	return d
}

// TestMotionsSurviveTheWayThere: a stored motion as a goal, and that as a stored
// motion again, is the same.
func TestMotionsSurviveTheWayThere(t *testing.T) {
	m := loaded(t, "pony")
	d := supportedMotion(m)
	g, err := d.Goal(Part{})
	if err != nil {
		t.Fatal(err)
	}
	if len(g.Path) != 1 || g.Path[0].Joint != "joint52" || len(g.Final) != 1 || g.Final[0].Position != -1 {
		t.Errorf("tolerances %+v %+v", g.Path, g.Final)
	}
	back, err := FromGoal(m, g, make([]float64, len(m.Joints())))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(back, d) {
		t.Errorf("%+v\nwant\n%+v", back, d)
	}
}

// TestKeyRowsGiveTheSameMotion thins dense samples.
func TestKeyRowsGiveTheSameMotion(t *testing.T) {
	g := follow.Goal{Joints: []string{"joint_1"}}
	for k := range 1001 {
		s := float64(k) / 1000
		g.Points = append(g.Points, trajectory.Point{Time: 2 * s, Position: []float64{math.Sin(6*s) * s * s * (1 - s) * (1 - s)}, Velocity: []float64{0}})
	}
	rows, speed, err := thinned(loaded(t, "arm6"), &g)
	if err != nil || len(rows) > 80 || rows[0] != 0 || rows[len(rows)-1] != 1000 || !(speed > 0.6) {
		t.Errorf("%d rows at %g, %v", len(rows), speed, err)
	}
	if _, off, err := through(&g, rows); err != nil || off > keyDeviation {
		t.Errorf("%g off, %v", off, err)
	}
}

// TestKeyRowsKeepWhereSupportsChange: a foot that is lifted between two even rows is
// lifted at the same time in the stored motion.
func TestKeyRowsKeepWhereSupportsChange(t *testing.T) {
	g := follow.Goal{Joints: []string{"joint12", "support/leg1"}}
	for k := range 1001 {
		s := float64(k) / 1000
		p := trajectory.Point{Time: 2 * s, Position: []float64{0.2 * s * s * (1 - s) * (1 - s), 1}, Velocity: []float64{0, 0}}
		if k >= 123 {
			p.Position[1] = 0
		}
		g.Points = append(g.Points, p)
	}
	m := loaded(t, "pony")
	d, err := FromGoal(m, &g, make([]float64, len(m.Joints())))
	if err != nil || len(d.Points) > 80 {
		t.Fatal(len(d.Points), err)
	}
	lifted := 0.0
	for i, p := range d.Points {
		if i > 0 && p.Supports[0] == 0 && d.Points[i-1].Supports[0] == 1 {
			lifted = p.Time
		}
	}
	if speed := d.Points[len(d.Points)-1].Time / 2; math.Abs(lifted-0.246*speed) > 1e-9 {
		t.Errorf("the foot is lifted at %v s of %v", lifted, d.Points[len(d.Points)-1].Time)
	}
}
