package rosbridge

import (
	"errors"
	"fmt"
	"slices"
	"time"

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

// status tells the client something, if it wants to hear it.
func (x *session) status(level int32, id, text string) {
	if level <= x.level.Load() {
		x.box.must([][]byte{statusFrame(int(level), id, text)}, false)
	}
}

// refuse answers a message that cannot be obeyed: a call or a goal by the negative
// answer that it waits for, anything else by a status. Not by both: some clients stumble
// over a status.
func (x *session) refuse(m *frame.Message, err error) {
	text := err.Error()
	if m.Op != "" {
		text = m.Op + ": " + text
	}
	switch m.Op {
	case frame.CallService:
		x.answerCall(m, nil, err)
	case frame.SendActionGoal:
		x.answerRejected(m.ID, m.Action, err.Error(), nil)
	default:
		x.status(levelError, m.ID, text)
	}
	x.server.c.Log.Debug("message refused", "client", x.client.String(), "why", text)
}

func (x *session) setLevel(m *frame.Message) error {
	level := slices.Index(levels, m.Level)
	if level < 0 {
		return fmt.Errorf("level is %q, must be one of none, error, warning, info", m.Level)
	}
	x.level.Store(int32(level))
	return nil
}

// clientStatus takes what a client has to say about itself.
func (x *session) clientStatus(m *frame.Message) error {
	x.server.c.Log.Info("client says", "client", x.client.String(), "level", m.Level, "text", string(m.Msg))
	return nil
}

func (x *session) auth(m *frame.Message) error {
	x.status(levelWarning, m.ID, "auth: nothing was checked: this server serves every program of its machine and knows no users")
	return nil
}

func (x *session) png(*frame.Message) error {
	return errors.New("PNG compression is not served; use none or cbor")
}

func (x *session) takeFragment(m *frame.Message) error {
	whole, err := x.joiner.Add(m, time.Now())
	if err != nil || whole == nil {
		return err
	}
	inner, err := frame.Parse(whole)
	if err != nil {
		err = fmt.Errorf("the joined message: %w", err)
	}
	if inner.Op == frame.Fragment {
		return errors.New("the joined message is a fragment itself")
	}
	if inner.ID == "" && err != nil {
		inner.ID = m.ID
	}
	x.obey(inner, err)
	return nil
}
