package gait

import "math"

// The plan is made on a grid of this spacing, s, and looks so many points ahead: what comes later counts
// for less than e^(−ω·1.25 s), 10⁻⁴ for the pony.
const (
	grid  = 0.005
	ahead = 250
)

// effort weighs the square of the jerk against that of the error of the zero-moment point, m²·s⁶/m²:
// so small that the error stays below a millimetre.
const effort = 1e-9

// axis is how the centre of mass moves along one axis.
type axis struct{ p, v, a float64 }

// at returns how it moves a time later under a jerk. Loop-safe.
func (x axis) at(t, jerk float64) axis {
	return axis{p: x.p + t*(x.v+t/2*(x.a+t/3*jerk)), v: x.v + t*(x.a+t/2*jerk), a: x.a + t*jerk}
}

// preview is the optimal tracking of a zero-moment point that is known in advance. With the state
// x = (p, v, a), jerk u and the zero-moment point z = p − a/ω²,
//
//	x⁺ = A·x + B·u,   minimise Σ (z − z_ref)² + effort·u²
//
// gives u = −K·x + Σ fᵢ·z_ref(i), where P solves the Riccati equation of (A, B) and fᵢ =
// (r + BᵀPB)⁻¹·Bᵀ·((A − B·K)ᵀ)ⁱ⁻¹·Cᵀ.
type preview struct {
	k [3]float64
	f [ahead]float64 // of the reference 1 … ahead points from now; the last is that of all that comes later
	c float64        // 1/ω²
}

type mat3 [3][3]float64

func (m *mat3) times(x [3]float64) (y [3]float64) {
	for i := range y {
		for j := range x {
			y[i] += m[i][j] * x[j]
		}
	}
	return y
}

func newPreview(height, gravity float64) preview {
	const h = grid
	w := preview{c: height / gravity}
	A := mat3{{1, h, h * h / 2}, {0, 1, h}, {0, 0, 1}}
	B := [3]float64{h * h * h / 6, h * h / 2, h}
	C := [3]float64{1, 0, -w.c}
	var P mat3
	var gain float64
	for range 100000 { // the Riccati difference equation, until it stays
		// PA, PB
		var PA mat3
		for i := range 3 {
			for j := range 3 {
				for k := range 3 {
					PA[i][j] += P[i][k] * A[k][j]
				}
			}
		}
		PB := P.times(B)
		gain = effort
		for i := range 3 {
			gain += B[i] * PB[i]
		}
		var bpa [3]float64
		for j := range 3 {
			for i := range 3 {
				bpa[j] += B[i] * PA[i][j]
			}
		}
		change := 0.0
		var next mat3
		for i := range 3 {
			for j := range 3 {
				for k := range 3 {
					next[i][j] += A[k][i] * PA[k][j]
				}
				next[i][j] += C[i]*C[j] - bpa[i]*bpa[j]/gain
				change = max(change, math.Abs(next[i][j]-P[i][j])/(1+math.Abs(next[i][j])))
			}
		}
		P = next
		for j := range 3 {
			w.k[j] = bpa[j] / gain
		}
		if change < 1e-14 {
			break
		}
	}
	// closed loop, transposed
	var closed mat3
	for i := range 3 {
		for j := range 3 {
			closed[j][i] = A[i][j] - B[i]*w.k[j]
		}
	}
	x := C
	rest := w.k[0] // all gains sum up to that of the place: a constant reference is kept for ever
	for i := range w.f {
		for j := range 3 {
			w.f[i] += B[j] * x[j] / gain
		}
		rest -= w.f[i]
		x = closed.times(x)
	}
	w.f[ahead-1] += rest
	return w
}

// jerk returns what to do now, for a reference 1 … ahead points from now. Loop-safe.
func (w *preview) jerk(x axis, ref *[ahead]float64) float64 {
	u := -w.k[0]*x.p - w.k[1]*x.v - w.k[2]*x.a
	for i, f := range w.f {
		u += f * ref[i]
	}
	return u
}

// zmp is the zero-moment point of a motion.
func (w *preview) zmp(x axis) float64 { return x.p - w.c*x.a }

// quintic is a motion between two states within a time.
type quintic struct {
	c     [6]float64
	begin float64
	takes float64
}

// newQuintic goes from a state to rest at a place.
func newQuintic(from axis, to, begin, takes float64) quintic {
	T := takes
	d := to - from.p - T*(from.v+T/2*from.a)
	v, a := -(from.v + T*from.a), -from.a
	return quintic{begin: begin, takes: T, c: [6]float64{from.p, from.v, from.a / 2,
		(10*d - 4*T*v + T*T*a/2) / (T * T * T),
		(-15*d + 7*T*v - T*T*a) / (T * T * T * T),
		(6*d - 3*T*v + T*T*a/2) / (T * T * T * T * T)}}
}

// at returns the state at a time; before and after its own time it rests where it begins and ends, if
// it does. One that begins on the way goes on as it does then for a moment before. Loop-safe.
func (q *quintic) at(t float64) axis {
	s := min(max(t-q.begin, -grid), q.takes)
	c := &q.c
	if s < 0 {
		return axis{p: c[0] + s*(c[1]+s*c[2]), v: c[1] + 2*s*c[2], a: 2 * c[2]}
	}
	return axis{
		p: c[0] + s*(c[1]+s*(c[2]+s*(c[3]+s*(c[4]+s*c[5])))),
		v: c[1] + s*(2*c[2]+s*(3*c[3]+s*(4*c[4]+s*5*c[5]))),
		a: 2*c[2] + s*(6*c[3]+s*(12*c[4]+s*20*c[5])),
	}
}
