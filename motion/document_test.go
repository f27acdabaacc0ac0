package motion_test

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"poise/control/follow"
	"poise/motion"
	"poise/trajectory"
)

// TestRepeatedRowsAreHolds proves the shape that animators rely on: at rest at both
// ends and in a hold, never beyond the keys.
func TestRepeatedRowsAreHolds(t *testing.T) {
	row := func(time, q float64) motion.Point {
		return motion.Point{Time: time, Enabled: true, Positions: []float64{q}}
	}
	d := &motion.Document{Joints: []motion.Joint{{Name: "a", Enabled: true}}, Columns: []string{"a"},
		Points: []motion.Point{row(0, 0), row(1, 1), row(2, 1.0004), row(3, -1)}}
	g, err := d.Goal(motion.Part{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := motion.Sample(g, nil, 0.01)
	if err != nil {
		t.Fatal(err)
	}
	c := s.Curves[0]
	for i, at := range s.Times {
		rest := at == 0 || at == 3 || math.Abs(at-1) < 1e-9 || math.Abs(at-2) < 1e-9
		if rest && math.Abs(c.Velocity[i]) > 1e-9 {
			t.Errorf("%v at %v s, must rest", c.Velocity[i], at)
		}
		if at > 1 && at < 2 && (c.Position[i] < 1-1e-12 || c.Position[i] > 1.0004+1e-12) {
			t.Errorf("creeps to %v in a hold", c.Position[i])
		}
		if c.Position[i] < -1-1e-12 || c.Position[i] > 1.0004+1e-12 {
			t.Errorf("overshoots to %v", c.Position[i])
		}
	}
	if _, err := motion.Sample(g, nil, 1e-9); !errors.Is(err, motion.ErrOperation) {
		t.Error(err)
	}
}

func TestGoalNamesWhatWasNotCaptured(t *testing.T) {
	d := &motion.Document{Joints: []motion.Joint{{Name: "a", Enabled: true}, {Name: "b", Enabled: true}, {Name: "c"}}, Columns: []string{"a"},
		Points: []motion.Point{{Enabled: true, Positions: []float64{math.NaN()}}, {Time: 1, Positions: []float64{math.NaN()}}}}
	_, err := d.Goal(motion.Part{})
	if err == nil || err.Error() != "row 1: did not capture joint \"a\"\nrow 1: did not capture joint \"b\"" || !errors.Is(err, motion.ErrMissing) {
		t.Error(err)
	}
}

func TestJSONHasNullForWhatWasNotCaptured(t *testing.T) {
	d := &motion.Document{Columns: []string{"a", "b"}, Points: []motion.Point{{Time: 1, Label: "x", Enabled: true, Mark: motion.EndMark, Positions: []float64{0.1, math.NaN()}}}}
	text, err := json.Marshal(d)
	if err != nil || !strings.Contains(string(text), `"positions":[0.1,null]`) {
		t.Fatal(string(text), err)
	}
	var back motion.Document
	if err := json.Unmarshal(text, &back); err != nil || !math.IsNaN(back.Points[0].Positions[1]) || back.Points[0].Mark != motion.EndMark {
		t.Fatal(back, err)
	}
	again, err := json.Marshal(&back)
	if err != nil || string(again) != string(text) {
		t.Errorf("%s, want %s", again, text)
	}
}

func TestCheckTellsEverythingAtOnce(t *testing.T) {
	d := &motion.Document{
		Columns: []string{"a", "a"}, Joints: []motion.Joint{{Name: ""}, {Name: "b", Path: &trajectory.Tolerance{Position: math.Inf(1)}}}, GoalTimeTolerance: math.NaN(),
		Points: []motion.Point{{Time: math.Inf(1), Positions: []float64{1}, Mark: "middle"}, {Mark: motion.StartMark, Positions: []float64{0, 0}}, {Mark: motion.StartMark, Positions: []float64{0, 0}, Supports: []float64{1}}},
		Events: []follow.Event{{Time: math.NaN()}},
	}
	err := d.Check()
	for kind, times := range map[error]int{motion.ErrName: 2, motion.ErrNotFinite: 4, motion.ErrSize: 2, motion.ErrMark: 2} {
		n := 0
		for _, one := range err.(interface{ Unwrap() []error }).Unwrap() {
			if errors.Is(one, kind) {
				n++
			}
		}
		if n != times {
			t.Errorf("%v: %d times, want %d in\n%v", kind, n, times, err)
		}
	}
}

func TestCloneSharesNothing(t *testing.T) {
	d := &motion.Document{Tags: []string{"x"}, Columns: []string{"a"}, Chains: []string{"c"}, Order: []string{"a"},
		Joints: []motion.Joint{{Name: "a", Path: &trajectory.Tolerance{Position: 1}, Goal: &trajectory.Tolerance{Position: 2}}},
		Points: []motion.Point{{Positions: []float64{1}, Supports: []float64{1}}}, Events: []follow.Event{{Type: "t"}}}
	before := *d.Clone()
	c := d.Clone()
	c.Tags[0], c.Columns[0], c.Chains[0], c.Order[0], c.Joints[0].Path.Position, c.Joints[0].Goal.Position = "", "", "", "", 0, 0
	c.Joints[0].Name, c.Points[0].Positions[0], c.Points[0].Supports[0], c.Events[0].Type = "", 0, 0, ""
	if !reflect.DeepEqual(*d, before) {
		t.Errorf("%+v", d)
	}
}

// TestEqualTimesAreToldNotPlayed: a goal of zero duration once crashed the player.
func TestEqualTimesAreToldNotPlayed(t *testing.T) {
	d := &motion.Document{Joints: []motion.Joint{{Name: "a", Enabled: true}}, Columns: []string{"a"},
		Points: []motion.Point{{Enabled: true, Positions: []float64{0}}, {Enabled: true, Positions: []float64{1}}}}
	g, err := d.Goal(motion.Part{})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, 1, 2} { // no rows, one row, two at one time
		h := &follow.Goal{Joints: g.Joints, Points: g.Points[:n]}
		if _, err := h.Curve(nil); err == nil {
			t.Errorf("%d rows have a curve", n)
		}
		if _, err := motion.Sample(h, nil, 0.1); err == nil {
			t.Errorf("%d rows have samples", n)
		}
	}
}
