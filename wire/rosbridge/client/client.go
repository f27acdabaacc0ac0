package client

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/coder/websocket"

	"poise/wire/rosbridge/frame"
)

// Options are a client's settings; zero values take the defaults.
type Options struct {
	Header     http.Header
	HTTP       *http.Client  // which connects, without following redirects; nil is http.DefaultClient
	FirstPause time.Duration // before the first attempt to reconnect; default 100 ms
	LastPause  time.Duration // which the pauses grow to; default 5 s
	PingEvery  time.Duration // default 10 s
	MaxBytes   int           // of one message; default 64 MiB

	// Status is called with status messages of the server, and Changed when the
	// connection comes (nil) or goes. Both are called in order and must not block.
	Status  func(level, id, text string)
	Changed func(why error)
	Log     *slog.Logger

	// Failed is called with why an attempt to connect failed. It must not block.
	Failed func(why error)
}

// Errors of a connection.
var (
	ErrDisconnected = errors.New("the connection to the server was lost")
	ErrClosed       = errors.New("the client is closed")
)

// Client is a connection to a rosbridge server, made again when it breaks.
type Client struct {
	url    string
	o      Options
	web    *http.Client
	ctx    context.Context
	cancel context.CancelFunc
	done   chan struct{}

	mu       sync.Mutex
	conn     *websocket.Conn
	online   chan struct{} // closed while connected
	seq      uint64
	subs     []*Subscription
	pubs     []*Publisher
	calls    map[string]chan reply
	goals    map[string]*Goal
	statuses map[string]func(error) // called with an error status of this id
}

type reply struct {
	m   *frame.Message
	err error
}

// Dial connects; the first attempt must succeed.
func Dial(ctx context.Context, url string, o Options) (*Client, error) {
	c := newClient(url, o)
	conn, err := c.dial(ctx)
	if err != nil {
		c.cancel()
		return nil, err
	}
	go c.run(conn)
	select {
	case <-c.connected():
	case <-ctx.Done():
		c.Close()
		return nil, ctx.Err()
	}
	return c, nil
}

// Open returns at once and connects as soon as the server is there.
func Open(url string, o Options) *Client {
	c := newClient(url, o)
	go c.run(nil)
	return c
}

func newClient(url string, o Options) *Client {
	if o.FirstPause <= 0 {
		o.FirstPause = 100 * time.Millisecond
	}
	if o.LastPause <= 0 {
		o.LastPause = 5 * time.Second
	}
	if o.PingEvery <= 0 {
		o.PingEvery = 10 * time.Second
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = 64 << 20
	}
	if o.Status == nil {
		o.Status = func(string, string, string) {}
	}
	if o.Changed == nil {
		o.Changed = func(error) {}
	}
	if o.Failed == nil {
		o.Failed = func(error) {}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	web := http.Client{}
	if o.HTTP != nil {
		web = *o.HTTP
	}
	// who is asked for one server does not speak with another
	web.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c := &Client{url: url, o: o, web: &web, done: make(chan struct{}), online: make(chan struct{}),
		calls: map[string]chan reply{}, goals: map[string]*Goal{}, statuses: map[string]func(error){}}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c
}

func (c *Client) dial(ctx context.Context) (*websocket.Conn, error) {
	conn, response, err := websocket.Dial(ctx, c.url, &websocket.DialOptions{HTTPClient: c.web, HTTPHeader: c.o.Header})
	if err != nil {
		switch {
		case response != nil && response.StatusCode >= 300 && response.StatusCode < 400:
			return nil, fmt.Errorf("%s: the server answers %s to %q: redirects are not followed", c.url, response.Status, response.Header.Get("Location"))
		case response != nil && response.StatusCode != http.StatusSwitchingProtocols:
			return nil, fmt.Errorf("%s: the server answers %s", c.url, response.Status)
		}
		return nil, fmt.Errorf("%s: %w", c.url, err)
	}
	conn.SetReadLimit(int64(c.o.MaxBytes))
	return conn, nil
}

// Close ends the client and everything that waits on it.
func (c *Client) Close() {
	c.cancel()
	<-c.done
}

// Connected reports whether the server can be reached now.
func (c *Client) Connected() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.conn != nil
}

