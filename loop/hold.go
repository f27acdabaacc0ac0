package loop

import "poise/trajectory/move"

// holder keeps joints that nobody owns: each comes to rest by the shortest stop
// from where its command was, and stays there; or it has a place to be at, to
// which a bridge leads.
type holder struct {
	limits []move.Limits
	plan   *move.Motion
	one    [1]move.Limits
	from   [1]move.State
	joints []holding
}

type holding struct {
	placed  bool
	place   float64
	began   float64
	profile move.Profile
}

func newHolder(limits []move.Limits) (*holder, error) {
	if len(limits) == 0 {
		return &holder{}, nil
	}
	plan, err := move.New(limits[:1])
	if err != nil {
		return nil, err
	}
	return &holder{limits: limits, plan: plan, joints: make([]holding, len(limits))}, nil
}

// begin stops a joint from a state, at time t.
func (h *holder) begin(joint int, from move.State, t float64) {
	x := &h.joints[joint]
	x.placed, x.began = false, t
	h.one[0], h.from[0] = h.limits[joint], from
	if h.plan.SetLimits(h.one[:]) != nil || h.plan.Stop(h.from[:]) != nil {
		// a state that cannot be planned with has no stop: stay where it is
		x.placed, x.place = true, from.P
		return
	}
	x.profile = *h.plan.Axis(0)
}

// put gives a joint a place to rest at.
func (h *holder) put(joint int, place float64) {
	h.joints[joint].placed, h.joints[joint].place = true, place
}

// placed reports whether a joint has a place to be at.
func (h *holder) placed(joint int) bool { return h.joints[joint].placed }

// end gives a joint to an owner.
func (h *holder) end(joint int) { h.joints[joint].placed = false }

// at returns where a held joint is to be.
func (h *holder) at(joint int, t float64) move.State {
	x := &h.joints[joint]
	if x.placed {
		return move.State{P: x.place}
	}
	return x.profile.At(t - x.began)
}
