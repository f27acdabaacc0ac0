package rtps

import (
	"slices"
	"time"
)

// Sample is what a reader receives.
type Sample struct {
	Identity           // its writer and number
	Vendor   Vendor    // of the writer's participant
	Time     time.Time // when it was written, zero if that is not told
	Payload  []byte    // with its encapsulation header; valid until Receive returns
	Related  Identity  // the sample that it answers, or that an answer is to name
	Answers  bool      // Related is told
	UserData []byte    // of its writer; never written
	Reliable bool      // its writer offers that

	TransientLocal bool // its writer offers that

	head dataHead // of built-in topics
}

// ReaderConfig is how a reader is made.
type ReaderConfig struct {
	Topic, Type string
	QoS         QoS
	UserData    []byte
	Receive     func(*Sample) // is called for each sample, one at a time; must not wait
}

// Reader reads the samples of a topic.
type Reader struct {
	p       *Participant
	id      EntityID
	c       ReaderConfig
	made    time.Time // when
	proxies map[GUID]*writerProxy
	closed  bool
}

// writerProxy is a matched writer of another participant.
type writerProxy struct {
	r        *Reader
	e        *endpoint
	rem      *remote
	reliable bool
	history  bool // samples from before the match are wanted

	synced bool                // next is known
	next   int64               // the sample that is delivered next
	live   int64               // what has a smaller number may be from before the reader
	held   map[int64]*Sample   // that came early, or isGap
	parts  map[int64]*assembly // that are not complete

	acks, beats uint32
	beaten      bool // beats is known
	askDue      time.Time
	askedAt     time.Time
	askedFrom   int64
}

// Bounds of one writer, beside those of Limits.
const (
	maxHeld  = 1024
	maxParts = 16
	maxLate  = 64 // samples from before its first word that a reader without history asks for
)

// askEvery is how often a writer that has not spoken is asked to.
const askEvery = 200 * time.Millisecond

// askPause is how long a writer is not asked again for the same.
const askPause = 4 * time.Millisecond

// NewReader makes a reader and tells others of it.
func (p *Participant) NewReader(c ReaderConfig) (*Reader, error) {
	if err := checkNames(c.Topic, c.Type, c.UserData); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, ErrClosed
	}
	r := p.addReader(p.newEntity(kindReader), c)
	for _, rem := range p.remotes {
		for _, e := range rem.writers {
			r.match(rem, e)
		}
	}
	p.tell(p.subs, r.guid(), readerParams(r))
	return r, nil
}

func (p *Participant) addReader(id EntityID, c ReaderConfig) *Reader {
	c.QoS.Depth = max(c.QoS.Depth, 1)
	r := &Reader{p: p, id: id, c: c, made: time.Now(), proxies: map[GUID]*writerProxy{}}
	p.readers[id] = r
	return r
}

func (r *Reader) guid() GUID { return GUID{r.p.prefix, r.id} }

// GUID returns the reader's own.
func (r *Reader) GUID() GUID { return r.guid() }

// Close withdraws the reader. Receive is not called for what comes after it.
func (r *Reader) Close() {
	p := r.p
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.closed || p.closed {
		return
	}
	r.closed = true
	for g := range r.proxies {
		r.unmatch(g)
	}
	delete(p.readers, r.id)
	p.retract(p.subs, r.guid())
}

func (r *Reader) isClosed() bool {
	r.p.mu.Lock()
	defer r.p.mu.Unlock()
	return r.closed
}

// Matched returns how many writers are read: a reliable one counts from its first word.
func (r *Reader) Matched() (n int) {
	r.p.mu.Lock()
	defer r.p.mu.Unlock()
	for _, w := range r.proxies {
		if !w.reliable || w.synced {
			n++
		}
	}
	return n
}

// MatchedTo reports whether a writer of another participant is matched, whether it has spoken or
// not: a writer on Fast DDS that has nothing to tell may not.
func (r *Reader) MatchedTo(other Prefix) bool {
	r.p.mu.Lock()
	defer r.p.mu.Unlock()
	for g := range r.proxies {
		if g.Prefix == other {
			return true
		}
	}
	return false
}

