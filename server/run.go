package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"poise/control"
	"poise/internal/journal"
	"poise/loop"
	"poise/stop"
	"poise/wire/loopback"
	"poise/wire/mirror"
)

// Run serves until ctx is done or a part fails; then it cancels goals, ramps the robots
// down to their safe states, closes connections, drivers and files, and returns what went
// wrong.
func (s *Server) Run(ctx context.Context) error {
	robots, stopRobots := context.WithCancel(context.Background())
	defer stopRobots()
	cycle := make(chan error, 1)
	go func() { cycle <- s.runner.Run(robots) }()
	watching, endWatch := context.WithCancel(context.Background())
	defer endWatch()
	s.startBackground(watching)
	web := &http.Server{Handler: loopback.Guard{Origins: s.cfg.Origins}.Handler(s.routes()), ReadHeaderTimeout: headerWithin,
		IdleTimeout: idleWithin, MaxHeaderBytes: maxHeader, ConnState: newConnections(maxConnections).changed,
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug)}
	served := make(chan error, 1)
	go func() { served <- web.Serve(s.listener) }()
	closeWires := s.runWires()

	reason, failure, cycleFailed := s.awaitEnd(ctx, served, cycle)
	began := time.Now()
	if s.time != nil {
		s.time.Release()
	}
	errs := append([]error{failure}, s.rampDown(reason, stopRobots)...)
	ran := within(cyclePatience+s.restPatience(), "the cycle", func() error { return <-cycle })
	errs = append(errs, ran)
	s.closeConnections(web, closeWires) // after the robots have come to rest: until then they can be stopped
	errs = append(errs, within(endPatience, "closing the drivers", func() error { return s.closeDrivers(ran == nil && !cycleFailed, ran == nil) }))
	endWatch()
	s.end()
	errs = append(errs, within(endPatience, "what runs in the background", func() error { s.background.Wait(); return nil }))
	s.ros.closeCore() // after all who take their names back there
	if err := within(endPatience, "writing the recording", func() error { s.closeRecords(); return nil }); err != nil {
		s.log.Warn("the recording may not be whole", "why", err)
	}
	s.sumUpOverruns()
	s.log.Info("stopped", "after", time.Since(began).Round(time.Millisecond))
	errs = append(errs, within(endPatience, "closing the graph", func() error { s.graph.Close(); return nil }))
	s.closeLog()
	return errors.Join(errs...)
}

// startBackground starts the executives and all else that runs beside the cycle and the wires; watching ends last.
func (s *Server) startBackground(watching context.Context) {
	for _, bot := range s.robots {
		s.background.Go(func() { bot.exec.Run(s.life) })
	}
	s.background.Go(s.enableSimulated)
	for _, bot := range s.robots {
		driver := bot.driver // the end takes it away
		s.background.Go(func() { bot.adopt(s.life, driver) })
	}
	s.background.Go(func() { s.watch(watching) })
	s.background.Go(s.tellReady)
	if m := s.cfg.Mirror; m.URL != "" {
		s.background.Go(func() {
			if s.ros.mirror != nil {
				s.runROSMirror()
				return
			}
			mirror.Keep(s.life, s.graph, m.URL, m.Prefix, s.mirrorOptions(), s.mirrored)
		})
	}
}

// awaitEnd waits until ctx is done, the end is ordered or a part fails. It returns why, as text and, if that is a
// failure, as error; cycleFailed reports whether the cycle itself has failed.
func (s *Server) awaitEnd(ctx context.Context, served, cycle chan error) (reason string, failure error, cycleFailed bool) {
	select {
	case <-ctx.Done():
		return context.Cause(ctx).Error(), nil, false
	case reason = <-s.ordered:
		return reason, nil, false
	case <-s.lines.Gone():
		failure = journal.ErrGone
	case <-s.guard.Gone():
		failure = errors.New("the guard is dead: without it the robots do not go on")
	case err := <-served:
		failure = fmt.Errorf("http: %w", err)
	case err := <-cycle:
		failure, cycleFailed = fmt.Errorf("cycle: %w", err), err != nil
		cycle <- nil
	}
	return failure.Error(), failure, cycleFailed
}

// Time limits of the end. Each step has its own, and the next one happens regardless: what
// hangs delays the end, and never the ramp.
const (
	goalPatience  = 800 * time.Millisecond
	rampPatience  = 1500 * time.Millisecond // goals included
	pumpPatience  = 100 * time.Millisecond  // then the cycle is told past the executive
	cyclePatience = 5 * time.Second         // the runner ends its own ramp after 3 s
	webPatience   = 300 * time.Millisecond
	endPatience   = 2 * time.Second
	logPatience   = 300 * time.Millisecond
)

// within runs one step of the end, at most for some time.
func within(patience time.Duration, what string, step func() error) error {
	done := make(chan error, 1)
	go func() { done <- step() }()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case err := <-done:
		return err
	case <-timer.C:
		return fmt.Errorf("%s took longer than %v and was abandoned", what, patience)
	}
}

