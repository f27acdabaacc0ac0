package ros1

import (
	"context"
	"fmt"
	"strings"
	"time"

	"poise/msgs"
	"poise/msgs/registry"
	"poise/stop"
	"poise/wire/remote"
)

// Remote returns the way of a stop to the robots of a mirrored network.
func (n *Node) Remote() stop.Remote { return remote.New(n.life, mirrored{n}) }

// mirrored is a remote.Network.
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

func (m mirrored) Actions() (all []remote.Action) {
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
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		a.mu.Lock()
		over := a.heard > before && a.active == 0
		a.mu.Unlock()
		if over {
			return a.ros + ": no goal is left", nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return "", fmt.Errorf("action %s: it was told to cancel all goals, and has not ended them", a.ros)
		}
	}
}
