package rosbridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"poise/graph"
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
	ses.callCount.Add(1)
	ses.work.Go(func() {
		defer ses.callCount.Add(-1)
		ses.call(m)
	})
	return nil
}

func (ses *session) call(m *frame.Message) {
	ctx := ses.callContext()
	if m.Timeout != nil {
		limit := longest
		if t := *m.Timeout; t > 0 && t < longest.Seconds() {
			limit = time.Duration(t * float64(time.Second))
		}
		var cancel context.CancelFunc
		ctx, cancel = graph.WithTimeout(ctx, limit)
		defer cancel()
	}
	values, err := ses.callAny(ctx, m)
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
	ses.answerCall(m, values, nil)
}

// callAny calls a service of the graph, or the one that every action has in ROS 2.
func (ses *session) callAny(ctx context.Context, m *frame.Message) ([]byte, error) {
	values, err := ses.server.g.CallJSON(ctx, m.Service, m.Type, m.Args)
	if err == nil && m.Type == "" && sameName(m.Service, "/rosapi/get_time") {
		return bothTimes(values), nil
	}
	var missing *graph.NotFoundError
	if name, ok := strings.CutSuffix(m.Service, cancelService); ok && errors.As(err, &missing) {
		return ses.cancelByService(name, m.Args)
	}
	return values, err
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
