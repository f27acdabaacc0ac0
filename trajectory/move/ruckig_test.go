package move

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"poise/internal/golden"
)

// TestRandomTasksAgainstRuckig compares durations with those of the Ruckig library, run by
// the Python that POISE_PYTHON names.
func TestRandomTasksAgainstRuckig(t *testing.T) {
	python := golden.Python(t)
	const tolRuckig = 1e-6 // s
	for _, c := range []struct {
		name  string
		kind  kind
		word  string
		cases int
	}{
		{"rest", kind{outside: true, tame: true}, "position", count(100_000, 2_000, 1_000_000)},
		{"moving and accelerating", kind{moving: true, pulling: true, outside: true, tame: true}, "position", count(20_000, 1_000, 1_000_000)},
		{"no jerk limit", kind{moving: true, noJerk: true, outside: true, tame: true}, "position", count(10_000, 1_000, 1_000_000)},
		{"velocity", kind{moving: true, outside: true, tame: true}, "velocity", count(10_000, 1_000, 1_000_000)},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(21, 22))
			var input bytes.Buffer
			mine := make([]float64, c.cases)
			tasks := make([][]task, c.cases)
			m, err := New(nil)
			if err != nil {
				t.Fatal(err)
			}
			for i := range mine {
				tasks[i] = make([]task, 1+r.IntN(7))
				fmt.Fprintf(&input, "%s %d", c.word, len(tasks[i]))
				for k := range tasks[i] {
					q := c.kind.random(r)
					tasks[i][k] = q
					l, a, b := q.Limits, q.From, q.To
					fmt.Fprintf(&input, " %v %v %v %v %v %v %v %v %v %v %v", a.P, a.V, a.A, b.P, b.V, b.A, l.VelMin, l.VelMax, l.AccMin, l.AccMax, l.Jerk)
				}
				fmt.Fprintln(&input)
				mine[i] = duration(t, m, tasks[i], c.word == "velocity")
			}
			command := exec.Command(python, filepath.Join(golden.Root(t), "tools", "oracle", "ruckig_durations.py"))
			command.Stdin, command.Stderr = &input, os.Stderr
			out, err := command.Output()
			if err != nil {
				t.Fatalf("%v (does %s have the ruckig module?)", err, python)
			}
			compare(t, mine, strings.Fields(string(out)), tolRuckig, tasks)
		})
	}
}

func duration(t *testing.T, m *Motion, tasks []task, velocity bool) float64 {
	t.Helper()
	var limits []Limits
	var from, to []State
	var velocities []float64
	for _, k := range tasks {
		limits = append(limits, k.Limits)
		from, to = append(from, k.From), append(to, k.To)
		velocities = append(velocities, k.To.V)
	}
	err := m.SetLimits(limits)
	if err == nil {
		if velocity {
			err = m.ReachVelocity(from, velocities, Options{})
		} else {
			err = m.Reach(from, to, Options{})
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return m.Duration()
}

func compare(t *testing.T, mine []float64, theirs []string, tol float64, tasks [][]task) {
	t.Helper()
	if len(mine) != len(theirs) {
		t.Fatalf("%d answers to %d questions", len(theirs), len(mine))
	}
	worst, refused := 0.0, 0
	for i, word := range theirs {
		want, err := strconv.ParseFloat(word, 64)
		if err != nil {
			t.Fatal(err)
		}
		if want < 0 {
			refused++ // an error code: Ruckig found no answer
			continue
		}
		d := math.Abs(mine[i] - want)
		worst = max(worst, d)
		if d > tol {
			t.Errorf("case %d: %.17g, Ruckig %.17g\n%v", i, mine[i], want, tasks[i])
		}
	}
	t.Logf("%d motions of 1 to 7 axes: durations within %.3g s of Ruckig's; it found no answer to %d", len(mine), worst, refused)
	if refused > len(mine)/1000 {
		t.Errorf("Ruckig found no answer to %d of %d", refused, len(mine))
	}
}
