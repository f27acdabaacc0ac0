package follow

import (
	"slices"

	"poise/robot"
)

// Freed returns the chains that a goal takes off the ground: it moves them, and has no support
// track of them. A goal that has no track at all and moves every chain that can stand does not
// know of supports: it frees none, and holds says so. Whatever plays, shows or judges a motion
// asks here.
func (g *Goal) Freed(m *robot.Model) (freed []robot.ChainID, holds bool) {
	stand, tracks := 0, 0
	for i, chain := range m.Chains() {
		if chain.Contact == robot.NoContact {
			continue
		}
		stand++
		if slices.Contains(g.Joints, SupportPrefix+chain.Name) {
			tracks++
			continue
		}
		// what lies behind the tip does not move the contact
		leg, _ := m.Path(chain.Base, chain.Tip)
		if slices.ContainsFunc(leg, func(j robot.JointID) bool { return slices.Contains(g.Joints, m.Joints()[j].Name) }) {
			freed = append(freed, robot.ChainID(i))
		}
	}
	if tracks == 0 && len(freed) == stand {
		return nil, stand > 0
	}
	return freed, false
}
