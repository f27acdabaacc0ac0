package ros1

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"poise/graph"
	"poise/internal/budget"
	"poise/msgs"
	"poise/msgs/codec"
	"poise/msgs/poisemsgs"
	"poise/msgs/registry"
	"poise/stop"
	"poise/wire/ros1/tcpros"
)

// serveCalls answers the calls of a connection: one, or with persistent=1 all that come. An
// error is why the connection is refused.
func (n *Node) serveCalls(c net.Conn, h tcpros.Header) error {
	name, ok := (*n.services.Load())[h["service"]]
	info, exists := n.g.ServiceInfo(name)
	if !ok || !exists {
		return fmt.Errorf("there is no service %.200s", h["service"])
	}
	if err := agreeService(h, info.Type); err != nil {
		return err
	}
	if h["probe"] == "1" {
		n.shakeService(c, info.Type)
		return nil
	}
	who, err := n.peers.enter(h["callerid"])
	if err != nil {
		return err
	}
	defer n.peers.exit(who)
	if !n.shakeService(c, info.Type) {
		return nil
	}
	for {
		if !n.serveCall(c, name, info.Type, who) || h["persistent"] != "1" && h["persistent"] != "true" {
			return nil
		}
	}
}

// agreeService reports, by an error, whether a caller wants the service that there is.
func agreeService(h tcpros.Header, t *registry.Service) error {
	if sum := h["md5sum"]; sum != "*" && sum != t.MD5() {
		return fmt.Errorf("client wants service %.200s to have md5sum %.50s, but it has %s, of type %s", h["service"], sum, t.MD5(), t.Name(msgs.ROS1))
	}
	return nil
}

// shakeService says what a service is.
func (n *Node) shakeService(c net.Conn, t *registry.Service) bool {
	_ = c.SetWriteDeadline(time.Now().Add(writeWithin))
	return tcpros.WriteHeader(c, tcpros.Header{"callerid": n.self, "md5sum": t.MD5(), "type": t.Name(msgs.ROS1),
		"request_type": t.Request.Name(msgs.ROS1), "response_type": t.Response.Name(msgs.ROS1)}) == nil
}

// serveCall answers one call, and reports whether another may follow.
func (n *Node) serveCall(c net.Conn, name string, t *registry.Service, who *peer) bool {
	size, err := tcpros.ReadLength(c)
	if err != nil {
		return false
	}
	n.stats.received.Add(1)
	response, err := n.call(c, size, name, t, who)
	var lost *net.OpError
	if errors.As(err, &lost) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return false
	}
	var body []byte
	if err == nil {
		body = tcpros.AppendBody([]byte{1}, func(b []byte) []byte { return codec.For(t.Response, msgs.ROS1).Append(b, response) })
	} else {
		body = failure(err.Error())
	}
	if err := who.account.Take(budget.Answers, int64(len(body))); err != nil {
		body = failure(err.Error())
	} else {
		defer who.account.Give(budget.Answers, int64(len(body)))
	}
	_ = c.SetWriteDeadline(time.Now().Add(writeWithin))
	_, writeErr := c.Write(body)
	n.stats.sent.Add(1)
	var long *tcpros.LengthError
	return writeErr == nil && !errors.As(err, &long)
}

// failure is the answer of a call that failed.
func failure(text string) []byte {
	return tcpros.AppendBody([]byte{0}, func(b []byte) []byte { return append(b, text...) })
}

// call reads a request and calls the service. An error of the connection ends it; any other
// is the answer.
func (n *Node) call(c net.Conn, size uint32, name string, t *registry.Service, who *peer) (any, error) {
	if limit := n.c.Limits.MessageBytes; int64(size) > int64(limit) {
		return nil, &tcpros.LengthError{What: "the request", Length: size, Limit: limit}
	}
	if !who.pace.wait(n.life) {
		return nil, n.life.Err()
	}
	if size > budget.LongMessage {
		// it waits with its caller: a stop has a connection of its own
		if err := who.account.AwaitLong(n.life); err != nil {
			return nil, err
		}
		who.account.LongCame(int(size))
	}
	cost := 12 * int64(size) // what it may take decoded
	if err := who.account.Take(budget.Messages, cost); err != nil {
		return nil, errors.Join(err, throwAway(nil, c, who.account, size))
	}
	defer who.account.Give(budget.Messages, cost)
	data := make([]byte, size)
	_ = c.SetReadDeadline(time.Now().Add(callWithin))
	if _, err := io.ReadFull(c, data); err != nil {
		return nil, err
	}
	_ = c.SetReadDeadline(time.Time{})
	request := t.Request.New()
	if err := codec.For(t.Request, msgs.ROS1).Decode(data, request); err != nil {
		return nil, err
	}
	ctx := graph.WithAccount(graph.WithCaller(n.life, who.client.Node()), who.account)
	return n.g.Call(ctx, name, request)
}