// match matches the reader with a writer of another participant, or ends a match.
func (r *Reader) match(rem *remote, e *endpoint) {
	ask := r.c.QoS.policies()
	if e.topic != r.c.Topic || e.typ != r.c.Type || r.closed || mismatch(&e.policies, &ask) != "" {
		r.unmatch(e.id)
		return
	}
	if old := r.proxies[e.id]; old != nil {
		old.e = e
		return
	}
	if e.crowded = !r.p.know(rem, readingBytes); e.crowded {
		return
	}
	w := &writerProxy{r: r, e: e, rem: rem, reliable: ask.reliable, history: ask.durability > 0 && e.policies.durability > 0}
	r.proxies[e.id] = w
	rem.read[e.id.Entity] = append(rem.read[e.id.Entity], w)
	if w.reliable {
		w.ask(time.Now())
	}
}

func (r *Reader) unmatch(writer GUID) {
	w := r.proxies[writer]
	if w == nil {
		return
	}
	delete(r.proxies, writer)
	r.p.know(w.rem, -readingBytes)
	list := slices.DeleteFunc(w.rem.read[writer.Entity], func(x *writerProxy) bool { return x == w })
	if w.rem.read[writer.Entity] = list; len(list) == 0 {
		delete(w.rem.read, writer.Entity)
	}
	for n := range w.held {
		w.release(n)
	}
	for n := range w.parts {
		w.scrap(n)
	}
}

// askDue asks writers that have not spoken, and returns when that is due again.
func (r *Reader) askDue(now time.Time) (next time.Time) {
	for _, w := range r.proxies {
		if w.askDue.IsZero() {
			continue
		}
		if !now.Before(w.askDue) {
			w.ask(now)
		}
		if next.IsZero() || w.askDue.Before(next) {
			next = w.askDue
		}
	}
	return next
}

// ask asks a writer for a heartbeat.
func (w *writerProxy) ask(now time.Time) {
	w.askDue = now.Add(askEvery)
	w.r.p.at(w.askDue)
	w.sendAck(1, &set{})
}

// sendAck acknowledges everything before base, and asks for what is missing.
func (w *writerProxy) sendAck(base int64, missing *set) {
	p := w.r.p
	w.acks++
	p.packet.begin(p.prefix)
	p.packet.dest(w.e.id.Prefix)
	p.packet.ackNack(w.r.id, w.e.id.Entity, base, missing, w.acks)
	p.send(w.e.addr)
}

// data takes a sample or fragments of one.
func (w *writerProxy) data(m *message, h *dataHead) {
	p := w.r.p
	if w.synced && h.sequence < w.next || w.held[h.sequence] != nil {
		p.stats.Duplicates++
		return
	}
	payload := h.payload
	if bytes := max(h.total, len(payload)); bytes > p.c.Limits.SampleBytes {
		w.leaveOut(h.sequence, bytes)
		return
	}
	if h.first > 0 {
		if payload = w.assemble(h); payload == nil {
			return
		}
		defer w.scrap(h.sequence)
	}
	s := Sample{Identity: Identity{w.e.id, h.sequence}, Vendor: m.vendor, Time: m.time, Payload: payload, Related: h.related, Answers: h.isRelated, UserData: w.e.userData, Reliable: w.e.policies.reliable, TransientLocal: w.e.policies.durability > 0, head: *h}
	switch {
	case !w.reliable:
		for n := range w.parts {
			if n < h.sequence {
				w.scrap(n)
			}
		}
		w.synced, w.next = true, h.sequence+1
		w.deliver(s)
	case w.synced && h.sequence == w.next, !w.synced && h.sequence == 1: // before the first there is nothing to wait for
		if !w.synced {
			w.sync(1, 1)
			w.live = 1 // it has come by itself
		}
		w.next = h.sequence + 1
		w.deliver(s)
		w.flush()
	default:
		w.keep(s)
	}
}

// leaveOut goes on without a sample that is too long to be taken: asked for again it would hold up all
// that come after it.
func (w *writerProxy) leaveOut(sequence int64, bytes int) {
	p := w.r.p
	p.stats.Refused++
	if bytes > w.e.oversize {
		w.e.oversize = bytes
		p.c.Changed()
	}
	one := set{}
	one.add(0)
	w.gap(sequence, sequence, &one)
}

// deliver gives a sample to the reader, unless it is older than the reader may have.
func (w *writerProxy) deliver(s Sample) {
	if s.Sequence < w.live && (s.Time.IsZero() || s.Time.Add(-w.rem.ahead).Before(w.r.made)) {
		w.r.p.stats.Old++
		return
	}
	w.r.p.stats.Received++
	w.r.p.out = append(w.r.p.out, delivery{w.r, s})
}

