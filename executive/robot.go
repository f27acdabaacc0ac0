package executive

import (
	"slices"

	"poise/arbiter"
	"poise/executive/explain"
	"poise/loop"
	"poise/problem"
	"poise/robot"
	"poise/servo"
)

// seat is the place of one controller of the robot, as the executive sees it.
type seat struct {
	*Controller
	id     arbiter.ClientID
	fed    Explanation // why the newest value of its stream was refused
	fedBy  uint64      // number of that value
	fedFor int64       // until when that is told at least, ns
	halted bool        // by an order of ours
	owns   robot.Set   // by the newest report
	client string      // name of the external controller that has it, "" if none
}

// robotState is what is known of the robot: its controllers, the newest state of its
// cycle, and what reports told of it.
type robotState struct {
	model *robot.Model
	words *explain.Words
	seats []*seat // by the order of Config.Controllers

	snap   *loop.Snapshot // nil if the cycle has not run yet
	tick   servo.Tick     // of snap
	heard  int64          // when a new tick was last seen, ns
	silent bool           // that was too long ago
	faults []FaultState
	turned uint64 // tick in which torque last came or went
	halts  uint64 // how often the robot was paused or unpowered
}

// controllerName returns the name of a controller by its number, "" if it is not ours.
func (r *robotState) controllerName(id arbiter.ClientID) string {
	if s := r.seatOf(id); s != nil {
		return s.title()
	}
	return ""
}

// title is the name of who works in the seat: of an external controller the one that it
// registered.
func (s *seat) title() string {
	if s.client != "" {
		return s.client
	}
	return s.Name
}

// seat finds a controller by its name: an external one also by the name that it registered.
func (r *robotState) seat(name string) (*seat, bool) {
	for _, s := range r.seats {
		if s.Name == name || s.client == name && name != "" {
			return s, true
		}
	}
	return nil, false
}

// seatOf returns a controller by its number, nil if it is not ours.
func (r *robotState) seatOf(id arbiter.ClientID) *seat {
	for _, s := range r.seats {
		if s.id == id {
			return s
		}
	}
	return nil
}

func (r *robotState) controllerNames() (all []string) {
	for _, s := range r.seats {
		all = append(all, s.title())
	}
	return all
}

// unknownController explains a name that no controller has.
func (r *robotState) unknownController(name string) Explanation {
	return *problem.Unknown("unknown_controller", "controller", name, r.controllerNames())
}

// unknownJoint explains a name that no joint has.
func (r *robotState) unknownJoint(name string) Explanation {
	var names []string
	for _, j := range r.model.Joints() {
		names = append(names, j.Name)
	}
	x := *problem.Unknown("unknown_joint", "joint", name, names)
	x.Joint = name
	return x
}

// halted reports whether a controller takes no goals.
func (r *robotState) halted(s *seat) bool {
	if a := r.activity(s); a != nil {
		return !a.Running
	}
	return s.halted
}

// activity returns what a controller does by the newest state, nil if there is none.
func (r *robotState) activity(s *seat) *loop.Activity {
	if r.snap == nil || int(s.id) >= len(r.snap.Active) {
		return nil
	}
	return &r.snap.Active[s.id]
}

// noteFault keeps the list of faults, and puts a report of one into words.
func (r *robotState) noteFault(report *loop.Report) Explanation {
	x := r.words.Fault(report.Fault, report.Severity, report.Reason)
	r.faults = slices.DeleteFunc(r.faults, func(f FaultState) bool { return f.Kind == report.Fault && f.Joint == x.Joint })
	if report.Kind == loop.FaultRaised {
		r.faults = append(r.faults, FaultState{Kind: report.Fault, Joint: x.Joint, Severity: report.Severity, Since: report.Tick, Explanation: x})
	}
	return x
}

// faultOf returns a fault that is active.
func (r *robotState) faultOf(k loop.FaultKind, joint string) (FaultState, bool) {
	for _, f := range r.faults {
		if f.Kind == k && f.Joint == joint {
			return f, true
		}
	}
	return FaultState{}, false
}

// noteFed forgets refusals of streams whose controllers have taken a newer value.
func (r *robotState) noteFed(now int64) {
	for _, s := range r.seats {
		if a := r.activity(s); a != nil && s.fed.Code != "" && a.Fed > s.fedBy && now >= s.fedFor {
			s.fed = Explanation{}
		}
	}
}

// ownerOf returns who has all of a set by the newest state, NoClient if it has no one owner.
func (r *robotState) ownerOf(set robot.Set) arbiter.ClientID {
	owner, first := arbiter.NoClient, true
	for leaf := range set.All {
		if has := r.snap.Owner[leaf]; first || has == owner {
			owner, first = has, false
		} else {
			return arbiter.NoClient
		}
	}
	return owner
}

// owners lists who has what, by resource.
func (r *robotState) owners(s *loop.Snapshot) (all []Ownership) {
	res, err := r.model.Resources()
	if err != nil {
		return nil
	}
	free := res.All()
	list := func(name string, set robot.Set) {
		free = free.Minus(set)
		n, shares := set.Len(), map[arbiter.ClientID]int{}
		for leaf := range set.All {
			shares[s.Owner[leaf]]++
		}
		for _, c := range r.seats {
			if has := shares[c.id]; has > 0 {
				all = append(all, Ownership{Resource: name, Owner: c.title(), Part: has < n})
			}
		}
	}
	for _, x := range res.List() {
		list(x.Name, x.Set)
	}
	for leaf := range free.All { // leaves of no resource
		list(res.Leaves()[leaf].Name, robot.Leaf(leaf))
	}
	return all
}
