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
	dests    []place // each address of matched readers once
	reliable int     // matched readers that are

	beats    uint32 // heartbeats
	beatDue  time.Time
	beatWait time.Duration
	jobs     []job
	begun    int  // of jobs that is not done
	queued   bool // in the participant's active
	live     int  // jobs for all readers: new samples wait behind them
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
	rem      *remote
	reliable bool
	start    int64 // the first sample that is for it
	acked    int64 // it has everything up to here
	asked    uint32
	synced   bool // it has spoken
	jobs     int  // under way for it
}

// place is an address with how many readers are there.
type place struct {
	at      netip.AddrPort
	readers int
}

// job is something to be sent at a pace: fragments of a sample, or a whole one.
type job struct {
	sequence   int64
	next, last uint32 // fragments, counted from 1; 0 is a whole sample
	to         *readerProxy
}

// Times of heartbeats, while not everything is acknowledged: they grow by a quarter each, so that
// some 15 come within five seconds. With 30 % of datagrams lost a third of them has its answer.
const (
	beatFirst = 50 * time.Millisecond
	beatLast  = time.Second
)

// maxBeats is how many readers a writer sends heartbeats to at a time.
const maxBeats = 256

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
			w.match(r, e)
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
	for g := range w.proxies {
		w.unmatch(g)
	}
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
	for i := range w.dests {
		p.send(w.dests[i].at)
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
	waiting := 0
	for _, x := range w.proxies {
		if x.reliable && (x.acked < w.last || !x.synced) {
			if waiting++; waiting > maxBeats {
				break // others' turn comes: the order of a map is another one each time
			}
			w.beat(x, false)
		}
	}
	if waiting == 0 {
		w.beatDue = time.Time{}
		return w.beatDue
	}
	w.beatWait = min(w.beatWait+w.beatWait/4, beatLast)
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
func (w *Writer) match(rem *remote, e *endpoint) {
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
		w.reach(old.e.addr, -1)
		w.reach(e.addr, 1)
		old.e = e
		return
	}
	if e.crowded = !w.p.know(rem, servedBytes); e.crowded {
		return
	}
	x := &readerProxy{e: e, rem: rem, reliable: e.policies.reliable, start: w.last + 1}
	if w.c.QoS.TransientLocal && e.policies.durability > 0 {
		x.start = w.first()
	}
	x.acked = x.start - 1
	w.proxies[e.id] = x
	w.reach(e.addr, 1)
	if x.reliable {
		w.reliable++
		w.beat(x, false)
		w.beatDue = time.Time{}
		w.expectAcks(time.Now())
	}
}

func (w *Writer) unmatch(reader GUID) {
	x := w.proxies[reader]
	if x == nil {
		return
	}
	delete(w.proxies, reader)
	w.giveUp(x)
	w.reach(x.e.addr, -1)
	w.p.know(x.rem, -servedBytes)
	if x.reliable {
		w.reliable--
	}
}

// reach counts readers at an address, which samples go to while there are any.
func (w *Writer) reach(at netip.AddrPort, more int) {
	if !at.IsValid() {
		return
	}
	i := slices.IndexFunc(w.dests, func(d place) bool { return d.at == at })
	if i < 0 {
		i = len(w.dests)
		w.dests = append(w.dests, place{at: at})
	}
	if w.dests[i].readers += more; w.dests[i].readers <= 0 {
		w.dests = slices.Delete(w.dests, i, i+1)
	}
}

// ackNack takes what a reader has, and what it misses.
func (w *Writer) ackNack(m *message, reader GUID, base int64, missing *set, count uint32, final bool) {
	r := w.proxies[reader]
	if r == nil || !r.reliable || base < 0 || r.synced && int32(count-r.asked) <= 0 {
		return
	}
	r.asked, r.synced = count, true
	r.acked = max(r.acked, min(base-1, w.last))
	if missing.bits == 0 {
		if !final {
			w.beat(r, true)
		}
		return
	}
	if r.jobs > 0 {
		return // what it asked for before is still on its way
	}
	var gone set
	var goneFrom, goneTo int64 // a run without a hole, as Fast DDS needs it, before the rest
	for i := range missing.bits {
		if !missing.has(i) {
			continue
		}
		sequence := base + int64(i)
		c := w.find(sequence)
		switch {
		case sequence > w.last:
		case c == nil || sequence < r.start:
			if goneFrom == 0 {
				goneFrom, goneTo = sequence, sequence
			}
			if gone.bits == 0 && sequence == goneTo {
				goneTo++
			} else {
				gone.add(int(sequence - goneTo))
			}
		case w.fragments(c) > 1:
			w.schedule(job{sequence: sequence, next: 1, last: w.fragments(c), to: r})
		default:
			w.schedule(job{sequence: sequence, to: r})
		}
	}
	if goneFrom != 0 {
		w.p.packet.begin(w.p.prefix)
		w.p.packet.dest(reader.Prefix)
		w.p.packet.gap(reader.Entity, w.id, goneFrom, goneTo, &gone)
		w.p.send(r.e.addr)
	}
	w.p.drain(m.now)
	w.expectAcks(m.now)
}

// nackFrag sends fragments again.
func (w *Writer) nackFrag(m *message, reader GUID, sequence int64, base uint32, missing *set) {
	r, c := w.proxies[reader], w.find(sequence)
	if r == nil || !r.reliable || c == nil || base == 0 || r.jobs > 0 {
		return
	}
	n := w.fragments(c)
	for i := 0; i < missing.bits; i++ {
		if !missing.has(i) || uint64(base)+uint64(i) > uint64(n) {
			continue
		}
		j := job{sequence: sequence, next: base + uint32(i), last: base + uint32(i), to: r}
		for i+1 < missing.bits && missing.has(i+1) && j.last < n {
			i++
			j.last++
		}
		w.schedule(j)
	}
	w.p.drain(m.now)
	w.expectAcks(m.now)
}
