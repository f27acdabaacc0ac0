package scenario

import (
	"slices"

	"poise/internal/strictyaml"
	"poise/problem"
	"poise/robot"
)

// A priority is a number, or a pair {pending, operational}; each for the whole
// controller or in a map per resource, with the map outside or inside the pair.
type (
	pair struct {
		Pending     strictyaml.Node `yaml:"pending"`
		Operational strictyaml.Node `yaml:"operational"`
	}
	perResource struct {
		List []resourceEntry `yaml:",inline"`
	}
	resourceEntry struct {
		Name  string          `yaml:",key"`
		Line  int             `yaml:",line"`
		Value strictyaml.Node `yaml:",value"`
	}
)

// priority reads a controller's priorities.
func (r *reader) priority(c *Controller, n strictyaml.Node) {
	if n.Line() == 0 {
		return
	}
	keys, mapping := n.Mapping()
	if !mapping || isPair(keys) {
		r.pair(c, n, nil)
		return
	}
	for leaf, value := range r.perResource(c, n) {
		r.pair(c, value, &leaf)
	}
}

func isPair(keys []string) bool {
	return !slices.ContainsFunc(keys, func(k string) bool { return k != "pending" && k != "operational" })
}

// pair reads a number that is both priorities, or {pending, operational}, for
// one leaf or for all. One that is not given is as high as the other.
func (r *reader) pair(c *Controller, n strictyaml.Node, leaf *robot.LeafID) {
	if _, mapping := n.Mapping(); !mapping {
		p := r.number(n)
		set(&c.Claim.Pending, leaf, p)
		set(&c.Claim.Operational, leaf, p)
		return
	}
	var p pair
	if !r.decode(n, &p) {
		return
	}
	if p.Pending.Line() == 0 {
		p.Pending = p.Operational
	}
	if p.Operational.Line() == 0 {
		p.Operational = p.Pending
	}
	r.one(c, &c.Claim.Pending, p.Pending, leaf)
	r.one(c, &c.Claim.Operational, p.Operational, leaf)
}

// one reads one kind of priority: a number, or a map per resource.
func (r *reader) one(c *Controller, dst *[robot.MaxLeaves]float32, n strictyaml.Node, leaf *robot.LeafID) {
	if _, mapping := n.Mapping(); !mapping || leaf != nil {
		set(dst, leaf, r.number(n))
		return
	}
	for leaf, value := range r.perResource(c, n) {
		dst[leaf] = r.number(value)
	}
}

// perResource yields the entries of a map per resource, in the order of the
// file.
func (r *reader) perResource(c *Controller, n strictyaml.Node) func(yield func(robot.LeafID, strictyaml.Node) bool) {
	return func(yield func(robot.LeafID, strictyaml.Node) bool) {
		var list perResource
		if !r.decode(n, &list) {
			return
		}
		for _, e := range list.List {
			leaf, known := r.leaves[e.Name]
			switch {
			case !known:
				r.errorf(e.Line, "controller %q: priority: %q is not one of the resources%s", c.Name, e.Name, problem.Hint(e.Name, r.s.Resources))
			case !c.Claim.All().Has(leaf):
				r.errorf(e.Line, "controller %q: priority: it neither needs nor wants %q", c.Name, e.Name)
			default:
				if !yield(leaf, e.Value) {
					return
				}
			}
		}
	}
}

func (r *reader) number(n strictyaml.Node) (p float32) {
	x := 0.0
	if r.decode(n, &x) {
		p = float32(x)
	}
	return p
}

func (r *reader) decode(n strictyaml.Node, into any) bool {
	err := n.Decode(into)
	if err != nil {
		r.errs = append(r.errs, err)
	}
	return err == nil
}

// set gives one leaf its priority, or all.
func set(dst *[robot.MaxLeaves]float32, leaf *robot.LeafID, p float32) {
	if leaf != nil {
		dst[*leaf] = p
		return
	}
	for i := range dst {
		dst[i] = p
	}
}
