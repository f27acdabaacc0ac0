package main

import (
	"context"
	"fmt"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"poise/internal/journal"
	"poise/robot/description"
	"poise/robot/load"
	"poise/server"
	"poise/server/config"
	"poise/server/guard"
	serial "poise/servo/bus"
	"poise/studio"
)

// serveCommand is the main job: a virtual robot with every topic, service and action of
// Poise on a WebSocket, and the page.
func serveCommand(e *env, fs *pflag.FlagSet) func(args []string) error {
	f := &serveFlags{fs: fs}
	fs.StringVar(&f.robot, "robot", "", "the `ROBOT` to serve: a shipped name, a file or a folder; pony if none is named")
	fs.StringVar(&f.packages, "package-path", packagePath(), "`folders` where packages are looked for, meshes too")
	fs.StringVar(&f.listen, "listen", "", "the `address` to listen at, otherwise 127.0.0.1:8080")
	fs.StringVar(&f.motions, "motions", "", "the `folder` of the users' own motions")
	fs.StringArrayVar(&f.lines, "bus", nil, "servos on a serial line are the robot real: `[NAME=]PORT[,baud=N]`; once for each line")
	fs.BoolVar(&f.masses, "physics", false, "the virtual robot has mass, stands on the ground and can fall")
	fs.StringVar(&f.world, "world", "", "a `file` with what the robot of --physics stands in")
	fs.BoolVar(&f.real, "with-real-sim", false, "add a robot real that lags and sags as a real one does")
	fs.StringVar(&f.file, "config", "", "read this configuration `file`; flags win over it (poise config prints one)")
	fs.Float64Var(&f.period, "period", 0, "the period of the cycle, `s`")
	fs.IntVar(&f.priority, "priority", -1, "the real-time priority of the cycle, `N` of 0 … 99; 0 asks for none")
	fs.StringVar(&f.record, "record", "", "keep the last ticks in this `file`, otherwise in the state folder (poise replay)")
	fs.BoolVar(&f.unrecorded, "no-record", false, "record nothing")
	fs.StringVar(&f.mirrored, "mirror", "", "show the graph of another rosbridge server, of the ROS 1 network of a master (http://…) or of a DDS domain of ROS 2 (dds://0), `URL`, here as well")
	f.ros.register(fs)
	f.ros2.register(fs)
	fs.BoolVar(&f.guarded, "guard", false, "a second process brings the servos to rest if the server dies")
	fs.BoolVar(&f.quiet, "quiet", false, "log nothing")
	return func(args []string) error { return f.serve(e, args) }
}

// serveFlags are those of poise serve.
type serveFlags struct {
	fs                                                              *pflag.FlagSet
	file, robot, packages, listen, motions, record, mirrored, world string
	unrecorded, real, masses, quiet, guarded                        bool
	period                                                          float64
	priority                                                        int
	lines                                                           []string
	ros                                                             rosFlags
	ros2                                                            ros2Flags
}

// config returns the configuration: the file's, and what flags say otherwise.
func (f *serveFlags) config() (c config.Config, err error) {
	c = config.Default()
	if f.file != "" {
		if c, err = config.Load(f.file); err != nil {
			return c, err
		}
	}
	f.fs.Visit(func(flag *pflag.Flag) { // a flag wins over the file
		switch flag.Name {
		case "robot":
			c.Robot = f.robot
		case "listen":
			c.Listen = f.listen
		case "motions":
			c.Motions = f.motions
		case "record":
			c.Record.File, c.Record.Enabled = f.record, true
		case "no-record":
			c.Record.Enabled = !f.unrecorded
		case "mirror":
			c.Mirror.URL = f.mirrored
		case "period":
			c.Loop.Period = f.period
		case "priority":
			c.Loop.Priority = f.priority
		case "with-real-sim":
			c.RealSim = f.real
		}
	})
	if f.masses || f.world != "" {
		if err := c.UsePhysics(f.masses, f.world); err != nil {
			return c, usagef("%v", err)
		}
	}
	if err := addLines(&c, f.lines); err != nil {
		return c, usagef("%v", err)
	}
	return c, nil
}

// serve runs until it is told to end.
func (f *serveFlags) serve(e *env, args []string) error {
	rest, err := f.ros.take(args, f.ros2.on())
	if err != nil {
		return err
	}
	arguments, err := xacroArguments(rest)
	if err != nil {
		return err
	}
	c, err := f.config()
	if err != nil {
		return err
	}
	if f.guarded && !guard.Guarded() {
		return runGuard(e, &c)
	}
	o, err := f.options(&c, arguments)
	if err != nil {
		return err
	}
	if !f.quiet {
		lines := journal.New(e.err)
		e.err, o.Log = lines, lines // problems at the end are reported through the same journal
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
	signal.Ignore(endingSignals()...) // one more of them would replace the exit code
	runtime.KeepAlive(recording.lock) // until now no other server may have it
	return err
}

// options returns what the server needs besides its configuration.
func (f *serveFlags) options(c *config.Config, arguments []description.Argument) (o server.Options, err error) {
	o = server.Options{Page: studio.Handler(), PackagePath: filepath.SplitList(f.packages), FixedPeriod: f.period != 0 || f.file != "" && config.Sets(f.file, "loop.period")}
	if o.ROS1, err = f.ros.config(); err != nil {
		return o, err
	}
	if o.ROS2, err = f.ros2.config(f.ros.remaps, f.ros.node); err != nil {
		return o, err
	}
	if o.ROS2 != nil {
		if o.LogLevel, err = f.ros2.level(o.ROS2.Names.Node); err != nil {
			return o, err
		}
	}
	if len(arguments) > 0 {
		o.Robot, err = load.Robot(c.Robot, load.Options{PackagePath: o.PackagePath, Env: environment(), Arguments: arguments})
	}
	return o, err
}

// addLines adds a robot that is driven by servos on serial lines.
func addLines(c *config.Config, lines []string) error {
	if len(lines) == 0 {
		return nil
	}
	s := serial.DefaultSettings()
	s.Lines = lines
	if err := s.Check(); err != nil {
		return err
	}
	for i := range c.Robots {
		if c.Robots[i].Driver == "bus" {
			own, ok := c.Robots[i].Settings.(*serial.Settings)
			if ok {
				own.Lines = lines // a flag wins over the file
				return nil
			}
		}
	}
	c.Robots = append(c.Robots, config.Robot{Name: config.Second, Driver: "bus", Settings: &s})
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
	if why := s.NoWalk(); why != "" {
		lines = slices.Insert(lines, 2, "  legs       are not walked on: "+why)
	}
	for _, text := range crashes {
		lines = slices.Insert(lines, 1, "  CRASHED    "+text)
	}
	if e.json {
		_ = encode(e.out, struct { // a reader that went away is no trouble
			answered
			Address string   `json:"address"`
			Robots  []string `json:"robots"`
			Wires   []string `json:"wires"`
		}{answered{true, strings.Join(lines, "\n")}, s.Address(), s.Robots(), s.Wires()})
		return
	}
	fmt.Fprintln(e.out, strings.Join(lines, "\n"))
}
