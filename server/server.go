package server

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"poise/edge"
	"poise/executive"
	"poise/graph"
	"poise/internal/budget"
	"poise/internal/journal"
	"poise/loop/runner"
	"poise/motion/library"
	"poise/motion/shipped"
	"poise/msgs/poisemsgs"
	"poise/planner/pipeline"
	"poise/planner/queue"
	"poise/robot/load"
	"poise/robot/summary"
	"poise/server/config"
	"poise/server/guard"
	"poise/server/motions"
	"poise/servo/driver"
	"poise/stop"
	"poise/wire"
	"poise/wire/mirror"
	"poise/wire/ros1"
	"poise/wire/ros2"
	"poise/wire/rosapi"
)

// Options are what a server is given besides its configuration.
type Options struct {
	Robot *load.Loaded // nil loads the one that the configuration names
	// PackagePath are the folders where packages of the robot's description are looked for.
	PackagePath []string
	Page        http.Handler // for browsers; nil is a plain page
	Log         io.Writer    // of log lines; nil discards them
	LogLevel    string       // debug, info, warn, error or fatal; "" is info

	Clock  runner.Clock                                        // of the cycles; nil is the machine's
	Listen func(network, address string) (net.Listener, error) // nil is net.Listen
	HTTP   *http.Client                                        // for a mirrored robot; nil is http.DefaultClient

	FixedPeriod bool // the period was configured: the lines of a robot do not choose another

	ROS1     *ros1.Config     // the graph is shown to ROS 1 as it says; nil does not
	ROS2     *ros2.Config     // the graph is shown to ROS 2 as it says; nil does not
	Guard    *guard.Feed      // of the process that watches this one; nil has none
	Drivers  driver.Table     // that the configuration may name; nil is driver.Standard
	Planners pipeline.Set     // in place of those with the same names
	Go       func(job func()) // runs what is prepared or planned; nil is a goroutine

	RecordIfPossible bool // a robot that cannot be recorded is served all the same, and its health says so
}

// Server runs a list of robots and serves their graph. Make one with New.
type Server struct {
	cfg     config.Config
	drivers driver.Table
	robot   *load.Loaded
	library *library.Library
	motions *motions.Services
	meshes  *meshFolder
	graph   *graph.Graph
	budget  *budget.Ledger // what clients hold
	log     *slog.Logger
	lines   *journal.Writer  // of the log
	shared  bool             // whose lines the caller goes on writing to, and closes
	spawn   func(job func()) // see Options.Go
	plans   *queue.Queue     // of all robots
	others  pipeline.Set     // see Options.Planners

	recordIfPossible bool // see Options
	fixedPeriod      bool // see Options
	page             http.Handler
	http             *http.Client

	health *health
	guard  *guard.Feed
	ending atomic.Bool // no more goals

	robots   []*servedRobot  // in the order of the configuration
	frames   map[string]bool // that the server publishes in tf; not written once it listens
	runner   *runner.Runner
	time     *runner.Simulated // of the cycles; nil if it is that of the machine
	stops    *stop.Line
	mirrored *mirror.Stops // nil if nothing is mirrored
	wires    []wire.Wire
	ros      ros                   // of ROS 1
	gather   func(context.Context) // lines of ROS 1 nodes, beside a master of our own; nil without one
	failed   error                 // of the recorders

	level   *logLevel
	ordered chan string // why a wire ends the server

	listener   net.Listener
	started    time.Time
	ready      chan struct{} // closed when simulated robots have torque
	life       context.Context
	end        context.CancelFunc
	background sync.WaitGroup
	counts     commandCounts
	repeats    repeats
	shares     logShares
}

// keepResults is how long the result of a goal is kept for clients that reconnect.
// Results of planning are large, so it is short.
const keepResults = 10 * time.Second

