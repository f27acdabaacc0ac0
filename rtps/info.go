package rtps

import (
	"fmt"
	"slices"
	"time"
)

// ParticipantInfo is another participant as listings show it.
type ParticipantInfo struct {
	GUID     GUID
	Vendor   Vendor
	Name     string
	Address  string // that it is sent to
	UserData []byte
	Silent   time.Duration // since it was heard
	Lease    time.Duration
	Writers  []EndpointInfo
	Readers  []EndpointInfo
}

// EndpointInfo is an endpoint of another participant.
type EndpointInfo struct {
	GUID        GUID
	Topic, Type string
	QoS         QoS // without depth
	UserData    []byte
	Matched     bool   // with an endpoint of this participant
	Why         string // there is one of the same topic, and they do not match; or it is not alive, or a sample was left out
	Alive       bool   // but for a writer whose liveliness is by topic, and whose lease is over
}

// Others returns the other participants and their endpoints, in the order of their GUIDs.
func (p *Participant) Others() []ParticipantInfo {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make([]ParticipantInfo, 0, len(p.remotes))
	for _, r := range p.remotes {
		i := ParticipantInfo{GUID: GUID{r.prefix, entityParticipant}, Vendor: r.vendor, Name: r.name, Address: r.data.String(), UserData: r.userData, Silent: now.Sub(r.seen), Lease: r.lease}
		for _, e := range sorted(r.writers) {
			i.Writers = append(i.Writers, p.describe(e, true, now))
		}
		for _, e := range sorted(r.readers) {
			i.Readers = append(i.Readers, p.describe(e, false, now))
		}
		out = append(out, i)
	}
	slices.SortFunc(out, func(a, b ParticipantInfo) int { return slices.Compare(a.GUID.Prefix[:], b.GUID.Prefix[:]) })
	return out
}

// Knows reports whether another participant is there.
func (p *Participant) Knows(other Prefix) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.remotes[other] != nil
}

// describe returns an endpoint with whether it matches one of this participant.
func (p *Participant) describe(e *endpoint, writer bool, now time.Time) EndpointInfo {
	i := EndpointInfo{Alive: true, GUID: e.id, Topic: e.topic, Type: e.typ, UserData: e.userData, QoS: QoS{Reliable: e.policies.reliable, TransientLocal: e.policies.durability > 0}}
	note := func(typ string, matched bool, why string) {
		switch {
		case matched:
			i.Matched, i.Why = true, ""
		case i.Matched:
		case typ != e.typ:
			i.Why = "its type is " + e.typ + ", and that of the other side is " + typ
		default:
			if i.Why = why; why == "" && e.crowded {
				i.Why = "its participant has more endpoints than there is room for"
			}
		}
	}
	if writer {
		for _, r := range p.readers {
			if r.c.Topic == e.topic {
				ask := r.c.QoS.policies()
				note(r.c.Type, r.proxies[e.id] != nil, mismatch(&e.policies, &ask))
			}
		}
		if e.oversize > 0 && i.Why == "" {
			i.Why = fmt.Sprintf("a sample of %d bytes was left out, %d are taken at most", e.oversize, p.c.Limits.SampleBytes)
		}
		if silent, over := e.silentFor(now); over {
			i.Alive = false
			if i.Why == "" {
				i.Why = fmt.Sprintf("the writer has not shown that it is alive for %v, its lease is %v", silent.Round(time.Millisecond), e.policies.livelinessLease)
			}
		}
		return i
	}
	for _, w := range p.writers {
		if w.c.Topic == e.topic {
			offer := w.c.QoS.policies()
			note(w.c.Type, w.proxies[e.id] != nil, mismatch(&offer, &e.policies))
		}
	}
	return i
}
