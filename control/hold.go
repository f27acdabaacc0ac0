package control

import (
	"math"

	"poise/trajectory/move"
)

// Holder holds unowned joints: each comes to rest by the shortest stop from its last
// command and stays there, or goes to a target position over a bridge. Its feed-forward
// stays as it was when its owner left; without it the joint would sag.
type Holder struct {
	limits []move.Limits
	fast   []move.Limits // of joints that are faster than limits; nil: the same
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
	effort  float64 // feed-forward, N·m or N
}

// NewHolder returns the holder of joints with these limits of transitions.
func NewHolder(limits []move.Limits) (*Holder, error) {
	if len(limits) == 0 {
		return &Holder{}, nil
	}
	plan, err := move.New(limits[:1])
	if err != nil {
		return nil, err
	}
	return &Holder{limits: limits, plan: plan, joints: make([]holding, len(limits))}, nil
}

// shedTime is how long a joint that is let go goes on speeding up, where it did so beyond its
// limits of transitions, s: with their jerk it would run away before it came to rest.
const shedTime = 0.02

// Begin stops a joint from a state, at time t (s). Loop-safe.
func (h *Holder) Begin(joint int, from move.State, t float64) {
	held := &h.joints[joint]
	held.placed, held.began = false, t
	h.one[0], h.from[0] = h.limits[joint], from
	if h.fast != nil && math.Abs(from.V) > h.limits[joint].VelMax {
		h.one[0] = h.fast[joint]
	}
	if l := &h.one[0]; from.A*from.V > 0 && math.Abs(from.A) > l.AccMax {
		l.Jerk = max(l.Jerk, math.Abs(from.A)/shedTime)
	}
	if h.plan.SetLimits(h.one[:]) != nil || h.plan.Stop(h.from[:]) != nil {
		// a state that cannot be planned with has no stop: stay where it is
		held.placed, held.place = true, from.P
		return
	}
	held.profile = *h.plan.Axis(0)
}

// Carry gives a held joint its feed-forward, N·m or N: what its command had when
// its owner left. Loop-safe.
func (h *Holder) Carry(joint int, effort float64) { h.joints[joint].effort = effort }

// Effort returns the feed-forward of a held joint, N·m or N. Loop-safe.
func (h *Holder) Effort(joint int) float64 { return h.joints[joint].effort }

// Put gives a joint a place to rest at. Loop-safe.
func (h *Holder) Put(joint int, place float64) {
	h.joints[joint].placed, h.joints[joint].place = true, place
}

// Placed reports whether a joint has a place to be at.
func (h *Holder) Placed(joint int) bool { return h.joints[joint].placed }

// End gives a joint to an owner. Loop-safe.
func (h *Holder) End(joint int) { h.joints[joint].placed = false }

// At returns where a held joint is to be at time t (s). Loop-safe.
func (h *Holder) At(joint int, t float64) move.State {
	x := &h.joints[joint]
	if x.placed {
		return move.State{P: x.place}
	}
	return x.profile.At(t - x.began)
}
