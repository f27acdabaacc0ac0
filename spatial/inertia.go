package spatial

// Inertia is the mass distribution of a rigid body in the axes of a frame.
type Inertia struct {
	Mass float64 // kg
	Com  Vec3    // centre of mass in the frame, m
	I    Mat3    // rotational inertia about the centre of mass, kg·m², symmetric
}

// Transform returns the inertia seen from frame A, given it in frame B.
func (M_B Inertia) Transform(X_AB Pose) (M_A Inertia) {
	M_A.Mass = M_B.Mass
	M_A.Com = X_AB.Apply(M_B.Com)
	M_A.I = X_AB.R.Mul(M_B.I).Mul(X_AB.R.Transpose())
	return M_A
}

// Add returns the inertia of two bodies welded together, both in one frame.
func (a Inertia) Add(b Inertia) Inertia {
	m := a.Mass + b.Mass
	if m == 0 {
		// no mass, so no centre: it stays with whichever has rotational inertia
		com := a.Com
		if a.I == (Mat3{}) {
			com = b.Com
		}
		return Inertia{Com: com, I: a.I.Add(b.I)}
	}
	com := a.Com.Scale(a.Mass / m).Add(b.Com.Scale(b.Mass / m))
	return Inertia{
		Mass: m,
		Com:  com,
		I:    a.about(com).Add(b.about(com)),
	}
}

// about returns the rotational inertia about the point p (parallel-axis theorem).
func (a Inertia) about(p Vec3) Mat3 {
	d := a.Com.Sub(p)
	S := Skew(d)
	return a.I.Add(S.Mul(S.Transpose()).Scale(a.Mass))
}

// AboutOrigin returns the rotational inertia about the origin of the frame.
func (a Inertia) AboutOrigin() Mat3 { return a.about(Vec3{}) }
