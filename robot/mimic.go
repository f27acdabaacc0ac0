package robot

import (
	"poise/problem"
	"poise/urdf"
)

// mimic says whom a joint follows, with chains multiplied out:
// position = Ratio·(position of Leader) + Offset.
type mimic struct {
	Leader        int // joint of the document that leads, −1 if the joint is independent
	Ratio, Offset float64
}

// resolveMimics finds the leader of each joint. A joint whose mimic is
// impossible is reported and left independent.
func (t *tree) resolveMimics(r *problem.Report) {
	doc := t.Doc
	all := make([]mimic, len(doc.Joints))
	for i, j := range doc.Joints {
		all[i] = mimic{Leader: -1, Ratio: 1}
		if j.Mimic != nil {
			all[i] = directMimic(t, j, r)
		}
	}

	// follow each chain to its end; a joint on a ring is its own leader
	const (
		fresh = iota
		onPath
		done
	)
	state := make([]uint8, len(all))
	for start := range all {
		var path []int
		at := start
		for state[at] == fresh {
			state[at] = onPath
			path = append(path, at)
			if all[at].Leader < 0 {
				break
			}
			at = all[at].Leader
		}
		if state[at] == onPath && all[at].Leader >= 0 {
			reportRing(doc, all, at, r)
		}

		// from the end backwards: g = r·(r'·x + o') + o
		for k := len(path) - 1; k >= 0; k-- {
			m := &all[path[k]]
			if m.Leader >= 0 {
				if up := all[m.Leader]; up.Leader >= 0 {
					*m = mimic{up.Leader, m.Ratio * up.Ratio, m.Ratio*up.Offset + m.Offset}
				}
				checkComposed(doc.Joints[path[k]], *m, r)
			}
			state[path[k]] = done
		}
	}
	t.Mimics = all
}

// directMimic reads what a joint says itself.
func directMimic(t *tree, j urdf.Joint, r *problem.Report) mimic {
	free := mimic{Leader: -1, Ratio: 1}
	thing, own := problem.Joint(j.Name), j.Mimic
	if j.Type == urdf.Fixed {
		r.Warnf(Ignored, own.Pos, thing, "is fixed: that it mimics %q has no effect", own.Joint)
		return free
	}
	leader, ok := t.JointIndex[own.Joint]
	leaderType := t.Doc.Joints[leader].Type // of any joint if there is none
	switch {
	case !finite(own.Multiplier, own.Offset):
		r.Errorf(NotFinite, own.Pos, thing, "mimic has a number that is not finite")
	case j.Type == urdf.Planar || j.Type == urdf.Floating:
		r.Errorf(BadMimic, own.Pos, thing, "a planar or floating joint cannot mimic another")
	case !ok:
		r.Errorf(BadMimic, own.Pos, thing, "mimics joint %q, which does not exist%s", own.Joint, r.Hint(own.Joint, t.JointNames()))
	case own.Joint == j.Name:
		r.Errorf(BadMimic, own.Pos, thing, "mimics itself")
	case leaderType == urdf.Fixed, leaderType == urdf.Planar, leaderType == urdf.Floating:
		r.Errorf(BadMimic, own.Pos, thing, "mimics joint %q, which has no single coordinate to follow", own.Joint)
	default:
		if own.Multiplier == 0 {
			r.Warnf(Ignored, own.Pos, thing, "follows %q with multiplier 0: it never moves", own.Joint)
		}
		return mimic{leader, own.Multiplier, own.Offset}
	}
	return free
}

// reportRing reports a ring of mimics once and opens it.
func reportRing(doc *urdf.Document, all []mimic, at int, r *problem.Report) {
	names := []string{doc.Joints[at].Name}
	for k := all[at].Leader; k != at; k = all[k].Leader {
		names = append(names, doc.Joints[k].Name)
	}
	r.Errorf(BadMimic, doc.Joints[at].Mimic.Pos, problem.Joint(doc.Joints[at].Name), "mimics itself in a ring: %s", problem.List(names))
	all[at] = mimic{Leader: -1, Ratio: 1}
}

func checkComposed(j urdf.Joint, m mimic, r *problem.Report) {
	if !finite(m.Ratio, m.Offset) {
		r.Errorf(NotFinite, j.Mimic.Pos, problem.Joint(j.Name), "multipliers of its chain of mimics overflow")
	}
}
