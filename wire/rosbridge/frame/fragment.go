package frame

import (
	"fmt"
	"time"
	"unicode/utf8"
)

// Joiner joins fragments. Incomplete messages are bounded in count, bytes and age; the
// zero value takes none.
type Joiner struct {
	MaxBytes int           // of one message, and of all that is open
	MaxOpen  int           // messages under way
	MaxAge   time.Duration // of a message under way

	open  map[string]*parts
	bytes int
}

type parts struct {
	since time.Time
	data  []string
	seen  []bool
	left  int
	bytes int
}

// Add takes a fragment and returns the whole text once its last part is there.
func (j *Joiner) Add(m *Message, now time.Time) (whole []byte, err error) {
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
		p = &parts{since: now, data: make([]string, m.Total), seen: make([]bool, m.Total), left: m.Total}
		j.open[m.ID] = p
	}
	if len(p.data) != m.Total {
		j.drop(m.ID)
		return nil, fmt.Errorf("fragment %s: total changed from %d to %d", m.ID, len(p.data), m.Total)
	}
	if p.seen[m.Num] {
		return nil, nil // sent again: the first one counts
	}
	if j.bytes+len(m.Data) > j.MaxBytes {
		j.drop(m.ID)
		return nil, fmt.Errorf("fragment %s: more than %d bytes are open", m.ID, j.MaxBytes)
	}
	p.seen[m.Num], p.data[m.Num] = true, m.Data
	p.bytes += len(m.Data)
	j.bytes += len(m.Data)
	if p.left--; p.left > 0 {
		return nil, nil
	}
	whole = make([]byte, 0, p.bytes)
	for _, d := range p.data {
		whole = append(whole, d...)
	}
	j.drop(m.ID)
	return whole, nil
}

// Open returns how many messages are under way.
func (j *Joiner) Open() int { return len(j.open) }

func (j *Joiner) drop(id string) {
	if p := j.open[id]; p != nil {
		j.bytes -= p.bytes
		delete(j.open, id)
	}
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
