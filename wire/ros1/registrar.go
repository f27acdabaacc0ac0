package ros1

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// registrar sees to it that the master has registered what the node has, and nothing else.
type registrar struct {
	n      *Node
	waked  chan struct{}
	params map[string]any // that the master has of the node

	mu   sync.Mutex
	have map[entry]entered // what is registered
	err  error             // why the master is not reached
	told bool              // in the log
}

// entry is a registration.
type entry struct {
	kind kind
	name string
}

// entered is what stands behind a registration. A subscription that replaced another of its
// name is registered once more: the answer tells it of its publishers.
type entered struct {
	typ  string
	read *subscription
}

type kind uint8

const (
	publisher kind = iota
	subscriber
	server
)

// Codes of answers.
const success = 1

// Periods of the registrar.
const (
	checkEvery  = time.Second     // how often the master is looked at,
	checkLate   = 3 * time.Second // at least, if that takes long: a master may forget everything again and again
	syncRest    = 5               // times as long as the last look took
	masterWaits = 2 * time.Second // for the answer of one call
)

var errNoMaster = errors.New("the master has not been reached yet")

func newRegistrar(n *Node) *registrar {
	r := &registrar{n: n, waked: make(chan struct{}, 1), have: map[entry]entered{}, params: map[string]any{}}
	if !n.c.OwnMaster {
		r.err = errNoMaster
	}
	return r
}

// wake says that something changed.
func (r *registrar) wake() {
	select {
	case r.waked <- struct{}{}:
	default:
	}
}

func (r *registrar) health() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return fmt.Errorf("ROS 1 master %s: %w", r.n.c.Master, r.err)
	}
	return nil
}

// run keeps the registrations until ctx is done.
func (r *registrar) run(ctx context.Context) {
	for ctx.Err() == nil {
		began := time.Now()
		err := r.sync(ctx)
		if ctx.Err() != nil {
			return
		}
		r.note(err)
		select {
		case <-r.waked:
		case <-time.After(max(checkEvery, min(syncRest*time.Since(began), checkLate))):
		case <-ctx.Done():
		}
	}
}

// note keeps how the master is, and logs when that changes.
func (r *registrar) note(err error) {
	r.mu.Lock()
	was := r.err
	r.err = err
	told := r.told
	r.told = err != nil
	if err != nil {
		clear(r.have) // whatever it still has is registered again
	}
	count := len(r.have)
	r.mu.Unlock()
	if err != nil {
		clear(r.params)
	}
	switch {
	case err == nil && was != nil:
		r.n.c.Log.Info("registered at the ROS 1 master", "master", r.n.c.Master, "node", r.n.self, "names", count)
	case err != nil && !told:
		r.n.c.Log.Warn("the ROS 1 master is not reached; it is tried again every second", "master", r.n.c.Master, "why", err)
	}
}

// sync makes the master have what the node has.
func (r *registrar) sync(ctx context.Context) error {
	if err := r.look(ctx); err != nil {
		return err
	}
	if err := r.syncParams(ctx); err != nil { // first: who hears of a topic finds its robot described
		return err
	}
	want := r.wanted()
	r.mu.Lock()
	have := maps.Clone(r.have)
	r.mu.Unlock()
	for e, was := range have {
		if now, ok := want[e]; !ok || now.typ != was.typ {
			if err := r.remove(ctx, e); err != nil {
				return err
			}
		}
	}
	for e, now := range want {
		if was, ok := have[e]; !ok || was != now {
			if err := r.add(ctx, e, now); err != nil {
				return err
			}
		}
	}
	return nil
}

// look asks the master for this node. One that does not know it has lost everything; one
// that knows another of its name has replaced it.
func (r *registrar) look(ctx context.Context) error {
	code, v, err := r.n.callMaster(ctx, "lookupNode", r.n.self)
	if err != nil {
		return err
	}
	uri, _ := v.(string)
	r.mu.Lock()
	known := len(r.have) > 0
	if code != success && known {
		clear(r.have)
		clear(r.params)
	}
	r.mu.Unlock()
	if code == success && known && uri != r.n.uri {
		r.n.c.Shutdown(fmt.Sprintf("another node has registered as %s at the ROS 1 master", r.n.self))
		<-ctx.Done() // it would end that one in turn
	}
	return nil
}

