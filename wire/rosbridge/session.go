package rosbridge

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"poise/graph"
	"poise/internal/budget"
	"poise/msgs"
	"poise/msgs/rosjson"
	"poise/problem"
	"poise/wire/rosbridge/frame"
)

// session is one client's connection. One goroutine reads the socket (reader.go), a second
// one, the worker, does what the messages ask for, in their order. What no lock guards
// belongs to the worker.
type session struct {
	server *Server
	client Client
	node   *graph.Client // the same in the graph
	conn   *websocket.Conn
	socket *ahead // under conn
	ctx    context.Context
	cancel context.CancelCauseFunc
	box    *outbox
	pump   *pump

	account *budget.Account // what the client holds
	written atomic.Int64    // when something was written last, Unix ns
	late    *time.Timer     // of the reader: ends a message that is not finished
	work    sync.WaitGroup  // calls under way

	bucket     bucket       // of the reader
	joiner     frame.Joiner // of the reader
	inbox      *inbox       // between the reader and the worker
	overtaking atomic.Int32 // cancels that do not wait for their turn
	stopping   atomic.Int32 // stops whose answers wait for the robot to stand

	level    atomic.Int32 // of status messages
	fragment atomic.Uint64
	said     bucket          // of status messages that are logged
	unsaid   int             // those that were not, since the last one that was
	now      *incoming       // that the worker works on
	warned   map[string]bool // members that were not known

	streams   map[string]*stream // by topic as spelled
	wants     int                // subscriptions in them
	adverts   map[string]*advert // by topic as spelled
	served    *served            // the client as a server
	callCount atomic.Int32

	mu      sync.Mutex
	goals   map[string]*goal // by the client's id, or our own; those that wait for the worker too
	open    int              // goals that were sent and are not over
	goalSeq uint64
}

var (
	errGoingAway = errors.New("the server is closing")
	errTooSlow   = errors.New("the client does not read its answers")
	errSilent    = errors.New("the client does not answer pings")
)

func newSession(s *Server, c Client) *session {
	l := s.c.Limits
	account := s.c.Budget.Open()
	ses := &session{server: s, client: c, account: account, box: newOutbox(l.QueueBytes, account),
		inbox: newInbox(l.MessageBytes), bucket: newBucket(l.MessageRate), said: newBucket(saidRate), joiner: frame.Joiner{MaxBytes: l.MessageBytes, MaxOpen: 16, MaxAge: 10 * time.Second, Account: account},
		warned: map[string]bool{}, streams: map[string]*stream{}, adverts: map[string]*advert{}, goals: map[string]*goal{}}
	ses.ctx, ses.cancel = context.WithCancelCause(context.Background())
	ses.served = newServed(ses)
	ses.level.Store(levelWarning)
	ses.pump = newPump()
	return ses
}

// stop ends the session from outside.
func (ses *session) stop(reason error) { ses.cancel(reason) }

// run serves the client until either side ends the connection, and returns why.
func (ses *session) run(parent context.Context) error {
	// net/http ends it if the connection broke before it was handed over
	defer context.AfterFunc(parent, func() { ses.stop(io.EOF) })()
	ses.conn.SetReadLimit(-1) // readMessage has its own
	var wg, worker sync.WaitGroup
	worker.Go(ses.serve)
	wg.Go(ses.socket.run)
	wg.Go(ses.write)
	wg.Go(ses.ping)
	wg.Go(func() { ses.pump.run(ses.ctx) })
	wg.Go(func() {
		// the reader waits in a call that ends only with the connection
		<-ses.ctx.Done()
		ses.hangUp(context.Cause(ses.ctx))
	})
	reason := ses.read()
	// what a client sent before it left is done; what waits when the server ends is not
	ses.inbox.close(ses.ctx.Err() != nil)
	ses.stop(reason)
	worker.Wait()
	ses.withdraw()
	ses.box.close()
	wg.Wait()
	ses.work.Wait()
	return context.Cause(ses.ctx)
}

// closeTimeout is how long a client may take to answer the closing handshake.
const closeTimeout = time.Second

// hangUp closes the connection, with the reason if the client may still read it.
func (ses *session) hangUp(reason error) {
	defer time.AfterFunc(closeTimeout, func() { ses.socket.Close() }).Stop()
	switch {
	case errors.Is(reason, errGoingAway):
		ses.conn.Close(websocket.StatusGoingAway, reason.Error())
	case errors.Is(reason, errTooSlow):
		ses.conn.Close(websocket.StatusPolicyViolation, reason.Error())
	case errors.Is(reason, errTooLong):
		ses.conn.Close(websocket.StatusMessageTooBig, reason.Error())
	default:
		ses.conn.CloseNow()
	}
}

