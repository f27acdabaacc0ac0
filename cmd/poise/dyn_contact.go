package main

import (
	"math"
	"slices"

	"poise/contact"
	"poise/control"
	"poise/floatingbase"
	"poise/problem"
	"poise/robot"
	"poise/spatial"
)

// contactAnswer is a line of dyn contact: world axes, vectors as lists.
type contactAnswer struct {
	Tau        []float64              `json:"tau"`
	Forces     map[string]contactLoad `json:"forces"`
	Residual   [6]float64             `json:"residual"` // linear, angular, at the base's origin
	A          []float64              `json:"a"`
	Correction float64                `json:"correction"` // length of the change of a
	Com        [3]float64             `json:"com"`
	Cop        *[2]float64            `json:"cop"`
	Zmp        *[2]float64            `json:"zmp"`
	Polygon    [][2]float64           `json:"polygon"`
	Margin     *float64               `json:"margin"`
}

type contactLoad struct {
	Force  [3]float64 `json:"force"`
	Moment [3]float64 `json:"moment"`
	Point  [3]float64 `json:"point"`
}

// contact: {"q","v","a","supports","friction"} → torques and contact forces that give the
// acceleration, as far as the supports allow it.
func (d *dyn) contact(r *request) (any, error) {
	if !d.m.Floating() {
		return nil, errFixedBase
	}
	q, v, a := r.standing("q", d.m), r.numbers("v", d.m.NumV()), r.numbers("a", d.m.NumV())
	supports := r.supports("supports", d.m)
	friction := r.friction("friction")
	if err := r.done(); err != nil {
		return nil, err
	}
	if d.inverse == nil {
		inverse, err := floatingbase.NewInverse(d.m)
		if err != nil {
			return nil, err
		}
		d.inverse = inverse
	}
	var ans floatingbase.Answer
	if err := d.inverse.Solve(&ans, q, v, a, supports, friction); err != nil {
		return nil, err
	}
	return d.contactAnswer(&ans), nil
}

func (d *dyn) contactAnswer(ans *floatingbase.Answer) contactAnswer {
	f, t := xyzList(ans.Residual.Force), xyzList(ans.Residual.Torque)
	out := contactAnswer{
		Tau: ans.Torque, A: ans.Acceleration, Correction: ans.Correction,
		Residual: [6]float64{f[0], f[1], f[2], t[0], t[1], t[2]},
		Com:      xyzList(ans.Com),
		Forces:   map[string]contactLoad{}, Polygon: [][2]float64{},
	}
	for _, c := range ans.Contacts {
		out.Forces[d.m.Chains()[c.Chain].Name] = contactLoad{Force: xyzList(c.Force), Moment: xyzList(c.Torque), Point: xyzList(c.Point)}
	}
	for _, p := range ans.Polygon.Corners {
		out.Polygon = append(out.Polygon, [2]float64{p.X, p.Y})
	}
	out.Cop, out.Zmp = pointIf(ans.CoP, ans.HasCoP), pointIf(ans.ZMP, ans.HasZMP)
	if !math.IsInf(ans.Margin, 0) {
		out.Margin = &ans.Margin
	}
	return out
}

func pointIf(p contact.Point, ok bool) *[2]float64 {
	if !ok {
		return nil
	}
	return &[2]float64{p.X, p.Y}
}

func xyzList(v spatial.Vec3) [3]float64 { return [3]float64{v.X, v.Y, v.Z} }

// standing takes the configuration of a robot on feet. Too far away the arms of forces would vanish by rounding.
func (r *request) standing(key string, m *robot.Model) []float64 {
	q := r.configuration(key, m)
	if q == nil {
		return nil
	}
	for i, x := range q[:3] {
		if math.Abs(x) > control.FarthestBase {
			r.fail("%s[%d] is %g m, want at most %g m from the origin", key, i, x, control.FarthestBase)
		}
	}
	return q
}

// supports takes an object of chains and their support coefficients.
func (r *request) supports(key string, m *robot.Model) (all []floatingbase.Support) {
	raw, ok := r.value(key)
	if !ok {
		return nil
	}
	inner, err := parseRequest(raw)
	if err != nil {
		r.fail(`%s: an object is wanted, such as {"leg1":1}, not %s`, key, short(raw))
		return nil
	}
	var able []string
	for _, c := range m.Chains() {
		if c.Contact != robot.NoContact {
			able = append(able, c.Name)
		}
	}
	for _, name := range inner.keys {
		s := inner.number(key+"."+name, inner.values[name])
		id, known := m.Chain(name)
		switch {
		case !known:
			r.fail("%s: chain %q is unknown%s", key, name, problem.Hint(name, able))
		case !slices.Contains(able, name):
			r.fail("%s: chain %q has no contact in robot.yaml, so it cannot support", key, name)
		case s < 0 || s > 1:
			r.fail("%s.%s is %g, want 0 to 1", key, name, s)
		default:
			all = append(all, floatingbase.Support{Chain: id, Contact: m.Chains()[id].Contact, Coefficient: s})
		}
	}
	r.errs = append(r.errs, inner.errs...)
	// the order of the chains, so that the same supports give the same digits
	slices.SortFunc(all, func(a, b floatingbase.Support) int { return int(a.Chain - b.Chain) })
	return all
}

// friction takes a coefficient of friction.
func (r *request) friction(key string) float64 {
	raw, ok := r.value(key)
	if !ok {
		return 0
	}
	μ := r.number(key, raw)
	if μ < 0 {
		r.fail("%s is %g, want 0 or more", key, μ)
	}
	return μ
}
