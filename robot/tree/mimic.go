package tree

import (
	"poise/robot/rule"
	"poise/urdf"
)

// Mimic says whom a joint follows, with chains multiplied out:
// position = Ratio·(position of Leader) + Offset.
type Mimic struct {
	Leader        int // joint of the document that leads, −1 if the joint is independent
	Ratio, Offset float64
}

// resolveMimics finds the leader of each joint. A joint whose mimic is
// impossible is reported and left independent.
func (t *Tree) resolveMimics(r *rule.Report) {
	doc := t.Doc
	all := make([]Mimic, len(doc.Joints))
	for i, j := range doc.Joints {
		all[i] = Mimic{Leader: -1, Ratio: 1}
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
					*m = Mimic{up.Leader, m.Ratio * up.Ratio, m.Ratio*up.Offset + m.Offset}
				}
				checkComposed(doc.Joints[path[k]], *m, r)
			}
			state[path[k]] = done
		}
	}
	t.Mimics = all
}

// directMimic reads what a joint says itself.
func directMimic(t *Tree, j urdf.Joint, r *rule.Report) Mimic {
	free := Mimic{Leader: -1, Ratio: 1}
	thing, mimic := rule.Joint(j.Name), j.Mimic
	if j.Type == urdf.Fixed {
		r.Warnf(rule.Ignored, mimic.Pos, thing, "is fixed: that it mimics %q has no effect", mimic.Joint)
		return free
	}
	leader, ok := t.JointIndex[mimic.Joint]
	leaderType := t.Doc.Joints[leader].Type // of any joint if there is none
	switch {
	case !Finite(mimic.Multiplier, mimic.Offset):
		r.Errorf(rule.NotFinite, mimic.Pos, thing, "mimic has a number that is not finite")
	case j.Type == urdf.Planar || j.Type == urdf.Floating:
		r.Errorf(rule.BadMimic, mimic.Pos, thing, "a planar or floating joint cannot mimic another")
	case !ok:
		r.Errorf(rule.BadMimic, mimic.Pos, thing, "mimics joint %q, which does not exist%s", mimic.Joint, r.DidYouMean(mimic.Joint, t.JointNames()))
	case mimic.Joint == j.Name:
		r.Errorf(rule.BadMimic, mimic.Pos, thing, "mimics itself")
	case leaderType == urdf.Fixed, leaderType == urdf.Planar, leaderType == urdf.Floating:
		r.Errorf(rule.BadMimic, mimic.Pos, thing, "mimics joint %q, which has no single coordinate to follow", mimic.Joint)
	default:
		if mimic.Multiplier == 0 {
			r.Warnf(rule.Ignored, mimic.Pos, thing, "follows %q with multiplier 0: it never moves", mimic.Joint)
		}
		return Mimic{leader, mimic.Multiplier, mimic.Offset}
	}
	return free
}

// reportRing reports a ring of mimics once and opens it.
func reportRing(doc *urdf.Document, all []Mimic, at int, r *rule.Report) {
	names := []string{doc.Joints[at].Name}
	for k := all[at].Leader; k != at; k = all[k].Leader {
		names = append(names, doc.Joints[k].Name)
	}
	r.Errorf(rule.BadMimic, doc.Joints[at].Mimic.Pos, rule.Joint(doc.Joints[at].Name), "mimics itself in a ring: %s", rule.List(names))
	all[at] = Mimic{Leader: -1, Ratio: 1}
}

func checkComposed(j urdf.Joint, m Mimic, r *rule.Report) {
	if !Finite(m.Ratio, m.Offset) {
		r.Errorf(rule.NotFinite, j.Mimic.Pos, rule.Joint(j.Name), "multipliers of its chain of mimics overflow")
	}
}
