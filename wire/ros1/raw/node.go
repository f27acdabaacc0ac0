// Package raw is a node of a ROS 1 network that reads and publishes messages as bytes, of any
// type: recording and playing them needs no definition of the type.
//
//	n, err := raw.Join(ctx, ros1.Environment(os.Getenv), "/recorder")
//	err = n.Subscribe(ctx, "/joint_states", func(from tcpros.Header, data []byte) { … })
//	p, err := n.Advertise(ctx, "/joint_states", raw.Kind{Type: …, MD5: …, Definition: …})
//	p.Publish(data)
//	n.Close()                    // takes the names back
//
// It keeps to this machine unless the configuration opens it, as package ros1 does.
package raw

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"poise/wire/ros1"
	"poise/wire/ros1/tcpros"
	"poise/wire/ros1/xmlrpc"
)

// Node is a node of a ROS 1 network.
type Node struct {
	c      ros1.Config
	self   string
	uri    string
	client *xmlrpc.Client
	calls  net.Listener
	links  net.Listener
	web    *http.Server

	life    context.Context
	end     context.CancelFunc
	killed  chan struct{} // closed when ROS ends the node
	kill    func()
	running sync.WaitGroup

	longest atomic.Uint32 // bytes of a message

	mu   sync.Mutex
	subs map[string]*subscription
	pubs map[string]*Publisher
}

// LimitMessages bounds the messages that are read, bytes: longer ones are left out.
func (n *Node) LimitMessages(bytes uint32) { n.longest.Store(bytes) }

// NoMasterError is a master that does not answer.
type NoMasterError struct {
	Master string
	Why    error
}

func (e *NoMasterError) Error() string {
	return fmt.Sprintf("no ROS 1 master answers at %s (ROS_MASTER_URI): %v", e.Master, e.Why)
}

func (e *NoMasterError) Unwrap() error { return e.Why }

// Bounds of waiting.
const (
	masterWaits = 3 * time.Second
	greetWithin = 5 * time.Second
	callWithin  = 30 * time.Second
	retryAfter  = 500 * time.Millisecond
)

// maxMessage bounds one message if nothing else is said.
const maxMessage = 256 << 20

// Join makes a node of a full name, such as /poise_bag, at the master that the configuration
// names.
func Join(ctx context.Context, c ros1.Config, name string) (*Node, error) {
	c, err := c.Finished()
	if err != nil {
		return nil, err
	}
	n := &Node{c: c, self: name, subs: map[string]*subscription{}, pubs: map[string]*Publisher{}, killed: make(chan struct{})}
	n.kill = sync.OnceFunc(func() { close(n.killed) })
	n.longest.Store(maxMessage)
	n.client = xmlrpc.NewClient(n.c.Dial)
	n.life, n.end = context.WithCancel(context.Background())
	if _, err := n.master(ctx, "getPid"); err != nil {
		n.end()
		return nil, &NoMasterError{c.Master, err}
	}
	if n.calls, err = n.c.Listen(); err == nil {
		n.links, err = n.c.Listen()
	}
	if err != nil {
		n.Close()
		return nil, err
	}
	n.uri = "http://" + net.JoinHostPort(c.Host, portOf(n.calls)) + "/"
	n.web = &http.Server{Handler: refusePages(n.slave()), ReadHeaderTimeout: greetWithin, ReadTimeout: callWithin, WriteTimeout: callWithin}
	n.running.Go(func() { _ = n.web.Serve(n.calls) }) // until it is closed
	n.running.Go(n.accept)
	return n, nil
}

func portOf(l net.Listener) string {
	_, port, _ := net.SplitHostPort(l.Addr().String()) // a listener's address has one
	return port
}

