package floatingbase

import (
	"math"

	"poise/robot"
)

// tree is the elimination tree of a mass matrix: the factor L of M = Lᵀ·L has its elements
// (i, j) with j < i only where j is on the way i, parent[i], … to the world. Without
// followers that is the robot's own tree.
type tree struct {
	n      int
	parent []int // −1 at the end of the way
	last   []int // of each body: the velocity where the way of all that move it begins
}

// newTree finds the tree of a robot. The velocities that move one body are coupled with each
// other; eliminating one couples all that it is coupled with.
func newTree(m *robot.Model) tree {
	n := m.NumV()
	t := tree{n: n, parent: make([]int, n), last: make([]int, len(m.Bodies()))}
	coupled := make([]bool, n*n)
	for i := range m.Bodies() {
		var moving []int
		for b := i; b > 0; b = int(m.Bodies()[b].Parent) {
			for k := range m.Bodies()[b].Kind.NumV() {
				moving = append(moving, m.Bodies()[b].V+k)
			}
		}
		t.last[i] = -1
		for _, j := range moving {
			t.last[i] = max(t.last[i], j)
			for _, k := range moving {
				coupled[j*n+k] = true
			}
		}
	}
	for k := n - 1; k >= 0; k-- {
		row := coupled[k*n : k*n+k]
		t.parent[k] = -1
		for j := k - 1; j >= 0; j-- {
			if row[j] {
				t.parent[k] = j
				break
			}
		}
		if p := t.parent[k]; p >= 0 {
			for j := range p {
				coupled[p*n+j] = coupled[p*n+j] || row[j]
			}
		}
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