// serve works on what the client sent, one message after the other.
func (ses *session) serve() {
	for {
		message, ok := ses.inbox.take()
		if !ok {
			return
		}
		ses.box.await(ses.ctx) // a client is served as fast as it reads
		ses.inTurn(message)
		ses.account.Give(budget.Frames, message.charged)
	}
}

// inTurn handles a message, a long one when no other is: decoding them takes memory and
// work. Then the next long one waits for twice as long as this one took: at most a third of
// a core works on them.
func (ses *session) inTurn(message *incoming) {
	if len(message.data) <= budget.LongMessage {
		ses.account.Work(ses.ctx, func(context.Context) { ses.handle(message) })
		return
	}
	ses.server.large.Take(context.Background()) // what a client sent before it left is done
	began := time.Now()
	ses.handle(message)
	time.AfterFunc(min(2*time.Since(began), longestRest), ses.server.large.Done)
}

// longestRest is how long other long messages wait at most after one is done.
const longestRest = 500 * time.Millisecond

// handle does what a message asks for.
func (ses *session) handle(message *incoming) {
	// what stands behind a long value may make it a call of stop after all
	if message.head.Partial && ses.stops(frame.ReadHead(message.data, message.binary)) {
		message.goal.forget()
		return
	}
	m, err := message.parse()
	if err != nil {
		if m.ID == "" {
			m.ID = message.head.ID
		}
		message.goal.forget()
		ses.rejectUnread(m, message.data, err)
		ses.refuse(m, err)
		return
	}
	for _, name := range m.Unknown {
		// once for each: a client may send it with every message
		if key := m.Op + " " + name; !ses.warned[key] && len(ses.warned) < 100 {
			ses.warned[key] = true
			ses.status(levelWarning, m.ID, fmt.Sprintf("%s: the protocol has no member %q; it is not read", m.Op, name))
		}
	}
	if !message.claimed.CompareAndSwap(false, true) {
		ses.cancelAgain(m, message.number)
		return
	}
	do, ok := ops[m.Op]
	if !ok {
		ses.refuse(m, fmt.Errorf("the op %q is not known here%s", m.Op, problem.Hint(m.Op, slices.Sorted(maps.Keys(ops)))))
		return
	}
	ses.now = message
	if err := do(ses, m); err != nil {
		ses.refuse(m, err)
	}
}

// ops holds the handler of each op.
var ops = map[string]func(*session, *frame.Message) error{
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
	frame.PNG:                (*session).png,
	frame.SetLevel:           (*session).setLevel,
	frame.Status:             (*session).clientStatus,
	frame.Auth:               (*session).auth,
}

// serving makes a handler of a method of what the client serves.
func serving(do func(*served, *frame.Message) error) func(*session, *frame.Message) error {
	return func(ses *session, m *frame.Message) error { return do(ses.served, m) }
}

// advertising does the same for a method that adds a name, within the limit.
func advertising(do func(*served, *frame.Message) error) func(*session, *frame.Message) error {
	return func(ses *session, m *frame.Message) error {
		if err := ses.roomToAdvertise(); err != nil {
			return err
		}
		return do(ses.served, m)
	}
}

// withdraw removes everything of the client from the graph.
func (ses *session) withdraw() {
	for _, s := range ses.streams {
		s.close()
	}
	for _, a := range ses.adverts {
		a.Close()
	}
	ses.served.withdraw()
	ses.mu.Lock()
	goals := make([]*goal, 0, len(ses.goals))
	for _, g := range ses.goals {
		goals = append(goals, g)
	}
	ses.mu.Unlock()
	for _, g := range goals {
		g.leave(ses.server.c.CancelOnDisconnect)
	}
}

// write sends what is in the outbox.
func (ses *session) write() {
	for {
		item, ok := ses.box.next(ses.ctx)
		if !ok {
			if ses.box.isFull() {
				ses.stop(errTooSlow)
			}
			return
		}
		if item.lost > 0 {
			ses.server.stats.lost.Add(uint64(item.lost))
			text := fmt.Sprintf("%s: %d messages were lost because the client reads too slowly", item.lane.name, item.lost)
			if ses.level.Load() >= levelWarning && ses.send(statusFrame(levelWarning, "", text), false) != nil {
				return
			}
		}
		for _, f := range item.frames {
			if ses.send(f, item.binary) != nil {
				return
			}
		}
		if item.body != nil && ses.sendLarge(&item) != nil {
			return
		}
		ses.box.sent(&item)
	}
}

