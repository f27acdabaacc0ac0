package main

import (
	"context"
	"flag"
	"fmt"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"poise/internal/journal"
	"poise/robot/load"
	"poise/server"
	"poise/server/config"
	"poise/server/guard"
	"poise/servo/families"
	"poise/studio"
)

// runServe is the main job: a virtual robot with every topic, service and action of
// Poise on a WebSocket, and the page.
func runServe(e *env, args []string) error {
	fs := flag.NewFlagSet("serve", flag.ContinueOnError)
	file := fs.String("config", "", "")
	robot := fs.String("robot", "", "")
	packages := fs.String("package-path", packagePath(), "")
	listen := fs.String("listen", "", "")
	motions := fs.String("motions", "", "")
	record := fs.String("record", "", "")
	unrecorded := fs.Bool("no-record", false, "")
	mirrored := fs.String("mirror", "", "")
	period := fs.Float64("period", 0, "")
	priority := fs.Int("priority", -1, "")
	real := fs.Bool("with-real-sim", false, "")
	masses := fs.Bool("physics", false, "")
	world := fs.String("world", "", "")
	quiet := fs.Bool("quiet", false, "")
	var lines []string
	fs.Func("bus", "", func(text string) error { lines = append(lines, text); return nil })
	guarded := fs.Bool("guard", false, "")
	var ros rosFlags
	ros.register(fs)
	rest, err := parseFlags(fs, args)
	if err != nil {
		return err
	}
	if rest, err = ros.take(rest); err != nil {
		return err
	}
	arguments, err := xacroArguments(rest)
	if err != nil {
		return err
	}
	c := config.Default()
	if *file != "" {
		if c, err = config.Load(*file); err != nil {
			return err
		}
	}
	fs.Visit(func(f *flag.Flag) { // a flag wins over the file
		switch f.Name {
		case "robot":
			c.Robot = *robot
		case "listen":
			c.Listen = *listen
		case "motions":
			c.Motions = *motions
		case "record":
			c.Record.File, c.Record.Enabled = *record, true
		case "no-record":
			c.Record.Enabled = !*unrecorded
		case "mirror":
			c.Mirror.URL = *mirrored
		case "period":
			c.Loop.Period = *period
		case "priority":
			c.Loop.Priority = *priority
		case "with-real-sim":
			c.RealSim = *real
		}
	})
	if *masses || *world != "" {
		if err := c.UsePhysics(*masses, *world); err != nil {
			return usagef("%v", err)
		}
	}
	if err := addLines(&c, lines); err != nil {
		return usagef("%v", err)
	}
	if *guarded && !guard.Guarded() {
		return runGuard(e, &c)
	}
	o := server.Options{Page: studio.Handler(), PackagePath: filepath.SplitList(*packages), FixedPeriod: *period != 0 || *file != "" && config.Sets(*file, "loop.period")}
	if o.ROS1, err = ros.config(); err != nil {
		return err
	}
	if len(arguments) > 0 {
		if o.Robot, err = load.Robot(c.Robot, load.Options{PackagePath: o.PackagePath, Env: environment(), Arguments: arguments}); err != nil {
			return err
		}
	}
	if !*quiet {
		lines := journal.New(e.err)
		e.err, o.Log = lines, lines // what is wrong in the end is told by the same road
		e.flush = func() { _ = lines.Close(time.Second) }
	}
	ctx, stop := signal.NotifyContext(context.Background(), endingSignals()...) // also while it starts
	defer stop()
	if o.Guard, err = guard.FromEnvironment(); err != nil {
		return err
	}
	recording := chooseRecording(&c.Record)
	o.RecordIfPossible = recording.lock != nil
	if c.Record.Enabled && c.Record.File == "" {
		fmt.Fprintf(e.err, "poise: serve: %s\n", recording.about)
	}
	crashes, err := watchCrashes(recording.about)
	if err != nil {
		fmt.Fprintf(e.err, "poise: serve: a crash would leave no report: %v\n", err)
	}
	defer func() {
		if err := crashes.end(); err != nil {
			fmt.Fprintf(e.err, "poise: serve: the report of this run stays: %v\n", err)
		}
	}()
	for _, text := range crashes.left {
		fmt.Fprintf(e.err, "poise: serve: %s\n", text)
	}
	setRuntime()
	s, err := server.New(ctx, c, o)
	if err != nil {
		return err
	}
	go func() {
		select {
		case <-s.Ready():
			banner(e, s, &c, recording.about, crashes.left)
		case <-ctx.Done():
		}
	}()
	err = s.Run(ctx)
	runtime.KeepAlive(recording.lock) // until now no other server may have it
	return err
}

// addLines adds a robot that is driven by servos on serial lines.
func addLines(c *config.Config, lines []string) error {
	if len(lines) == 0 {
		return nil
	}
	s := families.DefaultSettings()
	s.Lines = lines
	if err := s.Check(); err != nil {
		return err
	}
	for i := range c.Robots {
		if c.Robots[i].Driver == "bus" {
			own, ok := c.Robots[i].Settings.(*families.Settings)
			if ok {
				own.Lines = lines // a flag wins over the file
				return nil
			}
		}
	}
	c.Robots = append(c.Robots, config.Robot{Name: "real", Driver: "bus", Settings: &s})
	return nil
}

// banner says what runs, where it is, and what it is not.
func banner(e *env, s *server.Server, c *config.Config, recording string, crashes []string) {
	robots := s.Robots()
	if len(robots) == 1 {
		robots[0] += "; --with-real-sim adds one that lags and sags as a real one does"
	}
	motions := s.Motions()
	if motions == "" {
		motions = "cannot be saved: there is no home folder; use --motions DIR"
	}
	lines := []string{
		"Poise is running. Open http://" + s.Address() + " in a browser.",
		"  robot      " + c.Robot + ", " + time.Duration(c.Loop.Period*1e9).String() + " cycle",
		"  driven     " + strings.Join(robots, "\n             "),
		"  graph      " + strings.Join(s.Wires(), "\n             "),
		"  motions    " + motions,
		"  recorder   " + recording,
		"  real time  " + s.RealTime(),
		"Ctrl-C stops: goals end, the robot ramps down and holds, unless `leaving` says otherwise.",
	}
	if assumed := s.Assumed(); assumed != "" {
		lines = slices.Insert(lines, 2, "  assumed    "+assumed)
	}
	for _, text := range crashes {
		lines = slices.Insert(lines, 1, "  CRASHED    "+text)
	}
	fmt.Fprintln(e.out, strings.Join(lines, "\n"))
}
