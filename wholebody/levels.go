package wholebody

import (
	"math"
	"slices"

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
	for i, x := range r.Supports {
		if !(x.Coefficient > 0) {
			continue
		}
		f := &feet[count]
		count++
		model := &s.models[x.Contact]
		tip := s.kin.At(s.m.Chains()[x.Chain].Tip)
		X_WT := s.kin.Pose(tip)
		origin, _ := model.Origin()
		*f = foot{
			chain: x.Chain, model: model, R: X_WT.R, point: X_WT.Apply(origin), J: f.J, unknown: n, coefficient: x.Coefficient,
			place: tip.Offset(spatial.Pose{R: spatial.Identity3, P: origin}),
		}
		if r.Feedback != nil {
			f.back = r.Feedback[i]
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
	clear(s.yields)
	for _, l := range r.Limbs {
		for _, v := range s.ways[l.Chain] {
			s.busy[v], s.yields[v] = true, s.yields[v] || l.Yields
		}
	}
	for _, j := range r.Fixed {
		s.busy[j.V] = true
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

// dynamics is the base's part of the equation of motion: no torque acts there. Joints that no servo
// moves do what they do.
func (s *Solver) dynamics(r *Request) {
	for i := range 6 {
		s.motion(i)
		s.levels.Equal(-s.h[i])
	}
	for j := 6; j < s.nv; j++ {
		s.motion(j)
		s.torque[j] = s.levels.Last()
	}
	for _, j := range r.Fixed {
		s.joint(j.V, j.Acceleration)
	}
}

// contacts holds the points that stand.
func (s *Solver) contacts() {
	for i := range s.feet {
		f := &s.feet[i]
		A := s.kin.BiasAcceleration(f.place)
		A.Linear, A.Angular = A.Linear.Sub(f.back.Linear), A.Angular.Sub(f.back.Angular)
		rest := f.model.RatesTo(s.rate, f.R, A, s.kin.Twist(f.place).Angular)
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
		A := s.kin.BiasAcceleration(f.place).Angular.Sub(f.back.Angular)
		for c, bias := range [2]float64{A.X, A.Y} {
			copy(s.levels.Row(), f.J[(3+c)*s.nv:(4+c)*s.nv])
			s.levels.Equal(-bias)
		}
	}
}

// limits are those of torques and joint accelerations, and of how far legs reach.
func (s *Solver) limits(r *Request) {
	s.reach(r)
	for j, most := range r.MaxTorque {
		if v := 6 + j; !math.IsInf(most, 1) {
			s.levels.AtMostAgain(s.torque[v], most-s.h[v], rowOf(torqueMax, v))
			s.levels.AtLeastAgain(s.torque[v], lower(r.MinTorque, j, most)-s.h[v], rowOf(torqueMin, v))
		}
	}
	for j, most := range r.MaxAcceleration {
		if v := 6 + j; !math.IsInf(most, 1) {
			s.levels.Row()[v] = 1
			s.levels.AtMost(most, rowOf(accelerationMax, v))
			s.levels.AtLeast(lower(r.MinAcceleration, j, most), rowOf(accelerationMin, v))
		}
	}
}

// torqueRate keeps torques near those of the time before.
func (s *Solver) torqueRate(r *Request) {
	for j, by := range r.Slew {
		if v := 6 + j; !math.IsInf(by, 1) {
			s.levels.AtMostAgain(s.torque[v], r.Before[j]+by-s.h[v], rowOf(torqueRateMax, v))
			s.levels.AtLeastAgain(s.torque[v], r.Before[j]-by-s.h[v], rowOf(torqueRateMin, v))
		}
	}
}

// reach keeps legs that stand from getting straight, by how the base moves.
func (s *Solver) reach(r *Request) {
	X := s.kin.BodyPose(1)
	for _, l := range r.Reach {
		place := kinematics.Place{Body: 1, Pose: spatial.Pose{R: spatial.Identity3, P: X.R.TMulVec(l.Point.Sub(X.P))}}
		s.kin.JacobianTo(s.J, place)
		row := s.levels.Row()
		for i := range 6 {
			row[i] = l.Along.X*s.J[i] + l.Along.Y*s.J[s.nv+i] + l.Along.Z*s.J[2*s.nv+i]
		}
		s.levels.AtLeast(l.Least-l.Along.Dot(s.kin.BiasAcceleration(place).Linear), rowOf(legReach, int(l.Chain)))
	}
}

// lower is the lower limit of a joint beside its upper one.
func lower(limits []float64, j int, most float64) float64 {
	if limits == nil {
		return -most
	}
	return limits[j]
}

// friction keeps forces in the inner pyramid and moments on the sole.
func (s *Solver) friction(r *Request) {
	μ := r.Friction / math.Sqrt2
	for i := range s.feet {
		f := &s.feet[i]
		x, y, z, chain := f.unknown, f.unknown+1, f.unknown+2, int(f.chain)
		s.levels.Row()[z] = 1
		s.levels.AtLeast(0, rowOf(normalForce, chain))
		if r.Fade && f.coefficient < 1 {
			s.levels.AtMostAgain(s.levels.Last(), f.coefficient/(1-f.coefficient)*s.weight, rowOf(fadingForce, chain))
		}
		s.cone(z, μ, x, -1, rowOf(frictionPlusX, chain))
		s.cone(z, μ, x, 1, rowOf(frictionMinusX, chain))
		s.cone(z, μ, y, -1, rowOf(frictionPlusY, chain))
		s.cone(z, μ, y, 1, rowOf(frictionMinusY, chain))
		if f.model.Moments() == 0 {
			continue
		}
		if n := f.model.Limits(); n > 0 {
			for k := range n {
				F, M := f.model.Limit(k, f.R, r.Friction)
				copy(s.levels.Row()[x:], []float64{F.X, F.Y, F.Z, M.X, M.Y, M.Z})
				id := rowOf(momentSide, chain*sides+k)
				if k >= n-2 {
					id = rowOf(torsionPlus+k-(n-2), chain)
				}
				s.levels.AtLeast(0, id)
			}
			continue
		}
		sole := f.model.Sole()
		radius, about := f.model.MomentLimits(r.Friction)
		step := 1
		if r.Coarse {
			step = 4
			radius *= math.Cos(math.Pi*4/sides) / math.Cos(math.Pi/sides)
		}
		for k := 0; k < sides; k += step {
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
			if r.Moments && f.model.Moments() > 0 { // x = Σ(x·fz − my)/Σfz, y = Σ(y·fz + mx)/Σfz
				row[f.unknown+3], row[f.unknown+4] = n.Y, -n.X
			}
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
			if r.Moments && f.model.Moments() > 0 {
				row[f.unknown+4-c] = [2]float64{-1, 1}[c]
			}
		}
		s.ask(0)
	}
}

// base asks for the chosen components of the base's acceleration: linear x, y, z, angular.
func (s *Solver) base(r *Request, chosen [6]bool) {
	place := kinematics.Place{Body: 1, Pose: spatial.Pose{R: spatial.Identity3}}
	s.kin.JacobianTo(s.J, place)
	A := s.kin.BiasAcceleration(place)
	l, t := r.Base.Linear.Sub(A.Linear), r.Base.Angular.Sub(A.Angular)
	for c, want := range [6]float64{l.X, l.Y, l.Z, t.X, t.Y, t.Z} {
		if chosen[c] && (c < 3 && r.HasLinear && !r.HasCom || c >= 3 && r.HasAngular) {
			copy(s.levels.Row(), s.J[c*s.nv:(c+1)*s.nv])
			s.ask(want)
		}
	}
	if !r.HasCom {
		return
	}
	g := s.m.Gravity()
	for c, want := range [3]float64{r.Com.X - g.X, r.Com.Y - g.Y, r.Com.Z - g.Z} {
		if chosen[c] { // m·c̈ = Σf + m·g
			s.force(c)
			s.ask(want)
		}
	}
}

// force fills in row Σf/m, of one axis.
func (s *Solver) force(axis int) {
	row := s.levels.Row()
	for k := range s.feet {
		row[s.feet[k].unknown+axis] = 1 / s.m.Mass()
	}
}

// capture keeps the capture point inside: the ground pushes the centre of mass so much along each
// direction.
func (s *Solver) capture(r *Request) {
	for i, h := range r.Capture {
		row := s.levels.Row()
		for k := range s.feet {
			at := s.feet[k].unknown
			row[at], row[at+1] = h.Along.X/s.m.Mass(), h.Along.Y/s.m.Mass()
		}
		s.levels.AtLeast(h.Least, rowOf(captureEdge, i))
	}
}

// limbs asks for the accelerations of points of free limbs.
func (s *Solver) limbs(r *Request) {
	for _, l := range r.Limbs {
		chain := &s.m.Chains()[l.Chain]
		place := s.kin.At(chain.Tip)
		if chain.Contact != robot.NoContact {
			if p, ok := s.models[chain.Contact].Origin(); ok {
				place = place.Offset(spatial.Pose{R: spatial.Identity3, P: p})
			}
		}
		s.kin.JacobianTo(s.J, place)
		A := s.kin.BiasAcceleration(place)
		want, turn := l.Linear.Sub(A.Linear), l.Angular.Sub(A.Angular)
		for c, a := range [6]float64{want.X, want.Y, want.Z, turn.X, turn.Y, turn.Z} {
			if c >= 3+l.Turns {
				break
			}
			copy(s.levels.Row(), s.J[c*s.nv:(c+1)*s.nv])
			s.ask(a)
		}
		if l.Yields {
			s.leftover(r, s.ways[l.Chain])
		}
	}
}

// leftover asks for what joints are to do where that does not move a limb's point, of which J has the Jacobian: for
// N·a = N·wanted, N = 1 − Jᵀ(J·Jᵀ)⁻¹·J of the limb's own joints. A limb that is straight has no such rows.
func (s *Solver) leftover(r *Request, joints []int) {
	fixed := func(v int) bool { return slices.ContainsFunc(r.Fixed, func(j Joint) bool { return j.V == v }) }
	column := func(v int) spatial.Vec3 {
		if fixed(v) {
			return spatial.Vec3{}
		}
		return spatial.Vec3{X: s.J[v], Y: s.J[s.nv+v], Z: s.J[2*s.nv+v]}
	}
	var X, Y, Z spatial.Vec3 // rows of J·Jᵀ
	for _, v := range joints {
		c := column(v)
		X, Y, Z = X.Add(c.Scale(c.X)), Y.Add(c.Scale(c.Y)), Z.Add(c.Scale(c.Z))
	}
	YZ, ZX, XY := Y.Cross(Z), Z.Cross(X), X.Cross(Y)
	det := X.Dot(YZ)
	if size := X.Norm() * Y.Norm() * Z.Norm(); !(det > leastVolume*size) {
		return
	}
	for _, i := range joints {
		if fixed(i) {
			continue
		}
		c := column(i)
		pull := YZ.Scale(c.X).Add(ZX.Scale(c.Y)).Add(XY.Scale(c.Z)).Scale(1 / det)
		row, want := s.levels.Row(), 0.0
		for _, k := range joints {
			if row[k] = -pull.Dot(column(k)); k == i {
				row[k]++
			}
			for _, j := range r.Joints {
				if j.V == k {
					want += row[k] * j.Acceleration
				}
			}
		}
		s.ask(want)
	}
}

func (s *Solver) joint(v int, a float64) {
	s.levels.Row()[v] = 1
	s.ask(a)
}

// ask asks for the last row to be b, with the weight of its group.
func (s *Solver) ask(b float64) {
	if w := s.scale; w != 1 {
		row := s.levels.LastRow()
		for i := range row {
			row[i] *= w
		}
		b *= w
	}
	s.levels.Equal(b)
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
func (s *Solver) regularise(name string) {
	s.levels.BeginWhole()
	s.names, s.safety = append(s.names, name), append(s.safety, false)
	for j := 6; j < s.nv; j++ {
		s.levels.EqualAgain(s.torque[j], -s.h[j])
	}
	for i := 6; i < s.n; i++ { // joints, then wrenches
		s.levels.Row()[i] = regularisation
		s.levels.Equal(0)
	}
}
