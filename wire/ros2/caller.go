package ros2

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	"poise/msgs/codec"
	"poise/msgs/registry"
	"poise/rtps"
)

// caller calls a service of another participant. Its topics are made with the first call. How
// answers are correlated follows from who serves (correlate.go): a request for rmw_fastrtps
// and RustDDS names the reader of its answer, one for rmw_cyclonedds begins with 16 bytes.
type caller struct {
	n                 *Node
	ros               string
	to                offer
	request, response *registry.Type

	mu      sync.Mutex
	closed  bool
	writer  *rtps.Writer
	reader  *rtps.Reader
	count   int64                 // of requests with a header
	waiting map[int64]chan []byte // by the number of the request
}

var errNoService = errors.New("the ROS 2 service is gone")

func newCaller(n *Node, ros string, to offer, request, response *registry.Type) *caller {
	return &caller{n: n, ros: ros, to: to, request: request, response: response, waiting: map[int64]chan []byte{}}
}

// open makes the topics. The lock is held.
func (c *caller) open() (err error) {
	if c.closed {
		return errNoService
	}
	if c.writer != nil {
		return nil
	}
	qos := rtps.QoS{Reliable: true, Depth: replyDepth}
	if c.reader, err = c.n.p.NewReader(rtps.ReaderConfig{Topic: "rr" + c.ros + "Reply", Type: typeName(c.response), UserData: c.n.userData(c.response), QoS: qos, Receive: c.came}); err != nil {
		return err
	}
	if c.writer, err = c.n.p.NewWriter(rtps.WriterConfig{Topic: "rq" + c.ros + "Request", Type: typeName(c.request), UserData: c.n.userData(c.request), QoS: qos}); err != nil {
		c.reader.Close()
	}
	return err
}

func (c *caller) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	if c.writer != nil {
		c.writer.Close()
		c.reader.Close()
	}
	for number, answer := range c.waiting {
		close(answer)
		delete(c.waiting, number)
	}
}

// busy reports whether answers are waited for.
func (c *caller) busy() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.waiting) > 0
}

// matched waits until both topics reach the server.
func (c *caller) matched(ctx context.Context) error {
	for wait := time.Millisecond; ; wait = min(2*wait, 50*time.Millisecond) {
		c.mu.Lock()
		err := c.open()
		ready := err == nil && c.writer.MatchedTo(rtps.GUID{Prefix: c.to.from}) && c.reader.MatchedTo(c.to.from)
		c.mu.Unlock()
		if err != nil || ready {
			return err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return fmt.Errorf("the ROS 2 service %s is not reached: %w", c.ros, ctx.Err())
		}
	}
}

// call calls the service.
func (c *caller) call(ctx context.Context, request any) (any, error) {
	if err := c.matched(ctx); err != nil {
		return nil, err
	}
	body := codec.For(c.request, c.n.c.Form).Append(nil, request)
	answer := make(chan []byte, 1)
	number, err := c.send(body, answer)
	if err != nil {
		return nil, err
	}
	c.n.stats.sent.Add(1)
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.waiting, number)
	}()
	select {
	case data, came := <-answer:
		if !came {
			return nil, errNoService
		}
		response := c.response.New()
		if err := codec.For(c.response, c.n.c.Form).Decode(data, response); err != nil {
			return nil, fmt.Errorf("the answer of the ROS 2 service %s: %w", c.ros, err)
		}
		return response, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// send writes a request, and notes who waits for its answer.
func (c *caller) send(body []byte, answer chan []byte) (number int64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return 0, errNoService
	}
	if c.to.header {
		c.count++
		number = c.count
		out := append([]byte(nil), body[:encapsulationSize]...)
		out = append(out, c.id()...)
		out = binary.LittleEndian.AppendUint64(out, uint64(number))
		_, err = c.writer.Write(append(out, body[encapsulationSize:]...), nil)
	} else {
		number, err = c.writer.Write(body, &rtps.Identity{Writer: c.reader.GUID(), Sequence: rtps.UnknownSequence})
	}
	if err == nil {
		c.waiting[number] = answer
	}
	return number, err
}

// id is the first half of the header: the end of the writer's name, which no other has.
func (c *caller) id() []byte {
	g := c.writer.GUID().Bytes()
	return g[8:]
}

// came takes an answer, if it is one to a request of this caller.
func (c *caller) came(s *rtps.Sample) {
	c.mu.Lock()
	defer c.mu.Unlock()
	data, number := s.Payload, int64(0)
	switch {
	case c.writer == nil:
		return
	case c.to.header:
		if len(data) < encapsulationSize+headerSize || string(data[encapsulationSize:encapsulationSize+8]) != string(c.id()) {
			return
		}
		number = int64(binary.LittleEndian.Uint64(data[encapsulationSize+8:]))
		data = append(append([]byte(nil), data[:encapsulationSize]...), data[encapsulationSize+headerSize:]...)
	case s.Answers && (s.Related.Writer == c.reader.GUID() || s.Related.Writer == c.writer.GUID()):
		number = s.Related.Sequence
		data = append([]byte(nil), data...)
	}
	if answer := c.waiting[number]; answer != nil {
		delete(c.waiting, number)
		c.n.stats.received.Add(1)
		answer <- data
	}
}