// WaitConnected waits until the server can be reached.
func (c *Client) WaitConnected(ctx context.Context) error {
	select {
	case <-c.connected():
		return nil
	case <-c.ctx.Done():
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *Client) connected() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.online
}

// run keeps the connection until the client is closed.
func (c *Client) run(conn *websocket.Conn) {
	defer close(c.done)
	defer c.end()
	pause := c.o.FirstPause
	for c.ctx.Err() == nil {
		var err error
		if conn == nil {
			conn, err = c.dial(c.ctx)
		}
		if err != nil && c.ctx.Err() == nil {
			c.o.Failed(err)
		}
		began := time.Now()
		if err == nil {
			err = c.serve(conn)
			c.lost(err)
			conn = nil
		}
		// a server that closes connections at once counts as not reachable
		if time.Since(began) > c.o.LastPause {
			pause = c.o.FirstPause
		}
		c.o.Log.Debug("not connected", "url", c.url, "why", err)
		select {
		case <-time.After(pause):
		case <-c.ctx.Done():
		}
		pause = min(2*pause, c.o.LastPause)
	}
}

// serve uses a connection until it breaks.
func (c *Client) serve(conn *websocket.Conn) error {
	ctx, cancel := context.WithCancel(c.ctx)
	defer cancel()
	var wg sync.WaitGroup
	defer wg.Wait()
	defer conn.CloseNow()
	defer cancel()
	wg.Go(func() { c.ping(ctx, conn) })
	if err := c.registerAgain(ctx, conn); err != nil {
		return err
	}
	c.o.Changed(nil)
	join := frame.Joiner{MaxBytes: c.o.MaxBytes, MaxOpen: 64, MaxAge: time.Minute}
	for {
		typ, data, err := conn.Read(ctx)
		if err != nil {
			return err
		}
		c.take(data, typ == websocket.MessageBinary, &join)
	}
}

// registerAgain repeats advertisements and subscriptions on a new connection, those added
// meanwhile included; only then others may use it, so that their messages come after.
func (c *Client) registerAgain(ctx context.Context, conn *websocket.Conn) error {
	told := map[any]bool{}
	for {
		var missing []*frame.Message
		c.mu.Lock()
		for _, p := range c.pubs {
			if !told[p] {
				told[p] = true
				missing = append(missing, p.message(frame.Advertise))
			}
		}
		for _, s := range c.subs {
			if !told[s] {
				told[s] = true
				missing = append(missing, s.message())
			}
		}
		if len(missing) == 0 {
			c.conn = conn
			close(c.online)
			c.mu.Unlock()
			return nil
		}
		c.mu.Unlock()
		for _, m := range missing {
			if err := conn.Write(ctx, websocket.MessageText, m.Append(nil)); err != nil {
				return err
			}
		}
	}
}

// lost ends what was under way when the connection broke.
func (c *Client) lost(cause error) {
	c.mu.Lock()
	if c.conn != nil {
		c.conn = nil
		c.online = make(chan struct{})
	}
	calls, goals := c.calls, c.goals
	c.calls, c.goals = map[string]chan reply{}, map[string]*Goal{}
	c.mu.Unlock()
	for _, ch := range calls {
		ch <- reply{err: ErrDisconnected}
	}
	for _, g := range goals {
		g.end(ErrDisconnected)
	}
	if c.ctx.Err() == nil {
		c.o.Changed(fmt.Errorf("%w: %w", ErrDisconnected, cause))
	}
}

// end releases all that wait.
func (c *Client) end() {
	c.mu.Lock()
	subs := c.subs
	c.subs, c.pubs = nil, nil
	c.mu.Unlock()
	for _, s := range subs {
		s.queue.end(ErrClosed)
	}
}

func (c *Client) ping(ctx context.Context, conn *websocket.Conn) {
	tick := time.NewTicker(c.o.PingEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		within, cancel := context.WithTimeout(ctx, c.o.PingEvery)
		err := conn.Ping(within)
		cancel()
		if err != nil {
			conn.CloseNow()
			return
		}
	}
}

