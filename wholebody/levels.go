package wholebody

import (
	"math"

	"poise/contact"
	"poise/floatingbase"
	"poise/kinematics"
	"poise/robot"
	"poise/spatial"
)

// stand finds where the supports are.
func (s *Solver) stand(r *Request) {
	feet := s.feet[:cap(s.feet)]
	count, n := 0, s.nv
	s.soles, s.beyond = s.soles[:0], 0
	clear(s.busy)
	for _, x := range r.Supports {
		if !(x.Coefficient > 0) {
			continue
		}
		f := &feet[count]
		count++
		model := &s.models[x.Contact]
		tip := s.kin.At(s.m.Chains()[x.Chain].Tip)
		X_WT := s.kin.Pose(tip)
		first, _ := model.First()
		*f = foot{
			chain: x.Chain, model: model, R: X_WT.R, point: X_WT.Apply(first), J: f.J, unknown: n,
			place: tip.Offset(spatial.Pose{R: spatial.Identity3, P: first}),
		}
		n += f.unknowns()
		s.kin.JacobianTo(f.J, f.place)
		for _, p := range model.Soles() {
			w := X_WT.Apply(p)
			s.soles = append(s.soles, contact.Point{X: w.X, Y: w.Y})
		}
		for _, v := range s.ways[x.Chain] {
			s.busy[v] = true
		}
	}
	for _, l := range r.Limbs {
		for _, v := range s.ways[l.Chain] {
			s.busy[v] = true
		}
	}
	s.feet, s.n = feet[:count], n
	s.polygon.Hull(s.soles)
	s.heading = floatingbase.Heading(s.kin.BodyPose(1).R)
}

// motion fills in row i of M·a − Jᵀ·N.
func (s *Solver) motion(i int) {
	row := s.levels.Row()
	copy(row, s.M[i*s.nv:(i+1)*s.nv])
	for k := range s.feet {
		f := &s.feet[k]
		for c := range f.unknowns() {
			row[f.unknown+c] = -f.J[c*s.nv+i]
		}
	}
}

// dynamics is the base's part of the equation of motion: no torque acts there.
func (s *Solver) dynamics() {
	for i := range 6 {
		s.motion(i)
		s.levels.Equal(-s.h[i])
	}
	for j := 6; j < s.nv; j++ {
		s.motion(j)
		s.torque[j] = s.levels.Last()
	}
}

// contacts holds the points that stand.
func (s *Solver) contacts() {
	for i := range s.feet {
		f := &s.feet[i]
		rest := f.model.RatesTo(s.rate, f.R, s.kin.BiasAcceleration(f.place), s.kin.Twist(f.place).Angular)
		s.beyond = math.Hypot(s.beyond, rest)
		for k := range f.model.Rows() {
			f.model.RowTo(s.levels.Row()[:s.nv], k, f.R, f.J, s.nv)
			s.levels.Equal(-s.rate[k])
		}
	}
}

// orientation keeps feet that stand on one point from tilting, in legs that have the joints
// for it: three for the point, two for this.
func (s *Solver) orientation() {
	for i := range s.feet {
		f := &s.feet[i]
		if f.model.Rows() > 3 || len(s.ways[f.chain]) < 5 {
			continue
		}
		A := s.kin.BiasAcceleration(f.place).Angular
		for c, bias := range [2]float64{A.X, A.Y} {
			copy(s.levels.Row(), f.J[(3+c)*s.nv:(4+c)*s.nv])
			s.levels.Equal(-bias)
		}
	}
}

// limits are those of torques and joint accelerations.
func (s *Solver) limits(r *Request) {
	for j, most := range r.MaxTorque {
		if v := 6 + j; !math.IsInf(most, 1) {
			s.levels.AtMostAgain(s.torque[v], most-s.h[v], rowOf(torqueMax, v))
			s.levels.AtLeastAgain(s.torque[v], -most-s.h[v], rowOf(torqueMin, v))
		}
	}
	for j, most := range r.MaxAcceleration {
		if v := 6 + j; !math.IsInf(most, 1) {
			s.levels.Row()[v] = 1
			s.levels.AtMost(most, rowOf(accelerationMax, v))
			s.levels.AtLeast(-most, rowOf(accelerationMin, v))
		}
	}
}

