package motions

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"poise/motion/library"
	"poise/msgs/poisemsgs"
)

// index knows what a list tells of each motion. Reading and judging one takes longer than
// listing a hundred: they are read one after the other beside those who ask, and again
// when they have changed.
type index struct {
	mu      sync.Mutex
	known   map[string]indexed
	waiting []library.Entry // to be read
	idle    chan struct{}   // closed when nothing waits; nil before
}

// indexed is a motion in the version that was read.
type indexed struct {
	version string
	info    poisemsgs.MotionInfo
}

// How long a list waits for motions that were not read yet: until all are, if they are
// few; otherwise they are listed by their names alone.
const (
	fewMotions   = 500
	listPatience = time.Second
)

// ReadOwn begins to read the users' own motions, and tells in the log which cannot be read.
// Those that come with the robot are judged when a list asks for them.
func (s *Services) ReadOwn() error {
	_, err := s.read(func(e library.Entry) bool { return !e.Shipped })
	return err
}

// read begins to read what is new in the library and wanted, and returns all of its names. It
// does not wait for the reading, which ends with Life.
func (s *Services) read(wanted func(library.Entry) bool) ([]library.Entry, error) {
	all, err := s.Library.Names()
	index := &s.index
	index.mu.Lock()
	defer index.mu.Unlock()
	if index.known == nil {
		index.known = map[string]indexed{}
	}
	index.waiting = index.waiting[:0]
	names := map[string]bool{}
	for _, e := range all {
		names[e.Name] = true
		if !wanted(e) {
			continue
		}
		if k, ok := index.known[e.Name]; !ok || e.Version == "" || k.version != e.Version {
			index.waiting = append(index.waiting, e)
		}
	}
	// those that come with the robot are few, and in memory
	slices.SortStableFunc(index.waiting, func(a, b library.Entry) int { return rank(a) - rank(b) })
	if err == nil {
		for name := range index.known {
			if !names[name] {
				delete(index.known, name)
			}
		}
	}
	if len(index.waiting) > 0 && (index.idle == nil || isClosed(index.idle)) {
		index.idle = make(chan struct{})
		go s.readAll()
	}
	return all, err
}

func rank(e library.Entry) int {
	if e.Shipped {
		return 0
	}
	return 1
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// readAll reads what waits. Where much does, it takes half of the time of a processor.
func (s *Services) readAll() {
	index := &s.index
	for {
		index.mu.Lock()
		if len(index.waiting) == 0 || s.life().Err() != nil {
			index.waiting = nil
			close(index.idle)
			index.mu.Unlock()
			return
		}
		e, many := index.waiting[0], len(index.waiting) > fewMotions
		index.waiting = index.waiting[1:]
		index.mu.Unlock()
		began := time.Now()
		s.readOne(e.Name)
		if many {
			pause := time.NewTimer(time.Since(began))
			select {
			case <-s.life().Done():
			case <-pause.C:
			}
			pause.Stop()
		}
	}
}

func (s *Services) life() context.Context {
	if s.Life == nil {
		return context.Background()
	}
	return s.Life
}

// readOne reads and judges a motion. A reason why it cannot be read is logged once.
func (s *Services) readOne(name string) {
	m, err := s.Library.Entry(name)
	if err != nil { // the folder hangs: it is tried again at the next list
		return
	}
	index := &s.index
	if m == nil {
		index.mu.Lock()
		delete(index.known, name)
		index.mu.Unlock()
		return
	}
	index.mu.Lock()
	before, seen := index.known[name]
	index.mu.Unlock()
	if seen && before.version == m.Version && before.info.Shipped == m.Shipped {
		return
	}
	info := s.describe(m)
	if info.Error != "" && info.Error != before.info.Error {
		s.Log.Warn("a motion cannot be read", "motion", name, "why", strings.ReplaceAll(info.Error, "\n", "; "))
	}
	index.mu.Lock()
	index.known[name] = indexed{m.Version, info}
	index.mu.Unlock()
}

// describe tells what a list says of a motion.
func (s *Services) describe(m *library.Motion) poisemsgs.MotionInfo {
	info := poisemsgs.MotionInfo{Name: m.Name, Shipped: m.Shipped, Version: m.Version}
	if m.Err != nil {
		info.Error = m.Err.Error()
		return info
	}
	d := m.Document
	info.Description, info.Tags, info.Duration, info.Loop = d.Description, d.Tags, d.Duration(), d.Loop
	info.Points, info.Events = uint32(len(d.Points)), uint32(len(d.Events))
	for _, j := range d.Joints {
		info.Joints = append(info.Joints, j.Name)
	}
	for _, one := range s.check(d) {
		info.Findings = append(info.Findings, one.Error())
	}
	return info
}

// list answers motions/list.
func (s *Services) list(ctx context.Context, _ *poisemsgs.MotionsListRequest) (*poisemsgs.MotionsListResponse, error) {
	r := &poisemsgs.MotionsListResponse{Success: true}
	all, err := s.read(func(library.Entry) bool { return true })
	if err != nil {
		r.Success = false
		r.Message, r.Explanations = why(err)
	}
	s.await(ctx)
	index := &s.index
	index.mu.Lock()
	defer index.mu.Unlock()
	unread := 0
	for _, e := range all {
		k, ok := index.known[e.Name]
		if !ok {
			unread++
			k.info = poisemsgs.MotionInfo{Name: e.Name, Shipped: e.Shipped, Version: e.Version}
		}
		r.Motions = append(r.Motions, k.info)
	}
	if unread > 0 && r.Success {
		r.Message = fmt.Sprintf("%d of %d motions have not been read yet: they are listed by name alone; list them again later", unread, len(all))
	}
	return r, nil
}

// await waits until all motions are read, or for some time if they are many.
func (s *Services) await(ctx context.Context) {
	index := &s.index
	index.mu.Lock()
	idle, many := index.idle, len(index.waiting) > fewMotions
	index.mu.Unlock()
	if idle == nil {
		return
	}
	var enough <-chan time.Time
	if many {
		timer := time.NewTimer(listPatience)
		defer timer.Stop()
		enough = timer.C
	}
	select {
	case <-idle:
	case <-enough:
	case <-ctx.Done():
	}
}
