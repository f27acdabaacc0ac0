package move

import (
	"math/rand/v2"
	"testing"
)

// lattice is the exhaustive search that optimality is proven against. Time runs in
// steps of one; in each the jerk is −J, 0 or +J. With
//
//	acceleration = J·α,   velocity = ½·J·ν,   position = ⅙·J·π
//
// a step with jerk J·k takes integers to integers:
//
//	α' = α + k,   ν' = ν + 2α + k,   π' = π + 3ν + 3α + k
//
// Acceleration passes zero only at a step, so the velocity has no extremes in
// between and limits that hold at the steps hold always. For each state (α, ν) the
// search keeps the least and greatest π over all 3ⁿ sequences, in exact integers.
type lattice struct {
	accMin, accMax, velMin, velMax int
	jerk                           float64
	from, to                       cell
}

type cell struct{ acc, vel int }

const unreached = 1 << 60

// reach calls visit with the least and greatest position in the target state
// after each number of steps at which the target can be had at all.
func (l *lattice) reach(steps int, visit func(n, least, greatest int)) {
	na, nv := l.accMax-l.accMin+1, l.velMax-l.velMin+1
	index := func(c cell) int { return (c.acc-l.accMin)*nv + c.vel - l.velMin }
	type bounds struct{ least, greatest int }
	now, next := make([]bounds, na*nv), make([]bounds, na*nv)
	clear := func(b []bounds) {
		for i := range b {
			b[i] = bounds{unreached, -unreached}
		}
	}
	clear(now)
	now[index(l.from)] = bounds{}
	for n := 1; n <= steps; n++ {
		clear(next)
		for a := l.accMin; a <= l.accMax; a++ {
			for v := l.velMin; v <= l.velMax; v++ {
				b := now[index(cell{a, v})]
				if b.least == unreached {
					continue
				}
				for k := -1; k <= 1; k++ {
					c := cell{a + k, v + 2*a + k}
					if c.acc < l.accMin || c.acc > l.accMax || c.vel < l.velMin || c.vel > l.velMax {
						continue
					}
					d, i := 3*v+3*a+k, index(c)
					next[i].least = min(next[i].least, b.least+d)
					next[i].greatest = max(next[i].greatest, b.greatest+d)
				}
			}
		}
		now, next = next, now
		if b := now[index(l.to)]; b.least != unreached {
			visit(n, b.least, b.greatest)
		}
	}
}

// task returns the same question in real numbers.
func (l *lattice) task(position float64) task {
	state := func(c cell) State {
		return State{V: l.jerk / 2 * float64(c.vel), A: l.jerk * float64(c.acc)}
	}
	k := task{From: state(l.from), To: state(l.to)}
	k.To.P = l.jerk / 6 * position
	k.Limits = Limits{
		l.jerk / 2 * float64(l.velMin), l.jerk / 2 * float64(l.velMax),
		l.jerk * float64(l.accMin), l.jerk * float64(l.accMax), l.jerk,
	}
	return k
}

// TestRandomTasksAgainstExhaustiveSearch: no sequence of jerks on the lattice is
// faster than the plan, for targets at rest, moving and accelerating; every
// duration that the search finds possible is possible for the plan; and where the
// search is fine enough the two come together, so that it says something.
func TestRandomTasksAgainstExhaustiveSearch(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	problems := count(400, 40, 20_000)
	const steps = 32
	checked, equal, gaps := 0, 0, 0.0
	for range problems {
		l := lattice{
			accMin: -1 - r.IntN(5), accMax: 1 + r.IntN(5),
			velMin: -4 - r.IntN(60), velMax: 4 + r.IntN(60),
			jerk: 0.5 + r.Float64(),
		}
		pick := func() cell {
			return cell{l.accMin + r.IntN(l.accMax-l.accMin+1), l.velMin + r.IntN(l.velMax-l.velMin+1)}
		}
		l.from, l.to = pick(), pick()
		switch r.IntN(3) {
		case 0:
			l.to = cell{}
		case 1:
			l.to.acc = 0
		}
		if probe := l.task(0); !probe.valid() || !probe.startsInside() {
			continue
		}
		var x axis
		l.reach(steps, func(n, least, greatest int) {
			for _, position := range []float64{float64(least), float64(greatest), float64(least+greatest) / 2} {
				k := l.task(position)
				fastest := x.plan(&k)
				if fastest > float64(n)+tolTime*float64(n) {
					t.Fatalf("the search needs %d steps, the plan %.17g\n%v", n, fastest, k)
				}
				if got := x.next(float64(n) * (1 - tolTime)); got > float64(n)*(1+tolTime) {
					t.Fatalf("the search can take %d steps, the plan only %.17g\n%v", n, got, k)
				}
				checked++
				if position == float64(greatest) && greatest > least {
					gaps += (float64(n) - fastest) / float64(n)
					equal++
				}
			}
		})
	}
	mean := gaps / float64(equal)
	t.Logf("%d questions, exhaustive search over up to 3^%d sequences; it comes within %.2f %% of the plan on average", checked, steps, 100*mean)
	// coarser than this the comparison would prove little
	if mean > 0.1 {
		t.Errorf("search is %.3g slower on average", mean)
	}
}

// startsInside reports whether the start needs no way back into the limits.
func (k task) startsInside() bool {
	var p [2]phase
	return k.Limits.brakeTo(&p, k.From.V, k.From.A, 1/k.Limits.Jerk) == 0
}
