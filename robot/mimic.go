package robot

import "poise/urdf"

// mimicOf is a joint's mimic with chains multiplied out:
// position = ratio·(position of leader) + offset.
type mimicOf struct {
	leader        int // joint of the document that leads, −1 if the joint is independent
	ratio, offset float64
}

// resolveMimics finds the leader of each joint. A joint whose mimic is
// impossible is reported and left independent.
func resolveMimics(t *tree, ps *problems) []mimicOf {
	doc := t.doc
	all := make([]mimicOf, len(doc.Joints))
	for i, j := range doc.Joints {
		all[i] = mimicOf{leader: -1, ratio: 1}
		if j.Mimic != nil {
			all[i] = directMimic(t, j, ps)
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
			if all[at].leader < 0 {
				break
			}
			at = all[at].leader
		}
		if state[at] == onPath && all[at].leader >= 0 {
			reportRing(doc, all, at, ps)
		}

		// from the end backwards: g = r·(r'·x + o') + o
		for k := len(path) - 1; k >= 0; k-- {
			m := &all[path[k]]
			if m.leader >= 0 {
				if up := all[m.leader]; up.leader >= 0 {
					*m = mimicOf{up.leader, m.ratio * up.ratio, m.ratio*up.offset + m.offset}
				}
				checkComposed(doc.Joints[path[k]], *m, ps)
			}
			state[path[k]] = done
		}
	}
	return all
}

// directMimic reads what a joint says itself.
func directMimic(t *tree, j urdf.Joint, ps *problems) mimicOf {
	free := mimicOf{leader: -1, ratio: 1}
	thing, mimic := joint(j.Name), j.Mimic
	if j.Type == urdf.Fixed {
		ps.warnf(Ignored, mimic.Pos, thing, "is fixed: that it mimics %q has no effect", mimic.Joint)
		return free
	}
	leader, ok := t.jointIndex[mimic.Joint]
	leaderType := t.doc.Joints[leader].Type // of any joint if there is none
	switch {
	case !finite(mimic.Multiplier, mimic.Offset):
		ps.errorf(NotFinite, mimic.Pos, thing, "mimic has a number that is not finite")
	case j.Type == urdf.Planar || j.Type == urdf.Floating:
		ps.errorf(BadMimic, mimic.Pos, thing, "a planar or floating joint cannot mimic another")
	case !ok:
		ps.errorf(BadMimic, mimic.Pos, thing, "mimics joint %q, which does not exist%s", mimic.Joint, didYouMean(mimic.Joint, t.jointNames()))
	case mimic.Joint == j.Name:
		ps.errorf(BadMimic, mimic.Pos, thing, "mimics itself")
	case leaderType == urdf.Fixed, leaderType == urdf.Planar, leaderType == urdf.Floating:
		ps.errorf(BadMimic, mimic.Pos, thing, "mimics joint %q, which has no single coordinate to follow", mimic.Joint)
	default:
		if mimic.Multiplier == 0 {
			ps.warnf(Ignored, mimic.Pos, thing, "follows %q with multiplier 0: it never moves", mimic.Joint)
		}
		return mimicOf{leader, mimic.Multiplier, mimic.Offset}
	}
	return free
}

// reportRing reports a ring of mimics once and opens it.
func reportRing(doc *urdf.Document, all []mimicOf, at int, ps *problems) {
	names := []string{doc.Joints[at].Name}
	for k := all[at].leader; k != at; k = all[k].leader {
		names = append(names, doc.Joints[k].Name)
	}
	ps.errorf(BadMimic, doc.Joints[at].Mimic.Pos, joint(doc.Joints[at].Name), "mimics itself in a ring: %s", list(names))
	all[at] = mimicOf{leader: -1, ratio: 1}
}

func checkComposed(j urdf.Joint, m mimicOf, ps *problems) {
	if !finite(m.ratio, m.offset) {
		ps.errorf(NotFinite, j.Mimic.Pos, joint(j.Name), "multipliers of its chain of mimics overflow")
	}
}
