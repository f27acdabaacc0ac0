package server

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"poise/graph"
	"poise/internal/journal"
	"poise/msgs"
	"poise/problem"
)

// logHandler writes log lines for people and publishes them on rosout.
type logHandler struct {
	text   slog.Handler
	rosout graph.Publisher[msgs.Log]
	attrs  []slog.Attr
	level  *logLevel
}

// logLevel is the level of the log, by ROS's words. The zero value is info.
type logLevel struct{ now slog.LevelVar }

// Level returns the word of the level.
func (l *logLevel) Level() string {
	switch at := l.now.Level(); {
	case at <= slog.LevelDebug:
		return "debug"
	case at <= slog.LevelInfo:
		return "info"
	case at <= slog.LevelWarn:
		return "warn"
	}
	return "error"
}

// SetLevel sets the level by its word.
func (l *logLevel) SetLevel(word string) error {
	levels := map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError, "fatal": slog.LevelError}
	at, ok := levels[strings.ToLower(word)]
	if !ok {
		return fmt.Errorf("level %.50q is unknown (debug, info, warn, error, fatal)%s", word, problem.Hint(strings.ToLower(word), slices.Sorted(maps.Keys(levels))))
	}
	l.now.Set(at)
	return nil
}

// newLog returns a log that goes to w (nil: discarded) and to rosout of a graph that was
// just made. Logging never waits: lines are written by a goroutine of their own. If w is
// a journal already, it is shared.
func newLog(g *graph.Graph, w io.Writer, level *logLevel) (log *slog.Logger, lines *journal.Writer, shared bool) {
	if w == nil {
		w = io.Discard
	}
	if lines, shared = w.(*journal.Writer); !shared {
		lines = journal.New(w)
	}
	h := &logHandler{text: slog.NewTextHandler(lines, &slog.HandlerOptions{Level: &level.now,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr { return cutAttr(a) }}), level: level}
	// such a graph has the name free
	h.rosout, _ = graph.Topic[msgs.Log](g, "rosout", graph.TopicOptions{QoS: graph.QoS{Depth: 100}, Others: ownName})
	return slog.New(h), lines, shared
}

// closeLog writes what is left of the log; one that is not read is no reason to fail.
func (s *Server) closeLog() {
	if !s.shared {
		_ = s.lines.Close(logPatience)
	}
}

// maxLogText bounds a text of a log line, bytes: some come from clients.
const maxLogText = 1024

// cutText shortens a text for the log.
func cutText(s string) string {
	if len(s) <= maxLogText {
		return s
	}
	at := maxLogText
	for at > 0 && !utf8.RuneStart(s[at]) {
		at--
	}
	return fmt.Sprintf("%s… (%d bytes in all)", s[:at], len(s))
}

// cutAttr shortens the value of an attribute.
func cutAttr(a slog.Attr) slog.Attr {
	switch a.Value.Kind() {
	case slog.KindString:
		if s := a.Value.String(); len(s) > maxLogText {
			a.Value = slog.StringValue(cutText(s))
		}
	case slog.KindAny:
		if err, ok := a.Value.Any().(error); ok && err != nil {
			a.Value = slog.StringValue(cutText(err.Error()))
		}
	}
	return a
}

// ownName admits log lines of others on rosout under the names of their nodes, so that no
// line passes for one of the server's.
func ownName(node string, v any) error {
	m := v.(*msgs.Log)
	if name := strings.TrimPrefix(m.Name, "/"); name != strings.TrimPrefix(node, "/") && !strings.HasPrefix(name, strings.TrimPrefix(node, "/")+"/") {
		m.Name = strings.TrimSuffix(node+"/"+name, "/")
	}
	return nil
}

// Levels of rcl_interfaces/Log; rosgraph_msgs/Log of ROS 1 has powers of two.
var logLevels = []struct {
	least      slog.Level
	ros2, ros1 uint8
}{{slog.LevelError, 40, 8}, {slog.LevelWarn, 30, 4}, {slog.LevelInfo, 20, 2}, {slog.LevelDebug, 10, 1}}

func (h *logHandler) Enabled(_ context.Context, l slog.Level) bool { return l >= h.level.now.Level() }

func (h *logHandler) Handle(ctx context.Context, r slog.Record) error {
	h.rosout.PublishFunc(func() *msgs.Log {
		stamp := msgs.TimeOf(r.Time.UnixNano())
		m := &msgs.Log{Header: msgs.Header{Stamp: stamp}, Stamp: stamp, Name: "poise"}
		for _, l := range logLevels {
			if r.Level >= l.least {
				m.Level, m.Severity = l.ros2, l.ros1
				break
			}
		}
		var b strings.Builder
		b.WriteString(cutText(r.Message))
		add := func(a slog.Attr) bool {
			b.WriteByte(' ')
			b.WriteString(cutAttr(a).String())
			return true
		}
		for _, a := range h.attrs {
			add(a)
		}
		r.Attrs(add)
		m.Msg = b.String()
		return m
	})
	return h.text.Handle(ctx, r)
}

func (h *logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &logHandler{text: h.text.WithAttrs(attrs), rosout: h.rosout, level: h.level, attrs: append(append([]slog.Attr(nil), h.attrs...), attrs...)}
}

func (h *logHandler) WithGroup(name string) slog.Handler {
	return &logHandler{text: h.text.WithGroup(name), rosout: h.rosout, level: h.level, attrs: h.attrs}
}

// What one client may write into the log with its commands: lines per second, and lines
// in a burst. What is beyond is counted, and told once a second.
const (
	clientLines = 50
	clientBurst = 500
)

// logShares keeps each client to its share of the log. The zero value is ready.
type logShares struct {
	mu     sync.Mutex
	shares map[string]*logShare
}

// logShare is what is left of a client's share.
type logShare struct {
	lines float64
	last  time.Time
}

// take reports whether a client has a line left.
func (s *logShares) take(who string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shares == nil {
		s.shares = map[string]*logShare{}
	}
	c := s.shares[who]
	if c == nil {
		s.forget(now)
		c = &logShare{lines: clientBurst, last: now}
		s.shares[who] = c
	}
	c.lines = min(c.lines+clientLines*now.Sub(c.last).Seconds(), clientBurst)
	c.last = now
	if c.lines < 1 {
		return false
	}
	c.lines--
	return true
}

// forget drops the shares of clients that were silent until they had all of theirs again.
func (s *logShares) forget(now time.Time) {
	if len(s.shares) < 256 {
		return
	}
	for who, c := range s.shares {
		if c.lines+clientLines*now.Sub(c.last).Seconds() >= clientBurst {
			delete(s.shares, who)
		}
	}
}