// send writes one message.
func (c *Client) send(ctx context.Context, m *frame.Message) error {
	c.mu.Lock()
	conn := c.conn
	c.mu.Unlock()
	switch {
	case c.ctx.Err() != nil:
		return ErrClosed
	case conn == nil:
		return ErrDisconnected
	}
	// not ctx: a write that is cut off would break the connection; it ends by itself, or
	// by the ping
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err := conn.Write(c.ctx, websocket.MessageText, m.Append(nil)); err != nil {
		return fmt.Errorf("%w: %w", ErrDisconnected, err)
	}
	return nil
}

// id returns a name for an interaction.
func (c *Client) id(what, name string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seq++
	return fmt.Sprintf("%s:%s:%d", what, name, c.seq)
}

// take hands a message to its receiver. One without a receiver is dropped.
func (c *Client) take(data []byte, binary bool, join *frame.Joiner) {
	parse := frame.Parse
	if binary {
		parse = frame.ParseCBOR
	}
	m, err := parse(data)
	if err != nil {
		c.o.Log.Warn("the server sent what cannot be read", "why", err)
		return
	}
	switch m.Op {
	case frame.Fragment:
		if whole, err := join.Add(m, time.Now()); err != nil {
			c.o.Log.Warn("the server sent what cannot be joined", "why", err)
		} else if whole != nil {
			c.take(whole, false, join)
		}
	case frame.Publish:
		c.mu.Lock()
		subs := slices.Clone(c.subs)
		c.mu.Unlock()
		for _, s := range subs {
			if s.topic == m.Topic {
				s.queue.put(m.Msg)
			}
		}
	case frame.ServiceResponse:
		c.mu.Lock()
		ch := c.calls[frame.IDText(m.ID)]
		delete(c.calls, frame.IDText(m.ID))
		c.mu.Unlock()
		if ch != nil {
			ch <- reply{m: m}
		}
	case frame.ActionFeedback, frame.ActionResult:
		c.mu.Lock()
		g := c.goals[frame.IDText(m.ID)]
		c.mu.Unlock()
		if g != nil {
			g.take(m)
		}
	case frame.Status:
		c.takeStatus(m)
	}
}

func (c *Client) takeStatus(m *frame.Message) {
	text, id := frame.IDText(string(m.Msg)), frame.IDText(m.ID)
	if m.Level == "error" {
		c.mu.Lock()
		concerns := c.statuses[id]
		c.mu.Unlock()
		if concerns != nil {
			concerns(&RefusedError{What: id, Why: text})
		}
	}
	c.o.Status(m.Level, id, text)
}

// RefusedError is a negative answer of the server.
type RefusedError struct{ What, Why string }

func (e *RefusedError) Error() string { return e.Why }

// Call calls a service with its request as JSON text, nil for none, and returns
// the response. A refusal is a RefusedError with the server's text.
func (c *Client) Call(ctx context.Context, service string, args []byte) ([]byte, error) {
	id := c.id("call_service", service)
	ch := make(chan reply, 1)
	c.mu.Lock()
	c.calls[id] = ch
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.calls, id)
	}()
	m := &frame.Message{Op: frame.CallService, ID: frame.StringID(id), Service: service, Args: args}
	if deadline, ok := ctx.Deadline(); ok {
		// the server is to give up when we do
		left := time.Until(deadline).Seconds()
		m.Timeout = &left
	}
	if err := c.send(ctx, m); err != nil {
		return nil, fmt.Errorf("service %s: %w", service, err)
	}
	select {
	case r := <-ch:
		switch {
		case r.err != nil:
			return nil, fmt.Errorf("service %s: %w", service, r.err)
		case r.m.Result != nil && !*r.m.Result:
			return nil, &RefusedError{What: service, Why: frame.IDText(string(r.m.Values))}
		}
		return r.m.Values, nil
	case <-c.ctx.Done():
		return nil, ErrClosed
	case <-ctx.Done():
		return nil, fmt.Errorf("service %s: %w", service, ctx.Err())
	}
}
