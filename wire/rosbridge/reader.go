package rosbridge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/coder/websocket"

	"poise/internal/budget"
	"poise/wire/rosbridge/frame"
)

// read takes frames off the socket until the connection ends, and returns why it did. It
// looks at the head of each and hands it on: it decodes nothing that is long, prepares
// nothing and waits for nothing but the socket. So a stop or a cancel is seen as soon as
// its last byte is here, whatever was sent before it.
func (ses *session) read() error {
	for number := uint64(0); ; number++ {
		// not ses.ctx: its end would break the connection before hangUp has sent the reason
		typ, r, err := ses.conn.Reader(context.Background())
		if err != nil {
			return err
		}
		data, size, full, err := ses.readMessage(r)
		if err != nil {
			return err
		}
		charged := chargeFor(cap(data))
		ses.server.stats.received.Add(1)
		if ses.socket.taken(number) { // it was a stop
			ses.account.Give(budget.Frames, charged)
			continue
		}
		if cut := ses.socket.cut(number); cut != nil {
			full = cut
		}
		binary := typ == websocket.MessageBinary
		head := frame.SketchHead(data, binary)
		if ses.stops(head) { // ahead of every budget
			ses.account.Give(budget.Frames, charged)
			continue
		}
		if full != nil {
			ses.account.Give(budget.Frames, charged)
			ses.refuse(head.Message(), full)
			continue
		}
		if size > len(data) {
			ses.account.Give(budget.Frames, charged)
			ses.refuse(head.Message(), &LimitError{What: fmt.Sprintf("a message of %d bytes", size), Limit: float64(ses.server.c.Limits.MessageBytes)})
			continue
		}
		if head.Op == frame.Fragment {
			ses.takeFragment(data, binary)
			ses.account.Give(budget.Frames, charged)
			continue
		}
		ses.receive(&incoming{data: data, binary: binary, head: head, charged: charged})
	}
}

// overlong is by which factor a message may exceed the size limit before the connection
// is closed: up to there it is skipped and refused with its id.
const overlong = 8

var errTooLong = errors.New("a message far beyond the size limit")

// shortMessage costs nothing: whatever a client holds already, it can say something short,
// such as stop. How many of them wait is bounded by the inbox.
const shortMessage = 4096

// chargeFor is what a buffer is charged.
func chargeFor(size int) int64 { return int64(max(0, size-shortMessage)) }

// errSlowMessage ends the connection of a client that begins messages and does not finish
// them: others need the room.
var errSlowMessage = errors.New("a message was not finished in time")

// readMessage reads one message. Its buffer grows as bytes come, and is charged to the
// client: the caller gives back its capacity. What is longer than the limit, or does not
// fit the client's budget, is skipped: then size is larger than what is returned, or full
// is set.
func (ses *session) readMessage(r io.Reader) (data []byte, size int, full, err error) {
	if ses.late == nil {
		ses.late = time.AfterFunc(ses.server.c.Limits.PongWithin, func() { ses.stop(errSlowMessage) })
	} else {
		ses.late.Reset(ses.server.c.Limits.PongWithin)
	}
	defer ses.late.Stop()
	limit := ses.server.c.Limits.MessageBytes
	for err == nil && len(data) < limit && full == nil {
		if len(data) == cap(data) {
			room := min(max(2*cap(data), 512), limit)
			if room > budget.LongMessage && cap(data) <= budget.LongMessage {
				if full = ses.account.KeepLong(time.Now()); full != nil {
					break
				}
			}
			if full = ses.account.Take(budget.Frames, chargeFor(room)-chargeFor(cap(data))); full != nil {
				break
			}
			data = append(make([]byte, 0, room), data...)
		}
		var n int
		n, err = r.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
	}
	if err == io.EOF {
		ses.took(len(data))
		return ses.clip(data), len(data), nil, nil
	}
	if err != nil {
		ses.account.Give(budget.Frames, chargeFor(cap(data)))
		return nil, 0, nil, err
	}
	rest, err := io.Copy(io.Discard, io.LimitReader(r, int64(limit)*overlong-int64(len(data))+1))
	if int64(len(data))+rest > int64(limit)*overlong && err == nil {
		err = errTooLong
	}
	ses.took(len(data) + int(rest))
	return data, len(data) + int(rest), full, err
}

