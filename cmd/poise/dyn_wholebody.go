package main

import (
	"encoding/json"
	"fmt"
	"math"

	"poise/contact"
	"poise/problem"
	"poise/robot"
	"poise/spatial"
	"poise/wholebody"
)

// wholebodyAnswer is a line of dyn wholebody: world axes, vectors as lists.
type wholebodyAnswer struct {
	A          []float64              `json:"a"`
	Tau        []float64              `json:"tau"`
	Forces     map[string]contactLoad `json:"forces"`
	Levels     []levelAnswer          `json:"levels"`
	Feasible   bool                   `json:"feasible"`
	Iterations int                    `json:"iterations"`
}

type levelAnswer struct {
	Name     string   `json:"name"`
	Residual float64  `json:"residual"`
	Slack    float64  `json:"slack"`
	Active   []string `json:"active"`
	Status   string   `json:"status"`
}

// wholebody: accelerations of base, limbs and joints, contacts and limits → the acceleration,
// torques and contact forces that serve them under strict priorities.
func (d *dyn) wholebody(r *request) (any, error) {
	if !d.m.Floating() {
		return nil, errFixedBase
	}
	if d.m.Mass() == 0 {
		return nil, errNoMass
	}
	q, v := r.standing("q", d.m), r.numbers("v", d.m.NumV())
	req := wholebody.Request{Supports: r.supports("supports", d.m), Friction: r.friction("friction")}
	if r.has("margin") {
		req.Margin = r.atLeastZero("margin", r.values["margin"])
	}
	if r.has("order") {
		switch name, ok := r.text("order"); {
		case name == wholebody.Seed.String():
			req.Order = wholebody.Seed
		case ok && name != wholebody.Default.String():
			r.fail("order is %q, want %q or %q%s", name, wholebody.Seed, wholebody.Default,
				problem.Hint(name, []string{wholebody.Seed.String(), wholebody.Default.String()}))
		}
	}
	r.baseRequest("base", &req)
	if r.has("zmp") {
		if p := r.numbers("zmp", 2); p != nil {
			req.ZMP, req.HasZMP = contact.Point{X: p[0], Y: p[1]}, true
		}
	}
	req.Limbs = r.limbs("limbs", d.m, &req)
	req.Joints = r.jointAccelerations("joints", d.m)
	r.limits("limits", d.m, &req)
	if err := r.done(); err != nil {
		return nil, err
	}
	if d.whole == nil {
		whole, err := wholebody.New(d.m)
		if err != nil {
			return nil, err
		}
		d.whole = whole
	}
	d.whole.Forget() // a line's answer does not depend on the lines before
	var ans wholebody.Answer
	if err := d.whole.Solve(&ans, q, v, &req); err != nil {
		return nil, err
	}
	return d.wholebodyAnswer(&ans), nil
}

func (d *dyn) wholebodyAnswer(ans *wholebody.Answer) wholebodyAnswer {
	out := wholebodyAnswer{
		A: ans.Acceleration, Tau: ans.Torque, Feasible: ans.Feasible, Iterations: ans.Iterations,
		Forces: map[string]contactLoad{},
	}
	for _, c := range ans.Contacts {
		out.Forces[d.m.Chains()[c.Chain].Name] = contactLoad{Force: xyzList(c.Force), Moment: xyzList(c.Torque), Point: xyzList(c.Point)}
	}
	for _, l := range ans.Levels {
		level := levelAnswer{Name: l.Name, Residual: l.Residual, Slack: l.Slack, Active: []string{}, Status: l.Status.String()}
		for _, row := range l.Active {
			level.Active = append(level.Active, d.whole.RowName(row))
		}
		out.Levels = append(out.Levels, level)
	}
	return out
}

// inner takes the object of a key that may be left out.
func (r *request) inner(key, example string) (inner *request, ok bool) {
	if !r.has(key) {
		return nil, false
	}
	inner, err := parseRequest(r.values[key])
	if err != nil {
		r.fail("%s: an object is wanted, such as %s, not %s", key, example, short(r.values[key]))
		return nil, false
	}
	return inner, true
}

// close takes over what an inner object complains of, and its unknown keys.
func (r *request) close(inner *request, key string) {
	if err := inner.done(); err != nil {
		for _, e := range flatten(err) {
			r.fail("%s: %w", key, e)
		}
	}
}

func (r *request) atLeastZero(what string, raw json.RawMessage) float64 {
	x := r.number(what, raw)
	if x < 0 {
		r.fail("%s is %g, want 0 or more", what, x)
	}
	return x
}