// rampDown cancels all goals, lets the robots come to rest and go to their safe states.
// Nothing is logged before the ramps have begun, and nothing that hangs delays them: an
// executive that does not answer is passed over.
func (s *Server) rampDown(reason string, stopRobots func()) (errs []error) {
	ctx, cancel := context.WithTimeout(context.Background(), rampPatience)
	defer cancel()
	ramps := make(chan error, len(s.robots))
	for _, bot := range s.robots {
		go func() { ramps <- bot.rampDown(ctx) }()
	}
	s.ending.Store(true)
	s.guard.Ending()
	go notifySystemd("STOPPING=1")
	s.log.Info("stopping", "why", reason) // the ramps are under way
	for range s.robots {
		if err := <-ramps; err != nil {
			errs = append(errs, err)
		}
	}
	stopRobots() // each is left as it is declared
	return errs
}

// tellLeft says how the robot was left. The cycle is over and its driver closed, which tells servos that may hold
// though they were told to be off.
func (bot *servedRobot) tellLeft(unconfirmed []string) {
	how := "it holds its pose"
	switch limp := bot.loop.Unpowered(); {
	case limp == control.JointLeaves(len(bot.model.Joints())):
		how = "without torque"
	case !limp.Empty():
		how = "it holds its pose, apart from what is limp"
	}
	if len(unconfirmed) > 0 {
		bot.s.log.Warn("robot is left", "robot", bot.name, "declared", bot.loop.Leaving().Do, "how", "torque off is not confirmed", "servos", strings.Join(unconfirmed, "; "))
		return
	}
	bot.s.log.Info("robot is left", "robot", bot.name, "declared", bot.loop.Leaving().Do, "how", how)
}

// restPatience is how long the robots may take to their rest poses.
func (s *Server) restPatience() (longest time.Duration) {
	for _, bot := range s.robots {
		if v := bot.loop.Leaving(); v.Do == loop.LeaveRest {
			longest = max(longest, time.Duration(v.Deadline*float64(time.Second)))
		}
	}
	return longest
}

// rampDown brings one robot to rest.
func (bot *servedRobot) rampDown(ctx context.Context) error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		bot.exec.CancelAll("server")
		bot.awaitGoals(goalPatience)
		_, _ = waitFor(ctx, bot.exec.Stop("server", stop.Mildest)) // its end is looked at below
	}()
	look := time.NewTicker(pumpPatience)
	defer look.Stop()
	for before := bot.exec.Pumps(); ; {
		select {
		case <-done:
			if ctx.Err() != nil {
				return fmt.Errorf("robot %q: the ramp took longer than %v", bot.name, rampPatience)
			}
			return nil
		case <-ctx.Done():
			return fmt.Errorf("robot %q: its executive did not answer for %v; the cycle ramped without it", bot.name, rampPatience)
		case <-look.C:
			now := bot.exec.Pumps()
			if now == before {
				target, _ := bot.s.stops.Robot(bot.name)
				target.Stop("server", stop.Mildest)
			}
			before = now
		}
	}
}

// awaitGoals waits until no goal is left, at most for some time.
func (bot *servedRobot) awaitGoals(patience time.Duration) {
	for end := time.Now().Add(patience); len(bot.exec.State().Goals) > 0 && time.Now().Before(end); {
		time.Sleep(5 * time.Millisecond)
	}
}

// closeConnections closes them when clients have seen how it ended.
func (s *Server) closeConnections(web *http.Server, closeWires func()) {
	patience := webPatience
	if len(s.wires) > 1 {
		patience = endPatience // a master is told of every name that goes
	}
	err := within(patience, "closing the wires", func() error { closeWires(); return nil })
	if err != nil {
		s.log.Warn(err.Error())
	}
	closing, done := context.WithTimeout(context.Background(), webPatience)
	defer done()
	if err := web.Shutdown(closing); err != nil {
		web.Close()
	}
}

// tellReady tells the service manager when the robots have torque.
func (s *Server) tellReady() {
	select {
	case <-s.ready:
		notifySystemd("READY=1\nSTATUS=serves http://" + s.Address())
	case <-s.life.Done():
	}
}

// enableSimulated enables simulated robots as soon as every joint has been read. Hardware,
// and a robot that is to start limp, wait for set_torque or set_power.
func (s *Server) enableSimulated() {
	for _, bot := range s.robots {
		if !bot.starts() {
			continue
		}
		for bot.exec.State().Power != loop.Enabled {
			if bot.exec.State().Power == loop.Ready {
				if _, err := waitFor(s.life, bot.exec.Power("server", true)); err != nil {
					return
				}
			}
			select {
			case <-s.life.Done():
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}
	close(s.ready)
}

// Ready returns a channel that is closed when the simulated robots have torque.
func (s *Server) Ready() <-chan struct{} { return s.ready }

// RealTime describes what the system granted of real time.
func (s *Server) RealTime() string {
	_, granted, _ := s.runner.Stats()
	return granted
}
