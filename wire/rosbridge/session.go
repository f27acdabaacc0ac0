package rosbridge

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"poise/wire/rosbridge/frame"
)

// session is one client's connection. The maps without a lock beside them belong
// to the goroutine that reads.
type session struct {
	server *Server
	client Client
	conn   *websocket.Conn
	socket net.Conn // under conn
	ctx    context.Context
	cancel context.CancelCauseFunc
	box    *outbox
	pump   *pump
	work   sync.WaitGroup // calls under way

	level    atomic.Int32 // of status messages
	fragment atomic.Uint64
	bucket   bucket
	joiner   frame.Joiner
	warned   map[string]bool // members that were not known

	streams   map[string]*stream // by topic as spelled
	wants     int                // subscriptions in them
	adverts   map[string]*advert // by topic as spelled
	served    *served            // the client as a server
	callCount atomic.Int32

	mu      sync.Mutex
	goals   map[string]*goal // by the client's id, or our own
	goalSeq uint64
}

var (
	errGoingAway = errors.New("the server is closing")
	errTooSlow   = errors.New("the client does not read its answers")
	errSilent    = errors.New("the client does not answer pings")
)

func newSession(s *Server, c Client) *session {
	l := s.c.Limits
	x := &session{server: s, client: c, box: newOutbox(l.QueueBytes),
		bucket: newBucket(l.MessageRate), joiner: frame.Joiner{MaxBytes: l.MessageBytes, MaxOpen: 16, MaxAge: 10 * time.Second},
		warned: map[string]bool{}, streams: map[string]*stream{}, adverts: map[string]*advert{}, goals: map[string]*goal{}}
	x.ctx, x.cancel = context.WithCancelCause(context.Background())
	x.served = newServed(x)
	x.level.Store(levelWarning)
	x.pump = newPump()
	return x
}

// stop ends the session from outside.
func (x *session) stop(why error) { x.cancel(why) }

// run serves the client until it goes or is sent away, and returns why.
func (x *session) run(parent context.Context) error {
	defer context.AfterFunc(parent, func() { x.stop(errGoingAway) })()
	x.conn.SetReadLimit(-1) // readMessage has its own
	var wg sync.WaitGroup
	wg.Go(x.write)
	wg.Go(x.ping)
	wg.Go(func() { x.pump.run(x.ctx) })
	wg.Go(func() {
		// a reader sits in a call that ends only with the connection
		<-x.ctx.Done()
		x.hangUp(context.Cause(x.ctx))
	})
	x.stop(x.read())
	x.withdraw()
	x.box.close()
	wg.Wait()
	x.work.Wait()
	return context.Cause(x.ctx)
}

// goodbye is how long a client may take to answer the last word.
const goodbye = time.Second

// hangUp closes the connection with a word, if the client may still hear it.
func (x *session) hangUp(why error) {
	defer time.AfterFunc(goodbye, func() { x.socket.Close() }).Stop()
	switch {
	case errors.Is(why, errGoingAway):
		x.conn.Close(websocket.StatusGoingAway, why.Error())
	case errors.Is(why, errTooSlow):
		x.conn.Close(websocket.StatusPolicyViolation, why.Error())
	case errors.Is(why, errTooLong):
		x.conn.Close(websocket.StatusMessageTooBig, why.Error())
	default:
		x.conn.CloseNow()
	}
}

// read takes messages until the connection ends, and returns why it did.
func (x *session) read() error {
	for {
		// not x.ctx: its end would break the connection off before hangUp's last word
		typ, r, err := x.conn.Reader(context.Background())
		if err != nil {
			return err
		}
		data, size, err := readMessage(r, x.server.c.Limits.MessageBytes)
		if err != nil {
			return err
		}
		x.server.stats.received.Add(1)
		if size > len(data) {
			x.refuse(frame.Sniff(data), &LimitError{What: fmt.Sprintf("a message of %d bytes", size), Limit: float64(x.server.c.Limits.MessageBytes)})
			continue
		}
		x.take(data, typ == websocket.MessageBinary)
	}
}

// overlong is by how much a message may exceed the limit before its sender is
// taken for an enemy: up to there it is read over and refused by name.
const overlong = 8

var errTooLong = errors.New("a message far beyond the size limit")

// readMessage reads one message. One that is longer than limit is read over: size
// then is larger than what is returned.
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

// take reads one frame and obeys it.
func (x *session) take(data []byte, binary bool) {
	parse := frame.Parse
	// some clients send JSON in binary frames; no CBOR object begins with a brace
	if binary && !bytes.HasPrefix(data, []byte{'{'}) {
		parse = frame.ParseCBOR
	}
	m, err := parse(data)
	if err != nil {
		x.rejectUnread(m, data, err)
	}
	x.obey(m, err)
}

// obey does what a message says, unless reading it failed.
func (x *session) obey(m *frame.Message, err error) {
	if err == nil && !x.bucket.take(time.Now()) {
		if x.bucket.tell() || m.Op == frame.CallService || m.Op == frame.SendActionGoal {
			x.refuse(m, &LimitError{What: "too many messages per second", Limit: x.server.c.Limits.MessageRate})
		}
		return
	}
	if err != nil {
		x.refuse(m, err)
		return
	}
	for _, name := range m.Unknown {
		// once for each: a client that always sends it would drown in warnings
		if key := m.Op + " " + name; !x.warned[key] && len(x.warned) < 100 {
			x.warned[key] = true
			x.status(levelWarning, m.ID, fmt.Sprintf("%s: the protocol has no member %q; it is not read", m.Op, name))
		}
	}
	do, ok := ops[m.Op]
	if !ok {
		x.refuse(m, fmt.Errorf("the op %q is not known here", m.Op))
		return
	}
	if err := do(x, m); err != nil {
		x.refuse(m, err)
	}
}

