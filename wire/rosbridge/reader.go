package rosbridge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/coder/websocket"

	"poise/wire/rosbridge/frame"
)

// read takes frames off the socket until the connection ends, and returns why it did. It
// looks at the head of each and hands it on: it decodes nothing that is long, prepares
// nothing and waits for nothing but the socket. So a stop or a cancel is seen as soon as
// its last byte is here, whatever was sent before it.
func (ses *session) read() error {
	for {
		// not ses.ctx: its end would break the connection before hangUp has sent the reason
		typ, r, err := ses.conn.Reader(context.Background())
		if err != nil {
			return err
		}
		data, size, err := readMessage(r, ses.server.c.Limits.MessageBytes)
		if err != nil {
			return err
		}
		ses.server.stats.received.Add(1)
		binary := typ == websocket.MessageBinary
		head := frame.ReadHead(data, binary)
		if ses.stops(head) {
			continue
		}
		if size > len(data) {
			ses.refuse(head.Message(), &LimitError{What: fmt.Sprintf("a message of %d bytes", size), Limit: float64(ses.server.c.Limits.MessageBytes)})
			continue
		}
		if head.Op == frame.Fragment {
			ses.takeFragment(data, binary)
			continue
		}
		ses.receive(&incoming{data: data, binary: binary, head: head})
	}
}

// overlong is by which factor a message may exceed the size limit before the connection
// is closed: up to there it is skipped and refused with its id.
const overlong = 8

var errTooLong = errors.New("a message far beyond the size limit")

// readMessage reads one message. The rest of one that is longer than limit is skipped:
// size then is larger than what is returned.
func readMessage(r io.Reader, limit int) (data []byte, size int, err error) {
	var buf bytes.Buffer
	n, err := buf.ReadFrom(io.LimitReader(r, int64(limit)))
	if err != nil {
		return nil, 0, err
	}
	rest, err := io.Copy(io.Discard, io.LimitReader(r, int64(limit)*(overlong-1)+1))
	if err == nil && rest > int64(limit)*(overlong-1) {
		err = errTooLong
	}
	return buf.Bytes(), int(n + rest), err
}

// receive hands a whole message to the worker.
func (ses *session) receive(in *incoming) {
	in.number = ses.inbox.next()
	if !ses.bucket.take(time.Now()) {
		if ses.bucket.tell() || in.head.Op == frame.CallService || in.head.Op == frame.SendActionGoal {
			ses.refuse(in.head.Message(), &LimitError{What: "too many messages per second", Limit: ses.server.c.Limits.MessageRate})
		}
		return
	}
	if in.head.Op == frame.SendActionGoal {
		in.goal = ses.expectGoal(in.head.Action, in.head.ID, in.number)
	}
	waits, err := ses.inbox.put(in)
	switch {
	case err != nil:
		in.goal.forget()
		ses.refuse(in.head.Message(), err)
	case waits && ses.cancels(in):
		ses.overtakes(in)
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
	in := &incoming{data: whole, joined: true, head: frame.ReadHead(whole, false)}
	switch {
	case ses.stops(in.head):
		return
	case in.head.Op == frame.Fragment:
		ses.refuse(m, errors.New("the joined message is a fragment itself"))
		return
	case in.head.ID == "" && in.head.Broken:
		in.head.ID = m.ID
	}
	ses.receive(in)
}

// longestCancel bounds the cancels that overtake: what is longer waits for its turn.
const longestCancel = 64 << 10

// cancels reports whether a message asks for the end of goals, in one of three ways.
func (ses *session) cancels(in *incoming) bool {
	if len(in.data) > longestCancel {
		return false
	}
	switch in.head.Op {
	case frame.CancelActionGoal:
		return true
	case frame.CallService:
		return strings.HasSuffix(in.head.Service, cancelService)
	case frame.Publish:
		return strings.HasSuffix(in.head.Topic, "/cancel")
	}
	return false
}

// mostOvertaking is how many cancels of a client overtake at a time.
const mostOvertaking = 64

// overtakes lets a cancel act although the worker is busy with what came before it. The
// worker still comes to it in its turn: the cancel holds for goals that were sent before.
func (ses *session) overtakes(in *incoming) {
	if ses.overtaking.Add(1) > mostOvertaking {
		ses.overtaking.Add(-1)
		return
	}
	ses.work.Go(func() {
		defer ses.overtaking.Add(-1)
		if err := ses.overtake(in); err != nil {
			ses.refuse(in.head.Message(), err)
		}
	})
}