// wanted returns what is to be registered.
func (r *registrar) wanted() map[entry]entered {
	n := r.n
	n.mu.Lock()
	defer n.mu.Unlock()
	want := map[entry]entered{}
	for ros, p := range n.pubs {
		want[entry{publisher, ros}] = entered{typ: typeName(p.typ)}
	}
	for ros, s := range n.subs {
		want[entry{subscriber, ros}] = entered{typeName(s.typ), s}
	}
	for ros := range *n.services.Load() {
		want[entry{server, ros}] = entered{}
	}
	return want
}

func (r *registrar) add(ctx context.Context, e entry, of entered) error {
	var code int
	var v any
	var err error
	switch e.kind {
	case publisher:
		code, v, err = r.n.callMaster(ctx, "registerPublisher", e.name, of.typ, r.n.uri)
	case subscriber:
		code, v, err = r.n.callMaster(ctx, "registerSubscriber", e.name, of.typ, r.n.uri)
	default:
		code, v, err = r.n.callMaster(ctx, "registerService", e.name, r.n.rpc, r.n.uri)
	}
	if err != nil {
		return err
	}
	if code != success {
		return fmt.Errorf("it refuses to register %s", e.name)
	}
	r.mu.Lock()
	r.have[e] = of
	r.mu.Unlock()
	if e.kind == subscriber {
		r.n.publishersOf(e.name, v, false)
	}
	return nil
}

func (r *registrar) remove(ctx context.Context, e entry) error {
	var err error
	switch e.kind {
	case publisher:
		_, _, err = r.n.callMaster(ctx, "unregisterPublisher", e.name, r.n.uri)
	case subscriber:
		_, _, err = r.n.callMaster(ctx, "unregisterSubscriber", e.name, r.n.uri)
	default:
		_, _, err = r.n.callMaster(ctx, "unregisterService", e.name, r.n.rpc)
	}
	if err != nil {
		return err
	}
	r.mu.Lock()
	delete(r.have, e)
	r.mu.Unlock()
	return nil
}

// syncParams gives the master the parameters that it has not.
func (r *registrar) syncParams(ctx context.Context) error {
	for _, key := range slices.Sorted(maps.Keys(r.n.c.Params)) {
		if _, has := r.params[key]; has {
			continue
		}
		code, _, err := r.n.callMaster(ctx, "setParam", key, r.n.c.Params[key])
		if err != nil {
			return err
		}
		if code != success {
			return fmt.Errorf("it refuses the parameter %s", key)
		}
		r.params[key] = true
	}
	return nil
}

// leave takes everything back.
func (r *registrar) leave(ctx context.Context) {
	r.mu.Lock()
	have := maps.Clone(r.have)
	r.mu.Unlock()
	for key := range r.params {
		if _, _, err := r.n.callMaster(ctx, "deleteParam", key); err != nil {
			break
		}
	}
	for e := range have {
		if r.remove(ctx, e) != nil {
			return // there is no master to take it from
		}
	}
}

// callMaster calls a method of the master in the name of the node.
func (n *Node) callMaster(ctx context.Context, method string, args ...any) (code int, value any, err error) {
	ctx, cancel := context.WithTimeout(ctx, masterWaits)
	defer cancel()
	v, err := n.client.Call(ctx, n.c.Master, method, append([]any{n.self}, args...)...)
	if err != nil {
		return 0, nil, err
	}
	return readAnswer(method, v)
}

// readAnswer reads a code, a text and a value.
func readAnswer(method string, v any) (code int, value any, err error) {
	list, _ := v.([]any)
	if len(list) != 3 {
		return 0, nil, fmt.Errorf("%s: the answer is no code, text and value", method)
	}
	code, ok := list[0].(int)
	if !ok {
		return 0, nil, fmt.Errorf("%s: the answer has no code", method)
	}
	return code, list[2], nil
}