// New makes everything, opens the robots' drivers and listens; Run then serves. Problems
// that can be found together are reported together. Opening a driver may take time and
// ends with ctx. Run closes what New opened; call Close for a server that is not run.
func New(ctx context.Context, cfg config.Config, o Options) (*Server, error) {
	if o.Drivers == nil {
		o.Drivers = driver.Standard
	}
	if err := cfg.CheckWith(o.Drivers); err != nil {
		return nil, err
	}
	if o.Listen == nil {
		o.Listen = net.Listen
	}
	s := &Server{cfg: cfg, drivers: o.Drivers, robot: o.Robot, page: o.Page, http: o.HTTP, spawn: o.Go, plans: queue.New(0), others: o.Planners, recordIfPossible: o.RecordIfPossible, fixedPeriod: o.FixedPeriod, guard: o.Guard, frames: map[string]bool{}, started: time.Now(), ready: make(chan struct{}), ordered: make(chan string, 1)}
	s.ros.given2 = o.ROS2
	_, _ = rand.Read(s.ros.domain[:]) // never fails
	s.life, s.end = context.WithCancel(context.Background())
	s.graph, s.budget = graph.New(graph.Options{KeepResults: keepResults}), budget.New(budget.Standard)
	s.level = new(logLevel)
	s.log, s.lines, s.shared = newLog(s.graph, o.Log, s.level)
	if o.LogLevel != "" {
		if err := s.level.SetLevel(o.LogLevel); err != nil {
			return nil, errors.Join(fmt.Errorf("the log: %w", err), s.Close())
		}
	}
	if err := s.assemble(ctx, &o); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Close releases everything that New opened, of a server that is not run.
func (s *Server) Close() error {
	s.end()
	s.background.Wait()
	s.closeWires()
	s.ros.closeMirror()
	var errs []error
	if s.listener != nil {
		errs = append(errs, s.listener.Close())
	}
	errs = append(errs, s.closeDrivers(true, false))
	s.ros.closeCore()
	for _, bot := range s.robots {
		if bot.record.file != nil {
			errs = append(errs, bot.record.file.Close())
		}
	}
	s.graph.Close()
	s.closeLog()
	return errors.Join(errs...)
}

// assemble makes the parts, bottom to top.
func (s *Server) assemble(ctx context.Context, o *Options) error {
	var err error
	if s.robot == nil {
		if s.robot, err = load.Robot(s.cfg.Robot, load.Options{PackagePath: o.PackagePath}); err != nil {
			return err
		}
	}
	if _, err := s.robot.Model.Resources(); err != nil {
		return err
	}
	s.meshes = &meshFolder{Robot: s.robot, Since: s.started}
	if err := s.openLibrary(); err != nil {
		return err
	}
	s.addReal()
	if err := s.startCore(o.ROS1); err != nil { // drivers may look for it
		return err
	}
	for _, r := range s.cfg.AllRobots() {
		if err := s.addRobot(ctx, r); err != nil {
			return err
		}
	}
	if assumed := s.Assumed(); assumed != "" {
		s.log.Warn("assumed: " + assumed)
	}
	if s.stops, err = s.newStops(); err != nil {
		return err
	}
	members := make([]runner.Member, len(s.robots))
	for i, bot := range s.robots {
		members[i] = runner.Member{Name: bot.name, Loop: bot.loop, Period: bot.period}
	}
	if s.runner, err = runner.New(runner.Config{Members: members, Priority: s.cfg.Loop.Priority, Clock: s.newTime(o.Clock)}); err != nil {
		return err
	}
	s.health = newHealth(s)
	errs := []error{s.motions.Serve(s.graph), s.serveClock(), s.failed}
	for _, bot := range s.robots {
		errs = append(errs, bot.serve())
	}
	_, err = rosapi.Serve(s.graph, rosapi.Options{Params: map[string]any{"/robot_description": string(s.robot.URDF), "/use_sim_time": s.time != nil}})
	errs = append(errs, err)
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if err := s.listen(o); err != nil {
		return err
	}
	s.wires, err = s.newWires(o)
	return err
}

// listen opens the HTTP port.
func (s *Server) listen(o *Options) error {
	l, err := o.Listen("tcp", s.cfg.Listen)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("listen is %q: another program listens there, perhaps another poise serve; end it, or choose another port (0 takes a free one)", s.cfg.Listen)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("listen is %q: the system keeps this port for administrators; choose one above 1023", s.cfg.Listen)
	case err != nil:
		return fmt.Errorf("listen is %q: %w", s.cfg.Listen, err)
	}
	s.listener = s.admit(l)
	return nil
}

