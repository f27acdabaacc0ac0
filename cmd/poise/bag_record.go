package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"poise/wire/ros1/bag"
)

// recording is a bag that grows.
type recording struct {
	w     *bag.Writer
	limit int
	full  func() // is called when there is nothing more to record

	mu     sync.Mutex
	ids    map[bag.Connection]uint32
	count  int
	err    error
	closed bool
}

// record writes topics into a bag until Ctrl-C, --duration or --limit. While it grows the
// file is called FILE.active, as rosbag does: FILE is whole, or not there.
func (j *bagJob) record(topics []string) error {
	switch {
	case j.out == "":
		return usagef("record needs -O FILE")
	case len(topics) == 0 && !j.all:
		return usagef("which topics? -a records all that are published now")
	case len(topics) > 0 && j.all:
		return usagef("-a records all topics: none is named besides")
	}
	ctx, stop := untilInterrupted()
	defer stop()
	peer, err := j.peer(ctx)
	if err != nil {
		return err
	}
	closePeer := sync.OnceFunc(peer.close)
	defer closePeer()
	if j.all {
		if topics, err = peer.topics(ctx); err != nil {
			return err
		}
	}
	active := j.out + ".active"
	f, err := os.Create(active)
	if err != nil {
		return err
	}
	defer f.Close()
	o := bag.Options{}
	if j.lz4 {
		o.Compression = bag.LZ4
	}
	w, err := bag.NewWriter(f, o)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := &recording{w: w, limit: j.limit, full: cancel, ids: map[bag.Connection]uint32{}}
	if err := r.listen(ctx, peer, topics); err != nil {
		os.Remove(active)
		return err
	}
	fmt.Fprintf(j.e.err, "poise: bag: recording %d topics of %s to %s; Ctrl-C ends it\n", len(topics), peer, j.out)
	r.wait(ctx, peer, j.duration)
	closePeer()
	if err := errors.Join(r.close(), f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("%s: %w", active, err)
	}
	if err := os.Rename(active, j.out); err != nil {
		return err
	}
	if n := peer.lost(); n > 0 {
		fmt.Fprintf(j.e.err, "poise: bag: %d messages were lost: this recorder was too slow\n", n)
	}
	if j.e.json {
		return encode(j.e.out, map[string]any{"path": j.out, "messages": r.count})
	}
	fmt.Fprintf(j.e.out, "%s: %d messages\n", j.out, r.count)
	return nil
}

// listen begins to read the topics.
func (r *recording) listen(ctx context.Context, peer bagPeer, topics []string) error {
	topics = slices.Clone(topics)
	for i, topic := range topics {
		topics[i] = "/" + strings.TrimPrefix(topic, "/")
	}
	slices.Sort(topics)
	for _, topic := range slices.Compact(topics) {
		if err := peer.read(ctx, topic, r.take); err != nil {
			return fmt.Errorf("%s: %w", topic, err)
		}
	}
	return nil
}

// flushEvery is how long messages may be in memory alone.
const flushEvery = time.Second

// wait waits for the end, and writes what has come meanwhile.
func (r *recording) wait(ctx context.Context, peer bagPeer, duration float64) {
	if duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(duration*float64(time.Second)))
		defer cancel()
	}
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-peer.ended():
			return
		case <-tick.C:
			r.mu.Lock()
			r.fail(r.w.Flush())
			r.mu.Unlock()
		}
	}
}

// fail keeps the first error, which ends the recording.
func (r *recording) fail(err error) {
	if err != nil && r.err == nil {
		r.err = err
		r.full()
	}
}

// take records one message.
func (r *recording) take(c bag.Connection, data []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || r.err != nil || r.limit > 0 && r.count >= r.limit {
		return
	}
	id, known := r.ids[c]
	if !known {
		var err error
		if id, err = r.w.Connect(c); err != nil {
			r.fail(err)
			return
		}
		r.ids[c] = id
	}
	if err := r.w.Write(id, bag.FromNanoseconds(time.Now().UnixNano()), data); err != nil {
		r.fail(err)
		return
	}
	if r.count++; r.count == r.limit {
		r.full()
	}
}

// close writes the index.
func (r *recording) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	return errors.Join(r.err, r.w.Close())
}
