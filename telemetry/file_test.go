package telemetry

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"poise/control"
	"poise/internal/golden"
	"poise/loop"
	"poise/robot"
	"poise/robot/load"
	"poise/servo"
	"poise/servo/sim"
)

// recorded runs a loop of the arm for some ticks with a file as its tap.
func recorded(t *testing.T, name string, o Options, ticks int, orders func(k int, l *loop.Loop)) (*robot.Model, *File) {
	t.Helper()
	bot, err := load.Robot("arm6", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	noisy := make([]sim.Servo, len(bot.Model.Joints()))
	for i := range noisy {
		noisy[i].Noise = 1e-3
	}
	cfg := loop.Config{Model: bot.Model, Bus: sim.New(sim.Config{Servos: noisy})}
	c, err := testKinds["fragile"].New(bot.Model, cfg.Settings)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Controllers = []loop.Registration{{Name: "a", Kind: "fragile", Controller: c}}
	h, err := NewHeader("arm6", 1e-3, &cfg)
	if err != nil {
		t.Fatal(err)
	}
	f, err := Create(name, h, o)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Tap = f
	l, err := loop.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	for k := range ticks {
		orders(k, l)
		l.Step(servo.Tick{N: uint64(k), Time: int64(k) * 1e6, Dt: 1e-3})
		for {
			if _, ok := l.Receive(); !ok {
				break
			}
		}
	}
	return bot.Model, f
}

func replayFile(t *testing.T, name string, m *robot.Model) (*Outcome, error) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return replay(t, b, m)
}

// TestFileReplays is a recording as a program makes it.
func TestFileReplays(t *testing.T) {
	name := filepath.Join(t.TempDir(), "run.poise")
	m, f := recorded(t, name, Options{}, 1500, func(k int, l *loop.Loop) {
		if k == 5 {
			l.Send(loop.Order{Kind: loop.PowerOn})
		}
	})
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	bytes, lost, err := f.State()
	if info, _ := os.Stat(name); err != nil || lost != 0 || info.Size() != bytes {
		t.Errorf("%d bytes, %d lost, %v", bytes, lost, err)
	}
	if out, err := replayFile(t, name, m); err != nil || out.Ticks != 1500 || out.First != nil {
		t.Errorf("%v: %+v", err, out)
	}
	h := f.rec.header
	if _, err := Create(name, h, Options{}); !errors.Is(err, os.ErrExist) {
		t.Errorf("a recording was overwritten: %v", err)
	}
	if _, err := Create(filepath.Join(name, "no", "folder"), h, Options{}); err == nil {
		t.Error("a file without a folder")
	}
}

// openAndReplay replays a recording of one or more parts.
func openAndReplay(t *testing.T, name string, m *robot.Model) (*Outcome, error) {
	t.Helper()
	r, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	return Replay(r, m, testKinds)
}

// TestARecordingOfSeveralPartsReplays: nothing was overwritten, so it is run again from its
// first tick to its last.
func TestARecordingOfSeveralPartsReplays(t *testing.T) {
	name := filepath.Join(t.TempDir(), "run.poise")
	m, f := recorded(t, name, Options{Time: 8 * 300 * time.Millisecond, Room: 1 << 30}, 1500, func(k int, l *loop.Loop) {
		if k%200 == 5 {
			l.Send(loop.Order{Kind: loop.PowerOn})
		}
	})
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if n := len(Parts(name)); n != 5 {
		t.Errorf("%d parts, want 5: %v", n, Parts(name))
	}
	if out, err := openAndReplay(t, name, m); err != nil || out.Ticks != 1500 || out.First != nil || out.Turned {
		t.Errorf("%v: %+v", err, out)
	}
}

// TestARingKeepsTheLast: as many bytes as it may have, and no fewer than seven eighths of
// them; its ticks are whole and without a gap up to the last one.
func TestARingKeepsTheLast(t *testing.T) {
	name := filepath.Join(t.TempDir(), "run.poise")
	const room, ticks = 100_000, 1900
	m, f := recorded(t, name, Options{Room: room}, ticks, func(int, *loop.Loop) {})
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	bytes, lost, err := f.State()
	if err != nil || lost != 0 || bytes > room || bytes < room*6/8 {
		t.Errorf("%d bytes, %d lost, %v", bytes, lost, err)
	}
	onDisk := int64(0)
	for _, p := range Parts(name) {
		at, err := os.Stat(p)
		if err != nil {
			t.Fatal(err)
		}
		onDisk += at.Size()
	}
	if onDisk != bytes {
		t.Errorf("%d bytes on the disk, %d are told", onDisk, bytes)
	}
	out, err := openAndReplay(t, name, m)
	if err != nil || !out.Turned || out.Missing != 0 || out.From == 0 || out.From+out.Ticks != ticks {
		t.Errorf("%v: %+v", err, out)
	}
}