func (ses *session) send(data []byte, binary bool) error {
	// not ses.ctx: its end in the middle of a frame would break the connection before
	// hangUp has sent the reason; hangUp ends a write that blocks
	ctx, cancel := context.WithTimeout(context.Background(), ses.server.c.Limits.PongWithin)
	defer cancel()
	typ := websocket.MessageText
	if binary {
		typ = websocket.MessageBinary
	}
	err := ses.conn.Write(ctx, typ, data)
	if err != nil {
		ses.stop(err)
		return err
	}
	ses.written.Store(time.Now().UnixNano())
	ses.server.stats.sent.Add(1)
	return nil
}

// ping detects a client that has disappeared without closing the connection.
func (ses *session) ping() {
	tick := time.NewTicker(ses.server.c.Limits.PingEvery)
	defer tick.Stop()
	for {
		select {
		case <-ses.ctx.Done():
			return
		case <-tick.C:
		}
		ctx, cancel := context.WithTimeout(ses.ctx, ses.server.c.Limits.PongWithin)
		err := ses.conn.Ping(ctx)
		cancel()
		ses.joiner.Expire(time.Now())
		// who still reads a long answer comes to the ping after it
		if err != nil && time.Since(time.Unix(0, ses.written.Load())) > ses.server.c.Limits.PongWithin {
			ses.stop(errSilent)
			return
		}
	}
}

// answer sends a message that may not be lost.
func (ses *session) answer(m *frame.Message, fragmentSize int) {
	ses.box.must(ses.split(m.Append(nil), fragmentSize), false)
}

// answerWith sends an answer whose values are a message of the graph. A large one is not
// written into memory: it leaves piece by piece as the client reads it. What does not fit
// beside other answers that wait is refused in the same way as the question would be.
func (ses *session) answerWith(m *frame.Message, values *graph.Message, form msgs.Form, fragmentSize int, refused func(error)) {
	size := rosjson.Memory(values.Value)
	if size > shortAnswer && ses.server.writing.Take(ses.ctx) {
		defer ses.server.writing.Done() // one at a time: it is work, and waits for nothing
	}
	if size <= largeAnswer {
		m.Values = values.JSON(form)
		ses.answer(m, fragmentSize)
		return
	}
	item := &outgoing{large: size}
	if fragmentSize > 0 {
		m.Values = rosjson.Append(nil, values.Value, form) // their number comes first
		item.frames = ses.split(m.Append(nil), fragmentSize)
		item.large = int64(item.size())
	} else {
		item.body, item.form = values.Value, form
		m.Values = []byte(largeMark)
		item.head, item.tail, _ = bytes.Cut(m.Append(nil), []byte(largeMark))
	}
	if err := ses.box.mustLarge(item); err != nil {
		refused(err)
	}
}

// largeAnswer is how much memory the values of an answer take that is streamed; largeMark
// stands where they come.
const (
	shortAnswer = 16 << 10 // many of these are written at a time
	largeAnswer = 256 << 10
	largeMark   = "\x00"
)

// sendLarge writes an answer piece by piece. The client has PongWithin for each piece.
func (ses *session) sendLarge(item *outgoing) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	patience := ses.server.c.Limits.PongWithin
	late := time.AfterFunc(patience, cancel)
	defer late.Stop()
	err := func() error {
		w, err := ses.conn.Writer(ctx, websocket.MessageText)
		if err != nil {
			return err
		}
		each := writerFunc(func(piece []byte) (int, error) {
			n, err := w.Write(piece)
			late.Reset(patience)
			ses.written.Store(time.Now().UnixNano())
			return n, err
		})
		if _, err := each.Write(item.head); err != nil {
			return err
		}
		if err := rosjson.Write(each, item.body, item.form); err != nil {
			return err
		}
		if _, err := each.Write(item.tail); err != nil {
			return err
		}
		return w.Close()
	}()
	if err != nil {
		ses.stop(err)
		return err
	}
	ses.server.stats.sent.Add(1)
	return nil
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

func (ses *session) split(text []byte, size int) [][]byte {
	if size <= 0 || len(text) <= size {
		return [][]byte{text}
	}
	return frame.Split(text, size, fmt.Sprintf("fragment_%d", ses.fragment.Add(1)))
}

func sortClients(c []Client) {
	slices.SortFunc(c, func(a, b Client) int {
		if d := cmp.Compare(len(a.Node), len(b.Node)); d != 0 {
			return d
		}
		return cmp.Compare(a.Node, b.Node)
	})
}
