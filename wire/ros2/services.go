package ros2

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"poise/graph"
	"poise/internal/budget"
	"poise/msgs"
	"poise/msgs/codec"
	"poise/msgs/poisemsgs"
	"poise/msgs/registry"
	"poise/rtps"
	"poise/stop"
)

// service is a pair of topics by which a service is called.
type service struct {
	n        *Node
	ros      string // its name in ROS
	name     string // in the graph
	node     string // who serves it there
	request  *registry.Type
	response *registry.Type
	reader   *rtps.Reader
	writer   *rtps.Writer
	handle   func(ctx context.Context, who *peer, request any) (response any, err error)
}

// replyDepth is how many answers are kept for a client that has lost one.
const replyDepth = 100

// open makes the topics of a service.
func (s *service) open() (err error) {
	n := s.n
	s.writer, err = n.p.NewWriter(rtps.WriterConfig{Topic: "rr" + s.ros + "Reply", Type: typeName(s.response), UserData: n.userData(s.response), QoS: rtps.QoS{Reliable: true, Depth: replyDepth}})
	if err != nil {
		return err
	}
	s.reader, err = n.p.NewReader(rtps.ReaderConfig{Topic: "rq" + s.ros + "Request", Type: typeName(s.request), UserData: n.userData(s.request), QoS: rtps.QoS{Reliable: true, Depth: replyDepth}, Receive: s.came})
	if err != nil {
		s.writer.Close()
	}
	return err
}

func (s *service) close() {
	s.reader.Close()
	s.writer.Close()
}

// lookAtService decides whether a service is offered in ROS.
func (n *Node) lookAtService(name string) {
	if n.c.Mirror != "" {
		return // it offers none
	}
	info, exists := n.g.ServiceInfo(name)
	exists = exists && !n.peers.has(info.Node)
	ros := n.names.ROS(name)
	old := n.services[ros]
	if old != nil && old.name == name && (!exists || old.request != info.Type.Request || old.node != info.Node) {
		old.close()
		delete(n.services, ros)
		old = nil
	}
	if exists && old != nil && old.name != name {
		n.clash("service", ros, old.name, name)
	}
	if !exists || old != nil {
		return
	}
	s := &service{n: n, ros: ros, name: name, node: info.Node, request: info.Type.Request, response: info.Type.Response}
	s.handle = func(ctx context.Context, who *peer, request any) (any, error) {
		return n.g.Call(graph.WithAccount(graph.WithCaller(ctx, who.client.Node()), who.account), name, request)
	}
	if err := s.open(); err != nil {
		n.warn("a service is not shown to ROS 2", "service", ros, "why", err)
		return
	}
	n.services[ros] = s
}

// came takes a request. A stop is carried out at once, ahead of every limit.
func (s *service) came(sample *rtps.Sample) {
	n := s.n
	q, ok := correlate(sample)
	if !ok {
		return
	}
	if target, isStop := n.c.Stop.Service(s.name); isStop && s.name != "" {
		s.stop(&q, target)
		return
	}
	n.stats.received.Add(1)
	if n.calls.Add(1) > int64(n.c.Limits.Calls) {
		n.calls.Add(-1)
		n.stats.refused.Add(1)
		n.warn("a call from ROS 2 is not answered", "service", s.ros, "why", fmt.Sprintf("%d calls are under way, which is the limit", n.c.Limits.Calls))
		return
	}
	n.running.Go(func() {
		defer n.calls.Add(-1)
		s.call(&q)
	})
}

// call carries out a call and answers it.
func (s *service) call(q *request) {
	n := s.n
	who, err := n.peers.meet(q.from)
	if err != nil {
		return
	}
	if limit := int64(n.c.Limits.Calls / 4); who.calls.Add(1) > limit {
		who.calls.Add(-1)
		n.stats.refused.Add(1)
		n.warn("a call from ROS 2 is not answered", "service", s.ros, "peer", n.peers.nameless(who.prefix), "why", fmt.Sprintf("%d of its calls are under way, which is the limit", limit))
		return
	}
	defer who.calls.Add(-1)
	if n.peers.await(n.life, who) != nil {
		return
	}
	cost := 12 * int64(len(q.data)) // what it may take decoded
	response, err := any(nil), who.account.Take(budget.Messages, cost)
	if err == nil {
		defer who.account.Give(budget.Messages, cost)
		request := s.request.New()
		if err = codec.For(s.request, n.c.Form).Decode(q.data, request); err == nil {
			response, err = s.handle(n.life, who, request)
		}
	}
	if err != nil && n.life.Err() != nil {
		return
	}
	if err != nil {
		n.warn("a call from ROS 2 is refused", "service", s.ros, "peer", who.client.Node(), "why", err)
		if response = failure(s.response, reason(err)); response == nil {
			return // its type has no field for a failure
		}
	}
	s.answer(q, response)
}

