package sim

import "math"

// Where links touch each other, sweeps begin with a direct guess besides the impulses of the
// last step: in a stack an impulse must pass every body on its way to the ground, and a sweep
// passes on little of it where a heavy body lies on a light one. All contacts that push are
// taken to stick, so that
//
//	(Y·Yᵀ + ε)·λ = −(Y·z + close),   Y = J·L⁻¹,                            (2)
//
// those that would pull are left out, and friction is cut to its cone. Of two guesses that
// one is taken which the sweeps' own function ½|z + Yᵀ·λ|² + close·λ prefers.

// How many contacts are solved for at once, how often contacts that pull are left out, and ε
// as a share of the largest term.
const (
	mostDirect   = 32
	directRounds = 4
	directSmall  = 1e-10
	directEnough = 1e-5 // m/s, of contacts that need no guess
)

// direct is the memory of the guess.
type direct struct {
	rows  []float64 // Y: a row of n for each direction of each contact
	a     []float64 // the matrix of (2), then its factor
	b     []float64 // the right side, then λ
	of    []int32   // the touch of each row
	z     []float64 // n: with the guess
	plain []float64 // n: without any contact
	λ     [][3]float64
}

func newDirect(n int) direct {
	const rows = 3 * mostDirect
	return direct{rows: make([]float64, rows*n), a: make([]float64, rows*rows), b: make([]float64, rows), of: make([]int32, rows),
		z: make([]float64, n), plain: make([]float64, n), λ: make([][3]float64, mostDirect)}
}

// guess begins with better impulses than those of the last step, if there are some.
func (d *Data) guess(μ float64) {
	g := &d.direct
	if d.between == len(d.blocks) || len(d.touches) > mostDirect || d.settled() {
		return
	}
	copy(g.plain, d.z)
	for i := range d.blocks {
		d.blocks[i].addImpulses(g.plain, d.touches, -1)
	}
	warm := d.cost(d.z)
	d.chooseSticking()
	rows := 0
	for range directRounds {
		if rows = d.directRows(); rows == 0 || !d.solveDirect(rows) {
			return
		}
		if !d.leaveOut(rows) {
			break
		}
	}
	d.swap(μ, rows)
	copy(g.z, g.plain)
	for i := range d.blocks {
		d.blocks[i].addImpulses(g.z, d.touches, 1)
	}
	if d.cost(g.z) < warm {
		copy(d.z, g.z)
		return
	}
	for i := range d.touches { // the last step's were better
		d.touches[i].λ = g.λ[i]
	}
}

// settled reports whether the impulses of the last step are still right: nothing closes, and
// what pushes stays.
func (d *Data) settled() bool {
	for i := range d.blocks {
		b := &d.blocks[i]
		u := b.twist(d.z)
		for k := b.first; k < b.last; k++ {
			t := &d.touches[k]
			if v := dot6(&t.w[0], &u) + t.close; v < -directEnough || t.λ[0] > 0 && v > directEnough {
				return false
			}
		}
	}
	return true
}

// cost is the function that sweeps lessen.
func (d *Data) cost(z []float64) float64 {
	sum := 0.0
	for _, x := range z {
		sum += x * x / 2
	}
	for i := range d.touches {
		sum += d.touches[i].close * d.touches[i].λ[0]
	}
	return sum
}

// chooseSticking marks the contacts that take part: those that pushed in the last step, and
// those that would close.
func (d *Data) chooseSticking() {
	for i := range d.blocks {
		b := &d.blocks[i]
		u := b.twist(d.direct.plain)
		for k := b.first; k < b.last; k++ {
			t := &d.touches[k]
			t.sticks = t.W[0][0] > 0 && (t.λ[0] > 0 || dot6(&t.w[0], &u)+t.close < 0)
		}
	}
}

// addImpulses lets the impulses of the block's contacts act on z, sign times.
func (b *block) addImpulses(z []float64, touches []touch, sign float64) {
	var F [6]float64
	for k := b.first; k < b.last; k++ {
		t := &touches[k]
		for j := range 3 {
			for c := range F {
				F[c] += sign * t.w[j][c] * t.λ[j]
			}
		}
	}
	b.apply(z, &F)
}

// directRows fills in Y and the right side, and returns how many rows there are.
func (d *Data) directRows() int {
	g, n, rows := &d.direct, d.m.n, 0
	for i := range d.blocks {
		b := &d.blocks[i]
		for k := b.first; k < b.last; k++ {
			t := &d.touches[k]
			if !t.sticks {
				continue
			}
			for j := range 3 {
				y := g.rows[rows*n : rows*n+n]
				clear(y)
				v := 0.0
				for a, r := range b.path {
					y[r] = dot6((*[6]float64)(b.y[6*a:6*a+6]), &t.w[j])
					v += y[r] * g.plain[r]
				}
				if j == 0 {
					v += t.close
				}
				g.b[rows], g.of[rows] = -v, int32(k)
				rows++
			}
		}
	}
	return rows
}

// solveDirect solves (2) by Cholesky's factor. It reports false where the matrix has no factor.
func (d *Data) solveDirect(rows int) bool {
	g, n, most := &d.direct, d.m.n, 0.0
	a := g.a
	for i := range rows {
		for j := range i + 1 {
			sum := 0.0
			for k := range n {
				sum += g.rows[i*n+k] * g.rows[j*n+k]
			}
			a[i*rows+j] = sum
		}
		most = math.Max(most, a[i*rows+i])
	}
	for i := range rows {
		a[i*rows+i] += directSmall * most
		for j := range i + 1 {
			sum := a[i*rows+j]
			for k := range j {
				sum -= a[i*rows+k] * a[j*rows+k]
			}
			if i != j {
				a[i*rows+j] = sum / a[j*rows+j]
			} else if a[i*rows+i] = math.Sqrt(sum); !(sum > 0) {
				return false
			}
		}
	}
	for i := range rows {
		for k := range i {
			g.b[i] -= a[i*rows+k] * g.b[k]
		}
		g.b[i] /= a[i*rows+i]
	}
	for i := rows - 1; i >= 0; i-- {
		for k := i + 1; k < rows; k++ {
			g.b[i] -= a[k*rows+i] * g.b[k]
		}
		g.b[i] /= a[i*rows+i]
	}
	return true
}

// leaveOut takes contacts out that would pull, and reports whether there are any.
func (d *Data) leaveOut(rows int) (any bool) {
	for i := 0; i < rows; i += 3 {
		if d.direct.b[i] < 0 {
			d.touches[d.direct.of[i]].sticks, any = false, true
		}
	}
	return any
}

// swap gives the contacts the guess, with friction in its cone, and keeps what they had.
func (d *Data) swap(μ float64, rows int) {
	g := &d.direct
	for i := range d.touches {
		g.λ[i], d.touches[i].λ = d.touches[i].λ, [3]float64{}
	}
	for i := 0; i < rows; i += 3 {
		λ := &d.touches[g.of[i]].λ
		copy(λ[:], g.b[i:i+3])
		λ[0] = math.Max(0, λ[0])
		if l := math.Hypot(λ[1], λ[2]); l > μ*λ[0] {
			λ[1], λ[2] = λ[1]*μ*λ[0]/l, λ[2]*μ*λ[0]/l
		}
	}
}
