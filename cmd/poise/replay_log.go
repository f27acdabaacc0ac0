package main

import (
	"bufio"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"

	"github.com/spf13/pflag"

	"poise/edge"
	"poise/loop"
	"poise/msgs"
	"poise/msgs/rosjson"
	"poise/robot"
	"poise/servo"
	"poise/telemetry"
)

// servoLogFlags ask for what servos were told and what they measured, as poise ident reads it.
type servoLogFlags struct {
	file     string
	from, to float64
	levels   string
}

func (f *servoLogFlags) register(fs *pflag.FlagSet) {
	fs.StringVar(&f.levels, "levels", "", "also write how the levels of cycle 2 were served to `file` (.jsonl), one message of the topic levels a tick: the tab Levels of the Studio opens it")
	fs.StringVar(&f.file, "log", "", "also write what the servos were told and measured to `file` (.csv), for poise ident")
	fs.Float64Var(&f.from, "from", 0, "of --log: from this time on, `s` since the recording began")
	fs.Float64Var(&f.to, "to", math.Inf(1), "of --log: up to this time, `s`")
}

func (f *servoLogFlags) check() error {
	switch {
	case !hasSuffix(f.levels, ".jsonl"):
		return usagef("--levels %q: the name must end in .jsonl", f.levels)
	case !hasSuffix(f.file, ".csv"):
		return usagef("--log %q: the name must end in .csv", f.file)
	case f.file == "" && (f.from != 0 || !math.IsInf(f.to, 1)):
		return usagef("--from and --to are of --log, which is not given: the whole recording is run in any case")
	case !(f.from < f.to):
		return usagef("--from %g s is not before --to %g s", f.from, f.to)
	}
	return nil
}

// replay runs the recording, and writes the log and the levels if they are wanted.
func (f *servoLogFlags) replay(r *telemetry.Reader, m *robot.Model) (*telemetry.Outcome, error) {
	var watch func(t servo.Tick, measured *servo.Measurement, goals []servo.Setpoint)
	var look func(now *loop.Snapshot)
	var ends []func() error
	write := func(name string) (*bufio.Writer, error) {
		file, err := os.Create(name)
		if err != nil {
			return nil, err
		}
		out := bufio.NewWriter(file)
		ends = append(ends, out.Flush, file.Close)
		return out, nil
	}
	if f.file != "" {
		out, err := write(f.file)
		if err != nil {
			return nil, err
		}
		w := servoLog{f: f, m: m, out: out, seen: make([]uint64, len(m.Joints()))}
		out.WriteString("time,joint,goal,position,voltage,play_time,measured_at,kp,temperature\n") // Flush tells what failed
		watch = w.tick
	}
	if f.levels != "" {
		out, err := write(f.levels)
		if err != nil {
			return nil, err
		}
		var names []string
		for _, c := range r.Header.Controllers {
			names = append(names, c.Name)
		}
		words, line := edge.NewLevels(m, names), []byte{}
		look = func(now *loop.Snapshot) {
			if now.Cycle2 {
				line = rosjson.Append(line[:0], words.Message(now), msgs.ROS2)
				out.Write(append(line, '\n')) // Flush tells what failed
			}
		}
	}
	out, err := telemetry.Look(r, m, recordedKinds, watch, look)
	for _, end := range ends {
		err = errors.Join(err, end())
	}
	return out, err
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
