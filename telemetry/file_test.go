package telemetry

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"poise/control"
	"poise/loop"
	"poise/robot"
	"poise/robot/load"
	"poise/servo"
	"poise/servo/sim"
)

// recorded runs a loop of the arm for some ticks with a file as its tap.
func recorded(t *testing.T, name string, room int64, ticks int, orders func(k int, l *loop.Loop)) (*robot.Model, *File) {
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
	f, err := Create(name, h, room)
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
	m, f := recorded(t, name, 0, 1500, func(k int, l *loop.Loop) {
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
	if _, err := Create(name, h, 0); !errors.Is(err, os.ErrExist) {
		t.Errorf("a recording was overwritten: %v", err)
	}
	if _, err := Create(filepath.Join(name, "no", "folder"), h, 0); err == nil {
		t.Error("a file without a folder")
	}
}

// TestFullFileReplays: a recording that is as long as it may be ends with a whole
// record; the loop goes on, and the end is told.
func TestFullFileReplays(t *testing.T) {
	name := filepath.Join(t.TempDir(), "run.poise")
	const room = 150_000 // bytes; the writer gives up at most 64 KiB before it
	m, f := recorded(t, name, room, 1900, func(int, *loop.Loop) {})
	err := f.Close()
	bytes, _, said := f.State()
	if !errors.Is(err, ErrFull) || !errors.Is(said, ErrFull) || bytes > room || bytes < room/2 {
		t.Fatalf("%v, %v, %d bytes", err, said, bytes)
	}
	if out, err := replayFile(t, name, m); err != nil || out.Ticks < 100 || out.Ticks >= 1900 || out.First != nil {
		t.Errorf("%v: %+v", err, out)
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
	m, f := recorded(t, name, 0, 300, func(k int, l *loop.Loop) {
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
