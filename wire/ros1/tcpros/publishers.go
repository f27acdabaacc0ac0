package tcpros

import (
	"context"
	"fmt"
	"strconv"
	"sync"
)

// Publishers are the publishers of a topic that a node reads, as the master lists them.
type Publishers struct {
	Most int                                 // that are taken of one list; 0 is any number
	Own  func(uri string) bool               // reports those that are not to be read
	Read func(uri string) context.CancelFunc // begins to read one, until what it returns is called; nil if it is not read

	mu      sync.Mutex
	reading map[string]context.CancelFunc // by URI
}

// Listed takes a list from the master: all that there are, or some. What the answer to a
// registration lists may be older than what the master has told since: those are some.
func (p *Publishers) Listed(list any, all bool) {
	uris, ok := list.([]any)
	if !ok {
		return
	}
	now := map[string]bool{}
	for _, u := range uris {
		if uri, ok := u.(string); ok && !p.Own(uri) && (p.Most == 0 || len(now) < p.Most) {
			now[uri] = true
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reading == nil {
		p.reading = map[string]context.CancelFunc{}
	}
	for uri, end := range p.reading {
		if all && !now[uri] {
			end()
			delete(p.reading, uri)
		}
	}
	for uri := range now {
		if p.reading[uri] != nil {
			continue
		}
		if end := p.Read(uri); end != nil {
			p.reading[uri] = end
		}
	}
}

// Address returns where a publisher sends a topic, from its answer to requestTopic.
func Address(topic string, answer any) (host, port string, err error) {
	list, _ := answer.([]any)
	if len(list) != 3 || list[0] != "TCPROS" {
		return "", "", fmt.Errorf("it offers no TCPROS for %s", topic)
	}
	host, isText := list[1].(string)
	number, isNumber := list[2].(int)
	if !isText || !isNumber || number <= 0 || number > 65535 {
		return "", "", fmt.Errorf("it says no address for %s", topic)
	}
	return host, strconv.Itoa(number), nil
}
