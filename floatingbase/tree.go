package floatingbase

import (
	"math"

	"poise/robot"
)

// tree holds the sparsity of a mass matrix: parent[i] is the velocity next to i on the way
// to the world, −1 at its end. Element (i, j) with j < i is zero unless j is on that way.
type tree struct {
	n      int
	parent []int
	last   []int // of each body: the velocity nearest to its tip
}

// newTree reads the tree of a robot. A follower couples velocities across branches: then
// every element may be there, and all velocities are one way.
func newTree(m *robot.Model) tree {
	t := tree{n: m.NumV(), parent: make([]int, m.NumV())}
	t.last = make([]int, len(m.Bodies()))
	t.last[0] = -1
	sparse := true
	for i, b := range m.Bodies() {
		if i == 0 {
			continue
		}
		sparse = sparse && !b.Mimic && t.last[b.Parent] < b.V
		for k := range b.Kind.NumV() {
			t.parent[b.V+k] = b.V + k - 1
		}
		t.parent[b.V] = t.last[b.Parent]
		t.last[i] = b.V + b.Kind.NumV() - 1
	}
	if sparse {
		return t
	}
	for i := range t.parent {
		t.parent[i] = i - 1
	}
	for i := range t.last {
		t.last[i] = t.n - 1
	}
	return t
}

// tolPivot is the least pivot of the mass matrix beside its diagonal element.
const tolPivot = 1e-13

// factor replaces the mass matrix H by the lower triangle L with H = Lᵀ·L, which has
// zeros where H has them: [RBDA] table 6.3. It returns the velocity that nothing resists,
// or −1.
func (t *tree) factor(H, diagonal []float64) int {
	n := t.n
	for i := range n {
		diagonal[i] = H[i*n+i]
	}
	for k := n - 1; k >= 0; k-- {
		d := H[k*n+k]
		if !(d > tolPivot*diagonal[k]) || math.IsInf(d, 0) {
			return k
		}
		d = math.Sqrt(d)
		H[k*n+k] = d
		for i := t.parent[k]; i >= 0; i = t.parent[i] {
			H[k*n+i] /= d
		}
		for i := t.parent[k]; i >= 0; i = t.parent[i] {
			x := H[k*n+i]
			for j := i; j >= 0; j = t.parent[j] {
				H[i*n+j] -= x * H[k*n+j]
			}
		}
	}
	return -1
}

// halfSolve replaces b by L⁻ᵀ·b. If b is zero off the way from velocity `from` to the world, so is
// the result, and only that way is touched.
func (t *tree) halfSolve(b, L []float64, from int) {
	for i := from; i >= 0; i = t.parent[i] {
		x := b[i] / L[i*t.n+i]
		b[i] = x
		for j := t.parent[i]; j >= 0; j = t.parent[j] {
			b[j] -= L[i*t.n+j] * x
		}
	}
}

// solve replaces b by L⁻¹·b.
func (t *tree) solve(b, L []float64) {
	for i := range t.n {
		x := b[i]
		for j := t.parent[i]; j >= 0; j = t.parent[j] {
			x -= L[i*t.n+j] * b[j]
		}
		b[i] = x / L[i*t.n+i]
	}
}
