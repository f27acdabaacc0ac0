package lint_test

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"poise/motion"
	"poise/motion/lint"
	"poise/robot"
	"poise/trajectory/spline"
)

// overRange tells whether a motion leaves the range of a joint, which no time mends: as a
// whole, or between its marks.
func overRange(d *motion.Document, m *robot.Model) bool {
	for _, part := range []motion.Part{{}, {Marked: true}} {
		if g, err := d.Goal(part); err == nil {
			if s, err := g.Curve(m); err == nil {
				for _, v := range motion.LimitsOf(m, g.Moved()).Violations(s, 1e-9) {
					if v.Quantity == spline.Position {
						return true
					}
				}
			}
		}
	}
	return false
}

// headRows makes a motion of the head.
func headRows(t *testing.T, m *robot.Model, times []float64, q func(i int) (yaw, pitch float64)) *motion.Document {
	t.Helper()
	d := &motion.Document{}
	d = apply(t, m, d, motion.Operation{Op: "add_joints", Names: []string{"joint52", "joint53"}, Values: []float64{0}})
	for i, at := range times {
		yaw, pitch := q(i)
		d = apply(t, m, d, motion.Operation{Op: "add_point", Time: at, Names: []string{"joint52", "joint53"}, Values: []float64{yaw, pitch}})
	}
	return d
}

// TestSlowToFitLengthensOnlyWhatIsTooFast: of four stretches one is too fast; it gets
// longer, the last, which lies apart, keeps its length to the millisecond.
func TestSlowToFitLengthensOnlyWhatIsTooFast(t *testing.T) {
	m := model(t, "pony")
	times := []float64{0, 2, 2.2, 5, 8, 11}
	yaw := []float64{0, 0, 0.8, 0.8, 0.7, 0.6}
	d := headRows(t, m, times, func(i int) (float64, float64) { return yaw[i], 0 })
	d = apply(t, m, d, motion.Operation{Op: "add_event", Time: 2.1, Texts: []string{"voice/say", "middle"}})
	if len(lint.Check(d, m, lint.Options{})) == 0 {
		t.Fatal("it is slow enough as it is")
	}
	fit := apply(t, m, d, motion.Operation{Op: "slow_to_fit"})
	if all := lint.Check(fit, m, lint.Options{}); len(all) > 0 {
		t.Fatalf("still %v", all)
	}
	var longer []bool
	for i := range times[1:] {
		length := fit.Points[i+1].Time - fit.Points[i].Time
		longer = append(longer, length > times[i+1]-times[i]+1e-9)
	}
	if !slices.Equal(longer, []bool{false, true, false, false, false}) {
		t.Errorf("longer: %v, times %v", longer, timesOf(fit))
	}
	if middle := (fit.Points[1].Time + fit.Points[2].Time) / 2; math.Abs(fit.Events[0].Time-middle) > 0.001 {
		t.Errorf("the event is at %v s, the middle of its stretch at %v s", fit.Events[0].Time, middle)
	}
	if long := fit.Points[5].Time; long > 12 { // all times alike would be 11 s · 4
		t.Errorf("it takes %v s", long)
	}
	out := headRows(t, m, []float64{0, 0.3}, func(i int) (float64, float64) { return 9 * float64(i), 0 })
	if d, err := motion.Apply(out, m, motion.Operation{Op: "slow_to_fit"}); err == nil {
		t.Errorf("a joint beyond its range is mended by time: %v", timesOf(d))
	}
}

func timesOf(d *motion.Document) (all []float64) {
	for _, p := range d.Points {
		all = append(all, p.Time)
	}
	return all
}

// TestSlowToFitAlwaysEndsInAPlayableMotion: random motions within the ranges of their
// joints, with marks; after it nothing is refused, whole and between the marks, and times are
// whole milliseconds.
func TestSlowToFitAlwaysEndsInAPlayableMotion(t *testing.T) {
	changed, refused := slowToFit(t, withoutMass(t), 300)
	if changed < 100 || refused > 150 {
		t.Errorf("%d of 300 were too fast, %d left the range of a joint", changed, refused)
	}
	// with masses torque and balance count, which lint looks for, too
	if changed, _ = slowToFit(t, model(t, "pony"), 24); changed < 8 {
		t.Errorf("%d of 24 were too fast", changed)
	}
}

// withoutMass is a pony of which only limits are known.
func withoutMass(t *testing.T) *robot.Model {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"pony.urdf", "pony.srdf", "joint_limits.yaml", "robot.yaml"} {
		text, err := os.ReadFile("../../robot/shipped/pony/" + name)
		if err != nil {
			t.Fatal(err)
		}
		text = regexp.MustCompile(`(?s)<inertial>.*?</inertial>`).ReplaceAll(text, nil)
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m := model(t, dir)
	if m.Mass() != 0 {
		t.Fatalf("it has %v kg", m.Mass())
	}
	return m
}

// slowToFit fits random motions of a robot's head, and returns how many were changed and refused.
func slowToFit(t *testing.T, m *robot.Model, seeds uint64) (changed, refused int) {
	t.Helper()
	for seed := range seeds {
		random := rand.New(rand.NewPCG(seed, 16))
		at := 0.0
		var times []float64
		for range 2 + random.IntN(9) {
			times = append(times, math.Round(at*1000)/1000)
			at += math.Pow(10, -2.5+3*random.Float64()) + 0.001
		}
		d := headRows(t, m, times, func(int) (float64, float64) { return 0.7 * (2*random.Float64() - 1), 0.2 * (2*random.Float64() - 1) })
		if len(times) > 3 {
			d = apply(t, m, d, motion.Operation{Op: "mark_start", Rows: []int{1}})
			d = apply(t, m, d, motion.Operation{Op: "mark_end", Rows: []int{len(times) - 1}})
		}
		fit, err := motion.Apply(d, m, motion.Operation{Op: "slow_to_fit"})
		if err != nil {
			if refused++; !overRange(d, m) {
				t.Fatalf("seed %d: refused for %v; rows %v", seed, err, times)
			}
			continue
		}
		if !slices.Equal(timesOf(fit), times) {
			changed++
		}
		for _, part := range []motion.Part{{}, {Marked: true}} {
			g, err := fit.Goal(part)
			if err != nil {
				t.Fatal(err)
			}
			s, err := g.Curve(m)
			if err != nil {
				t.Fatal(err)
			}
			if v := motion.LimitsOf(m, g.Moved()).Violations(s, 1e-9); len(v) > 0 {
				t.Fatalf("seed %d: %v; rows %v became %v", seed, v, times, timesOf(fit))
			}
		}
		if all := lint.Check(fit, m, lint.Options{}); len(all) > 0 {
			t.Fatalf("seed %d: %v", seed, all)
		}
		for i, at := range timesOf(fit) {
			if math.Abs(at*1000-math.Round(at*1000)) > 1e-6 || i > 0 && at-fit.Points[i-1].Time < times[i]-times[i-1]-1e-9 {
				t.Fatalf("seed %d: %v became %v", seed, times, timesOf(fit))
			}
		}
	}
	return changed, refused
}
