package executive

import (
	"poise/arbiter"
	"poise/executive/explain"
	"poise/loop"
)

// seat is a controller of the loop.
type seat struct {
	*Controller
	id     arbiter.ClientID
	fed    Explanation // why the last value of its stream was refused
	halted bool        // by an order of ours
}

// controllerName returns the name of a controller by its number, "" if it is not ours.
func (e *Executive) controllerName(id arbiter.ClientID) string {
	if s := e.seatOf(id); s != nil {
		return s.Name
	}
	return ""
}

func (e *Executive) seat(name string) (*seat, bool) {
	for _, s := range e.seats {
		if s.Name == name {
			return s, true
		}
	}
	return nil, false
}

// seatOf returns a controller by its number, nil if it is not ours.
func (e *Executive) seatOf(id arbiter.ClientID) *seat {
	for _, s := range e.seats {
		if s.id == id {
			return s
		}
	}
	return nil
}

// pool returns the controllers of a kind.
func (e *Executive) pool(kind string) (all []*seat) {
	for _, s := range e.seats {
		if s.Kind == kind && !s.Remote {
			all = append(all, s)
		}
	}
	return all
}

func (e *Executive) controllerNames() (all []string) {
	for _, s := range e.seats {
		all = append(all, s.Name)
	}
	return all
}

// unknownController explains a name that no controller has.
func (e *Executive) unknownController(name string) Explanation {
	return explain.UnknownName("unknown_controller", "controller", name, e.controllerNames())
}

// halted reports whether a controller takes no goals.
func (e *Executive) halted(s *seat) bool {
	if a := e.activity(s); a != nil {
		return !a.Running
	}
	return s.halted
}

// activity returns what a controller does by the newest state, nil if there is none.
func (e *Executive) activity(s *seat) *loop.Activity {
	if e.snap == nil || int(s.id) >= len(e.snap.Active) {
		return nil
	}
	return &e.snap.Active[s.id]
}
