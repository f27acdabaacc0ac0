package telemetry

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"poise/internal/smalldisk"
	"poise/servo"
)

// smallDisk is a folder of the real one in which only so many bytes have room. A file counts
// once, as long as it has a name.
type smallDisk struct {
	realDisk
	mu     sync.Mutex
	room   int64
	folder string
	gone   bool // it refuses everything
}

// used returns the bytes of all files.
func (d *smallDisk) used() (bytes int64) {
	var counted []os.FileInfo
	_ = filepath.Walk(d.folder, func(_ string, at os.FileInfo, err error) error {
		if err != nil || at.IsDir() {
			return nil
		}
		for _, o := range counted {
			if os.SameFile(o, at) {
				return nil
			}
		}
		counted = append(counted, at)
		bytes += at.Size()
		return nil
	})
	return bytes
}

func (d *smallDisk) Create(name string) (diskFile, error) {
	if d.refuses() {
		return nil, &os.PathError{Op: "open", Path: name, Err: syscall.ENOSPC}
	}
	f, err := d.realDisk.Create(name)
	if err != nil {
		return nil, err
	}
	return &smallFile{f, d}, nil
}

func (d *smallDisk) MkdirAll(name string) error {
	if d.refuses() {
		return &os.PathError{Op: "mkdir", Path: name, Err: syscall.ENOSPC}
	}
	return d.realDisk.MkdirAll(name)
}

func (d *smallDisk) Link(from, to string) error {
	if d.refuses() {
		return &os.LinkError{Op: "link", Old: from, New: to, Err: syscall.ENOSPC}
	}
	return d.realDisk.Link(from, to)
}

func (d *smallDisk) Free(string) (int64, bool) { return max(d.room-d.used(), 0), true }

func (d *smallDisk) refuses() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.gone || d.used() >= d.room
}

type smallFile struct {
	diskFile
	d *smallDisk
}

func (f *smallFile) Write(b []byte) (int, error) {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	left := max(f.d.room-f.d.used(), 0)
	if f.d.gone {
		left = 0
	}
	if int64(len(b)) <= left {
		return f.diskFile.Write(b)
	}
	n, err := f.diskFile.Write(b[:left])
	if err == nil {
		err = &os.PathError{Op: "write", Path: "small", Err: syscall.ENOSPC}
	}
	return n, err
}

// ticker writes ticks of a robot that wriggles, as the goroutine of the file would.
type ticker struct {
	t *testing.T
	f *File
	n uint64
}

// newTicker begins a recording whose goroutine is the test.
func newTicker(t *testing.T, d disk, name string, o Options) *ticker {
	t.Helper()
	h := Header{Robot: "test", Period: 1e-3, Joints: 6, Leaves: 6}
	f, err := create(d, name, h, o)
	if err != nil {
		t.Fatal(err)
	}
	f.stop()
	<-f.ended
	t.Cleanup(func() {
		f.close(false)
		f.syncs.Wait()
	})
	f.retry = f.retry.Add(-retryEvery)
	return &ticker{t: t, f: f}
}

func (k *ticker) run(ticks int) {
	for range ticks {
		m := servo.NewMeasurement(6, servo.Sensors{})
		for j := range m.Joints {
			m.Joints[j].Position = float64(k.n) * 1e-3 * float64(j+1)
		}
		k.f.write(&frame{tick: servo.Tick{N: k.n, Time: int64(k.n) * 1e6, Dt: 1e-3}, measured: m, check: newCheckpoint(6, 6)})
		if k.n%20 == 0 {
			k.f.drain()
		}
		k.n++
	}
	k.f.drain()
}

// save saves as after a reason, with the ticks that follow it.
func (k *ticker) save(reason string, after int) {
	var p pending
	p.add(k.f, reason)
	k.run(after)
	k.f.save(&p)
}

// ticks returns the numbers of the first and the last tick of a recording, and how many it has.
func ticks(t *testing.T, name string) (first, last, n uint64) {
	t.Helper()
	r, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var tick Tick
	for err = r.Next(&tick); err == nil; err = r.Next(&tick) {
		if n == 0 {
			first = tick.N
		}
		last = tick.N
		n++
	}
	return first, last, n
}

func savedNames(t *testing.T, name string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(name + savedFolder)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for _, e := range entries {
		all = append(all, filepath.Join(name+savedFolder, e.Name()))
	}
	return all
}

// TestAFullDiskGivesUpOldSavesFirst: a recorder on a disk that its own rings and saves fill
// goes on without losing a tick, and every stop is saved with its own ticks.
func TestAFullDiskGivesUpOldSavesFirst(t *testing.T) {
	folder := t.TempDir()
	name := filepath.Join(folder, "run.poise")
	fullOf(t, &smallDisk{room: 1 << 20, folder: folder}, name)
}

// TestAFullFileSystemGivesUpOldSavesFirst is the same on a file system of one megabyte.
func TestAFullFileSystemGivesUpOldSavesFirst(t *testing.T) {
	fullOf(t, realDisk{}, filepath.Join(smalldisk.Mount(t, 1), "run.poise"))
}