// openLibrary opens the folder of motions. It is read beside the start: many motions, or a
// folder that hangs, do not delay it.
func (s *Server) openLibrary() error {
	folder := s.motionsFolder()
	if folder != "" {
		notFolder := fmt.Errorf("motions is %q: it is no folder", folder)
		err := within(folderPatience, "looking at the folder of motions", func() error {
			if at, err := os.Stat(folder); err == nil && !at.IsDir() {
				return notFolder
			}
			return nil
		})
		if errors.Is(err, notFolder) {
			return err
		}
		if err != nil {
			s.log.Warn("the folder of motions does not answer", "folder", folder, "why", err)
		}
	}
	s.library = library.Open(folder, shipped.Of(s.robot.Model.Name()))
	s.library.SetLimit(library.Limit{Motions: s.cfg.Limits.Motions, Bytes: int64(s.cfg.Limits.MotionsMegabytes) << 20})
	s.motions = &motions.Services{Library: s.library, Model: s.robot.Model, Period: s.cfg.Period().Seconds(), Log: s.log, Last: s.last, Life: s.life}
	s.background.Go(func() {
		if err := s.motions.ReadOwn(); err != nil {
			s.log.Warn("the folder of motions cannot be read", "why", err)
		}
	})
	return nil
}

// folderPatience is how long the start waits for the folder of motions.
const folderPatience = time.Second

// motionsFolder returns the folder of the users' own motions.
func (s *Server) motionsFolder() string { return s.userFolder(s.cfg.Motions, "motions") }

// userFolder returns a folder of the user's data about the robot: the configured one, else that of
// its kind by the XDG base directory specification; "" for a user without a home.
func (s *Server) userFolder(configured, kind string) string {
	if configured != "" {
		return configured
	}
	data := os.Getenv("XDG_DATA_HOME")
	if data == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		data = filepath.Join(home, ".local", "share")
	}
	return filepath.Join(data, "poise", kind, s.robot.Model.Name())
}

// Address returns the address that the server listens at.
func (s *Server) Address() string { return s.listener.Addr().String() }

// Motions returns the folder that motions are saved in, "" if they cannot be saved.
func (s *Server) Motions() string { return s.library.Dir() }

// Robots describes each robot: name, driver, simulated or hardware, and the settings that
// are not the driver's defaults.
func (s *Server) Robots() (all []string) {
	for i, r := range s.cfg.AllRobots() {
		kind := "hardware"
		if s.robots[i].can.Simulated {
			kind = "simulated"
		}
		if s.robots[i].noCycle1 {
			r.Cycle, r.CycleResources = 0, nil
		}
		words := append([]string{r.Driver, kind}, r.Changed(s.drivers)...)
		all = append(all, r.Name+": "+strings.Join(words, ", "))
	}
	return all
}

// addReal adds the robot whose lines robot.yaml names, unless the configuration has it.
func (s *Server) addReal() {
	if len(s.robot.Model.Buses()) == 0 {
		return
	}
	added := config.Robot{Name: config.Second, Driver: "bus"}
	for _, r := range s.cfg.AllRobots() {
		if r.Driver == added.Driver || r.Name == added.Name {
			return
		}
	}
	s.cfg.Robots = append(s.cfg.Robots, added)
}

// last returns the newest of the last trajectories of all robots.
func (s *Server) last() (newest executive.Kept, ok bool) {
	for _, bot := range s.robots {
		if k, has := bot.exec.Last(); has && (!ok || k.Tick.Stamp > newest.Tick.Stamp) {
			newest, ok = k, true
		}
	}
	return newest, ok
}

// info answers robot_info.
func (s *Server) info(ctx context.Context, bot *servedRobot) (*poisemsgs.RobotInfoResponse, error) {
	r, err := edge.RobotInfo(bot.model)
	if err != nil {
		return nil, err
	}
	r.URDF, r.Description = s.meshes.URDF(), s.robot.About
	r.MissingMeshes, r.MeshPlaces = s.robot.Missing, s.robot.Places
	r.CycleOneLacks = summary.CycleOneLacks(bot.model)
	r.Client, r.SimulatedTime = graph.Caller(ctx), s.time != nil
	r.Period, r.Simulated, r.Robot = bot.period.Seconds(), bot.can.Simulated, bot.name
	for _, other := range s.robots {
		r.Robots = append(r.Robots, other.about)
	}
	return r, nil
}

// cycleStats returns the timing of a robot's cycle, and what the system granted of real
// time.
func (s *Server) cycleStats(name string) (runner.Stats, string) {
	all, granted, _ := s.runner.Stats()
	for _, one := range all {
		if one.Name == name {
			return one, granted
		}
	}
	return runner.Stats{}, granted
}
