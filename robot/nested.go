package robot

import (
	"maps"
	"slices"

	"poise/problem"
	"poise/robot/description"
)

// groupPlan is a group as a file declares it.
type groupPlan struct {
	Name   string
	At     problem.Pos
	Joints []int    // by number, doubles allowed
	Leaves []string // other members, by name
	Groups []string // whose members it has too
	Sorted bool     // joints by number, instead of in the order listed
}

// maxMembers bounds the joints of all groups together: a tree of n joints can
// have n²/4 of them, and a hostile file must not fill the memory.
const maxMembers = 1 << 20

// resolveGroups gives each group the members of those it lists, once each, and
// returns the index of each name. Names used twice, groups that do not exist and
// groups that contain themselves are reported; the size is bounded, because a
// short file can name very many members.
func resolveGroups(plans []groupPlan, r *problem.Report) map[string]int {
	s := &groupResolver{plans: plans, index: make(map[string]int, len(plans)), state: make([]progress, len(plans)), r: r}
	for i, p := range plans {
		if first, twice := s.index[p.Name]; twice {
			r.Errorf(BadName, p.At, problem.Named("group", p.Name), "name used twice, first at %s", plans[first].At)
			continue
		}
		if p.Name == "" {
			r.Errorf(BadName, p.At, "group", "name is empty")
		}
		s.index[p.Name] = i
	}
	for i := range plans {
		s.resolve(i)
	}
	return s.index
}

type groupResolver struct {
	plans   []groupPlan
	index   map[string]int
	state   []progress
	members int // joints of the groups done
	r       *problem.Report
}

type progress uint8

const (
	fresh progress = iota
	open
	done
)

// resolve fills a group, those it lists first.
func (s *groupResolver) resolve(i int) {
	if s.state[i] != fresh {
		return
	}
	s.state[i] = open
	p := &s.plans[i]
	thing := problem.Named("group", p.Name)
	joints, leaves := newUnique(p.Joints), newUnique(p.Leaves)
	for _, name := range p.Groups {
		other, ok := s.index[name]
		switch {
		case !ok:
			s.r.Errorf(description.Impossible, p.At, thing, "group %q does not exist%s", name, s.r.Hint(name, slices.Sorted(maps.Keys(s.index))))
			continue
		case s.state[other] == open:
			s.r.Errorf(Loop, p.At, thing, "group %q contains itself", name)
			continue
		}
		s.resolve(other)
		joints.add(s.plans[other].Joints)
		leaves.add(s.plans[other].Leaves)
	}
	p.Joints, p.Leaves = joints.list, leaves.list
	if p.Sorted {
		slices.Sort(p.Joints)
	}
	if s.members += len(p.Joints); s.members > maxMembers {
		if s.members-len(p.Joints) <= maxMembers {
			s.r.Errorf(description.Impossible, p.At, thing, "the groups up to here have more than %d joints together", maxMembers)
		}
		p.Joints = nil
	}
	s.state[i] = done
}

// unique keeps what is added in order, once each.
type unique[T comparable] struct {
	list []T
	has  map[T]bool
}

func newUnique[T comparable](items []T) *unique[T] {
	s := &unique[T]{has: make(map[T]bool, len(items))}
	s.add(items)
	return s
}

func (s *unique[T]) add(items []T) {
	for _, x := range items {
		if !s.has[x] {
			s.has[x] = true
			s.list = append(s.list, x)
		}
	}
}
