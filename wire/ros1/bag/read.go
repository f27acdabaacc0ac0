package bag

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"poise/wire/ros1/tcpros"
)

// Limits bound what reading takes; zero values take the defaults.
type Limits struct {
	ChunkBytes int64 // of one chunk, packed or unpacked; default 256 MiB
	OpenBytes  int64 // of chunks that overlap in time, unpacked; default 1 GiB
}

func (l Limits) withDefaults() Limits {
	if l.ChunkBytes <= 0 {
		l.ChunkBytes = 256 << 20
	}
	if l.OpenBytes <= 0 {
		l.OpenBytes = 1 << 30
	}
	return l
}

// Bag is a file that can be read.
type Bag struct {
	Limits      Limits
	Connections map[uint32]*Connection
	Chunks      []Chunk // in the order of the file

	f      io.ReaderAt
	size   int64
	listed map[uint64]bool // chunks of the index, by their place
}

// Chunk is a part of a bag.
type Chunk struct {
	Start, End  Time
	Counts      map[uint32]uint32 // messages by connection
	Compression string            // none, bz2 or lz4
	Packed      int64             // bytes in the file
	Unpacked    int64             // bytes, as the file says

	at int64
}

// Open reads the index of a bag of some size. A bag without one is ErrUnindexed.
func Open(f io.ReaderAt, size int64) (*Bag, error) {
	b := newBag(f, size)
	first, err := b.first()
	if err != nil {
		return nil, err
	}
	pos, err := first.uint64("index_pos")
	if err != nil {
		return nil, err
	}
	if pos == 0 {
		return nil, ErrUnindexed
	}
	if pos < uint64(first.end()) || pos > uint64(size) {
		return nil, formatf(first.at, "the index is at byte %d, the file has %d", pos, size)
	}
	for at := int64(pos); at < size; {
		r, err := readRecord(f, at, size)
		if err != nil {
			return nil, fmt.Errorf("in the index, %w", err)
		}
		switch r.op() {
		case opConnection:
			err = b.connection(r, f)
		case opChunkInfo:
			err = b.chunkInfo(r)
		}
		if err != nil {
			return nil, fmt.Errorf("in the index, %w", err)
		}
		at = r.end()
	}
	return b, b.counted(first)
}

// counted compares what the index has with what the file says it has: a file that was cut
// off in its index must not look whole.
func (b *Bag) counted(first *record) error {
	for name, have := range map[string]int{"conn_count": len(b.Connections), "chunk_count": len(b.Chunks)} {
		n, err := first.uint32(name)
		if err != nil {
			return err
		}
		if int64(n) != int64(have) {
			return formatf(first.at, "the file says %s is %d, its index has %d", name, n, have)
		}
	}
	return nil
}

func newBag(f io.ReaderAt, size int64) *Bag {
	return &Bag{Connections: map[uint32]*Connection{}, f: f, size: size, listed: map[uint64]bool{}}
}

// first reads the line of the version and the first record.
func (b *Bag) first() (*record, error) {
	line := make([]byte, min(int64(len(magic)), b.size))
	if err := readFull(b.f, line, 0); err != nil {
		return nil, err
	}
	if version, ok := strings.CutPrefix(string(line), "#ROSBAG V"); ok && string(line) != magic {
		return nil, fmt.Errorf("a bag of format %q: 2.0 is read, rosbag fix makes one of it", strings.TrimSpace(version))
	} else if !ok {
		return nil, errors.New("not a bag file: it does not begin with #ROSBAG V2.0")
	}
	r, err := readRecord(b.f, int64(len(magic)), b.size)
	if err != nil {
		return nil, err
	}
	if r.op() != opBag {
		return nil, formatf(r.at, "the first record is of kind %d, not the bag's own, %d", r.op(), opBag)
	}
	if key := r.header["encryptor"]; key != "" {
		return nil, fmt.Errorf("the bag is encrypted by %.100s", key)
	}
	return r, nil
}

// connection takes a record of a connection, which repeats in chunks and in the index.
func (b *Bag) connection(r *record, f io.ReaderAt) error {
	id, err := r.uint32("conn")
	if err != nil || b.Connections[id] != nil {
		return err
	}
	if r.size > tcpros.MaxHeader {
		return formatf(r.at, "a connection has %d bytes, the limit is %d", r.size, tcpros.MaxHeader)
	}
	data := make([]byte, r.size)
	if err := readFull(f, data, r.data); err != nil {
		return err
	}
	h, err := tcpros.ParseHeader(data)
	if err != nil {
		return formatf(r.data, "%v", err)
	}
	// The record's own topic is the name under which messages were recorded.
	b.Connections[id] = &Connection{Topic: r.header["topic"], Type: h["type"], MD5: h["md5sum"], Definition: h["message_definition"],
		Caller: h["callerid"], Latching: h["latching"] == "1"}
	return nil
}

