package rtps

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"sort"
	"time"
)

// WriterConfig is how a writer is made.
type WriterConfig struct {
	Topic, Type string
	QoS         QoS
	UserData    []byte
	First       int64 // number of its first sample; default 1
}

// Writer writes the samples of a topic.
type Writer struct {
	p  *Participant
	id EntityID
	c  WriterConfig

	ring    []change // kept samples, from head
	head    int
	count   int
	last    int64 // number of the last sample
	bytes   int
	builtin bool

	proxies  map[GUID]*readerProxy
	dests    []netip.AddrPort // each address of matched readers once
	reliable int              // matched readers that are

	beats    uint32 // heartbeats
	beatDue  time.Time
	beatWait time.Duration
	jobs     []job
	live     int // jobs for all readers: new samples wait behind them
	closed   bool
}

// change is a sample of a writer's history.
type change struct {
	sequence int64
	time     time.Time
	inline   []byte
	data     []byte
	key      bool // the data is a key alone
	endpoint GUID // of a built-in writer: what it tells of
}

// readerProxy is a matched reader of another participant.
type readerProxy struct {
	e        *endpoint
	reliable bool
	start    int64 // the first sample that is for it
	acked    int64 // it has everything up to here
	asked    uint32
	synced   bool // it has spoken
	jobs     int  // under way for it
}

// job is something to be sent at a pace: fragments of a sample, or a whole one.
type job struct {
	sequence   int64
	next, last uint32 // fragments, counted from 1; 0 is a whole sample
	to         *readerProxy
}

// Times of heartbeats, while not everything is acknowledged.
const (
	beatFirst = 50 * time.Millisecond
	beatLast  = time.Second
)

// NewWriter makes a writer and tells others of it.
func (p *Participant) NewWriter(c WriterConfig) (*Writer, error) {
	if err := checkNames(c.Topic, c.Type, c.UserData); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, ErrClosed
	}
	w := p.addWriter(p.newEntity(kindWriter), c)
	for _, r := range p.remotes {
		for _, e := range r.readers {
			w.match(e)
		}
	}
	p.tell(p.pubs, w.guid(), writerParams(w))
	return w, nil
}

func checkNames(topic, typ string, user []byte) error {
	switch {
	case topic == "" || len(topic) >= maxParamText:
		return fmt.Errorf("a topic's name must have 1 to %d characters, this one has %d", maxParamText-1, len(topic))
	case typ == "" || len(typ) >= maxParamText:
		return fmt.Errorf("a type's name must have 1 to %d characters, this one has %d", maxParamText-1, len(typ))
	case len(user) > maxUserData:
		return fmt.Errorf("user data must have at most %d bytes, not %d", maxUserData, len(user))
	}
	return nil
}

func (p *Participant) addWriter(id EntityID, c WriterConfig) *Writer {
	c.QoS.Depth = max(c.QoS.Depth, 1)
	w := &Writer{p: p, id: id, c: c, proxies: map[GUID]*readerProxy{}, beatWait: beatFirst, last: max(c.First, 1) - 1}
	p.writers[id] = w
	return w
}

func (w *Writer) guid() GUID { return GUID{w.p.prefix, w.id} }

// GUID returns the writer's own.
func (w *Writer) GUID() GUID { return w.guid() }

// Close withdraws the writer.
func (w *Writer) Close() {
	p := w.p
	p.mu.Lock()
	defer p.mu.Unlock()
	if w.closed || p.closed {
		return
	}
	w.closed = true
	delete(p.writers, w.id)
	p.retract(p.pubs, w.guid())
}

// Readers returns how many readers of others are matched.
func (w *Writer) Readers() int {
	w.p.mu.Lock()
	defer w.p.mu.Unlock()
	return len(w.proxies)
}

// Matched returns how many readers there are that everything written now reaches: a reliable
// one counts from its first acknowledgement.
func (w *Writer) Matched() (n int) {
	w.p.mu.Lock()
	defer w.p.mu.Unlock()
	for _, x := range w.proxies {
		if !x.reliable || x.synced {
			n++
		}
	}
	return n
}