func fullOf(t *testing.T, d disk, name string) {
	t.Helper()
	k := newTicker(t, d, name, Options{})
	for i := range 12 {
		k.run(3000)
		at := k.n
		reason := "stop"
		if i%3 == 2 {
			reason = Warning
		}
		k.save(reason, 2000)
		if _, lost, err := k.f.State(); err != nil || lost != 0 {
			t.Fatalf("round %d: %d ticks are missing: %v", i, lost, err)
		}
		all := savedNames(t, name)
		if len(all) == 0 {
			t.Fatalf("round %d: nothing is saved", i)
		}
		newest := all[len(all)-1]
		if reason == "stop" && !strings.HasSuffix(newest, "-stop") {
			t.Fatalf("round %d: %v", i, all)
		}
		if first, last, n := ticks(t, newest); reason == "stop" && (first > at || last != k.n-1 || n != last-first+1) {
			t.Errorf("round %d: the stop at tick %d was saved with %d ticks from %d to %d", i, at, n, first, last)
		}
		if first, last, n := ticks(t, name); last != k.n-1 || n != last-first+1 || n < 1000 {
			t.Errorf("round %d: the ring has %d ticks from %d to %d", i, n, first, last)
		}
	}
}

// TestAWarningDoesNotPushOutAStop: faults about which nothing is done have places of their own.
func TestAWarningDoesNotPushOutAStop(t *testing.T) {
	name := filepath.Join(t.TempDir(), "run.poise")
	k := newTicker(t, realDisk{}, name, Options{Saves: 3})
	for _, reason := range []string{"stop", "fault", Warning, Warning, Warning, Warning, "stop+" + Warning, Warning, Warning} {
		k.save(reason, 2)
	}
	var kept []string
	for _, s := range savedNames(t, name) {
		kept = append(kept, s[strings.LastIndex(s, "-")+1:])
	}
	if got := strings.Join(kept, " "); got != "stop fault stop+warning warning warning" {
		t.Errorf("kept: %s", got)
	}
	k.save("panic", 2)
	if all := savedNames(t, name); strings.HasSuffix(all[0], "-stop") || len(all) != 5 {
		t.Errorf("four are kept, and three may be: %v", all)
	}
}

// TestSavedRingsTakeNoMoreThanTheirRoom, and the newest one stays in any case.
func TestSavedRingsTakeNoMoreThanTheirRoom(t *testing.T) {
	folder := t.TempDir()
	name := filepath.Join(folder, "run.poise")
	const room = 400_000
	k := newTicker(t, realDisk{}, name, Options{Room: 200_000, Saved: room})
	for range 8 {
		k.run(4000)
		k.save("stop", 10)
		if used := (&smallDisk{folder: folder}).used(); used > room+200_000 {
			t.Errorf("%d bytes are taken", used)
		}
	}
	if n := len(savedNames(t, name)); n < 2 || n > 4 {
		t.Errorf("%d saved rings", n)
	}
}

// TestAStopThatCouldNotBeRecordedSaysSo: a ring that was saved without the ticks of its stop is
// not told as saved.
func TestAStopThatCouldNotBeRecordedSaysSo(t *testing.T) {
	folder := t.TempDir()
	name := filepath.Join(folder, "run.poise")
	d := &smallDisk{room: 1 << 20, folder: folder}
	k := newTicker(t, d, name, Options{})
	k.run(1000)
	d.mu.Lock()
	d.gone = true
	d.mu.Unlock()
	var p pending
	p.add(k.f, "stop")
	k.run(100)
	d.mu.Lock()
	d.gone = false
	d.mu.Unlock()
	k.f.retry = k.f.retry.Add(-retryEvery)
	k.run(100)
	k.f.save(&p)
	if _, lost, err := k.f.State(); lost != 100 || err == nil || !strings.Contains(err.Error(), "saved at stop without 100 ticks") {
		t.Errorf("%d ticks are missing: %v", lost, err)
	}
	k.save("stop", 100)
	if _, _, err := k.f.State(); err != nil {
		t.Errorf("the next stop is whole: %v", err)
	}
}

// TestARecorderBeginsOnAFullDisk, says that it cannot write, and writes when it can.
func TestARecorderBeginsOnAFullDisk(t *testing.T) {
	folder := t.TempDir()
	d := &smallDisk{room: 1 << 20, folder: folder, gone: true}
	k := newTicker(t, d, filepath.Join(folder, "run.poise"), Options{})
	if _, _, err := k.f.State(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("%v", err)
	}
	d.gone = false
	k.run(100)
	if bytes, lost, err := k.f.State(); bytes == 0 || lost != 0 || err != nil {
		t.Errorf("%d bytes, %d missing, %v", bytes, lost, err)
	}
}

// TestPartsStayInOrder beyond a million of them.
func TestPartsStayInOrder(t *testing.T) {
	name := filepath.Join(t.TempDir(), "run[1].poise")
	want := []string{name}
	for _, n := range []int{2, 999_999, 1_000_000, 1_000_001, 10_000_000} {
		want = append(want, fmt.Sprintf("%s.%06d", name, n))
	}
	for _, p := range append(want, name+".000003.txt", name+".lock") {
		if err := os.WriteFile(p, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := Parts(name); strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("%q", got)
	}
}

// TestHowARunEndedIsToldByItsRecording: one that was killed has no end.
func TestHowARunEndedIsToldByItsRecording(t *testing.T) {
	for reason, end := range map[string]func(*File){Earlier: (*File).end, crashed: func(f *File) { f.close(false) }} {
		name := filepath.Join(t.TempDir(), "run.poise")
		k := newTicker(t, realDisk{}, name, Options{})
		k.run(100)
		end(k.f)
		k.f.syncs.Wait()
		dir, err := PutAside(name)
		if err != nil || !strings.HasSuffix(dir, "-"+reason) {
			t.Errorf("%s: %q, %v", reason, dir, err)
		}
		if _, last, n := ticks(t, dir); last != 99 || n != 100 {
			t.Errorf("%s: %d ticks up to %d", reason, n, last)
		}
	}
}
