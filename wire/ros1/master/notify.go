package master

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"poise/wire/ros1/xmlrpc"
)

// notifier tells nodes what changed, each in order and without waiting for others. Of a
// topic or parameter that changed several times a node is told the last.
type notifier struct {
	client *xmlrpc.Client
	log    *slog.Logger
	ctx    context.Context
	cancel context.CancelFunc
	done   sync.WaitGroup

	mu    sync.Mutex
	nodes map[string]*mailbox // by address
}

// mailbox is what waits for a node.
type mailbox struct {
	order []string // keys of what waits
	calls map[string]notice
}

// notice is a call that a node is told something by.
type notice struct {
	method string
	args   []any
}

const (
	noticeWithin = 3 * time.Second
	maxNotices   = 8192 // that wait for one node
)

func newNotifier(c *xmlrpc.Client, log *slog.Logger) *notifier {
	n := &notifier{client: c, log: log, nodes: map[string]*mailbox{}}
	n.ctx, n.cancel = context.WithCancel(context.Background())
	return n
}

func (n *notifier) close() {
	n.cancel()
	n.done.Wait()
}

func (n *notifier) publishers(uri, topic string, uris []any) {
	n.put(uri, "topic "+topic, notice{"publisherUpdate", []any{"/master", topic, uris}})
}

func (n *notifier) param(uri, key string, value any) {
	n.put(uri, "param "+key, notice{"paramUpdate", []any{"/master", key, value}})
}

func (n *notifier) shutdown(uri, name string) {
	n.put(uri, "shutdown", notice{"shutdown", []any{"/master", "[" + name + "] Reason: new node registered with same name"}})
}

// put adds a notice; a node for which nothing waited gets a goroutine until nothing does.
func (n *notifier) put(uri, key string, what notice) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ctx.Err() != nil {
		return
	}
	box := n.nodes[uri]
	if box == nil {
		box = &mailbox{calls: map[string]notice{}}
		n.nodes[uri] = box
		n.done.Go(func() { n.run(uri, box) })
	}
	if _, waits := box.calls[key]; !waits {
		if len(box.order) >= maxNotices {
			return // a node that takes none of so many is gone
		}
		box.order = append(box.order, key)
	}
	box.calls[key] = what
}

func (n *notifier) run(uri string, box *mailbox) {
	for {
		n.mu.Lock()
		if len(box.order) == 0 || n.ctx.Err() != nil {
			delete(n.nodes, uri)
			n.mu.Unlock()
			return
		}
		key := box.order[0]
		box.order = box.order[1:]
		what := box.calls[key]
		delete(box.calls, key)
		n.mu.Unlock()
		ctx, cancel := context.WithTimeout(n.ctx, noticeWithin)
		if _, err := n.client.Call(ctx, uri, what.method, what.args...); err != nil {
			n.log.Debug("a node does not take what it is told", "node", uri, "what", what.method, "why", err)
		}
		cancel()
	}
}