// What a connection that stops a robot is given.
const (
	stopArguments = 200 * time.Millisecond // for what follows the length of a request
	mostStops     = 64                     // stops of a connection that wait to be answered
)

// stops serves a connection that calls a robot's stop, ahead of every limit, and reports
// whether it is one. The robot stops as soon as a call has begun to come.
func (n *Node) stops(c net.Conn, service string, h tcpros.Header) bool {
	name, ok := (*n.services.Load())[service]
	if !ok {
		return false
	}
	target, ok := n.c.Stop.Service(name)
	if !ok {
		return false
	}
	typ, ok := registry.ServiceFor[poisemsgs.StopRequest, poisemsgs.StopResponse]()
	if !ok {
		panic("ros1: the registry has no poise_msgs/Stop")
	}
	who := fmt.Sprintf("%.200s (%s)", h["callerid"], c.RemoteAddr())
	if h["probe"] == "1" {
		n.shakeService(c, typ)
		return true
	}
	if err := agreeService(h, typ); err != nil {
		// it wants the robot to stop, and only has another definition
		asked := target.Stop(who, stop.Mildest)
		_ = c.SetWriteDeadline(time.Now().Add(greetWithin))
		_ = tcpros.WriteHeader(c, tcpros.Header{"error": fmt.Sprintf("%v; the robot was stopped by category %d all the same: it %s", err, stop.Mildest, asked.Set().Text)})
		return true
	}
	if !n.shakeService(c, typ) {
		return true
	}
	n.readStops(c, target, who, h["persistent"] == "1" || h["persistent"] == "true")
	return true
}

// asked is a stop whose answer is due.
type asked struct {
	*stop.Asked
	note string
}

// readStops stops the robot with every call that comes, and has them answered in order.
func (n *Node) readStops(c net.Conn, target stop.Target, who string, persistent bool) {
	due := make(chan asked, mostStops)
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		for a := range due {
			n.answerStop(c, a)
		}
	}()
	defer func() { close(due); <-answered }()
	for {
		size, err := tcpros.ReadLength(c)
		if err != nil {
			return
		}
		category, note, readable := readCategory(c, size)
		a := asked{target.Stop(who, category), note}
		select {
		case due <- a:
		default:
			return // so many are not waited for; all of them have stopped the robot
		}
		if !persistent || !readable {
			return
		}
	}
}

// readCategory reads the request of a stop. What is not exactly 0, 1 or 2 means the mildest,
// with a note that says so.
func readCategory(c net.Conn, size uint32) (category uint8, note string, readable bool) {
	var b [1]byte
	_ = c.SetReadDeadline(time.Now().Add(stopArguments))
	defer func() { _ = c.SetReadDeadline(time.Time{}) }()
	if size != 1 {
		return stop.Mildest, fmt.Sprintf("the request has %d bytes, not 1, and category %d was taken; ", size, stop.Mildest), false
	}
	if _, err := io.ReadFull(c, b[:]); err != nil {
		return stop.Mildest, fmt.Sprintf("the request did not come, and category %d was taken; ", stop.Mildest), false
	}
	if b[0] > stop.Mildest {
		return stop.Mildest, fmt.Sprintf("category %d is unknown (0, 1, 2) and was taken as %d; ", b[0], stop.Mildest), true
	}
	return b[0], "", true
}

// answerStop answers when the robot stands.
func (n *Node) answerStop(c net.Conn, a asked) {
	ctx, cancel := context.WithTimeout(n.life, stop.Patience)
	defer cancel()
	answer := a.Over(ctx)
	typ, _ := registry.For[poisemsgs.StopResponse]()
	body := tcpros.AppendBody([]byte{1}, func(b []byte) []byte {
		return codec.For(typ, msgs.ROS1).Append(b, &poisemsgs.StopResponse{Success: answer.Success, Message: a.note + answer.Text})
	})
	_ = c.SetWriteDeadline(time.Now().Add(writeWithin))
	_, _ = c.Write(body) // the robot stops, whether its caller hears it or not
}
