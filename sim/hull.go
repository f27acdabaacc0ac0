package sim

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"poise/spatial"
)

// plane is the half-space n·x ≤ d.
type plane struct {
	n spatial.Vec3
	d float64
}

// hullPlanes returns the faces of the convex hull of some points, found by adding one point
// after the other: faces that see it are replaced by a cone from their rim. Nil if the
// points lie in a plane.
func hullPlanes(points []spatial.Vec3) []plane {
	size := 0.0
	for _, p := range points {
		size = math.Max(size, p.Norm())
	}
	eps := 1e-7 * size
	first, ok := tetrahedron(points, eps)
	if !ok {
		return nil
	}
	inside := points[first[0]].Add(points[first[1]]).Add(points[first[2]]).Add(points[first[3]]).Scale(0.25)
	type face struct {
		corners [3]int
		plane
	}
	faceOf := func(a, b, c int) (f face, ok bool) {
		n, ok := points[b].Sub(points[a]).Cross(points[c].Sub(points[a])).Unit()
		f = face{[3]int{a, b, c}, plane{n, n.Dot(points[a])}}
		if n.Dot(inside) > f.d {
			f = face{[3]int{a, c, b}, plane{n.Neg(), -f.d}}
		}
		return f, ok
	}
	var faces []face
	for skip := range 4 {
		f, _ := faceOf(first[(skip+1)%4], first[(skip+2)%4], first[(skip+3)%4])
		faces = append(faces, f)
	}
	for i, p := range points {
		rim := map[[2]int]bool{} // edges of what is seen, in the faces' direction
		kept := faces[:0:0]
		for _, f := range faces {
			if f.n.Dot(p) <= f.d+eps {
				kept = append(kept, f)
				continue
			}
			for k := range 3 {
				rim[[2]int{f.corners[k], f.corners[(k+1)%3]}] = true
			}
		}
		if len(rim) == 0 {
			continue
		}
		for _, e := range sortedEdges(rim) {
			if f, ok := faceOf(e[0], e[1], i); ok && !rim[[2]int{e[1], e[0]}] {
				kept = append(kept, f)
			}
		}
		faces = kept
	}
	var planes []plane
	for _, f := range faces {
		if !hasPlane(planes, f.plane, eps) {
			planes = append(planes, f.plane)
		}
	}
	return planes
}

// sortedEdges returns edges in an order that is always the same.
func sortedEdges(edges map[[2]int]bool) [][2]int {
	return slices.SortedFunc(maps.Keys(edges), func(a, b [2]int) int { return cmp.Or(a[0]-b[0], a[1]-b[1]) })
}

func hasPlane(planes []plane, p plane, eps float64) bool {
	return slices.ContainsFunc(planes, func(q plane) bool { return q.n.Sub(p.n).Norm() < 1e-6 && math.Abs(q.d-p.d) < 10*eps })
}

// tetrahedron finds four points that are far from one plane.
func tetrahedron(points []spatial.Vec3, eps float64) (first [4]int, ok bool) {
	farthest := func(distance func(p spatial.Vec3) float64) (best int, far float64) {
		for i, p := range points {
			if d := distance(p); d > far {
				best, far = i, d
			}
		}
		return best, far
	}
	if len(points) < 4 {
		return first, false
	}
	a := points[0]
	var far float64
	if first[1], far = farthest(func(p spatial.Vec3) float64 { return p.Sub(a).Norm() }); far <= eps {
		return first, false
	}
	u, _ := points[first[1]].Sub(a).Unit()
	if first[2], far = farthest(func(p spatial.Vec3) float64 { return p.Sub(a).Cross(u).Norm() }); far <= eps {
		return first, false
	}
	n, _ := u.Cross(points[first[2]].Sub(a)).Unit()
	first[3], far = farthest(func(p spatial.Vec3) float64 { return math.Abs(p.Sub(a).Dot(n)) })
	return first, far > eps
}