// MatchedTo reports whether a reader of another participant is reached, as Matched counts it.
// A reader that is named by its participant's prefix and the unknown entity is any of it.
func (w *Writer) MatchedTo(reader GUID) bool {
	w.p.mu.Lock()
	defer w.p.mu.Unlock()
	for g, x := range w.proxies {
		same := g == reader || g.Prefix == reader.Prefix && reader.Entity == entityUnknown
		if same && (!x.reliable || x.synced) {
			return true
		}
	}
	return false
}

// Write writes a sample, payload with its encapsulation header, and returns its number. The
// payload is copied. related names the sample that it answers, nil if it answers none.
func (w *Writer) Write(payload []byte, related *Identity) (int64, error) {
	p := w.p
	if limit := p.c.Limits.SampleBytes; len(payload) > limit {
		return 0, fmt.Errorf("a sample of %s has %d bytes, at most %d are sent", w.c.Topic, len(payload), limit)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if w.closed || p.closed {
		return 0, ErrClosed
	}
	c := w.add()
	c.data = append(c.data[:0], payload...)
	c.inline = c.inline[:0]
	if related != nil {
		c.inline = appendRelated(c.inline, related)
	}
	w.bytes += len(c.data)
	for w.bytes > p.c.Limits.HistoryBytes && w.count > 1 {
		w.drop()
	}
	p.stats.Written++
	w.push(c)
	return c.sequence, nil
}

// appendRelated appends the inline QoS of an answer, in both forms that are read.
func appendRelated(b []byte, id *Identity) []byte {
	g := id.Writer.Bytes()
	for _, pid := range [...]uint16{pidRelated, pidRelatedFastDDS} {
		b = binary.LittleEndian.AppendUint16(b, pid)
		b = binary.LittleEndian.AppendUint16(b, 24)
		b = append(b, g[:]...)
		b = binary.LittleEndian.AppendUint32(b, uint32(uint64(id.Sequence)>>32))
		b = binary.LittleEndian.AppendUint32(b, uint32(id.Sequence))
	}
	return append(b, pidSentinel, 0, 0, 0)
}

// add makes room for a sample, in place of the oldest if the history is full.
func (w *Writer) add() *change {
	if w.count == len(w.ring) {
		if w.count < w.c.QoS.Depth || w.builtin {
			w.grow()
		} else {
			w.drop()
		}
	}
	c := &w.ring[(w.head+w.count)%len(w.ring)]
	w.count++
	w.last++
	c.sequence, c.time = w.last, time.Now()
	return c
}

func (w *Writer) grow() {
	n := max(2*len(w.ring), 1)
	if !w.builtin {
		n = min(n, w.c.QoS.Depth)
	}
	ring := make([]change, n)
	for i := range w.count {
		ring[i] = *w.kept(i)
	}
	w.ring, w.head = ring, 0
}

// drop drops the oldest sample; its buffers are used again.
func (w *Writer) drop() {
	c := w.kept(0)
	w.bytes -= len(c.data)
	if w.bytes > w.p.c.Limits.HistoryBytes/2 {
		c.data = nil // it is large: the next one need not be
	}
	w.head = (w.head + 1) % len(w.ring)
	w.count--
}

func (w *Writer) kept(i int) *change { return &w.ring[(w.head+i)%len(w.ring)] }

// find returns a sample by its number, nil if it is not kept.
func (w *Writer) find(sequence int64) *change {
	i := sort.Search(w.count, func(i int) bool { return w.kept(i).sequence >= sequence })
	if i < w.count && w.kept(i).sequence == sequence {
		return w.kept(i)
	}
	return nil
}

// first returns the number of the oldest sample that is kept.
func (w *Writer) first() int64 {
	if w.count == 0 {
		return w.last + 1
	}
	return w.kept(0).sequence
}

// push sends a new sample to all readers.
func (w *Writer) push(c *change) {
	if len(w.dests) == 0 {
		return
	}
	p := w.p
	if n := w.fragments(c); n > 1 || w.live > 0 {
		j := job{sequence: c.sequence}
		if n > 1 {
			j.next, j.last = 1, n
		}
		w.schedule(j)
		p.drain(c.time)
		w.expectAcks(c.time)
		return
	}
	k := &p.packet
	k.begin(p.prefix)
	k.time(c.time)
	k.data(entityUnknown, w.id, c)
	if w.reliable > 0 {
		w.beats++
		k.heartbeat(entityUnknown, w.id, w.first(), w.last, w.beats, true)
	}
	for _, to := range w.dests {
		p.send(to)
	}
	w.expectAcks(c.time)
}

// fragments returns how many a sample has; 1 is a whole sample.
func (w *Writer) fragments(c *change) uint32 {
	size := w.p.c.FragmentSize
	return uint32(max((len(c.data)+size-1)/size, 1))
}

// expectAcks has heartbeats sent until readers have acknowledged.
func (w *Writer) expectAcks(now time.Time) {
	if w.reliable > 0 && w.beatDue.IsZero() {
		w.beatWait = beatFirst
		w.beatDue = now.Add(w.beatWait)
		w.p.at(w.beatDue)
	}
}

// heartbeatDue sends the heartbeats that are due, and returns when the next are.
func (w *Writer) heartbeatDue(now time.Time) time.Time {
	if w.beatDue.IsZero() || now.Before(w.beatDue) {
		return w.beatDue
	}
	if w.live > 0 { // it would be asked for what is on its way
		w.beatDue = now.Add(w.beatWait)
		return w.beatDue
	}
	waiting := false
	for _, x := range w.proxies {
		if x.reliable && (x.acked < w.last || !x.synced) {
			waiting = true
			w.beat(x, false)
		}
	}
	if !waiting {
		w.beatDue = time.Time{}
		return w.beatDue
	}
	w.beatWait = min(2*w.beatWait, beatLast)
	w.beatDue = now.Add(w.beatWait)
	return w.beatDue
}

// beat sends a reader a heartbeat.
func (w *Writer) beat(x *readerProxy, final bool) {
	p := w.p
	w.beats++
	p.packet.begin(p.prefix)
	p.packet.dest(x.e.id.Prefix)
	// what a reader is not to have does not exist for it
	p.packet.heartbeat(x.e.id.Entity, w.id, max(w.first(), min(x.start, w.last+1)), w.last, w.beats, final)
	p.send(x.e.addr)
}

// match matches the writer with a reader of another participant, or ends a match.
func (w *Writer) match(e *endpoint) {
	old := w.proxies[e.id]
	if e.topic != w.c.Topic || e.typ != w.c.Type || w.closed {
		if old != nil {
			w.unmatch(e.id)
		}
		return
	}
	offer := w.c.QoS.policies()
	if mismatch(&offer, &e.policies) != "" {
		w.unmatch(e.id)
		return
	}
	if old != nil {
		old.e = e
		w.gather()
		return
	}
	x := &readerProxy{e: e, reliable: e.policies.reliable, start: w.last + 1}
	if w.c.QoS.TransientLocal && e.policies.durability > 0 {
		x.start = w.first()
	}
	x.acked = x.start - 1
	w.proxies[e.id] = x
	w.gather()
	if x.reliable {
		w.beat(x, false)
		w.beatDue = time.Time{}
		w.expectAcks(time.Now())
	}
}

func (w *Writer) unmatch(reader GUID) {
	if w.proxies[reader] == nil {
		return
	}
	w.jobs = slices.DeleteFunc(w.jobs, func(j job) bool { return j.to != nil && j.to.e.id == reader })
	delete(w.proxies, reader)
	w.gather()
}

// gather collects where samples go.
func (w *Writer) gather() {
	w.dests, w.reliable = w.dests[:0], 0
	for _, x := range w.proxies {
		if x.reliable {
			w.reliable++
		}
		if x.e.addr.IsValid() && !slices.Contains(w.dests, x.e.addr) {
			w.dests = append(w.dests, x.e.addr)
		}
	}
}

// ackNack takes what a reader has, and what it misses.
func (w *Writer) ackNack(m *message, reader GUID, base int64, missing *set, count uint32, final bool) {
	x := w.proxies[reader]
	if x == nil || !x.reliable || base < 0 || x.synced && int32(count-x.asked) <= 0 {
		return
	}
	x.asked, x.synced = count, true
	x.acked = max(x.acked, min(base-1, w.last))
	if missing.bits == 0 {
		if !final {
			w.beat(x, true)
		}
		return
	}
	if x.jobs > 0 {
		return // what it asked for before is still on its way
	}
	var gone set
	var goneFrom int64
	for i := range missing.bits {
		if !missing.has(i) {
			continue
		}
		sequence := base + int64(i)
		c := w.find(sequence)
		switch {
		case sequence > w.last:
		case c == nil || sequence < x.start:
			if goneFrom == 0 {
				goneFrom = sequence
			}
			gone.add(int(sequence - goneFrom))
		case w.fragments(c) > 1:
			w.schedule(job{sequence: sequence, next: 1, last: w.fragments(c), to: x})
		default:
			w.schedule(job{sequence: sequence, to: x})
		}
	}
	if goneFrom != 0 {
		w.p.packet.begin(w.p.prefix)
		w.p.packet.dest(reader.Prefix)
		w.p.packet.gap(reader.Entity, w.id, goneFrom, goneFrom, &gone)
		w.p.send(x.e.addr)
	}
	w.p.drain(m.now)
	w.expectAcks(m.now)
}

// nackFrag sends fragments again.
func (w *Writer) nackFrag(m *message, reader GUID, sequence int64, base uint32, missing *set) {
	x, c := w.proxies[reader], w.find(sequence)
	if x == nil || !x.reliable || c == nil || base == 0 || x.jobs > 0 {
		return
	}
	n := w.fragments(c)
	for i := 0; i < missing.bits; i++ {
		if !missing.has(i) || uint64(base)+uint64(i) > uint64(n) {
			continue
		}
		j := job{sequence: sequence, next: base + uint32(i), last: base + uint32(i), to: x}
		for i+1 < missing.bits && missing.has(i+1) && j.last < n {
			i++
			j.last++
		}
		w.schedule(j)
	}
	w.p.drain(m.now)
	w.expectAcks(m.now)
}

// schedule queues a job.
func (w *Writer) schedule(j job) {
	if len(w.jobs) == 0 {
		w.p.active = append(w.p.active, w)
	}
	if j.to != nil {
		j.to.jobs++
	} else {
		w.live++
	}
	w.jobs = append(w.jobs, j)
}

// burst is how many bytes are sent at once before the pace holds.
const burst = 64 << 10

// drain sends what is queued, as far as the pace allows, one writer after the other.
func (p *Participant) drain(now time.Time) {
	if len(p.active) == 0 {
		return
	}
	p.tokens = min(p.tokens+float64(p.c.Limits.Rate)*now.Sub(p.refill).Seconds(), burst)
	p.refill = now
	for len(p.active) > 0 && p.tokens > 0 {
		w := p.active[0]
		p.active = append(p.active[:0], p.active[1:]...)
		if len(w.jobs) > 0 {
			p.tokens -= float64(w.step())
		}
		if len(w.jobs) > 0 {
			p.active = append(p.active, w)
		}
	}
	if len(p.active) > 0 {
		p.at(now.Add(time.Millisecond))
	}
}

// step sends the next part of the first job, and returns how many bytes that were.
func (w *Writer) step() (sent int) {
	j, p := &w.jobs[0], w.p
	c := w.find(j.sequence)
	if c == nil || w.closed { // it is not kept any more
		w.done()
		return 0
	}
	k := &p.packet
	k.begin(p.prefix)
	reader := entityUnknown
	if j.to != nil {
		reader = j.to.e.id.Entity
		k.dest(j.to.e.id.Prefix)
		p.stats.Resent++
	}
	k.time(c.time)
	over := j.next >= j.last
	if j.last == 0 {
		k.data(reader, w.id, c)
	} else {
		k.fragment(reader, w.id, c, j.next, p.c.FragmentSize)
		j.next++
	}
	to := j.to
	if over && to == nil && w.reliable > 0 {
		w.beats++
		k.heartbeat(entityUnknown, w.id, w.first(), w.last, w.beats, true)
	}
	if over {
		w.done()
	}
	if to != nil {
		p.send(to.e.addr)
		return len(k.b)
	}
	for _, at := range w.dests {
		p.send(at)
		sent += len(k.b)
	}
	return sent
}

// done ends the first job.
func (w *Writer) done() {
	if to := w.jobs[0].to; to != nil {
		to.jobs--
	} else {
		w.live--
	}
	w.jobs = append(w.jobs[:0], w.jobs[1:]...)
}
