package oracle

import (
	"math"

	"poise/spatial"
	"poise/urdf"
)

// Pendulum is a body that swings about a horizontal axis.
type Pendulum struct {
	Mass    float64 // kg
	Length  float64 // from the axis to the centre of mass, m
	Inertia float64 // about the centre of mass, along the axis, kg·m²
	Gravity float64 // m/s²
}

// Document returns the pendulum as a robot: it hangs down at zero and turns
// about y.
func (p Pendulum) Document() *urdf.Document {
	return &urdf.Document{
		Name:   "pendulum",
		Links:  []urdf.Link{{Name: "wall"}, Link("bob", p.Mass, spatial.Vec3{Z: -p.Length}, p.Inertia, p.Inertia, p.Inertia)},
		Joints: []urdf.Joint{Joint("swing", urdf.Continuous, "wall", "bob", spatial.Vec3{}, spatial.Vec3{Y: 1})},
	}
}

// Force returns the torque for the angular acceleration a at the angle q, from
// the balance of moments about the axis.
func (p Pendulum) Force(q, a float64) float64 {
	return (p.Inertia+p.Mass*p.Length*p.Length)*a + p.Mass*p.Gravity*p.Length*math.Sin(q)
}

// Period returns the time of a full swing from rest at the angle q0: the complete
// elliptic integral, by Gauss's arithmetic-geometric mean.
func (p Pendulum) Period(q0 float64) float64 {
	a, g := 1.0, math.Cos(q0/2)
	for range 40 {
		a, g = (a+g)/2, math.Sqrt(a*g)
	}
	ω := math.Sqrt(p.Mass * p.Gravity * p.Length / (p.Inertia + p.Mass*p.Length*p.Length))
	return 2 * math.Pi / (ω * a)
}

// TwoLink is an arm of two links in a vertical plane.
type TwoLink struct {
	M1, M2  float64 // masses, kg
	L1      float64 // from joint to joint, m
	C1, C2  float64 // from each joint to the centre of mass of its link, m
	I1, I2  float64 // about the centres of mass, along the axes, kg·m²
	Gravity float64 // m/s²
}

// Document returns the arm as a robot: stretched along x at zero, both joints
// about −y, so that positive angles lift it.
func (r TwoLink) Document() *urdf.Document {
	up := spatial.Vec3{Y: -1}
	return &urdf.Document{
		Name: "two link arm",
		Links: []urdf.Link{
			{Name: "base"},
			Link("upper", r.M1, spatial.Vec3{X: r.C1}, r.I1, r.I1, r.I1),
			Link("lower", r.M2, spatial.Vec3{X: r.C2}, r.I2, r.I2, r.I2),
		},
		Joints: []urdf.Joint{
			Joint("shoulder", urdf.Continuous, "base", "upper", spatial.Vec3{}, up),
			Joint("elbow", urdf.Continuous, "upper", "lower", spatial.Vec3{X: r.L1}, up),
		},
	}
}

// Mass returns the mass matrix and Bias the forces at constant velocity. They
// follow from Lagrange's equations with
//
//	K = ½(I₁+m₁c₁²)·ω₁² + ½I₂·(ω₁+ω₂)² + ½m₂·|ṙ₂|²,  |ṙ₂|² = l₁²ω₁² + c₂²(ω₁+ω₂)² + 2l₁c₂cos q₂·ω₁(ω₁+ω₂)
//	P = g·((m₁c₁+m₂l₁)·sin q₁ + m₂c₂·sin(q₁+q₂))
func (r TwoLink) Mass(q [2]float64) [4]float64 {
	k := r.M2 * r.L1 * r.C2 * math.Cos(q[1])
	b := r.I2 + r.M2*r.C2*r.C2
	a := r.I1 + r.M1*r.C1*r.C1 + r.M2*r.L1*r.L1
	return [4]float64{a + b + 2*k, b + k, b + k, b}
}

// Bias returns gravity, centrifugal and Coriolis forces; see Mass.
func (r TwoLink) Bias(q, v [2]float64) [2]float64 {
	h := r.M2 * r.L1 * r.C2 * math.Sin(q[1])
	g2 := r.Gravity * r.M2 * r.C2 * math.Cos(q[0]+q[1])
	g1 := r.Gravity*(r.M1*r.C1+r.M2*r.L1)*math.Cos(q[0]) + g2
	return [2]float64{
		-h*(2*v[0]*v[1]+v[1]*v[1]) + g1,
		h*v[0]*v[0] + g2,
	}
}

// Top is a free symmetric top: two equal moments of inertia.
type Top struct {
	Mass         float64
	Across, Long float64 // moments of inertia about x and y, and about z
}

// Document returns the top as a link to be made floating.
func (t Top) Document() *urdf.Document {
	return &urdf.Document{Name: "top", Links: []urdf.Link{Link("top", t.Mass, spatial.Vec3{}, t.Across, t.Across, t.Long)}}
}

// Spin returns the angular velocity in the top's own axes after the time t:
// Euler's equations let ω_z stay and the rest of ω circle about z with the rate
// (I_z−I_x)/I_x·ω_z.
func (t Top) Spin(ω spatial.Vec3, time float64) spatial.Vec3 {
	s, c := math.Sincos((t.Long - t.Across) / t.Across * ω.Z * time)
	return spatial.Vec3{X: c*ω.X - s*ω.Y, Y: s*ω.X + c*ω.Y, Z: ω.Z}
}

// Link returns a link with its mass at com and principal axes along its own.
func Link(name string, mass float64, com spatial.Vec3, ixx, iyy, izz float64) urdf.Link {
	return urdf.Link{Name: name, Inertial: &urdf.Inertial{
		Origin: urdf.Origin{XYZ: com}, Mass: mass, I: urdf.InertiaTensor{XX: ixx, YY: iyy, ZZ: izz},
	}}
}

// Joint returns a joint with wide limits.
func Joint(name string, typ urdf.JointType, parent, child string, at, axis spatial.Vec3) urdf.Joint {
	j := urdf.Joint{Name: name, Type: typ, Parent: parent, Child: child, Origin: urdf.Origin{XYZ: at}, Axis: axis}
	if typ == urdf.Revolute || typ == urdf.Prismatic {
		j.Limit = &urdf.Limit{
			Lower: -10, Upper: 10, Velocity: 10, Effort: 100,
			Has: urdf.HasLower | urdf.HasUpper | urdf.HasVelocity | urdf.HasEffort,
		}
	}
	return j
}
