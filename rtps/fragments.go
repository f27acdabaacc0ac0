package rtps

// assembly is a sample of which fragments have come.
type assembly struct {
	data  []byte
	size  int // of a fragment
	count int // of fragments
	got   []uint64
	left  int
}

// assemble adds fragments, and returns the sample when it is complete. The caller scraps it.
func (w *writerProxy) assemble(h *dataHead) []byte {
	p := w.r.p
	a := w.parts[h.sequence]
	if a == nil {
		if a = w.begin(h); a == nil {
			p.stats.Refused++
			return nil
		}
	}
	if a.size != h.size || len(a.data) != h.total {
		p.stats.Malformed++
		return nil
	}
	for i := range h.count {
		n := int(h.first) - 1 + i
		if n >= a.count {
			break
		}
		want := min(a.size, len(a.data)-n*a.size)
		if len(h.payload) < want {
			break
		}
		part := h.payload[:want]
		h.payload = h.payload[want:]
		if a.got[n/64]&(1<<(n%64)) != 0 {
			p.stats.Duplicates++
			continue
		}
		copy(a.data[n*a.size:], part)
		a.got[n/64] |= 1 << (n % 64)
		a.left--
	}
	if a.left > 0 {
		return nil
	}
	return a.data
}

// begin makes room for a sample; nil without room.
func (w *writerProxy) begin(h *dataHead) *assembly {
	p := w.r.p
	if len(w.parts) >= maxParts {
		newest := true
		oldest := h.sequence
		for n := range w.parts {
			newest = newest && n < h.sequence
			oldest = min(oldest, n)
		}
		if w.reliable || !newest {
			return nil // it will come again
		}
		w.scrap(oldest)
	}
	count := (h.total + h.size - 1) / h.size
	words := (count + 63) / 64
	if !p.hold(w.rem, assemblyBytes+h.total+8*words) {
		return nil
	}
	a := &assembly{data: make([]byte, h.total), size: h.size, count: count, got: make([]uint64, words), left: count}
	if w.parts == nil {
		w.parts = map[int64]*assembly{}
	}
	w.parts[h.sequence] = a
	return a
}

// scrap gives up a sample that is being put together.
func (w *writerProxy) scrap(sequence int64) {
	if a := w.parts[sequence]; a != nil {
		w.r.p.free(w.rem, a.bytes())
		delete(w.parts, sequence)
	}
}

// heartbeatFrag learns up to which fragment the writer has sent a sample.
func (w *writerProxy) heartbeatFrag(m *message, sequence int64, last uint32) {
	if w.reliable && w.parts[sequence] != nil {
		w.nackFrag(m, sequence, last)
	}
}

// nackFrag asks for the fragments of a sample up to the last one that are missing.
func (w *writerProxy) nackFrag(m *message, sequence int64, last uint32) {
	a := w.parts[sequence]
	first, missing := 0, set{}
	for n := range min(a.count, int(last)) {
		if a.got[n/64]&(1<<(n%64)) != 0 {
			continue
		}
		if first == 0 {
			first = n + 1
		}
		if n+1-first >= maxSet {
			break
		}
		missing.add(n + 1 - first)
	}
	if missing.bits == 0 {
		return
	}
	p := w.r.p
	w.acks++
	p.packet.begin(p.prefix)
	p.packet.dest(w.e.id.Prefix)
	p.packet.nackFrag(w.r.id, w.e.id.Entity, sequence, uint32(first), &missing, w.acks)
	p.send(w.e.addr)
}
