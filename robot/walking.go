package robot

import (
	"slices"

	"poise/problem"
	"poise/robot/description"
)

// Walking is how robot.yaml lets a robot walk. Zero values are not declared: package walk derives them.
type Walking struct {
	Height  float64  // of the base above the ground, m
	Reach   float64  // of a foot from its place when it is put down, m
	Margin  float64  // that the zero-moment point keeps from edges, m
	Fade    float64  // s in which a foot takes its load
	BySpeed []string // gaits that are chosen by speed, the slowest first
	Gaits   []Gait
}

// Gait is what robot.yaml declares of a gait.
type Gait struct {
	Name                      string // one of description.GaitNames
	Period, Duty, Lift, Speed float64
	Phase                     map[ChainID]float64 // when each foot is lifted, as a share of the period; nil is not declared
}

// Walking returns what robot.yaml declares of walking. It is shared: read only.
func (m *Model) Walking() *Walking { return &m.walking }

// describeWalking takes the parameters of gaits; phases and orders name each leg once.
func (b *builder) describeWalking(d *Description) {
	value := func(x *float64) float64 {
		if x == nil {
			return 0
		}
		return *x
	}
	w := &d.Walking
	b.m.walking = Walking{Height: value(w.Height), Reach: value(w.Reach), Margin: value(w.Margin), Fade: value(w.Fade), BySpeed: w.BySpeed}
	for i := range w.Gaits {
		g := &w.Gaits[i]
		out := Gait{Name: g.Name, Period: value(g.Period), Duty: value(g.Duty), Lift: value(g.Lift), Speed: value(g.Speed)}
		for k, name := range g.Order {
			b.phase(d, g, &out, name, g.Lines["order"], float64(k)/float64(len(g.Order)))
		}
		for _, x := range g.Phase {
			b.phase(d, g, &out, x.Chain, x.Line, x.Value)
		}
		if out.Phase != nil && len(out.Phase) < len(b.m.legs()) {
			b.Errorf(description.Impossible, d.At(g.Line), problem.Named("gait", g.Name), "names %d of the %d legs: %s", len(out.Phase), len(b.m.legs()), problem.List(b.m.legs()))
		}
		b.m.walking.Gaits = append(b.m.walking.Gaits, out)
	}
}

// phase says when a leg is lifted.
func (b *builder) phase(d *Description, g *description.Gait, out *Gait, chain string, line int, share float64) {
	thing, legs := problem.Named("gait", g.Name), b.m.legs()
	id, ok := b.m.chainByName[chain]
	if !ok || !slices.Contains(legs, chain) {
		b.Errorf(description.Impossible, d.At(line), thing, "%q is not a chain with a contact%s", chain, b.Hint(chain, legs))
		return
	}
	if _, twice := out.Phase[id]; twice {
		b.Errorf(description.Impossible, d.At(line), thing, "%s is named twice", chain)
	}
	if out.Phase == nil {
		out.Phase = map[ChainID]float64{}
	}
	out.Phase[id] = share
}

// legs names the chains that can stand.
func (m *Model) legs() (names []string) {
	for _, c := range m.chains {
		if c.Contact != NoContact {
			names = append(names, c.Name)
		}
	}
	return names
}
