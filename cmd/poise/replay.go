package main

import (
	"fmt"
	"os"

	"github.com/spf13/pflag"

	"poise/control"
	"poise/controllers"
	"poise/loop"
	"poise/robot"
	"poise/telemetry"
)

// recordedKinds are the controllers that a recording may speak of.
var recordedKinds = kindsOf(controllers.Kinds())

func kindsOf(table []control.Kind) telemetry.Kinds {
	all := telemetry.Kinds{}
	for _, k := range table {
		all[k.Name] = telemetry.Kind{
			New: func(m *robot.Model, s loop.Settings) (control.Controller, error) { return k.New(m, s.Transition) }, Decode: k.Decode}
	}
	return all
}

// replayAnswer is what a program reads.
type replayAnswer struct {
	answered
	Robot       string   `json:"robot"`
	Build       string   `json:"build"`
	From        uint64   `json:"from"` // the first tick
	Ticks       uint64   `json:"ticks"`
	Seconds     float64  `json:"seconds"`
	Orders      uint64   `json:"orders"`
	HandOvers   uint64   `json:"hand_overs"`
	Faults      uint64   `json:"faults"`
	Stops       uint64   `json:"stops"`
	Late        uint64   `json:"late"`
	Checkpoints uint64   `json:"checkpoints"`
	Missing     uint64   `json:"missing"`
	Notes       []string `json:"notes"`
	Equal       bool     `json:"equal"`
	Tick        *uint64  `json:"tick,omitempty"` // of the first difference
	Joints      []string `json:"joints,omitempty"`
}

// replayCommand runs a recording again and compares hashes.
func replayCommand(e *env, fs *pflag.FlagSet) func(args []string) error {
	from := new(robotFlags)
	from.register(fs)
	name := fs.String("robot", "", "the recorded `robot`, if it is not found under its recorded name")
	log := new(servoLogFlags)
	log.register(fs)
	return func(args []string) error {
		if err := log.check(); err != nil {
			return err
		}
		return replay(e, from, *name, log, args)
	}
}

func replay(e *env, from *robotFlags, name string, log *servoLogFlags, args []string) error {
	if len(args) == 0 && recordingsFolder() != "" {
		args = []string{recordingName(recordingsFolder(), 1)}
		if _, err := os.Stat(args[0]); err != nil {
			return fmt.Errorf("nothing is recorded yet: %w; poise serve records, or name a recording: poise replay FILE", err)
		}
	}
	if len(args) != 1 {
		return usagef("one recording, %d given", len(args))
	}
	r, err := telemetry.Open(args[0])
	if err != nil {
		return err
	}
	defer r.Close()
	if name == "" {
		name = r.Header.Robot
	}
	bot, _, err := from.load([]string{name})
	if err != nil {
		return err
	}
	out, err := log.replay(r, bot.Model)
	if out == nil {
		return err
	}
	answer := describe(r, out, bot.Model)
	answer.Equal = answer.Equal && err == nil
	if err == nil {
		err = replayFailure(out)
	}
	if !e.json {
		printReplay(e, answer, out)
		return err
	}
	answer.answered = answered{true, fmt.Sprintf("all %d hashes are equal", answer.Ticks)}
	if err != nil {
		answer.answered = answered{false, err.Error()}
	}
	if err := encode(e.out, answer); err != nil {
		return err
	}
	if err != nil {
		return &toldError{err}
	}
	return nil
}

// replayFailure says why a replay does not prove what a recording says.
func replayFailure(out *telemetry.Outcome) error {
	switch {
	case out.Turned:
		return fmt.Errorf("the recording begins at tick %d: what came before was overwritten, so its %d ticks are whole, but cannot be run again (record.megabytes and record.minutes keep more)", out.From, out.Ticks)
	case out.First != nil:
		return fmt.Errorf("%v", out.First)
	case out.Missing > 0:
		return fmt.Errorf("%d ticks are missing after tick %d: the replay ends there", out.Missing, out.Ticks)
	}
	return nil
}

func describe(r *telemetry.Reader, out *telemetry.Outcome, m *robot.Model) replayAnswer {
	a := replayAnswer{Robot: r.Header.Robot, Build: r.Header.Build, Ticks: out.Ticks, Seconds: float64(out.Ticks) * r.Header.Period,
		Orders: out.Orders, HandOvers: out.HandOvers, Faults: out.Faults, Stops: out.Stops, Late: out.Late, Checkpoints: out.Checkpoints,
		Missing: out.Missing, Notes: append([]string{}, out.Notes...), From: out.From, Equal: out.First == nil && out.Missing == 0 && !out.Turned}
	if d := out.First; d != nil {
		a.Tick = &d.Tick.N
		for _, j := range d.Joints {
			a.Joints = append(a.Joints, m.Joints()[j.Joint].Name)
		}
	}
	return a
}

func printReplay(e *env, a replayAnswer, out *telemetry.Outcome) {
	fmt.Fprintf(e.out, "%s: %d ticks, %.3f s, recorded by build %s\n", a.Robot, a.Ticks, a.Seconds, a.Build)
	fmt.Fprintf(e.out, "  %d orders, %d hand-overs, %d faults, %d stops, %d late ticks, %d checkpoints\n", a.Orders, a.HandOvers, a.Faults, a.Stops, a.Late, a.Checkpoints)
	for _, n := range a.Notes {
		fmt.Fprintf(e.out, "  note: %s\n", n)
	}
	if a.Equal {
		fmt.Fprintf(e.out, "all %d hashes are equal\n", a.Ticks)
	}
	if out.First != nil {
		for i, j := range out.First.Joints {
			what := "is at %v, was at %v"
			if j.Effort {
				what = "has a feed-forward of %v, had %v"
			}
			fmt.Fprintf(e.out, "  %s "+what+"\n", a.Joints[i], j.Got, j.Want)
		}
	}
}
