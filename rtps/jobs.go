package rtps

import (
	"slices"
	"time"
)

// schedule queues a job, unless its reader's participant has asked for too much: then it asks again.
func (w *Writer) schedule(j job) {
	if j.to != nil {
		if !w.p.hold(j.to.rem, jobBytes) {
			return
		}
		j.to.jobs++
	} else {
		w.live++
	}
	w.jobs = append(w.jobs, j)
	if !w.queued {
		w.queued = true
		w.p.active = append(w.p.active, w)
	}
}

// giveUp drops the jobs of a reader that is gone.
func (w *Writer) giveUp(x *readerProxy) {
	if x.jobs == 0 {
		return
	}
	w.p.free(x.rem, jobBytes*x.jobs)
	x.jobs = 0
	w.keepJobs(slices.DeleteFunc(w.jobs[w.begun:], func(j job) bool { return j.to == x }))
}

// keepJobs takes what is left of the queue, and gives back the room of a long one.
func (w *Writer) keepJobs(left []job) {
	if w.jobs, w.begun = left, 0; len(left) == 0 && cap(left) > maxSpare {
		w.jobs = nil
	}
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
		if w.begun < len(w.jobs) {
			p.tokens -= float64(w.step())
		}
		if w.queued = w.begun < len(w.jobs); w.queued {
			p.active = append(p.active, w)
		}
	}
	if len(p.active) > 0 {
		p.at(now.Add(time.Millisecond))
	}
}

// step sends the next part of the first job, and returns how many bytes that were.
func (w *Writer) step() (sent int) {
	j, p := &w.jobs[w.begun], w.p
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
	for i := range w.dests {
		p.send(w.dests[i].at)
		sent += len(k.b)
	}
	return sent
}

// done ends the first job.
func (w *Writer) done() {
	if to := w.jobs[w.begun].to; to != nil {
		to.jobs--
		w.p.free(to.rem, jobBytes)
	} else {
		w.live--
	}
	if w.begun++; w.begun == len(w.jobs) || w.begun >= 64 && 2*w.begun >= len(w.jobs) { // no more is moved than is done
		w.keepJobs(append(w.jobs[:0], w.jobs[w.begun:]...))
	}
}
