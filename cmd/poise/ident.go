package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"poise/identify"
	"poise/problem"
	"poise/robot"
)

// identCommand finds the servo models that a log shows.
func identCommand(e *env, fs *pflag.FlagSet) func(args []string) error {
	f := &identFlags{now: time.Now}
	f.register(fs)
	fs.StringVar(&f.robot, "robot", "", "the `robot` that was logged: torques where the log has none, and its servos' types")
	fs.StringVar(&f.joint, "joint", "", "only this `joint`")
	fs.Float64Var(&f.kp, "kp", 100, "`gain` of the servos, where the log has none")
	fs.Float64Var(&f.delay, "delay", math.NaN(), "`s` from sending a goal to its effect, if it is known; otherwise it is measured")
	fs.StringVar(&f.holdout, "holdout", "", "judge by another `log`, and not by the last third")
	fs.StringVar(&f.output, "o", "", "write the accepted models to `file` (.yaml); a better model that stands there is kept")
	fs.StringVar(&f.plot, "plot", "", "draw what was measured and what the models say to `file` (.png or .svg); several joints get names of their own")
	fs.BoolVar(&e.json, "json", false, "no words on standard error; failures are JSON, as answers are in any case")
	var x identExecution
	x.register(e, fs)
	return func(args []string) error {
		if err := x.check(fs, args); err != nil {
			return err
		}
		if x.on {
			return x.run(args, f.robot)
		}
		return f.run(e, fs, args)
	}
}

type identFlags struct {
	robotFlags
	robot, joint, holdout, output, plot string
	kp, delay                           float64
	now                                 func() time.Time
}

func (f *identFlags) check(fs *pflag.FlagSet, args []string) error {
	switch {
	case len(args) != 1:
		return usagef("want one LOG, a .csv file or - for standard input, got %d", len(args))
	case !(f.kp > 0) || math.IsInf(f.kp, 0):
		return usagef("--kp %g must be above 0", f.kp)
	case fs.Changed("delay") && !(f.delay >= 0 && f.delay <= 1):
		return usagef("--delay %g s is not between 0 and 1", f.delay)
	case !hasSuffix(f.output, ".yaml", ".yml"):
		return usagef("-o %q: the name must end in .yaml", f.output)
	case !hasSuffix(f.plot, ".png", ".svg"):
		return usagef("--plot %q: the name must end in .png or .svg", f.plot)
	}
	return nil
}

func (f *identFlags) run(e *env, fs *pflag.FlagSet, args []string) error {
	if err := f.check(fs, args); err != nil {
		return err
	}
	var m *robot.Model
	if f.robot != "" {
		bot, _, err := f.load([]string{f.robot})
		if err != nil {
			return err
		}
		m = bot.Model
	}
	log, err := readLog(e, args[0])
	if err != nil {
		return err
	}
	var holdout *identify.Log
	if f.holdout != "" {
		if holdout, err = readLog(e, f.holdout); err != nil {
			return err
		}
	}
	if f.joint != "" && !slices.Contains(jointNames(log), f.joint) {
		return fmt.Errorf("%s: %w", args[0], problem.Unknown("unknown_joint", "joint", f.joint, jointNames(log)))
	}
	if f.joint != "" && (log.Torque || m == nil) { // otherwise all that moves counts
		log.Joints = only(log.Joints, f.joint)
	}
	end := progress(e.err, "fitting")
	results := identify.All(log, holdout, m, func(joint string) identify.Options { return f.options(m, joint) })
	end()
	if f.joint != "" {
		results = slices.DeleteFunc(results, func(r *identify.Result) bool { return r.Joint != f.joint })
	}
	if !e.json {
		for _, name := range log.Unused {
			fmt.Fprintf(e.err, "poise: ident: column %q is not used\n", name)
		}
	}
	return f.finish(e, m, results)
}

// finish draws, saves and prints.
func (f *identFlags) finish(e *env, m *robot.Model, results []*identify.Result) error {
	if err := f.draw(results); err != nil {
		return err
	}
	if err := f.save(e, m, results); err != nil {
		return err
	}
	enc := json.NewEncoder(e.out)
	enc.SetEscapeHTML(false)
	for _, r := range results {
		if err := enc.Encode(r); err != nil {
			return err
		}
		if !e.json {
			tellIdentified(e.err, r)
		}
	}
	return nil
}

// options are those of a joint: what the robot knows of its servo.
func (f *identFlags) options(m *robot.Model, joint string) identify.Options {
	o := identify.Options{Kp: f.kp, Delay: f.delay}
	if m == nil {
		return o
	}
	id, ok := m.Joint(joint)
	if !ok {
		return o
	}
	if s := m.Servo(id); s.Model != nil {
		o.Type, o.Gear, o.Voltage = s.Model, s.Model.Gear, s.Model.Voltage
	}
	return o
}

// readLog reads a log file, or standard input.
func readLog(e *env, name string) (*identify.Log, error) {
	if name == "-" {
		return identify.Read(e.in, "standard input")
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	log, err := identify.Read(file, name)
	if err != nil {
		var p *problem.Problem
		if !errors.As(err, &p) {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return nil, err
	}
	return log, nil
}

func only(joints []identify.Joint, name string) []identify.Joint {
	return slices.DeleteFunc(joints, func(j identify.Joint) bool { return j.Name != name })
}

func jointNames(log *identify.Log) (names []string) {
	for i := range log.Joints {
		names = append(names, log.Joints[i].Name)
	}
	return names
}

// tellIdentified says in words what was found.
func tellIdentified(w io.Writer, r *identify.Result) {
	verdict := "accepted"
	if !r.Accepted {
		verdict = "not accepted: " + strings.Join(r.Reasons, ", ")
	}
	fmt.Fprintf(w, "%s: %s\n", r.Joint, verdict)
	p, s := &r.Parameters, &r.Sigma
	if p.A1 != 0 || p.A3 != 0 {
		fmt.Fprintf(w, "  a0 %.4g ± %.2g, a1 %.4g ± %.2g, a2 %.4g ± %.2g, a3 %.4g ± %.2g, a5 %.3g ± %.2g", p.A0, s.A0, p.A1, s.A1, p.A2, s.A2, p.A3, s.A3, p.A5, s.A5)
		if p.A4 != 0 {
			fmt.Fprintf(w, ", a4 %.4g, vs %.3g rad/s", p.A4, p.Vs)
		}
		fmt.Fprintf(w, "\n  delay %.1f ms, hold-out error %.4f rad = %.3f N·m, condition %.1f\n", 1e3*r.Delay, r.RMSE, r.RMSETorque, r.Condition)
	}
	if len(r.Taken) > 0 {
		fmt.Fprintf(w, "  %s: of the servo's type, since the load does not excite it\n", strings.Join(r.Taken, ", "))
	}
	for _, x := range r.Effects {
		fmt.Fprintf(w, "  %s: %s\n", x.Name, x.Text)
	}
	for _, d := range r.Details {
		fmt.Fprintf(w, "  %s\n", d)
	}
}