// ops is what each word does. It is filled at the start, because handlers reach
// the table again through fragments and the compiler sees a circle there.
var ops map[string]func(*session, *frame.Message) error

func init() {
	ops = map[string]func(*session, *frame.Message) error{
		frame.Advertise:          (*session).advertise,
		frame.Unadvertise:        (*session).unadvertise,
		frame.Publish:            (*session).publish,
		frame.Subscribe:          (*session).subscribe,
		frame.Unsubscribe:        (*session).unsubscribe,
		frame.CallService:        (*session).callService,
		frame.ServiceResponse:    serving((*served).serviceResponse),
		frame.AdvertiseService:   advertising((*served).advertiseService),
		frame.UnadvertiseService: serving((*served).unadvertiseService),
		frame.SendActionGoal:     (*session).sendGoal,
		frame.CancelActionGoal:   (*session).cancelGoal,
		frame.ActionFeedback:     serving((*served).actionFeedback),
		frame.ActionResult:       serving((*served).actionResult),
		frame.AdvertiseAction:    advertising((*served).advertiseAction),
		frame.UnadvertiseAction:  serving((*served).unadvertiseAction),
		frame.Fragment:           (*session).takeFragment,
		frame.PNG:                (*session).png,
		frame.SetLevel:           (*session).setLevel,
		frame.Status:             (*session).clientStatus,
		frame.Auth:               (*session).auth,
	}
}

// serving lets the client's serving half obey.
func serving(do func(*served, *frame.Message) error) func(*session, *frame.Message) error {
	return func(x *session, m *frame.Message) error { return do(x.served, m) }
}

// advertising does the same for one name more, if there is room for it.
func advertising(do func(*served, *frame.Message) error) func(*session, *frame.Message) error {
	return func(x *session, m *frame.Message) error {
		if err := x.roomToAdvertise(); err != nil {
			return err
		}
		return do(x.served, m)
	}
}

// withdraw takes back everything that the client had in the graph.
func (x *session) withdraw() {
	for _, s := range x.streams {
		s.close()
	}
	for _, a := range x.adverts {
		a.Close()
	}
	x.served.withdraw()
	x.mu.Lock()
	goals := make([]*goal, 0, len(x.goals))
	for _, g := range x.goals {
		goals = append(goals, g)
	}
	x.mu.Unlock()
	for _, g := range goals {
		g.leave(x.server.c.CancelOnDisconnect)
	}
}

// write sends what is in the outbox.
func (x *session) write() {
	for {
		item, ok := x.box.next(x.ctx)
		if !ok {
			if x.box.isFull() {
				x.stop(errTooSlow)
			}
			return
		}
		if item.lost > 0 {
			x.server.stats.lost.Add(uint64(item.lost))
			text := fmt.Sprintf("%s: %d messages were lost because the client reads too slowly", item.lane.name, item.lost)
			if x.level.Load() >= levelWarning && x.send(statusFrame(levelWarning, "", text), false) != nil {
				return
			}
		}
		for _, f := range item.frames {
			if x.send(f, item.binary) != nil {
				return
			}
		}
	}
}

func (x *session) send(data []byte, binary bool) error {
	// not x.ctx: its end in the middle of a frame would break the connection off
	// before hangUp's last word; hangUp ends a write that hangs
	ctx, cancel := context.WithTimeout(context.Background(), x.server.c.Limits.PongWithin)
	defer cancel()
	typ := websocket.MessageText
	if binary {
		typ = websocket.MessageBinary
	}
	err := x.conn.Write(ctx, typ, data)
	if err != nil {
		x.stop(err)
		return err
	}
	x.server.stats.sent.Add(1)
	return nil
}

// ping finds out whether the client is still there: a machine that lost its power
// says nothing.
func (x *session) ping() {
	tick := time.NewTicker(x.server.c.Limits.PingEvery)
	defer tick.Stop()
	for {
		select {
		case <-x.ctx.Done():
			return
		case <-tick.C:
		}
		ctx, cancel := context.WithTimeout(x.ctx, x.server.c.Limits.PongWithin)
		err := x.conn.Ping(ctx)
		cancel()
		if err != nil {
			x.stop(errSilent)
			return
		}
	}
}

// answer puts a message into the outbox that may not be lost.
func (x *session) answer(m *frame.Message, fragmentSize int) {
	x.box.must(x.split(m.Append(nil), fragmentSize), false)
}

func (x *session) split(text []byte, size int) [][]byte {
	if size <= 0 || len(text) <= size {
		return [][]byte{text}
	}
	return frame.Split(text, size, fmt.Sprintf("fragment_%d", x.fragment.Add(1)))
}

func sortClients(c []Client) {
	slices.SortFunc(c, func(a, b Client) int {
		if d := cmp.Compare(len(a.Node), len(b.Node)); d != 0 {
			return d
		}
		return cmp.Compare(a.Node, b.Node)
	})
}
