package frame

import (
	"fmt"
	"sync"
	"time"
	"unicode/utf8"

	"poise/internal/budget"
)

// Joiner joins fragments. Incomplete messages are bounded in count, bytes and age, and
// charged to the client; the zero value takes none. It may be used from any goroutine.
type Joiner struct {
	MaxBytes int             // of the texts of all that is open
	MaxOpen  int             // messages under way
	MaxAge   time.Duration   // of a message under way
	Account  *budget.Account // of the client; nil charges no client

	mu    sync.Mutex
	open  map[string]*parts
	bytes int // of texts
}

// parts are those that have come. What they claim of the others takes no memory.
type parts struct {
	since time.Time
	total int
	data  map[int]string // by number
	bytes int            // of their texts
}

// cost is what keeping the parts takes.
func (p *parts) cost() int64 { return int64(p.bytes + len(p.data)*partCost) }

// partCost is what a part takes besides its text: an entry of a map.
const partCost = 64

// Add takes a fragment and returns the whole text once its last part is there.
func (j *Joiner) Add(m *Message, now time.Time) (whole []byte, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.expire(now)
	if m.ID == "" {
		return nil, fmt.Errorf("a fragment needs an id")
	}
	// every part costs an envelope of at least this many bytes on the wire, so a
	// larger total must be a mistake
	const leastPart = 16
	if m.Total < 1 || m.Total > j.MaxBytes/leastPart+1 {
		return nil, fmt.Errorf("fragment %s: total is %d, want 1 to %d", m.ID, m.Total, j.MaxBytes/leastPart+1)
	}
	if m.Num < 0 || m.Num >= m.Total {
		return nil, fmt.Errorf("fragment %s: num is %d, want 0 to %d", m.ID, m.Num, m.Total-1)
	}
	p := j.open[m.ID]
	if p == nil {
		if len(j.open) >= j.MaxOpen {
			return nil, fmt.Errorf("fragment %s: %d fragmented messages are open already, at most %d may be", m.ID, len(j.open), j.MaxOpen)
		}
		if j.open == nil {
			j.open = map[string]*parts{}
		}
		p = &parts{since: now, total: m.Total, data: map[int]string{}}
		j.open[m.ID] = p
	}
	if p.total != m.Total {
		j.drop(m.ID)
		return nil, fmt.Errorf("fragment %s: total changed from %d to %d", m.ID, p.total, m.Total)
	}
	if _, seen := p.data[m.Num]; seen {
		return nil, nil // sent again: the first one counts
	}
	if err := j.keep(p, m); err != nil {
		j.drop(m.ID)
		return nil, fmt.Errorf("fragment %s: %w", m.ID, err)
	}
	if len(p.data) < p.total {
		return nil, nil
	}
	return j.join(m.ID, p), nil
}

// keep adds a part to its message, if there is room.
func (j *Joiner) keep(p *parts, m *Message) error {
	if j.bytes+len(m.Data) > j.MaxBytes {
		return fmt.Errorf("more than %d bytes are open", j.MaxBytes)
	}
	if err := j.Account.Take(budget.Frames, int64(len(m.Data)+partCost)); err != nil {
		return err
	}
	p.data[m.Num] = m.Data
	p.bytes += len(m.Data)
	j.bytes += len(m.Data)
	return nil
}

// join returns the text of a message whose parts have all come.
func (j *Joiner) join(id string, p *parts) []byte {
	whole := make([]byte, 0, p.bytes)
	for i := range p.total {
		whole = append(whole, p.data[i]...)
	}
	j.drop(id)
	return whole
}

// Open returns how many messages are under way.
func (j *Joiner) Open() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.open)
}

func (j *Joiner) drop(id string) {
	if p := j.open[id]; p != nil {
		j.bytes -= p.bytes
		j.Account.Give(budget.Frames, p.cost())
		delete(j.open, id)
	}
}

// Expire forgets messages that were not finished in time.
func (j *Joiner) Expire(now time.Time) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.expire(now)
}

func (j *Joiner) expire(now time.Time) {
	for id, p := range j.open {
		if now.Sub(p.since) > j.MaxAge {
			j.drop(id)
		}
	}
}

// Split returns the frames that carry a text in parts of at most size bytes, or
// the text itself if it is no longer. A part never ends inside a character.
func Split(text []byte, size int, id string) [][]byte {
	if size <= 0 || len(text) <= size {
		return [][]byte{text}
	}
	size = max(size, utf8.UTFMax)
	var cuts []string
	for rest := text; len(rest) > 0; {
		n := min(size, len(rest))
		for back := 1; back < utf8.UTFMax && n < len(rest) && !utf8.RuneStart(rest[n]); back++ {
			n--
		}
		cuts, rest = append(cuts, string(rest[:n])), rest[n:]
	}
	frames := make([][]byte, len(cuts))
	for i, c := range cuts {
		m := Message{Op: Fragment, ID: StringID(id), Data: c, Num: i, Total: len(cuts)}
		frames[i] = m.Append(nil)
	}
	return frames
}
