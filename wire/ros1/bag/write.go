package bag

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/pierrec/lz4/v4"

	"poise/wire/ros1/tcpros"
)

// Options are how a bag is written; zero values take the defaults.
type Options struct {
	Compression string // None (the default) or LZ4
	ChunkBytes  int    // from which size on a chunk is written; default 768 KiB, as rosbag does
}

// Writer writes a bag. Until Close the file has no index: what is in it can be recovered up
// to the last chunk.
type Writer struct {
	f       io.WriteSeeker
	o       Options
	at      int64 // bytes written
	err     error
	all     []Connection
	inChunk map[uint32]*places // of the chunk that grows
	ids     []uint32           // its connections in the order in which they came
	chunk   []byte
	start   Time
	end     Time
	infos   []byte // of the chunks written, as the index has them
	chunks  uint32
	said    []bool // connections that stand in a chunk
}

// places are the messages of one connection in a chunk.
type places struct {
	data  []byte
	count uint32
}

// NewWriter begins a bag in an empty file.
func NewWriter(f io.WriteSeeker, o Options) (*Writer, error) {
	if o.Compression == "" {
		o.Compression = None
	}
	if o.Compression != None && o.Compression != LZ4 {
		return nil, fmt.Errorf("bags are written with compression %s or %s, not %q", None, LZ4, o.Compression)
	}
	if o.ChunkBytes <= 0 {
		o.ChunkBytes = 768 << 10
	}
	w := &Writer{f: f, o: o, inChunk: map[uint32]*places{}}
	w.write(append([]byte(magic), bagHeader(0, 0, 0)...))
	return w, w.err
}

// bagHeader is the first record: always of the same length.
func bagHeader(index int64, connections, chunks uint32) []byte {
	h := tcpros.Header{"op": string(rune(opBag)), "index_pos": le64(uint64(index)), "conn_count": le32(connections), "chunk_count": le32(chunks)}
	pad := bagHeaderBytes - len(tcpros.AppendFields(nil, h))
	return appendRecord(nil, h, []byte(strings.Repeat(" ", pad)))
}

func (w *Writer) write(b []byte) {
	if w.err != nil {
		return
	}
	n, err := w.f.Write(b)
	w.at += int64(n)
	w.err = err
}

// Connect adds a topic as one node publishes it.
func (w *Writer) Connect(c Connection) (id uint32, err error) {
	if c.Topic == "" || c.Type == "" || c.MD5 == "" {
		return 0, fmt.Errorf("a connection of a bag needs a topic, a type and an md5 sum: %q, %q, %q", c.Topic, c.Type, c.MD5)
	}
	w.all, w.said = append(w.all, c), append(w.said, false)
	return uint32(len(w.all) - 1), w.err
}

// connectionRecord is how chunks and the index say what a connection is.
func (w *Writer) connectionRecord(b []byte, id uint32) []byte {
	c := w.all[id]
	return appendRecord(b, tcpros.Header{"op": string(rune(opConnection)), "conn": le32(id), "topic": c.Topic}, tcpros.AppendFields(nil, c.header()))
}

// Write adds a message, serialised as ROS 1 does. Data is not kept.
func (w *Writer) Write(id uint32, at Time, data []byte) error {
	if int(id) >= len(w.all) {
		return fmt.Errorf("connection %d of a bag that has %d", id, len(w.all))
	}
	if int64(len(data)) > math.MaxInt32 {
		return fmt.Errorf("a message has %d bytes, a bag holds at most %d", len(data), math.MaxInt32)
	}
	if !w.said[id] {
		w.said[id] = true
		w.chunk = w.connectionRecord(w.chunk, id)
	}
	p := w.inChunk[id]
	if p == nil {
		p = &places{}
		w.inChunk[id] = p
		w.ids = append(w.ids, id)
	}
	if len(w.inChunk) == 1 && p.count == 0 || at.Compare(w.start) < 0 {
		w.start = at
	}
	if len(w.inChunk) == 1 && p.count == 0 || at.Compare(w.end) > 0 {
		w.end = at
	}
	p.count++
	p.data = append(append(p.data, at.bytes()...), le32(uint32(len(w.chunk)))...)
	w.chunk = appendRecord(w.chunk, tcpros.Header{"op": string(rune(opMessage)), "conn": le32(id), "time": at.bytes()}, data)
	if len(w.chunk) >= w.o.ChunkBytes {
		w.flush()
	}
	return w.err
}

// Flush writes the chunk that grows, so that it is in the file whatever happens after.
func (w *Writer) Flush() error {
	w.flush()
	return w.err
}

func (w *Writer) flush() {
	if len(w.ids) == 0 || w.err != nil {
		return
	}
	pos := w.at
	packed := w.chunk
	if w.o.Compression == LZ4 {
		packed, w.err = packLZ4(w.chunk)
	}
	w.write(appendRecord(nil, tcpros.Header{"op": string(rune(opChunk)), "compression": w.o.Compression, "size": le32(uint32(len(w.chunk)))}, packed))
	var counts []byte
	for _, id := range w.ids {
		p := w.inChunk[id]
		w.write(appendRecord(nil, tcpros.Header{"op": string(rune(opIndex)), "ver": le32(1), "conn": le32(id), "count": le32(p.count)}, p.data))
		counts = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(counts, id), p.count)
	}
	w.infos = appendRecord(w.infos, tcpros.Header{"op": string(rune(opChunkInfo)), "ver": le32(1), "chunk_pos": le64(uint64(pos)),
		"start_time": w.start.bytes(), "end_time": w.end.bytes(), "count": le32(uint32(len(w.ids)))}, counts)
	w.chunks++
	w.chunk, w.ids = w.chunk[:0], w.ids[:0]
	clear(w.inChunk)
}

// packLZ4 packs as roslz4 reads it: blocks that do not depend on each other, and a sum of
// the whole.
func packLZ4(data []byte) ([]byte, error) {
	var out bytes.Buffer
	z := lz4.NewWriter(&out)
	if err := z.Apply(lz4.BlockSizeOption(lz4.Block4Mb), lz4.ChecksumOption(true)); err != nil {
		return nil, err
	}
	if _, err := z.Write(data); err != nil {
		return nil, err
	}
	err := z.Close()
	return out.Bytes(), err
}

// Close writes the last chunk and the index. The file itself stays open.
func (w *Writer) Close() error {
	w.flush()
	index := w.at
	var b []byte
	used := uint32(0)
	for id := range w.all {
		if w.said[id] {
			b = w.connectionRecord(b, uint32(id))
			used++
		}
	}
	w.write(b)
	w.write(w.infos)
	if w.err == nil {
		_, w.err = w.f.Seek(int64(len(magic)), io.SeekStart)
	}
	w.write(bagHeader(index, used, w.chunks))
	if w.err == nil {
		_, w.err = w.f.Seek(0, io.SeekEnd)
	}
	return w.err
}
