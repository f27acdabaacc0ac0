package rosbridge

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"poise/graph"
	"poise/internal/budget"
	"poise/msgs/poisemsgs"
	"poise/problem"
	"poise/wire/rosbridge/frame"
)

// Levels of status messages, each including those before it.
const (
	levelNone = iota
	levelError
	levelWarning
	levelInfo
)

var levels = []string{"none", "error", "warning", "info"}

func statusFrame(level int, id, text string) []byte {
	m := frame.Message{Op: frame.Status, ID: id, Level: levels[level], Msg: frame.AppendString(nil, text)}
	return m.Append(nil)
}

// status sends a status message, if the level that the client asked for includes it.
func (ses *session) status(level int32, id, text string) {
	if level <= ses.level.Load() {
		ses.box.must([][]byte{statusFrame(int(level), id, text)}, false)
	}
}

// refuse answers a message that cannot be handled: a call or a goal by its negative
// answer, anything else by a status. Not by both: some clients fail on a status.
func (ses *session) refuse(m *frame.Message, err error) {
	text := err.Error()
	if m.Op != "" {
		text = m.Op + ": " + text
	}
	switch m.Op {
	case frame.CallService:
		ses.answerCall(m, nil, err)
	case frame.SendActionGoal:
		ses.answerRejected(m.ID, m.Action, err.Error(), whyRefused(err))
	default:
		ses.status(levelError, m.ID, text)
	}
	ses.server.c.Log.Debug("message refused", "client", ses.client.String(), "why", text)
}

// whyRefused explains a goal that never got to its server.
func whyRefused(err error) []poisemsgs.Explanation {
	reason := poisemsgs.Explanation{Code: "bad_request", Text: err.Error()}
	var missing *graph.NotFoundError
	var full *graph.FullError
	var limit *LimitError
	var pace *budget.PaceError
	var over *budget.Error
	var wrong *graph.TypeError
	switch {
	case errors.As(err, &missing):
		reason.Code = "unknown_action"
	case errors.As(err, &wrong):
		reason.Code = "wrong_type"
	case errors.As(err, &full):
		reason.Code, reason.Limit = "full", float64(full.Limit)
	case errors.As(err, &limit):
		reason.Code, reason.Limit = "full", limit.Limit
	case errors.As(err, &pace):
		reason.Code, reason.Limit = "full", pace.Limit
	case errors.As(err, &over):
		reason.Code, reason.Limit = "full", float64(over.Limit())
	}
	return []poisemsgs.Explanation{reason}
}

func (ses *session) setLevel(m *frame.Message) error {
	level := slices.Index(levels, m.Level)
	if level < 0 {
		return fmt.Errorf("level is %q, must be one of %s%s", m.Level, strings.Join(levels, ", "), problem.Hint(m.Level, levels))
	}
	ses.level.Store(int32(level))
	return nil
}

// What is logged of a client's status messages: bytes of each, and messages per second.
const (
	maxSaid  = 1024
	saidRate = 10
)

// clientStatus logs a status message of the client, or the beginning of a long one. A
// client that says more than a few lines a second is logged once a second, with a count.
func (ses *session) clientStatus(m *frame.Message) error {
	if !ses.said.take(time.Now()) {
		ses.unsaid++
		return nil
	}
	text := string(m.Msg[:min(len(m.Msg), maxSaid)])
	args := []any{"client", ses.client.String(), "level", m.Level[:min(len(m.Level), maxSaid)], "text", strings.ToValidUTF8(text, "")}
	if len(m.Msg) > maxSaid {
		args = append(args, "bytes", len(m.Msg))
	}
	if ses.unsaid > 0 {
		args = append(args, "left_out", ses.unsaid)
		ses.unsaid = 0
	}
	ses.server.c.Log.Info("client says", args...)
	return nil
}

func (ses *session) auth(m *frame.Message) error {
	ses.status(levelWarning, m.ID, "auth: nothing was checked: this server serves every program of its machine and knows no users")
	return nil
}

func (ses *session) png(*frame.Message) error {
	return errors.New("PNG compression is not served; use none or cbor")
}
