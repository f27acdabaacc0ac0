package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/pflag"

	"poise/internal/plot"
	"poise/motion/library"
	"poise/motion/shipped"
	"poise/sim/scenario"
)

// simFlags are those of poise sim.
type simFlags struct {
	robotFlags
	report, trace, picture string
	motions                string
	seeds                  int
}

// simCommand lets a robot with mass act out a scenario.
func simCommand(e *env, fs *pflag.FlagSet) func(args []string) error {
	f := new(simFlags)
	f.register(fs)
	fs.StringVar(&f.report, "report", "", "write the report to this `file` (JSON)")
	fs.StringVar(&f.trace, "trace", "", "write the trace of the first seed to this `file` (JSON lines)")
	fs.StringVar(&f.picture, "plot", "", "draw the run of the first seed to this .png or .svg `file`")
	fs.IntVar(&f.seeds, "seeds", 1, "how many seeds to run, from the scenario's own on")
	fs.StringVar(&f.motions, "motions", "", "`folder` of stored motions, besides those inside")
	return func(args []string) error { return f.simulate(e, args) }
}

// simulate runs the scenario that is named after the robot.
func (f *simFlags) simulate(e *env, args []string) error {
	if ext := filepath.Ext(f.picture); f.picture != "" && ext != ".png" && ext != ".svg" {
		return usagef("--plot %q must end in .png or .svg", f.picture)
	}
	if f.seeds < 1 || f.seeds > 10000 {
		return usagef("--seeds %d is not within 1 … 10000", f.seeds)
	}
	bot, rest, err := f.load(args)
	if err != nil {
		return err
	}
	if len(rest) != 1 {
		return usagef("one SCENARIO is wanted after the robot, %d are given", len(rest))
	}
	data, err := readFileOr(e.in, rest[0])
	if err != nil {
		return err
	}
	script, err := scenario.Parse(data, rest[0])
	if err != nil {
		return err
	}
	with := scenario.FromLoaded(bot)
	with.Motions = library.Open(f.motions, shipped.Of(bot.Model.Name()))
	plant, err := script.Prepare(with)
	if err != nil {
		return err
	}
	results, err := f.run(e, plant, script)
	if err != nil {
		return err
	}
	return f.finish(e, results)
}

// run runs every seed, as many at a time as there are processors.
func (f *simFlags) run(e *env, plant *scenario.Plant, script *scenario.Scenario) ([]*scenario.Result, error) {
	var trace *os.File
	var lines *bufio.Writer
	if f.trace != "" {
		var err error
		if trace, err = os.Create(f.trace); err != nil {
			return nil, err
		}
		defer trace.Close()
		lines = bufio.NewWriter(trace)
	}
	var done atomic.Int64 // ms of simulated time, of all seeds
	end := progressShare(e.err, "simulating", func() float64 {
		return float64(done.Load()) / 1000 / (script.Duration * float64(f.seeds))
	})
	defer end()
	results, errs := make([]*scenario.Result, f.seeds), make([]error, f.seeds)
	var wg sync.WaitGroup
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i := range results {
		wg.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			var w scenario.Watch
			if i == 0 && lines != nil {
				out := json.NewEncoder(lines)
				w.Frame = func(f *scenario.Frame) { out.Encode(f) } // a write that fails is told by Flush
			}
			last := int64(0)
			w.Progress = func(t float64) {
				now := int64(1000 * t)
				done.Add(now - last)
				last = now
			}
			begin := time.Now()
			results[i], errs[i] = plant.Run(uint64(script.Seed+i), w)
			if errs[i] == nil {
				results[i].RealtimeFactor = script.Duration / math.Max(time.Since(begin).Seconds(), 1e-9)
			}
		})
	}
	wg.Wait()
	if lines != nil { // of a run that broke off, what there was of it
		if err := lines.Flush(); err != nil {
			return nil, err
		}
		if err := trace.Close(); err != nil {
			return nil, err
		}
	}
	for i, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("seed %d: %w", script.Seed+i, err)
		}
	}
	return results, nil
}

// simReport is the report of one or several seeds: what is worst of them, and each.
type simReport struct {
	scenario.Result
	Seeds []*scenario.Result `json:"seeds,omitempty"`
}

// finish writes report and picture, prints what was expected, and fails if something was
// not met.
func (f *simFlags) finish(e *env, results []*scenario.Result) error {
	report := simReport{Result: *results[0]}
	if len(results) > 1 {
		report.Seeds = results
		report.Result = scenario.Worst(results)
	}
	if f.report != "" {
		text, err := json.MarshalIndent(report, "", "  ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(f.report, append(text, '\n'), 0o644); err != nil {
			return err
		}
	}
	if f.picture != "" {
		if err := simChart(results[0]).Save(f.picture); err != nil {
			return err
		}
	}
	if e.json {
		return f.tell(e, &report)
	}
	if report.Fallen {
		fmt.Fprintf(e.out, "fell at %.3f s\n", *report.FellAt)
	}
	for _, note := range report.Notes {
		fmt.Fprintln(e.out, note)
	}
	for _, c := range report.Criteria {
		word, value := "pass", "never measured"
		if !c.Pass {
			word = "FAIL"
		}
		if c.Value != nil {
			value = fmt.Sprintf("%.6g", *c.Value)
		}
		fmt.Fprintf(e.out, "%s  %-24s %s (limit %v)\n", word, c.Name, value, c.Limit)
	}
	fmt.Fprintf(e.out, "%.1f times real time\n", report.RealtimeFactor)
	if !report.Pass() {
		return errAnswered
	}
	return nil
}

// tell prints the report for programs.
func (f *simFlags) tell(e *env, report *simReport) error {
	failed := []string{}
	for _, c := range report.Criteria {
		if !c.Pass {
			failed = append(failed, c.Name)
		}
	}
	a := answered{report.Pass(), fmt.Sprintf("%d of %d criteria are met", len(report.Criteria)-len(failed), len(report.Criteria))}
	if len(failed) > 0 {
		a.Message += "; not met: " + strings.Join(failed, ", ")
	}
	if err := encode(e.out, struct {
		answered
		*simReport
	}{a, report}); err != nil {
		return err
	}
	if !a.Success {
		return errAnswered
	}
	return nil
}

// simChart draws the quantities of a run that were measured.
func simChart(r *scenario.Result) *plot.Chart {
	chart := &plot.Chart{Title: "physics", XLabel: "time in s"}
	for _, panel := range []struct {
		title string
		names []string
	}{
		{"base, m", []string{"base.x", "base.y", "base.z"}},
		{"base, rad", []string{"base.roll", "base.pitch", "base.yaw"}},
		{"joints: distance from targets, rad", []string{"joint_rms"}},
		{"motors: share of their torque", []string{"torque_share"}},
		{"zero-moment point inside the soles, m", []string{"zmp_margin"}},
	} {
		p := plot.Panel{Title: panel.title}
		for _, name := range panel.names {
			if _, measured := r.Figures[name]; measured {
				t, y := r.Series(name)
				chart.X = t
				p.Series = append(p.Series, plot.Series{Name: name, Y: y})
			}
		}
		if len(p.Series) > 0 {
			chart.Panels = append(chart.Panels, p)
		}
	}
	return chart
}
