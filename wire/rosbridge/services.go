package rosbridge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"poise/graph"
	"poise/internal/budget"
	"poise/msgs"
	"poise/wire/rosbridge/frame"
)

var errNoService = errors.New(`the member "service" is missing`)

// longest is the deadline of a call that asks for none.
const longest = 24 * time.Hour

// callService runs a call on a goroutine of its own: a slow service does not delay the
// client's other messages.
func (ses *session) callService(m *frame.Message) error {
	if m.Service == "" {
		return errNoService
	}
	if m.Compression != "" && m.Compression != "none" {
		return fmt.Errorf("compression %q is not served for answers; use none", m.Compression)
	}
	if limit := ses.server.c.Limits.Calls; int(ses.callCount.Load()) >= limit {
		return &LimitError{What: "too many calls at once", Limit: float64(limit)}
	}
	// the text of the arguments lives as long as the call
	cost := int64(len(m.Args))
	if err := ses.account.Take(budget.Messages, cost); err != nil {
		return err
	}
	m.Args = bytes.Clone(m.Args) // not the whole frame
	ses.callCount.Add(1)
	ses.work.Go(func() {
		defer ses.callCount.Add(-1)
		defer ses.account.Give(budget.Messages, cost)
		ses.account.Work(ses.callContext(), func(ctx context.Context) { ses.call(ctx, m) })
	})
	return nil
}

func (ses *session) call(ctx context.Context, m *frame.Message) {
	if m.Timeout != nil {
		limit := longest
		if t := *m.Timeout; t > 0 && t < longest.Seconds() {
			limit = time.Duration(t * float64(time.Second))
		}
		var cancel context.CancelFunc
		ctx, cancel = graph.WithTimeout(ctx, limit)
		defer cancel()
	}
	values, text, err := ses.callAny(ctx, m)
	result := "done"
	if err != nil {
		result = err.Error()
	}
	if !strings.HasPrefix(strings.TrimPrefix(m.Service, "/"), "rosapi/") {
		ses.server.audit(ses, Call, m.Service, frame.IDText(m.ID), result)
	}
	if err != nil {
		ses.refuse(m, err)
		return
	}
	if text != nil {
		ses.answerCall(m, text, nil)
		return
	}
	ok := true
	ses.answerWith(&frame.Message{Op: frame.ServiceResponse, ID: m.ID, Service: m.Service, Result: &ok}, values, values.Form(), m.FragmentSize,
		func(err error) { ses.refuse(m, err) })
}

// callAny calls a service of the graph, or the one that every action has in ROS 2. The
// answer is a message, or text.
func (ses *session) callAny(ctx context.Context, m *frame.Message) (values *graph.Message, text []byte, err error) {
	values, err = ses.server.g.CallMessage(ctx, m.Service, m.Type, m.Args)
	if err == nil && m.Type == "" && sameName(m.Service, "/rosapi/get_time") {
		return nil, bothTimes(values.JSON(values.Form())), nil
	}
	var missing *graph.NotFoundError
	if name, ok := strings.CutSuffix(m.Service, cancelService); ok && errors.As(err, &missing) {
		text, err = ses.cancelByService(name, m.Args)
	}
	return values, text, err
}

// bothTimes gives the response of get_time the field names of both forms: a call names
// no type, and roslibpy reads ROS 1's names from any server.
func bothTimes(values []byte) []byte {
	var r struct {
		Time msgs.Time `json:"time"`
	}
	if json.Unmarshal(values, &r) != nil {
		return values
	}
	return fmt.Appendf(nil, `{"time":{"sec":%d,"nanosec":%d,"secs":%d,"nsecs":%d}}`, r.Time.Sec, r.Time.Nanosec, r.Time.Sec, r.Time.Nanosec)
}

// answerCall sends a call's response.
func (ses *session) answerCall(m *frame.Message, values []byte, err error) {
	ok := err == nil
	if !ok {
		values = frame.AppendString(nil, err.Error())
	}
	ses.answer(&frame.Message{Op: frame.ServiceResponse, ID: m.ID, Service: m.Service, Values: values, Result: &ok}, m.FragmentSize)
}
