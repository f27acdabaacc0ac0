package main

import (
	"bufio"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"

	"github.com/spf13/pflag"

	"poise/robot"
	"poise/servo"
	"poise/telemetry"
)

// servoLogFlags ask for what servos were told and what they measured, as poise ident reads it.
type servoLogFlags struct {
	file     string
	from, to float64
}

func (f *servoLogFlags) register(fs *pflag.FlagSet) {
	fs.StringVar(&f.file, "log", "", "also write what the servos were told and measured to `file` (.csv), for poise ident")
	fs.Float64Var(&f.from, "from", 0, "of --log: from this time on, `s` since the recording began")
	fs.Float64Var(&f.to, "to", math.Inf(1), "of --log: up to this time, `s`")
}

func (f *servoLogFlags) check() error {
	switch {
	case !hasSuffix(f.file, ".csv"):
		return usagef("--log %q: the name must end in .csv", f.file)
	case !(f.from < f.to):
		return usagef("--from %g s is not before --to %g s", f.from, f.to)
	}
	return nil
}

// replay runs the recording, and writes the log if one is wanted.
func (f *servoLogFlags) replay(r *telemetry.Reader, m *robot.Model) (*telemetry.Outcome, error) {
	if f.file == "" {
		return telemetry.Replay(r, m, recordedKinds)
	}
	file, err := os.Create(f.file)
	if err != nil {
		return nil, err
	}
	w := servoLog{f: f, m: m, out: bufio.NewWriter(file), seen: make([]uint64, len(m.Joints()))}
	w.out.WriteString("time,joint,goal,position,voltage,play_time,measured_at,kp,temperature\n") // Flush tells what failed
	out, err := telemetry.Watch(r, m, recordedKinds, w.tick)
	return out, errors.Join(err, w.out.Flush(), file.Close())
}

// servoLog writes a row for each servo and tick. A reading counts once: in the row of the tick at
// which it came in, with the time of that at which it was measured.
type servoLog struct {
	f     *servoLogFlags
	m     *robot.Model
	out   *bufio.Writer
	seen  []uint64 // tick of the newest reading of each joint, and one
	begun bool
	zero  int64 // ns
}

func (w *servoLog) tick(t servo.Tick, measured *servo.Measurement, goals []servo.Setpoint) {
	if !w.begun {
		w.begun, w.zero = true, t.Time
	}
	now := float64(t.Time-w.zero) / 1e9
	if now < w.f.from || now > w.f.to {
		return
	}
	for i := range goals {
		r, g := &measured.Joints[i], &goals[i]
		if w.m.Joints()[i].Virtual || g.Mode != servo.Position || r.Age == servo.Never {
			continue
		}
		position, at := "", now
		if tick := t.N - min(uint64(r.Age), t.N) + 1; tick > w.seen[i] && r.Fault == 0 {
			w.seen[i] = tick
			position, at = strconv.FormatFloat(r.Position, 'g', 9, 64), now-float64(r.Age)*t.Dt
		}
		kp := 0.0
		if s := w.m.Servo(robot.JointID(i)).Model; s != nil {
			kp = s.Kp * g.Stiffness
		}
		fmt.Fprintf(w.out, "%.6f,%s,%.9g,%s,%s,%.6g,%.6f,%s,%s\n", now, w.m.Joints()[i].Name, g.Position, position, known(r.Voltage), g.PlayTime, at, known(kp), known(r.Temperature))
	}
}

// known is a number, or nothing for 0, which means that it is not known.
func known(x float64) string {
	if !(x > 0) {
		return ""
	}
	return strconv.FormatFloat(x, 'g', 7, 64)
}