// TestARingKeepsItsTime: two seconds are asked for, and at most an eighth more is kept.
func TestARingKeepsItsTime(t *testing.T) {
	name := filepath.Join(t.TempDir(), "run.poise")
	const ticks = 1900
	m, f := recorded(t, name, Options{Time: 400 * time.Millisecond}, ticks, func(int, *loop.Loop) {})
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	out, err := openAndReplay(t, name, m)
	if err != nil || out.From+out.Ticks != ticks || out.Ticks < 400 || out.Ticks > 500 {
		t.Errorf("%v: %+v", err, out)
	}
}

// TestASavedRingStays while the ring goes on, and only so many are kept; what an earlier run
// has left is put aside.
func TestASavedRingStays(t *testing.T) {
	name := filepath.Join(t.TempDir(), "run.poise")
	m, f := recorded(t, name, Options{Saves: 2}, 1000, func(int, *loop.Loop) {})
	f.Save("fault")
	if err := f.Close(); err != nil { // it does not wait for the seconds after
		t.Fatal(err)
	}
	saved, err := filepath.Glob(name + ".saved/*-fault")
	if err != nil || len(saved) != 1 {
		t.Fatalf("%v, %v", saved, err)
	}
	if out, err := openAndReplay(t, saved[0], m); err != nil || out.Ticks != 1000 || out.First != nil {
		t.Errorf("%v: %+v", err, out)
	}
	dir, err := PutAside(name)
	if err != nil || len(Parts(name)) != 0 || !strings.HasSuffix(dir, Earlier) { // a save at the end is no crash
		t.Fatalf("%v, %v in %s", err, Parts(name), dir)
	}
	if out, err := openAndReplay(t, dir, m); err != nil || out.Ticks != 1000 {
		t.Errorf("%v: %+v", err, out)
	}
	for i := range 3 {
		_, f := recorded(t, name, Options{Saves: 2}, 10, func(int, *loop.Loop) {})
		f.Save(fmt.Sprint("stop", i))
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := PutAside(name); err != nil {
			t.Fatal(err)
		}
	}
	// two stops, runs that ended in order, and the last of these, which the next run counts
	if all, _ := os.ReadDir(name + ".saved"); len(all) > 2+minorSaves+1 {
		t.Errorf("%d are kept", len(all))
	}
}

// TestARecorderThatCannotWriteSaysSo, counts what it lacks, and goes on when it can again.
func TestARecorderThatCannotWriteSaysSo(t *testing.T) {
	name := filepath.Join(t.TempDir(), "run.poise")
	_, f := recorded(t, name, Options{}, 0, func(int, *loop.Loop) {})
	f.stop()
	<-f.ended
	f.close(true) // the test is the goroutine from here on
	h := &f.rec.header
	x := func(n uint64) *frame {
		return &frame{tick: servo.Tick{N: n, Dt: h.Period}, measured: servo.NewMeasurement(h.Joints, h.Settings.Sensors), check: newCheckpoint(h.Joints, h.Leaves)}
	}
	broken, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		golden.Missing(t, "there is no device that is full: %v", err)
	}
	f.retry = time.Time{}
	if err := f.begin(); err != nil {
		t.Fatal(err)
	}
	f.last().file.Close()
	f.last().file = broken
	for n := range uint64(50) {
		f.write(x(n))
	}
	f.drain()
	if _, lost, err := f.State(); !errors.Is(err, syscall.ENOSPC) || lost != 50 {
		t.Errorf("%d ticks are missing, %v", lost, err)
	}
	f.retry = time.Time{}
	for n := range uint64(50) {
		f.write(x(50 + n))
		f.drain()
	}
	if _, lost, err := f.State(); err != nil || lost != 50 {
		t.Errorf("it does not write again: %d are missing, %v", lost, err)
	}
	f.finish()
	r, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var tick Tick
	if err := r.Next(&tick); err != nil || tick.N != 50 || tick.Missing != 50 {
		t.Errorf("%v: tick %d, %d missing", err, tick.N, tick.Missing)
	}
}

// mute is a program that cannot be written down.
type mute struct{}

func (mute) Claim() (needs, wants robot.Set) { return robot.Leaf(0), wants }
func (mute) MarshalBinary() ([]byte, error)  { panic("test") }

// TestProgramThatPanicsInTheRecorder costs the replay from there on, and nothing
// else.
func TestProgramThatPanicsInTheRecorder(t *testing.T) {
	name := filepath.Join(t.TempDir(), "run.poise")
	m, f := recorded(t, name, Options{}, 300, func(k int, l *loop.Loop) {
		if k == 200 {
			l.Send(loop.Order{Kind: loop.StartGoal, Program: mute{}})
		}
	})
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	var format *FormatError
	if out, err := replayFile(t, name, m); !errors.As(err, &format) || out.Ticks != 200 || out.First != nil {
		t.Errorf("%v: %+v", err, out)
	}
}

var _ control.Program = mute{}