// reason returns why a call failed, as its handler says it.
func reason(err error) string {
	var call *graph.CallError
	if errors.As(err, &call) && !errors.Is(call.Err, context.DeadlineExceeded) {
		return call.Err.Error()
	}
	return err.Error()
}

// matchWithin is how long an answer waits for its reader to be known, while its participant
// is there: as long as a client's own patience may be on a machine that is busy.
const matchWithin = time.Minute

// answer sends a response. It waits until the reader that takes it is matched: before that it
// would be lost.
func (s *service) answer(q *request, response any) {
	n := s.n
	body := codec.For(s.response, n.c.Form).Append(nil, response)
	wait := time.Millisecond
	for end := time.Now().Add(matchWithin); !s.writer.MatchedTo(q.reader()) && time.Now().Before(end); wait = min(2*wait, 50*time.Millisecond) {
		select {
		case <-time.After(wait):
		case <-n.life.Done():
			return
		}
		if !n.p.Knows(q.from) {
			return // its client is gone
		}
	}
	if _, err := s.writer.Write(q.answer(body), &q.related); err != nil {
		if !errors.Is(err, rtps.ErrClosed) {
			n.warn("an answer is not sent to ROS 2", "service", s.ros, "why", err)
		}
		return
	}
	n.stats.sent.Add(1)
}

// stop stops a robot, and answers when it stands.
func (s *service) stop(q *request, target stop.Target) {
	n := s.n
	category, note := uint8(stop.Mildest), ""
	switch body := q.data[encapsulationSize:]; {
	case len(body) == 0:
		note = fmt.Sprintf("the request is empty, and category %d was taken; ", stop.Mildest)
	case body[0] > stop.Mildest:
		note = fmt.Sprintf("category %d is unknown (0, 1, 2) and was taken as %d; ", body[0], stop.Mildest)
	default:
		category = body[0]
	}
	asked := target.Stop(fmt.Sprintf("ROS 2 participant %x", q.from[:]), category)
	if n.calls.Add(1) > int64(2*n.c.Limits.Calls) {
		n.calls.Add(-1)
		return // so many are not answered; all of them have stopped the robot
	}
	n.running.Go(func() {
		defer n.calls.Add(-1)
		ctx, cancel := context.WithTimeout(n.life, stop.Patience)
		defer cancel()
		answer := asked.Over(ctx)
		s.answer(q, &poisemsgs.StopResponse{Success: answer.Success, Message: note + answer.Text})
	})
}

// textFields are the fields in which responses say what happened.
var textFields = []string{"Message", "StatusMessage", "ErrorString", "ErrorMessage", "Reason"}

// failure returns a response that says that a call failed, and why; nil if the type has no
// fields for it.
func failure(t *registry.Type, reason string) any {
	response := t.New()
	v := reflect.ValueOf(response).Elem()
	told := false
	if code := v.FieldByName("ErrorCode"); code.IsValid() {
		if x, ok := code.Addr().Interface().(*msgs.MoveItErrorCodes); ok {
			x.Val, x.Message, told = msgs.ErrorFailure, reason, true
		}
	}
	for i := range v.NumField() { // such as GetMotionPlan, whose answer is one field
		if inner := v.Field(i); inner.Kind() == reflect.Struct && !told {
			if code := inner.FieldByName("ErrorCode"); code.IsValid() {
				if x, ok := code.Addr().Interface().(*msgs.MoveItErrorCodes); ok {
					x.Val, x.Message, told = msgs.ErrorFailure, reason, true
				}
			}
		}
	}
	success := v.FieldByName("Success")
	if success.IsValid() && success.Kind() == reflect.Bool {
		told = true
	}
	for _, name := range textFields {
		if f := v.FieldByName(name); f.IsValid() && f.Kind() == reflect.String {
			f.SetString(reason)
			return response
		}
	}
	if !told {
		return nil
	}
	return response
}