// friction keeps forces in the inner pyramid and moments on the sole.
func (s *Solver) friction(r *Request) {
	μ := r.Friction / math.Sqrt2
	for i := range s.feet {
		f := &s.feet[i]
		x, y, z, chain := f.unknown, f.unknown+1, f.unknown+2, int(f.chain)
		s.levels.Row()[z] = 1
		s.levels.AtLeast(0, rowOf(normalForce, chain))
		s.cone(z, μ, x, -1, rowOf(frictionPlusX, chain))
		s.cone(z, μ, x, 1, rowOf(frictionMinusX, chain))
		s.cone(z, μ, y, -1, rowOf(frictionPlusY, chain))
		s.cone(z, μ, y, 1, rowOf(frictionMinusY, chain))
		if f.model.Moments() == 0 {
			continue
		}
		sole := f.model.Sole()
		radius, about := f.model.MomentLimits(r.Friction)
		for k := range sides {
			ny, nx := math.Sincos(s.heading + float64(k)*2*math.Pi/sides)
			row := s.levels.Row()
			row[z], row[z+1], row[z+2] = radius*sole, -nx, -ny
			s.levels.AtLeast(0, rowOf(momentSide, chain*sides+k))
		}
		if f.model.Moments() == 3 {
			s.cone(z, about*sole, z+3, -1, rowOf(torsionPlus, chain))
			s.cone(z, about*sole, z+3, 1, rowOf(torsionMinus, chain))
		}
	}
}

// cone adds a·x[i] + b·x[j] ≥ 0.
func (s *Solver) cone(i int, a float64, j int, b float64, id int) {
	row := s.levels.Row()
	row[i], row[j] = a, b
	s.levels.AtLeast(0, id)
}

// zmpInside keeps the zero-moment point inside the polygon of the soles by a margin: about
// each edge, the forces press inwards. The margin is at most half the inradius.
func (s *Solver) zmpInside(r *Request) {
	inradius := s.polygon.Inradius()
	if !(inradius > leastInradius) {
		return
	}
	margin := min(r.Margin, inradius/2)
	for i := range s.polygon.Corners {
		e, n := s.polygon.Edge(i)
		row := s.levels.Row()
		for k := range s.feet {
			f := &s.feet[k]
			row[f.unknown+2] = n.X*(f.point.X-e.X) + n.Y*(f.point.Y-e.Y) - margin
		}
		s.levels.AtLeast(0, rowOf(zmpEdge, i))
	}
}

// zmpAt asks for the zero-moment point at a place.
func (s *Solver) zmpAt(r *Request) {
	for c := range 2 {
		row := s.levels.Row()
		for k := range s.feet {
			f := &s.feet[k]
			row[f.unknown+2] = [2]float64{f.point.X - r.ZMP.X, f.point.Y - r.ZMP.Y}[c]
		}
		s.levels.Equal(0)
	}
}

// base asks for the chosen components of the base's acceleration: linear x, y, z, angular.
func (s *Solver) base(r *Request, chosen [6]bool) {
	place := kinematics.Place{Body: 1, Pose: spatial.Pose{R: spatial.Identity3}}
	s.kin.JacobianTo(s.J, place)
	A := s.kin.BiasAcceleration(place)
	l, t := r.Base.Linear.Sub(A.Linear), r.Base.Angular.Sub(A.Angular)
	for c, want := range [6]float64{l.X, l.Y, l.Z, t.X, t.Y, t.Z} {
		if chosen[c] && (c < 3 && r.HasLinear || c >= 3 && r.HasAngular) {
			copy(s.levels.Row(), s.J[c*s.nv:(c+1)*s.nv])
			s.levels.Equal(want)
		}
	}
}

// limbs asks for the accelerations of points of free limbs.
func (s *Solver) limbs(r *Request) {
	for _, l := range r.Limbs {
		chain := &s.m.Chains()[l.Chain]
		place := s.kin.At(chain.Tip)
		if chain.Contact != robot.NoContact {
			if p, ok := s.models[chain.Contact].First(); ok {
				place = place.Offset(spatial.Pose{R: spatial.Identity3, P: p})
			}
		}
		s.kin.JacobianTo(s.J, place)
		want := l.Linear.Sub(s.kin.BiasAcceleration(place).Linear)
		for c, a := range [3]float64{want.X, want.Y, want.Z} {
			copy(s.levels.Row(), s.J[c*s.nv:(c+1)*s.nv])
			s.levels.Equal(a)
		}
	}
}

func (s *Solver) joint(v int, a float64) {
	s.levels.Row()[v] = 1
	s.levels.Equal(a)
}

// posture holds joints that neither a standing nor a moving limb needs: as requested, or
// without acceleration.
func (s *Solver) posture(r *Request) {
	for v := 6; v < s.nv; v++ {
		if s.busy[v] {
			continue
		}
		a := 0.0
		for _, j := range r.Joints {
			if j.V == v {
				a = j.Acceleration
			}
		}
		s.joint(v, a)
	}
}

// regularise chooses among what is left: |τ|² + 1e-4·|joint a|² + 1e-4·|N|².
func (s *Solver) regularise() {
	s.levels.BeginWhole()
	s.names, s.safety = append(s.names, "regularisation"), append(s.safety, false)
	for j := 6; j < s.nv; j++ {
		s.levels.EqualAgain(s.torque[j], -s.h[j])
	}
	for i := 6; i < s.n; i++ { // joints, then wrenches
		s.levels.Row()[i] = regularisation
		s.levels.Equal(0)
	}
}
