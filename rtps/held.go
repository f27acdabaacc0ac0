package rtps

// What others make a participant hold is counted as the heap has it, so that the limits bound
// memory and not only what is in samples: TestHeldIsWhatTheHeapHolds.
const (
	endpointBytes = 400  // an endpoint beside its texts
	readingBytes  = 640  // a matched writer, with its maps
	servedBytes   = 256  // a matched reader
	sampleBytes   = 384  // a sample that waits, beside its payload
	gapBytes      = 64   // a number that will not come
	assemblyBytes = 192  // a sample of which fragments have come, beside its bytes
	jobBytes      = 64   // a sample or fragments that are to be sent again; the queue has room to grow
	remoteBytes   = 1024 // a participant beside its texts
)

// maxSpare is how many entries of a queue are kept for later when it is empty.
const maxSpare = 4096

// isGap stands for all samples that will not come.
var isGap = &Sample{}

// bytes is what a sample costs that waits for its turn.
func (s *Sample) bytes() int {
	if s == isGap {
		return gapBytes
	}
	return sampleBytes + len(s.Payload)
}

// bytes is what an assembly costs.
func (a *assembly) bytes() int { return assemblyBytes + len(a.data) + 8*len(a.got) }

// bytes is what is held of a participant beside its endpoints.
func (r *remote) bytes() int { return remoteBytes + len(r.name) + len(r.userData) }

// bytes is what is held of an endpoint.
func (e *endpoint) bytes() int {
	n := endpointBytes + len(e.topic) + len(e.typ) + len(e.userData) + 2*len(e.policies.representations)
	for _, x := range e.policies.partitions {
		n += 16 + len(x)
	}
	return n
}

// hold counts bytes that another participant makes this one hold, and reports whether
// there is room.
func (p *Participant) hold(r *remote, bytes int) bool {
	if r.held+bytes > p.c.Limits.HeldBytes || p.held+bytes > p.c.Limits.AllHeldBytes {
		p.stats.Refused++
		return false
	}
	r.held += bytes
	p.held += bytes
	return true
}

func (p *Participant) free(r *remote, bytes int) {
	r.held -= bytes
	p.held -= bytes
}

// know counts bytes of what is known of a participant's endpoints, fewer if they are below zero, and
// reports whether there is room.
func (p *Participant) know(r *remote, bytes int) bool {
	if bytes > 0 && (r.told+bytes > p.c.Limits.TellBytes || p.told+bytes > p.c.Limits.AllTellBytes) {
		p.stats.Refused++
		return false
	}
	r.told += bytes
	p.told += bytes
	return true
}

// account replaces what is known of an endpoint, nil if nothing is; it reports whether there is room.
func (p *Participant) account(r *remote, was, now *endpoint) bool {
	more := 0
	if now != nil {
		more = now.bytes()
	}
	if was != nil {
		more -= was.bytes()
	}
	return p.know(r, more)
}