// refusePages refuses what a page in a browser sends: ROS peers have no origin.
func refusePages(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Origin") != "" {
			http.Error(w, "pages may not call ROS 1", http.StatusForbidden)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// Master returns where the master is.
func (n *Node) Master() string { return n.c.Master }

// Killed is closed when ROS ends the node: rosnode kill, or another of its name.
func (n *Node) Killed() <-chan struct{} { return n.killed }

// master calls a method of the master.
func (n *Node) master(ctx context.Context, method string, args ...any) (any, error) {
	ctx, cancel := context.WithTimeout(ctx, masterWaits)
	defer cancel()
	return n.call(ctx, n.c.Master, method, args...)
}

// call calls a method of the master or of a node; an answer that is no success is an error.
func (n *Node) call(ctx context.Context, uri, method string, args ...any) (any, error) {
	v, err := n.client.Call(ctx, uri, method, append([]any{n.self}, args...)...)
	if err != nil {
		return nil, err
	}
	list, _ := v.([]any)
	if len(list) != 3 {
		return nil, fmt.Errorf("%s: the answer is no code, text and value", method)
	}
	if code, ok := list[0].(int); !ok || code != 1 {
		return nil, fmt.Errorf("%s is refused: %.300v", method, list[1])
	}
	return list[2], nil
}

// Topics returns the types of the topics that are published now.
func (n *Node) Topics(ctx context.Context) (map[string]string, error) {
	v, err := n.master(ctx, "getPublishedTopics", "")
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	list, _ := v.([]any)
	for _, one := range list {
		if pair, _ := one.([]any); len(pair) == 2 {
			topic, _ := pair[0].(string)
			out[topic], _ = pair[1].(string)
		}
	}
	return out, nil
}

// slave is what the master and other nodes call.
func (n *Node) slave() *xmlrpc.Handler {
	answer := func(v any) (any, error) { return []any{1, "", v}, nil }
	refuse := func(why string) (any, error) { return []any{-1, why, 0}, nil }
	methods := map[string]xmlrpc.Method{
		"getPid":           func(context.Context, []any) (any, error) { return answer(os.Getpid()) },
		"getMasterUri":     func(context.Context, []any) (any, error) { return answer(n.c.Master) },
		"getBusInfo":       func(context.Context, []any) (any, error) { return answer([]any{}) },
		"getBusStats":      func(context.Context, []any) (any, error) { return answer([]any{[]any{}, []any{}, []any{0, 0, 0}}) },
		"getPublications":  func(context.Context, []any) (any, error) { return answer(n.list(true)) },
		"getSubscriptions": func(context.Context, []any) (any, error) { return answer(n.list(false)) },
		"paramUpdate":      func(context.Context, []any) (any, error) { return answer(0) },
		"shutdown": func(context.Context, []any) (any, error) {
			n.kill()
			return answer(0)
		},
		"publisherUpdate": func(_ context.Context, args []any) (any, error) {
			if len(args) != 3 {
				return refuse("publisherUpdate takes 3 arguments")
			}
			topic, _ := args[1].(string)
			n.publishersOf(topic, args[2], true)
			return answer(0)
		},
		"requestTopic": func(_ context.Context, args []any) (any, error) {
			if len(args) != 3 {
				return refuse("requestTopic takes 3 arguments")
			}
			topic, _ := args[1].(string)
			if n.publisher(topic) == nil {
				return refuse(fmt.Sprintf("not a publisher of [%.200s]", topic))
			}
			port, err := strconv.Atoi(portOf(n.links))
			if err != nil {
				return nil, err
			}
			return answer([]any{"TCPROS", n.c.Host, port})
		},
	}
	return &xmlrpc.Handler{Methods: methods, MaxBytes: 4 << 20}
}

// list is what is published or read, with types.
func (n *Node) list(published bool) []any {
	n.mu.Lock()
	defer n.mu.Unlock()
	out := []any{}
	if published {
		for topic, p := range n.pubs {
			out = append(out, []any{topic, p.kind.Type})
		}
		return out
	}
	for topic := range n.subs {
		out = append(out, []any{topic, "*"})
	}
	return out
}

// Close ends the node and takes its names back.
func (n *Node) Close() {
	n.mu.Lock()
	subs, pubs := n.subs, n.pubs
	n.subs, n.pubs = map[string]*subscription{}, map[string]*Publisher{}
	n.mu.Unlock()
	leaving, cancel := context.WithTimeout(context.Background(), masterWaits)
	defer cancel()
	var errs []error
	for topic := range subs {
		_, err := n.master(leaving, "unregisterSubscriber", topic, n.uri)
		errs = append(errs, err)
	}
	for topic := range pubs {
		_, err := n.master(leaving, "unregisterPublisher", topic, n.uri)
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		n.c.Log.Debug("names are left at the ROS 1 master", "why", err)
	}
	n.end()
	for _, l := range []net.Listener{n.calls, n.links} {
		if l != nil {
			l.Close()
		}
	}
	if n.web != nil {
		n.web.Close()
	}
	n.running.Wait()
	n.client.Close()
}

// readBody reads a message with its length before it. One that is too long is left out, and is
// nil.
func (n *Node) readBody(r io.Reader) ([]byte, error) {
	size, err := tcpros.ReadLength(r)
	if err != nil {
		return nil, err
	}
	if limit := n.longest.Load(); size > limit {
		n.c.Log.Warn("a ROS 1 message is left out", "why", &tcpros.LengthError{What: "a message", Length: size, Limit: int(limit)})
		_, err := io.CopyN(io.Discard, r, int64(size))
		return nil, err
	}
	data := make([]byte, size)
	_, err = io.ReadFull(r, data)
	return data, err
}
