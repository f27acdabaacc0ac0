package rosbridge

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/coder/websocket"

	"poise/graph"
	"poise/internal/budget"
	"poise/wire"
	"poise/wire/loopback"
)

// Server shows a graph to rosbridge clients. It is a wire.HTTP.
type Server struct {
	g     *graph.Graph
	c     Config
	guard loopback.Guard

	mu       sync.Mutex
	sessions map[*session]bool
	large    *budget.Turns // of long messages
	writing  *budget.Turns // of answers that are not short
	count    uint64
	closed   bool
	done     sync.WaitGroup

	stats struct{ received, sent, lost, refused atomic.Uint64 }
}

var _ wire.HTTP = (*Server)(nil)

// New returns a server of the graph. Run or Close ends it.
func New(g *graph.Graph, c Config) *Server {
	c.Limits = c.Limits.withDefaults()
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Audit == nil {
		c.Audit = func(Entry) {}
	}
	if c.Budget == nil {
		c.Budget = budget.New(budget.Standard)
	}
	return &Server{g: g, c: c, guard: loopback.Guard{Origins: c.Origins}, sessions: map[*session]bool{}, large: budget.NewTurns(1), writing: budget.NewTurns(1)}
}

// Name returns "rosbridge".
func (s *Server) Name() string { return "rosbridge" }

// Run serves until ctx is done, and then closes.
func (s *Server) Run(ctx context.Context) error {
	<-ctx.Done()
	s.Close()
	return nil
}

// Path is where clients connect; some can only connect at /, and are taken there too.
const Path = "/rosbridge"

// Takes reports whether a request is for the server: by its path, or because it asks
// for a WebSocket.
func (s *Server) Takes(r *http.Request) bool { return r.URL.Path == Path || isUpgrade(r) }

// Addresses returns where clients connect.
func (s *Server) Addresses() []wire.Address {
	return []wire.Address{{URL: "ws://" + s.c.Address + Path, Peers: "roslib, roslibpy, Foxglove, poise play …"}}
}

// Health returns an error once the server closes.
func (s *Server) Health() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errGoingAway
	}
	return nil
}

// isUpgrade reports whether a request asks for a WebSocket.
func isUpgrade(r *http.Request) bool {
	for _, v := range r.Header.Values("Connection") {
		for _, word := range strings.Split(v, ",") {
			if strings.EqualFold(strings.TrimSpace(word), "upgrade") {
				return strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
			}
		}
	}
	return false
}

// ServeHTTP serves a client and returns when it has disconnected.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := s.guard.Check(r); err != nil {
		s.stats.refused.Add(1)
		s.c.Log.Warn("client refused", "addr", r.RemoteAddr, "why", err)
		http.Error(w, err.Error(), http.StatusForbidden)
		return
	}
	if !isUpgrade(r) {
		w.Header().Set("Upgrade", "websocket")
		w.Header().Set("Connection", "Upgrade")
		http.Error(w, "this is a rosbridge server: connect with a WebSocket", http.StatusUpgradeRequired)
		return
	}
	ses, err := s.admit(r)
	if err != nil {
		s.stats.refused.Add(1)
		s.c.Log.Warn("client refused", "addr", r.RemoteAddr, "why", err)
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	defer s.leave(ses)
	// the guard has checked the origin already
	socket := &hijacked{ResponseWriter: w, account: ses.account}
	ses.conn, err = websocket.Accept(socket, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		s.c.Log.Warn("client refused", "addr", r.RemoteAddr, "why", err)
		return // Accept has answered
	}
	ses.socket = socket.ahead
	ses.socket.stops = ses.stopsAhead
	s.c.Log.Info("client connected", "client", ses.client.String(), "agent", ses.client.Agent)
	why := ses.run(r.Context())
	s.c.Log.Info("client gone", "client", ses.client.String(), "why", howEnded(why))
}

// howEnded says how a connection ended, for the log.
func howEnded(why error) string {
	switch code := websocket.CloseStatus(why); {
	case code == websocket.StatusNormalClosure || code == websocket.StatusGoingAway || code == websocket.StatusNoStatusRcvd:
		return "closed by the client"
	case code >= 0:
		return fmt.Sprintf("closed by the client with code %d", code)
	case errors.Is(why, io.EOF) || errors.Is(why, syscall.ECONNRESET) || errors.Is(why, syscall.EPIPE):
		return "the connection broke"
	}
	return why.Error()
}

// hijacked puts a reader that is ahead of the WebSocket under it, and keeps the socket: a
// closing handshake without an answer must end.
type hijacked struct {
	http.ResponseWriter
	account *budget.Account
	ahead   *ahead
}

// Hijack hands the socket over.
func (h *hijacked) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(h.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	first, _ := rw.Reader.Peek(rw.Reader.Buffered()) // it has as many
	h.ahead = newAhead(conn, first, h.account)
	return h.ahead, bufio.NewReadWriter(bufio.NewReader(h.ahead), rw.Writer), nil
}

// admit makes a session, unless there are too many.
func (s *Server) admit(r *http.Request) (*session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errGoingAway
	}
	if len(s.sessions) >= s.c.Limits.Connections {
		return nil, &LimitError{What: "too many clients", Limit: float64(s.c.Limits.Connections)}
	}
	s.count++
	node, err := s.g.Join(fmt.Sprintf("/rosbridge/client_%d", s.count))
	if err != nil {
		return nil, err
	}
	ses := newSession(s, Client{Node: node.Node(), Addr: r.RemoteAddr, Agent: r.UserAgent(), Origin: r.Header.Get("Origin")})
	ses.node = node
	s.sessions[ses] = true
	s.done.Add(1)
	return ses, nil
}

func (s *Server) leave(ses *session) {
	ses.node.Leave()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, ses)
	ses.account.Close()
	s.done.Done()
}

// Close disconnects all clients, and returns when that is done.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	for ses := range s.sessions {
		ses.stop(errGoingAway)
	}
	s.mu.Unlock()
	s.done.Wait()
}

// Stats returns what a metrics page shows.
func (s *Server) Stats() wire.Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return wire.Stats{Clients: len(s.sessions), Connected: s.count, Refused: s.stats.refused.Load(),
		Received: s.stats.received.Load(), Sent: s.stats.sent.Load(), Lost: s.stats.lost.Load()}
}

// Clients returns the clients that are connected.
func (s *Server) Clients() []Client {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Client, 0, len(s.sessions))
	for ses := range s.sessions {
		out = append(out, ses.client)
	}
	sortClients(out)
	return out
}

func (s *Server) audit(ses *session, kind Kind, name, id, result string) {
	s.c.Audit(Entry{Time: time.Now(), Client: ses.client, Kind: kind, Name: clip(name), ID: clip(id), Result: clip(result)})
}

// clip keeps a client from filling the log with one line.
func clip(text string) string {
	const most = 500
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// callContext returns the context of a call by the client.
func (ses *session) callContext() context.Context {
	return graph.WithAccount(graph.WithCaller(ses.ctx, ses.client.Node), ses.account)
}