// chunkInfo takes a record of the index that says what is in a chunk.
func (b *Bag) chunkInfo(r *record) error {
	pos, err := r.uint64("chunk_pos")
	if err != nil {
		return err
	}
	if pos > uint64(b.size) {
		return formatf(r.at, "a chunk is at byte %d, the file has %d", pos, b.size)
	}
	if b.listed[pos] {
		return formatf(r.at, "the chunk at byte %d is listed twice", pos)
	}
	b.listed[pos] = true
	c, err := b.chunkAt(int64(pos))
	if err != nil {
		return err
	}
	if c.Start, err = r.time("start_time"); err != nil {
		return err
	}
	if c.End, err = r.time("end_time"); err != nil {
		return err
	}
	data := make([]byte, r.size)
	if err := readFull(b.f, data, r.data); err != nil {
		return err
	}
	for ; len(data) >= 8; data = data[8:] {
		c.Counts[binary.LittleEndian.Uint32(data)] += binary.LittleEndian.Uint32(data[4:])
	}
	b.Chunks = append(b.Chunks, *c)
	return nil
}

// chunkAt reads what a chunk says of itself.
func (b *Bag) chunkAt(at int64) (*Chunk, error) {
	r, err := readRecord(b.f, at, b.size)
	if err != nil {
		return nil, err
	}
	return chunkOf(r)
}

func chunkOf(r *record) (*Chunk, error) {
	if r.op() != opChunk {
		return nil, formatf(r.at, "a record of kind %d is no chunk", r.op())
	}
	unpacked, err := r.uint32("size")
	if err != nil {
		return nil, err
	}
	return &Chunk{Compression: r.header["compression"], Packed: r.size, Unpacked: int64(unpacked), Counts: map[uint32]uint32{}, at: r.at}, nil
}

// Loss is what of a file could not be read by Recover.
type Loss struct {
	Bytes int64 // at the end of the file
	Why   string
}

// Recover reads the chunks of a bag without an index, up to the first that is damaged.
func Recover(f io.ReaderAt, size int64, l Limits) (*Bag, Loss, error) {
	b := newBag(f, size)
	b.Limits = l
	r, err := b.first()
	if err != nil {
		return nil, Loss{}, err
	}
	whole := r.end()
	for whole < size {
		if r, err = readRecord(f, whole, size); err != nil {
			break
		}
		switch r.op() {
		case opChunk:
			err = b.recoverChunk(r)
		case opConnection:
			err = b.connection(r, f)
		}
		if err != nil {
			break
		}
		whole = r.end()
	}
	loss := Loss{Bytes: size - whole}
	if err != nil {
		loss.Why = err.Error()
	}
	return b, loss, nil
}

func (b *Bag) recoverChunk(r *record) error {
	c, err := chunkOf(r)
	if err != nil {
		return err
	}
	messages, err := b.unpack(c)
	if err != nil {
		return err
	}
	for i, m := range messages {
		if i == 0 || m.at.Compare(c.Start) < 0 {
			c.Start = m.at
		}
		if i == 0 || m.at.Compare(c.End) > 0 {
			c.End = m.at
		}
		c.Counts[m.connection]++
	}
	b.Chunks = append(b.Chunks, *c)
	return nil
}

// Topics returns what is in the bag by topic, in the order of names.
func (b *Bag) Topics() []Topic {
	counts := map[uint32]uint64{}
	for _, c := range b.Chunks {
		for id, n := range c.Counts {
			counts[id] += uint64(n)
		}
	}
	all := map[string]*Topic{}
	for _, id := range slices.Sorted(maps.Keys(b.Connections)) {
		c := b.Connections[id]
		t := all[c.Topic]
		if t == nil {
			t = &Topic{Name: c.Topic, Type: c.Type, MD5: c.MD5}
			all[c.Topic] = t
		}
		t.Connections++
		t.Messages += counts[id]
	}
	out := make([]Topic, 0, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		out = append(out, *all[name])
	}
	return out
}

// Topic is a topic of a bag.
type Topic struct {
	Name, Type, MD5 string
	Connections     int
	Messages        uint64
}

// Span returns the times of the first and the last message; ok is false of an empty bag.
func (b *Bag) Span() (start, end Time, ok bool) {
	for _, c := range b.Chunks {
		if len(c.Counts) == 0 {
			continue
		}
		if !ok || c.Start.Compare(start) < 0 {
			start = c.Start
		}
		if !ok || c.End.Compare(end) > 0 {
			end = c.End
		}
		ok = true
	}
	return start, end, ok
}