// took counts a message for the pace if it is long, whether it is kept or not.
func (ses *session) took(size int) {
	if size > budget.LongMessage {
		ses.account.LongCame(size)
	}
}

// clip gives back what a message does not fill of its buffer.
func (ses *session) clip(data []byte) []byte {
	const much = 64 << 10
	if cap(data)-len(data) <= much {
		return data
	}
	ses.account.Give(budget.Frames, chargeFor(cap(data))-chargeFor(len(data)))
	return append(make([]byte, 0, len(data)), data...)
}

// receive hands a whole message to the worker.
func (ses *session) receive(message *incoming) {
	message.number = ses.inbox.next()
	if !ses.bucket.take(time.Now()) {
		ses.account.Give(budget.Frames, message.charged)
		if ses.bucket.tell() || message.head.Op == frame.CallService || message.head.Op == frame.SendActionGoal {
			ses.refuse(message.head.Message(), &LimitError{What: "too many messages per second", Limit: ses.server.c.Limits.MessageRate})
		}
		return
	}
	if message.head.Op == frame.SendActionGoal {
		message.goal = ses.expectGoal(message.head.Action, message.head.ID, message.number)
	}
	waits, err := ses.inbox.put(message)
	switch {
	case err != nil:
		message.goal.forget()
		ses.account.Give(budget.Frames, message.charged)
		ses.refuse(message.head.Message(), err)
	case waits && ses.cancels(message):
		ses.overtakes(message)
	}
}

// takeFragment joins messages that come in parts. It is done by who reads: the whole may
// be a stop.
func (ses *session) takeFragment(data []byte, binary bool) {
	part := &incoming{data: data, binary: binary}
	m, err := part.parse()
	var whole []byte
	if err == nil {
		whole, err = ses.joiner.Add(m, time.Now())
	}
	if err != nil {
		ses.refuse(m, err)
		return
	}
	if whole == nil {
		return
	}
	message := &incoming{data: whole, joined: true, head: frame.SketchHead(whole, false)}
	if ses.stops(message.head) {
		return
	}
	if err := ses.account.Take(budget.Frames, int64(len(whole))); err != nil {
		ses.refuse(message.head.Message(), err)
		return
	}
	message.charged = int64(len(whole))
	switch {
	case message.head.Op == frame.Fragment:
		ses.account.Give(budget.Frames, message.charged)
		ses.refuse(m, errors.New("the joined message is a fragment itself"))
		return
	case message.head.ID == "" && message.head.Broken:
		message.head.ID = m.ID
	}
	ses.receive(message)
}

// longestCancel bounds the cancels that overtake: what is longer waits for its turn.
const longestCancel = 64 << 10

// cancels reports whether a message asks for the end of goals, in one of three ways.
func (ses *session) cancels(message *incoming) bool {
	if len(message.data) > longestCancel {
		return false
	}
	switch message.head.Op {
	case frame.CancelActionGoal:
		return true
	case frame.CallService:
		return strings.HasSuffix(message.head.Service, cancelService)
	case frame.Publish:
		return strings.HasSuffix(message.head.Topic, "/cancel")
	}
	return false
}

// mostOvertaking is how many cancels of a client overtake at a time.
const mostOvertaking = 64

// overtakes lets a cancel act although the worker is busy with what came before it. The
// worker still comes to it in its turn: the cancel holds for goals that were sent before.
func (ses *session) overtakes(message *incoming) {
	if ses.overtaking.Add(1) > mostOvertaking {
		ses.overtaking.Add(-1)
		return
	}
	ses.work.Go(func() {
		defer ses.overtaking.Add(-1)
		if err := ses.overtake(message); err != nil {
			ses.refuse(message.head.Message(), err)
		}
	})
}
