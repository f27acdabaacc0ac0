package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"poise/loop"
	"poise/wire/loopback"
	"poise/wire/mirror"
	"poise/wire/rosbridge/client"
)

// Run serves until ctx is done or a part fails; then it cancels goals, ramps the robots
// down to their safe states, closes connections, drivers and files, and returns what went
// wrong.
func (s *Server) Run(ctx context.Context) error {
	robots, stopRobots := context.WithCancel(context.Background())
	defer stopRobots()
	cycle := make(chan error, 1)
	go func() { cycle <- s.runner.Run(robots) }()
	for _, bot := range s.robots {
		s.background.Go(func() { bot.exec.Run(s.life) })
	}
	s.background.Go(s.enableSimulated)
	if m := s.cfg.Mirror; m.URL != "" {
		s.background.Go(func() { mirror.Keep(s.life, s.graph, m.URL, m.Prefix, client.Options{Log: s.log, HTTP: s.http}) })
	}

	web := &http.Server{Handler: loopback.Guard{Origins: s.cfg.Origins}.Handler(s.routes()), ReadHeaderTimeout: 5 * time.Second,
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug)}
	served := make(chan error, 1)
	go func() { served <- web.Serve(s.listener) }()
	closeWires := s.runWires()

	var errs []error
	select {
	case <-ctx.Done():
	case err := <-served:
		errs = append(errs, fmt.Errorf("http: %w", err))
	case err := <-cycle:
		errs = append(errs, fmt.Errorf("cycle: %w", err))
		cycle <- nil
	}
	began := time.Now()
	s.rampDown(web, closeWires, stopRobots)
	if err := <-cycle; err != nil {
		errs = append(errs, err)
	}
	errs = append(errs, s.closeDrivers())
	s.end()
	s.background.Wait()
	if s.record != nil {
		err := s.record.Close()
		s.log.Info("the recording is written", "file", s.cfg.Record.File, "err", err)
		errs = append(errs, err)
	}
	s.log.Info("stopped", "after", time.Since(began).Round(time.Millisecond))
	s.graph.Close()
	return errors.Join(errs...)
}

// Time limits of the end; with the last ramp of the cycle it is 3 s in all.
const (
	goalPatience = 800 * time.Millisecond
	rampPatience = 1500 * time.Millisecond // goals included
	webPatience  = 300 * time.Millisecond
)

// rampDown cancels all goals, lets the robots come to rest and go to their safe states,
// and closes connections when clients have seen that.
func (s *Server) rampDown(web *http.Server, closeWires, stopRobots func()) {
	s.log.Info("stopping")
	ctx, cancel := context.WithTimeout(context.Background(), rampPatience)
	defer cancel()
	var ramps sync.WaitGroup
	for _, bot := range s.robots {
		bot.exec.CancelAll("server")
		ramps.Go(func() {
			bot.awaitGoals(goalPatience)
			if _, err := waitFor(ctx, bot.exec.Stop("server", 2)); err != nil {
				s.log.Warn("the ramp took too long", "robot", bot.name)
			}
		})
	}
	ramps.Wait()
	stopRobots() // category 1: ramp, then no torque
	closing, done := context.WithTimeout(context.Background(), webPatience)
	defer done()
	closeWires()
	if err := web.Shutdown(closing); err != nil {
		web.Close()
	}
}

// awaitGoals waits until no goal is left, at most for some time.
func (bot *servedRobot) awaitGoals(patience time.Duration) {
	for end := time.Now().Add(patience); len(bot.exec.State().Goals) > 0 && time.Now().Before(end); {
		time.Sleep(5 * time.Millisecond)
	}
}

// enableSimulated enables simulated robots as soon as every joint has been read. Hardware
// waits for set_torque or set_power.
func (s *Server) enableSimulated() {
	for _, bot := range s.robots {
		if !bot.can.Simulated {
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
