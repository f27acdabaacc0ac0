package standing

import (
	"math"
	"slices"

	"poise/contact"
	"poise/robot"
	"poise/spatial"
)

// slack is how far a foot may be from where it stood, or from the ground, and stand
// still, m.
const slack = 0.005

// hands judges which feet stand while no motion says so: somebody drags a hoof or
// puts the robot into a pose at once. A foot that left its place is in the air, and
// the base stays on the others; if more than one left, the robot is put down anew.
type hands struct {
	ground *contact.Ground
	feet   []contact.Foot // that stand
	places [][]spatial.Vec3
	air    []robot.ChainID // lifted
	asked  bool            // since the last motion
}

// forget begins anew: a motion told what stands.
func (h *hands) forget() {
	h.clear()
	h.asked = false
}

func (h *hands) clear() { h.feet, h.places, h.air = h.feet[:0], h.places[:0], h.air[:0] }

// stand decides which of the feet wanted are in the air, of which the last motion left
// some there. It returns where the base is to be put, if it is.
func (h *hands) stand(q []float64, wanted []contact.Foot, left []robot.ChainID, base spatial.Pose) (down *spatial.Pose) {
	if !h.asked {
		h.air = append(h.air, left...)
		h.asked = true
	}
	h.air = slices.DeleteFunc(h.air, func(c robot.ChainID) bool {
		f, ok := find(wanted, c)
		return !ok || math.Abs(h.height(q, f, base)) < slack // it came back
	})
	if len(h.air) > 0 || h.unevenness(q, wanted, base) > slack {
		if X, ok := h.ground.Settle(q, wanted); ok && h.unevenness(q, wanted, X) < slack/5 {
			return h.putDown(q, wanted, base) // all of them can stand
		}
	}
	for i := len(h.feet) - 1; i >= 0; i-- {
		if !slices.Contains(wanted, h.feet[i]) {
			h.drop(i)
		}
	}
	for _, f := range wanted {
		if !slices.Contains(h.feet, f) && !slices.Contains(h.air, f.Chain) {
			h.feet = append(h.feet, f)
			h.places = append(h.places, h.ground.PointsTo(nil, q, []contact.Foot{f}, base))
		}
	}
	if len(h.feet) == 0 || h.misfit(q, -1, base) <= slack {
		return nil
	}
	lift, least := -1, slack
	for i := range h.feet {
		if worst := h.misfit(q, i, base); len(h.feet) > 1 && worst <= least {
			lift, least = i, worst
		}
	}
	if lift >= 0 {
		h.air = append(h.air, h.feet[lift].Chain)
		h.drop(lift)
		return nil
	}
	return h.putDown(q, wanted, base)
}

// putDown settles the robot on all feet wanted, or on all but the one that would then
// hang in the air: where it is, and with its heading.
func (h *hands) putDown(q []float64, wanted []contact.Foot, base spatial.Pose) *spatial.Pose {
	here := contact.Level(base)
	here.P.Z = 0
	X, least, raised := spatial.IdentityPose, math.Inf(1), -1
	for skip := -1; skip < len(wanted); skip++ {
		Y, ok := h.ground.Settle(q, without(wanted, skip))
		if !ok || skip >= 0 && h.height(q, wanted[skip], Y) < slack {
			continue
		}
		worst := h.unevenness(q, without(wanted, skip), Y)
		if skip < 0 || least > slack && worst < least {
			X, least, raised = Y, worst, skip
		}
	}
	h.clear()
	X = here.Mul(X)
	for i, f := range wanted {
		if i == raised {
			h.air = append(h.air, f.Chain)
			continue
		}
		h.feet = append(h.feet, f)
		h.places = append(h.places, h.ground.PointsTo(nil, q, []contact.Foot{f}, X))
	}
	return &X
}

// misfit returns how far from their places the feet stay at best, one left out.
func (h *hands) misfit(q []float64, skip int, base spatial.Pose) float64 {
	var places []spatial.Vec3
	for i, p := range h.places {
		if i != skip {
			places = append(places, p...)
		}
	}
	_, worst := h.ground.Fit(q, without(h.feet, skip), places, base)
	return worst
}

// height returns how high above the ground a foot is: its first point stands there.
func (h *hands) height(q []float64, f contact.Foot, base spatial.Pose) float64 {
	return h.ground.PointsTo(nil, q, []contact.Foot{f}, base)[0].Z
}

// unevenness returns how far from the ground the worst of some feet is.
func (h *hands) unevenness(q []float64, feet []contact.Foot, base spatial.Pose) (worst float64) {
	for _, f := range feet {
		worst = max(worst, math.Abs(h.height(q, f, base)))
	}
	return worst
}

func (h *hands) drop(i int) {
	h.feet, h.places = slices.Delete(h.feet, i, i+1), slices.Delete(h.places, i, i+1)
}

func without(feet []contact.Foot, i int) []contact.Foot {
	if i < 0 {
		return feet
	}
	return slices.Concat(feet[:i], feet[i+1:])
}

func find(feet []contact.Foot, c robot.ChainID) (contact.Foot, bool) {
	i := slices.IndexFunc(feet, func(f contact.Foot) bool { return f.Chain == c })
	if i < 0 {
		return contact.Foot{}, false
	}
	return feet[i], true
}