// keep holds a sample until those before it have come, or the writer has said where it
// begins. What there is no room for is asked for again.
func (w *writerProxy) keep(s Sample) {
	if len(w.held) >= maxHeld || !w.r.p.hold(w.rem, s.bytes()) {
		return
	}
	if w.held == nil {
		w.held = map[int64]*Sample{}
	}
	s.Payload = append(make([]byte, 0, len(s.Payload)), s.Payload...)
	s.head.payload, s.UserData = s.Payload, nil // what the writer has told may be replaced meanwhile
	w.held[s.Sequence] = &s
}

// release gives up a sample that is held.
func (w *writerProxy) release(sequence int64) {
	if s := w.held[sequence]; s != nil {
		w.r.p.free(w.rem, s.bytes())
		delete(w.held, sequence)
	}
}

// flush delivers what is held and in turn.
func (w *writerProxy) flush() {
	for len(w.held) > 0 {
		s := w.held[w.next]
		if s == nil {
			return
		}
		w.release(w.next)
		w.next++
		if s != isGap {
			s.UserData = w.e.userData
			w.deliver(*s)
		}
	}
}

// skip goes on from a number: nothing before it will come.
func (w *writerProxy) skip(to int64) {
	for w.next < to && len(w.held) > 0 { // what is held before it is delivered
		first := to
		for n := range w.held {
			first = min(first, n)
		}
		w.next = max(w.next, first)
		before := w.next
		w.flush()
		if w.next == before {
			break
		}
	}
	for n := range w.held {
		if n < to {
			w.release(n)
		}
	}
	w.next = max(w.next, to)
	for n := range w.parts {
		if n < w.next {
			w.scrap(n)
		}
	}
	w.flush()
}

// heartbeat learns what the writer has, and asks for what is missing.
func (w *writerProxy) heartbeat(m *message, first, last int64, count uint32, final bool) {
	if !w.reliable || w.beaten && int32(count-w.beats) <= 0 {
		return
	}
	w.beats, w.beaten = count, true
	if !w.synced {
		w.sync(first, last)
	} else if first > w.next {
		w.r.p.stats.Lost += uint64(first - w.next)
		w.skip(first)
	}
	var missing set
	for n := w.next; n <= last && n-w.next < maxSet; n++ {
		switch {
		case w.held[n] != nil:
		case w.parts[n] != nil:
			w.nackFrag(m, n, uint32(w.parts[n].count))
		default:
			missing.add(int(n - w.next))
		}
	}
	if missing.bits == 0 {
		if !final {
			w.sendAck(w.next, &missing)
		}
		return
	}
	if final && w.askedFrom == w.next && m.now.Sub(w.askedAt) < askPause {
		return // it has been asked for
	}
	w.askedFrom, w.askedAt = w.next, m.now
	w.sendAck(w.next, &missing)
}

// sync decides where a writer begins: with what it keeps, or for a reader without history with
// what has been written since there is that reader. A writer that knows the reader before it is
// known itself may have written already: that is asked for, and told from what is older by its
// time (docs/decisions/0110).
func (w *writerProxy) sync(first, last int64) {
	w.synced, w.askDue = true, time.Time{}
	w.next = first
	if !w.history {
		w.live = last + 1
		for n := range w.held {
			w.live = min(w.live, n)
		}
		for n := range w.parts {
			w.live = min(w.live, n)
		}
		w.next = min(w.live, max(first, w.live-maxLate))
	}
	w.flush()
}

// gap learns what will not come.
func (w *writerProxy) gap(start, base int64, more *set) {
	if !w.reliable || !w.synced {
		return
	}
	if start <= w.next {
		w.skip(base)
	}
	for i := range more.bits {
		n := base + int64(i)
		if !more.has(i) || n < w.next {
			continue
		}
		if n == w.next {
			w.skip(n + 1)
			continue
		}
		if w.held[n] == nil && len(w.held) < maxHeld && w.r.p.hold(w.rem, gapBytes) {
			if w.held == nil {
				w.held = map[int64]*Sample{}
			}
			w.held[n] = isGap
			w.scrap(n)
		}
	}
}
