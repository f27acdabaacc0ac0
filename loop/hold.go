package loop

import "poise/trajectory/move"

// holder keeps joints that nobody owns: each comes to rest by the shortest stop
// from where its command was, and stays there.
type holder struct {
	limits []move.Limits
	plan   *move.Motion
	one    [1]move.Limits
	from   [1]move.State
	joints []holding
}

type holding struct {
	active  bool
	began   float64
	profile move.Profile
}

func newHolder(limits []move.Limits) (*holder, error) {
	plan, err := move.New(limits[:1])
	if err != nil {
		return nil, err
	}
	return &holder{limits: limits, plan: plan, joints: make([]holding, len(limits))}, nil
}

// begin stops a joint from a state, at time t.
func (h *holder) begin(joint int, from move.State, t float64) {
	x := &h.joints[joint]
	h.one[0], h.from[0] = h.limits[joint], from
	x.active, x.began = true, t
	if h.plan.SetLimits(h.one[:]) != nil || h.plan.Stop(h.from[:], move.Options{}) != nil {
		// a state that is no number has no stop: stay at the last that was
		x.profile = move.Profile{}
		h.from[0] = move.State{}
		if h.plan.Stop(h.from[:], move.Options{}) == nil {
			x.profile = *h.plan.Axis(0)
		}
		return
	}
	x.profile = *h.plan.Axis(0)
}

// end gives a joint to an owner.
func (h *holder) end(joint int) { h.joints[joint].active = false }

// at returns where a held joint is to be.
func (h *holder) at(joint int, t float64) move.State {
	x := &h.joints[joint]
	return x.profile.At(t - x.began)
}
