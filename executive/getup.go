package executive

import (
	"slices"

	"poise/control/getup"
	"poise/problem"
)

// GetUp brings a robot that lies back on its feet.
type GetUp struct {
	From string // left, right or belly: how it lies; empty is as its inertial unit tells
}

// Action returns the name of its action.
func (g *GetUp) Action() string { return "get_up" }

func (g *GetUp) prepare(v *view) (*work, []Explanation) {
	from := slices.Index(getup.Names, g.From)
	if from < 0 {
		return nil, []Explanation{*problem.Unknown("unknown_side", "side", g.From, getup.Names[1:])}
	}
	p, err := getup.Up(v.cfg.Model, getup.From(from))
	if err != nil {
		return nil, problem.All("no_controller", err)
	}
	w := newWork(v.cfg.pool(getup.Kind.Name), p)
	if len(w.pool) == 0 {
		return nil, []Explanation{*problem.New("no_controller", "no controller gets up")}
	}
	return w, nil
}