func vector(x []float64) spatial.Vec3 {
	if len(x) != 3 {
		return spatial.Vec3{}
	}
	return spatial.Vec3{X: x[0], Y: x[1], Z: x[2]}
}

// baseRequest takes {"linear":[3],"angular":[3]}, of which one may be left out.
func (r *request) baseRequest(key string, req *wholebody.Request) {
	inner, ok := r.inner(key, `{"linear":[0,0,0],"angular":[0,0,0]}`)
	if !ok {
		return
	}
	if req.HasLinear = inner.has("linear"); req.HasLinear {
		req.Base.Linear = vector(inner.numbers("linear", 3))
	}
	if req.HasAngular = inner.has("angular"); req.HasAngular {
		req.Base.Angular = vector(inner.numbers("angular", 3))
	}
	r.close(inner, key)
}

// limbs takes {"leg1":{"linear":[3]}}.
func (r *request) limbs(key string, m *robot.Model, req *wholebody.Request) (all []wholebody.Limb) {
	inner, ok := r.inner(key, `{"leg1":{"linear":[0,0,0]}}`)
	if !ok {
		return nil
	}
	var names []string
	for _, c := range m.Chains() {
		names = append(names, c.Name)
	}
	for _, name := range inner.keys {
		id, known := m.Chain(name)
		if !known {
			r.fail("%s: chain %q is unknown%s", key, name, problem.Hint(name, names))
			continue
		}
		for _, s := range req.Supports {
			if s.Chain == id && s.Coefficient > 0 {
				r.fail("%s: chain %q stands (supports.%s is %g), so it cannot be asked to accelerate", key, name, name, s.Coefficient)
			}
		}
		inner.ask(name)
		if limb, ok := inner.inner(name, `{"linear":[0,0,0]}`); ok {
			all = append(all, wholebody.Limb{Chain: id, Linear: vector(limb.numbers("linear", 3))})
			inner.close(limb, name)
		}
	}
	for _, e := range inner.errs {
		r.fail("%s: %w", key, e)
	}
	return all
}

// jointAccelerations takes {"joint51":0.5}.
func (r *request) jointAccelerations(key string, m *robot.Model) (all []wholebody.Joint) {
	inner, ok := r.inner(key, `{"joint1":0.5}`)
	if !ok {
		return nil
	}
	var names []string
	for _, j := range m.Joints() {
		names = append(names, j.Name)
	}
	for _, name := range inner.keys {
		a := r.number(key+"."+name, inner.values[name])
		id, known := m.Joint(name)
		switch {
		case !known:
			r.fail("%s: joint %q is unknown%s", key, name, problem.Hint(name, names))
		case m.Joints()[id].Kind.NumV() != 1:
			r.fail("%s: joint %q has %d velocities, want a joint with one", key, name, m.Joints()[id].Kind.NumV())
		default:
			all = append(all, wholebody.Joint{V: m.Joints()[id].V, Acceleration: a})
		}
	}
	r.errs = append(r.errs, inner.errs...)
	return all
}

// limits takes {"tau":1.2,"a":[200,…]}: a number for all joints, or a list.
func (r *request) limits(key string, m *robot.Model, req *wholebody.Request) {
	inner, ok := r.inner(key, `{"tau":1.2,"a":200}`)
	if !ok {
		return
	}
	req.MaxTorque = inner.perJoint("tau", m.NumV()-6)
	req.MaxAcceleration = inner.perJoint("a", m.NumV()-6)
	r.close(inner, key)
}

// perJoint takes a number, or a list of n; nil if the key is left out.
func (r *request) perJoint(key string, n int) []float64 {
	if !r.has(key) {
		return nil
	}
	raw := r.values[key]
	all := make([]float64, n)
	var number *float64
	if json.Unmarshal(raw, &number) == nil && number != nil && !math.IsInf(*number, 0) {
		for i := range all {
			all[i] = *number
		}
		if *number < 0 {
			r.fail("%s is %g, want 0 or more", key, *number)
		}
		return all
	}
	var elements []json.RawMessage
	if json.Unmarshal(raw, &elements) != nil || elements == nil {
		r.fail("%s: a number or an array of %d numbers is wanted, not %s", key, n, short(raw))
		return nil
	}
	if len(elements) != n {
		r.fail("%s has %d numbers, want %d", key, len(elements), n)
		return nil
	}
	for i, e := range elements {
		all[i] = r.atLeastZero(fmt.Sprintf("%s[%d]", key, i), e)
	}
	return all
}
