package server

import (
	"context"
	"io"
	"log/slog"
	"strings"

	"poise/graph"
	"poise/msgs"
)

// logHandler writes log lines for people and publishes them on rosout.
type logHandler struct {
	text   slog.Handler
	rosout graph.Publisher[msgs.Log]
	attrs  []slog.Attr
}

// newLog returns a log that goes to w (nil: discarded) and to rosout of a graph that was
// just made.
func newLog(g *graph.Graph, w io.Writer) *slog.Logger {
	if w == nil {
		w = io.Discard
	}
	h := &logHandler{text: slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelInfo})}
	// such a graph has the name free
	h.rosout, _ = graph.Topic[msgs.Log](g, "rosout", graph.TopicOptions{QoS: graph.QoS{Depth: 100}})
	return slog.New(h)
}

// Levels of rcl_interfaces/Log; rosgraph_msgs/Log of ROS 1 has powers of two.
var logLevels = []struct {
	least      slog.Level
	ros2, ros1 uint8
}{{slog.LevelError, 40, 8}, {slog.LevelWarn, 30, 4}, {slog.LevelInfo, 20, 2}, {slog.LevelDebug, 10, 1}}

func (h *logHandler) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelInfo }

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
		b.WriteString(r.Message)
		add := func(a slog.Attr) bool {
			b.WriteByte(' ')
			b.WriteString(a.String())
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
	return &logHandler{text: h.text.WithAttrs(attrs), rosout: h.rosout, attrs: append(append([]slog.Attr(nil), h.attrs...), attrs...)}
}

func (h *logHandler) WithGroup(name string) slog.Handler {
	return &logHandler{text: h.text.WithGroup(name), rosout: h.rosout, attrs: h.attrs}
}
