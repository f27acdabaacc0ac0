package bag

import (
	"bytes"
	"cmp"
	"compress/bzip2"
	"container/heap"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/pierrec/lz4/v4"
)

// Names of compressions.
const (
	None = "none"
	BZ2  = "bz2"
	LZ4  = "lz4"
)

// item is a message of an unpacked chunk.
type item struct {
	at         Time
	order      int // in the bag, among those of the same time
	connection uint32
	data       []byte
	of         *unpacked
}

// unpacked is a chunk whose messages wait.
type unpacked struct {
	left int // messages
	size int64
}

// Messages returns the messages in the order of their times, those of the given connections
// or all. It ends with the first error.
func (b *Bag) Messages(wanted func(*Connection) bool) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		limits := b.Limits.withDefaults()
		chunks := slices.Clone(b.Chunks)
		slices.SortStableFunc(chunks, func(x, y Chunk) int { return cmp.Or(x.Start.Compare(y.Start), cmp.Compare(x.at, y.at)) })
		var open items
		var taken int64
		order := 0
		for len(chunks) > 0 || len(open) > 0 {
			if len(chunks) > 0 && (len(open) == 0 || chunks[0].Start.Compare(open[0].at) <= 0) {
				c := chunks[0]
				chunks = chunks[1:]
				if taken += c.Unpacked; taken > limits.OpenBytes {
					yield(Message{}, fmt.Errorf("the chunks that overlap in time have %d bytes, the limit is %d", taken, limits.OpenBytes))
					return
				}
				list, err := b.unpack(&c)
				if err != nil {
					yield(Message{}, err)
					return
				}
				if len(list) == 0 {
					taken -= c.Unpacked
				}
				of := &unpacked{len(list), c.Unpacked}
				for _, one := range list {
					order++
					one.order, one.of = order, of
					heap.Push(&open, one)
				}
				continue
			}
			next := heap.Pop(&open).(item)
			if next.of.left--; next.of.left == 0 {
				taken -= next.of.size
			}
			connection := b.Connections[next.connection]
			if wanted != nil && !wanted(connection) {
				continue
			}
			if !yield(Message{connection, next.at, next.data}, nil) {
				return
			}
		}
	}
}

// items is a heap by time.
type items []item

func (h items) Len() int      { return len(h) }
func (h items) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h items) Less(i, j int) bool {
	return cmp.Or(h[i].at.Compare(h[j].at), cmp.Compare(h[i].order, h[j].order)) < 0
}
func (h *items) Push(x any) { *h = append(*h, x.(item)) }
func (h *items) Pop() any {
	old := *h
	last := old[len(old)-1]
	old[len(old)-1] = item{}
	*h = old[:len(old)-1]
	return last
}

// unpack returns the messages of a chunk in the order of the file.
func (b *Bag) unpack(c *Chunk) ([]item, error) {
	data, err := b.content(c)
	if err != nil {
		return nil, err
	}
	var list []item
	records, size := bytes.NewReader(data), int64(len(data))
	for at := int64(0); at < size; {
		r, err := readRecord(records, at, size)
		if err != nil {
			return nil, fmt.Errorf("in the chunk at byte %d, %w", c.at, err)
		}
		switch r.op() {
		case opConnection:
			err = b.connection(r, records)
		case opMessage:
			var m item
			if m.connection, err = r.uint32("conn"); err == nil {
				m.at, err = r.time("time")
			}
			if err == nil && b.Connections[m.connection] == nil {
				err = formatf(r.at, "a message is of connection %d, which is not said before", m.connection)
			}
			m.data = data[r.data:r.end():r.end()]
			list = append(list, m)
		}
		if err != nil {
			return nil, fmt.Errorf("in the chunk at byte %d, %w", c.at, err)
		}
		at = r.end()
	}
	return list, nil
}

// content reads a chunk's data and unpacks it.
func (b *Bag) content(c *Chunk) ([]byte, error) {
	r, err := readRecord(b.f, c.at, b.size)
	if err != nil {
		return nil, err
	}
	limit := b.Limits.withDefaults().ChunkBytes
	if r.size > limit || c.Unpacked > limit {
		return nil, formatf(c.at, "a chunk has %d bytes, unpacked %d; the limit is %d", r.size, c.Unpacked, limit)
	}
	packed := io.NewSectionReader(b.f, r.data, r.size)
	var in io.Reader
	switch c.Compression {
	case None, "":
		in = packed
	case BZ2:
		in = bzip2.NewReader(packed)
	case LZ4:
		in = lz4.NewReader(packed)
	default:
		return nil, formatf(c.at, "the compression %.50q of a chunk is unknown: none, bz2 and lz4 are read", c.Compression)
	}
	var out bytes.Buffer // grows with what comes, whatever the file says
	if _, err := io.Copy(&out, io.LimitReader(in, c.Unpacked+1)); err != nil {
		return nil, formatf(c.at, "a chunk cannot be unpacked (%s): %v", c.Compression, err)
	}
	if int64(out.Len()) != c.Unpacked {
		return nil, formatf(c.at, "a chunk says it has %d bytes unpacked, and has %s", c.Unpacked, atLeast(int64(out.Len()), c.Unpacked))
	}
	return out.Bytes(), nil
}

func atLeast(n, limit int64) string {
	if n > limit {
		return "more"
	}
	return fmt.Sprint(n)
}
