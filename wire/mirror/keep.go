package mirror

import (
	"context"
	"log/slog"
	"reflect"
	"strings"
	"time"

	"poise/graph"
	"poise/wire/rosbridge/client"
)

// askPatience is how long a robot may take to list what it has, and askAgain the pause
// before it is asked again: its rosapi may start later than its bridge.
const (
	askPatience = 10 * time.Second
	askAgain    = 2 * time.Second
)

// Keep shows all that a robot has under a prefix until ctx is done. A robot that is not
// there yet is waited for; one that comes back with other things than before is
// mirrored anew. Of the options Log must be given; Changed and Failed are set here. Stops,
// if there are any, get to know what the robot has.
func Keep(ctx context.Context, g *graph.Graph, url, prefix string, o client.Options, stops *Stops) {
	log := o.Log.With("robot", url)
	o.Log = nil // what is said of the connection is said here
	arrived := make(chan struct{}, 1)
	failed := "" // as it was told last; both functions are called in turn
	o.Failed = func(why error) {
		if text := why.Error(); text != failed {
			failed = text
			log.Warn("the robot cannot be reached", "why", why)
		}
	}
	o.Changed = func(why error) {
		failed = ""
		if why != nil {
			log.Warn("the mirrored robot is gone", "why", why)
			return
		}
		select {
		case arrived <- struct{}{}:
		default: // it is known to be there
		}
	}
	c := client.Open(url, o)
	defer c.Close()
	k := keeper{g: g, c: c, prefix: prefix, stops: stops, log: log}
	defer k.drop()
	var again <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-arrived:
		case <-again:
		}
		again = nil
		if !k.show(ctx) && c.Connected() {
			again = time.After(askAgain)
		}
	}
}

// keeper holds the present mirror of a robot.
type keeper struct {
	g      *graph.Graph
	c      *client.Client
	prefix string
	stops  *Stops // may be nil
	log    *slog.Logger

	spec   Spec
	mirror *Mirror
}

// show asks the robot what it has, and mirrors it unless it is mirrored already. It
// reports whether the robot has answered.
func (k *keeper) show(ctx context.Context) bool {
	asking, done := context.WithTimeout(ctx, askPatience)
	defer done()
	spec, skipped, err := Discover(asking, k.c, k.prefix)
	if err != nil {
		k.log.Warn("the robot does not say what it has", "why", err)
		return false
	}
	if k.stops != nil {
		k.stops.learn(asking, k.c, &spec)
	}
	if k.mirror != nil && reflect.DeepEqual(spec, k.spec) {
		k.log.Info("the mirrored robot is back")
		return true
	}
	k.drop()
	k.spec = spec
	spec.Log = k.log
	var problems []error
	k.mirror, problems = New(k.g, k.c, spec)
	skipped = append(skipped, problems...)
	k.log.Info("mirrored", "under", k.prefix, "topics", len(spec.Topics), "services", len(spec.Services), "actions", len(spec.Actions))
	if len(skipped) > 0 {
		k.log.Info("not mirrored", "count", len(skipped), "why", listed(skipped))
	}
	return true
}

// listed returns the first of many problems.
func listed(all []error) string {
	const few = 10
	var why []string
	for _, err := range all[:min(few, len(all))] {
		why = append(why, err.Error())
	}
	if len(all) > few {
		why = append(why, "…")
	}
	return strings.Join(why, "; ")
}

func (k *keeper) drop() {
	if k.mirror != nil {
		k.mirror.Close()
		k.mirror = nil
	}
}
