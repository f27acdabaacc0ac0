package ros1

import (
	"context"
	"fmt"
	"strings"

	"poise/msgs"
	"poise/msgs/registry"
	"poise/stop"
	"poise/wire/rosnet"
)

// Remote returns the way of a stop to the robots of a mirrored network.
func (n *Node) Remote() stop.Remote { return rosnet.NewRemote(n.life, mirrored{n}) }

// mirrored is a rosnet.Network.
type mirrored struct{ *Node }

func (m mirrored) Name() string { return strings.Trim(m.c.Mirror, "/") }

func (m mirrored) Services() map[string]*registry.Service {
	i := m.foreign
	i.mu.Lock()
	defer i.mu.Unlock()
	all := make(map[string]*registry.Service, len(i.services))
	for ros, s := range i.services {
		all[ros] = s.typ
	}
	return all
}

func (m mirrored) Service(ros string) *registry.Service {
	i := m.foreign
	i.mu.Lock()
	defer i.mu.Unlock()
	if s := i.services[ros]; s != nil {
		return s.typ
	}
	return nil
}

func (m mirrored) Actions() (all []rosnet.Action) {
	i := m.foreign
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, a := range i.actions {
		all = append(all, a)
	}
	return all
}

// EndAll cancels every goal of the action, of every client, and waits until none is left.
func (a *importedAction) EndAll(ctx context.Context, taken func()) (string, error) {
	if !a.connected() {
		return "", fmt.Errorf("action %s: it is not connected", a.ros)
	}
	a.mu.Lock()
	before := a.heard
	a.mu.Unlock()
	if err := a.cancel.Publish(&msgs.GoalID{}); err != nil { // no id and no time: all goals
		return "", fmt.Errorf("action %s: %w", a.ros, err)
	}
	taken()
	return rosnet.AwaitEnd(ctx, a.ros, func() bool {
		a.mu.Lock()
		defer a.mu.Unlock()
		return a.heard > before && a.active == 0
	})
}
