package sim

import (
	"math"

	"poise/spatial"
)

// manifold is where two boxes touch: the normal from the second to the first, and points.
type manifold struct {
	normal spatial.Vec3
	n      int
	at     [boxContacts]spatial.Vec3
	gap    [boxContacts]float64
}

// edgeMargin is by how much an axis across two edges must separate better than a face
// before it is taken, as a share of the boxes: faces hold steadier.
const edgeMargin = 0.01

// boxes finds the manifold of two boxes by the axis that separates them best: a face of
// one of them, against which the face of the other is clipped, or two edges.
func (m *manifold) boxes(X_A *spatial.Pose, a spatial.Vec3, X_B *spatial.Pose, b spatial.Vec3, within float64) {
	d := X_B.P.Sub(X_A.P)
	best, face := math.Inf(-1), 0
	for k := range 6 {
		axis := X_A.R.Col(k % 3)
		if k >= 3 {
			axis = X_B.R.Col(k % 3)
		}
		if s := separation(axis, d, X_A, a, X_B, b); s > best {
			best, face = s, k
		}
	}
	if best > within {
		return
	}
	edge, ea, eb := best+edgeMargin*math.Min(least(a), least(b)), -1, -1
	for i := range 3 {
		for j := range 3 {
			axis, ok := X_A.R.Col(i).Cross(X_B.R.Col(j)).Unit()
			if !ok || X_A.R.Col(i).Cross(X_B.R.Col(j)).Norm() < 1e-3 {
				continue
			}
			if s := separation(axis, d, X_A, a, X_B, b); s > edge {
				edge, ea, eb = s, i, j
			}
		}
	}
	switch {
	case ea >= 0 && edge > within:
	case ea >= 0:
		m.edges(X_A, a, X_B, b, ea, eb, edge)
	case face < 3:
		m.faces(X_A, a, X_B, b, face, within)
		m.normal = m.normal.Neg()
	default:
		m.faces(X_B, b, X_A, a, face-3, within)
	}
}

// separation is the gap between two boxes along an axis, negative where they overlap.
func separation(axis, d spatial.Vec3, X_A *spatial.Pose, a spatial.Vec3, X_B *spatial.Pose, b spatial.Vec3) float64 {
	return math.Abs(axis.Dot(d)) - extent(axis, X_A, a) - extent(axis, X_B, b)
}

func extent(axis spatial.Vec3, X *spatial.Pose, half spatial.Vec3) float64 {
	u := X.R.TMulVec(axis)
	return math.Abs(u.X)*half.X + math.Abs(u.Y)*half.Y + math.Abs(u.Z)*half.Z
}

func least(v spatial.Vec3) float64 { return math.Min(v.X, math.Min(v.Y, v.Z)) }

func component(v spatial.Vec3, k int) float64 { return [3]float64{v.X, v.Y, v.Z}[k] }

func unit(k int, x float64) (v spatial.Vec3) {
	switch k {
	case 0:
		v.X = x
	case 1:
		v.Y = x
	default:
		v.Z = x
	}
	return v
}

// faces clips the face of the box I that looks towards the box R against R's face k. The
// normal points out of R.
func (m *manifold) faces(X_R *spatial.Pose, r spatial.Vec3, X_I *spatial.Pose, i spatial.Vec3, k int, within float64) {
	sign := math.Copysign(1, X_R.R.Col(k).Dot(X_I.P.Sub(X_R.P)))
	m.normal = X_R.R.Col(k).Scale(sign)

	// the face of I that looks most against the normal, seen from R
	u := X_I.R.TMulVec(m.normal)
	f := 0
	for c := 1; c < 3; c++ {
		if math.Abs(component(u, c)) > math.Abs(component(u, f)) {
			f = c
		}
	}
	side := -math.Copysign(1, component(u, f))
	e1, e2 := (f+1)%3, (f+2)%3
	var polygon, next [2 * boxContacts]spatial.Vec3
	n := 0
	for _, s := range [4][2]float64{{1, 1}, {-1, 1}, {-1, -1}, {1, -1}} {
		p := unit(f, side*component(i, f)).Add(unit(e1, s[0]*component(i, e1))).Add(unit(e2, s[1]*component(i, e2)))
		polygon[n] = X_R.R.TMulVec(X_I.Apply(p).Sub(X_R.P))
		n++
	}
	for _, axis := range [2]int{(k + 1) % 3, (k + 2) % 3} {
		for _, s := range [2]float64{1, -1} {
			n = clip(&next, &polygon, n, axis, s, component(r, axis))
			polygon = next
		}
	}
	for c := 0; c < n && m.n < boxContacts; c++ {
		p := polygon[c]
		if gap := sign*component(p, k) - component(r, k); gap < within {
			m.at[m.n], m.gap[m.n] = X_R.Apply(p).Sub(m.normal.Scale(gap/2)), gap
			m.n++
		}
	}
}

// clip keeps the part of a polygon with s·x ≤ half along an axis.
func clip(dst, src *[2 * boxContacts]spatial.Vec3, n, axis int, s, half float64) int {
	k := 0
	for i := range n {
		p, q := src[i], src[(i+1)%n]
		a, b := s*component(p, axis)-half, s*component(q, axis)-half
		if a <= 0 && k < len(dst) {
			dst[k] = p
			k++
		}
		if (a < 0) != (b < 0) && a != b && a != 0 && b != 0 && k < len(dst) {
			dst[k] = p.Add(q.Sub(p).Scale(a / (a - b)))
			k++
		}
	}
	return k
}

// edges is where edge i of A crosses edge j of B.
func (m *manifold) edges(X_A *spatial.Pose, a spatial.Vec3, X_B *spatial.Pose, b spatial.Vec3, i, j int, gap float64) {
	u, v := X_A.R.Col(i), X_B.R.Col(j)
	n, _ := u.Cross(v).Unit()
	if n.Dot(X_A.P.Sub(X_B.P)) < 0 {
		n = n.Neg()
	}
	m.normal = n
	p, q := farthest(X_A, a, i, n.Neg()), farthest(X_B, b, j, n)
	// nearest points of the lines p + s·u and q + t·v
	w, c := q.Sub(p), u.Dot(v)
	s := (u.Dot(w) - c*v.Dot(w)) / (1 - c*c)
	t := (c*u.Dot(w) - v.Dot(w)) / (1 - c*c)
	m.at[0] = p.Add(u.Scale(s)).Add(q.Add(v.Scale(t))).Scale(0.5)
	m.gap[0], m.n = gap, 1
}

// farthest returns the middle of the edge along axis k that is the farthest in a direction.
func farthest(X *spatial.Pose, half spatial.Vec3, k int, direction spatial.Vec3) spatial.Vec3 {
	p := X.P
	for c := range 3 {
		if c != k {
			e := X.R.Col(c)
			p = p.Add(e.Scale(math.Copysign(component(half, c), e.Dot(direction))))
		}
	}
	return p
}
