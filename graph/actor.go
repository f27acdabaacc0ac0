package graph

import (
	"maps"
	"slices"

	"poise/msgs/registry"
)

// Actor is an action as the graph knows it: a name that somebody serves. What goals do
// is the matter of package graph/actions.
type Actor interface {
	Type() *registry.Action
	Node() string // who serves
	Open() int    // goals that are not over
	Beat()        // called every StatusPeriod
	Close()
}

// AddActor puts an action into the graph, made for its name in full.
func (g *Graph) AddActor(name string, made func(full string) Actor) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	name, err := g.resolve(name)
	switch {
	case err != nil:
		return err
	case g.closed:
		return ErrClosed
	case g.actions[name] != nil:
		return &ExistsError{Kind: "action", Name: name, Owner: g.actions[name].Node()}
	case len(g.actions) >= g.o.MaxNames:
		return &FullError{What: "actions", Limit: g.o.MaxNames}
	}
	g.actions[name] = made(name)
	return nil
}

// RemoveActor takes the full name back from an action that still has it.
func (g *Graph) RemoveActor(name string, a Actor) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.actions[name] == a {
		delete(g.actions, name)
	}
}

// Actor returns the action of a name.
func (g *Graph) Actor(name string) (Actor, error) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	name, err := g.resolve(name)
	if err != nil {
		return nil, err
	}
	if a := g.actions[name]; a != nil {
		return a, nil
	}
	return nil, &NotFoundError{Kind: "action", Name: name}
}

// actors returns all actions, by name.
func (g *Graph) actors() []Actor {
	g.mu.RLock()
	defer g.mu.RUnlock()
	out := make([]Actor, 0, len(g.actions))
	for _, name := range slices.Sorted(maps.Keys(g.actions)) {
		out = append(out, g.actions[name])
	}
	return out
}
