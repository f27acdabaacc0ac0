package spatial

// Pose is a rigid displacement X_AB: frame B seen from frame A.
type Pose struct {
	R Mat3 // R_AB, rotation
	P Vec3 // p_AB, origin of B in A
}

// IdentityPose leaves everything where it is.
var IdentityPose = Pose{R: Identity3}

// Mul composes poses: X_AC = X_AB · X_BC.
func (X_AB Pose) Mul(X_BC Pose) (X_AC Pose) {
	X_AC.R = X_AB.R.Mul(X_BC.R)
	X_AC.P = X_AB.R.MulVec(X_BC.P).Add(X_AB.P)
	return X_AC
}

// Apply maps a point: p_AQ = X_AB · p_BQ.
func (X_AB Pose) Apply(p_BQ Vec3) Vec3 { return X_AB.R.MulVec(p_BQ).Add(X_AB.P) }

// Inverse returns X_BA.
func (X_AB Pose) Inverse() (X_BA Pose) {
	X_BA.R = X_AB.R.Transpose()
	X_BA.P = X_AB.R.TMulVec(X_AB.P).Neg()
	return X_BA
}

// Twist is the velocity of a body: angular velocity and the linear velocity of
// the point named where it is used.
type Twist struct{ Angular, Linear Vec3 }

// Wrench is a force on a body: the torque about the point named where it is
// used, and the force.
type Wrench struct{ Torque, Force Vec3 }

// Power returns the power of the wrench on the twist, both about one point and
// in the same axes.
func (w Wrench) Power(v Twist) float64 { return w.Torque.Dot(v.Angular) + w.Force.Dot(v.Linear) }
