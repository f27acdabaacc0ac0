package server

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"poise/loop"
	"poise/telemetry"
)

// startRecord begins the flight recording of a robot, if the configuration wants one. What
// an earlier run has left under the name is put aside.
func (bot *servedRobot) startRecord(c *loop.Config) error {
	r := &bot.s.cfg.Record
	if r.File == "" {
		return nil
	}
	name := r.File
	if !bot.first {
		end := filepath.Ext(name)
		name = strings.TrimSuffix(name, end) + "-" + bot.name + end
	}
	h, err := telemetry.NewHeader(bot.s.cfg.Robot, bot.s.cfg.Loop.Period, c)
	if err != nil {
		return fmt.Errorf("record: %w", err)
	}
	before, err := telemetry.PutAside(name, "earlier")
	if err != nil {
		return fmt.Errorf("record: %w", err)
	}
	if before != "" {
		bot.s.log.Info("the recording of an earlier run was put aside", "robot", bot.name, "folder", before)
	}
	bot.record, err = telemetry.Create(name, h, telemetry.Options{
		Room: int64(r.Megabytes) << 20 / int64(len(bot.s.cfg.AllRobots())), Time: time.Duration(r.Minutes * float64(time.Minute)), Saves: r.Saves})
	if err != nil {
		return fmt.Errorf("record: %w", err)
	}
	bot.recordName, c.Tap = name, bot.record
	return nil
}

// closeRecords ends all recordings.
func (s *Server) closeRecords() error {
	var errs []error
	for _, bot := range s.robots {
		if bot.record == nil {
			continue
		}
		err := bot.record.Close()
		s.log.Info("the recording is written", "robot", bot.name, "file", bot.recordName, "err", err)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// saveRecord keeps the ring of the recorder after something that people will ask about.
func (bot *servedRobot) saveRecord(kind string) {
	if bot.record == nil || bot.s.ending.Load() { // the end keeps it anyway
		return
	}
	switch kind {
	case "stop", "panic":
		bot.record.Save(kind)
	case "fault": // one that comes and goes must not push all other saves out
		if now := time.Now(); now.Sub(bot.recordFault) > faultSaves {
			bot.recordFault = now
			bot.record.Save(kind)
		}
	}
}

// faultSaves is how often faults are a reason to save the ring.
const faultSaves = time.Minute

// tellRecorders logs when a recorder cannot write, and when it can again.
func (s *Server) tellRecorders() {
	for _, bot := range s.robots {
		if bot.record == nil {
			continue
		}
		_, lost, err := bot.record.State()
		why := ""
		if err != nil {
			why = err.Error()
		}
		switch {
		case why == bot.recordTold:
		case why != "":
			s.log.Warn("the recorder cannot write", "robot", bot.name, "why", why)
		default:
			s.log.Info("the recorder writes again", "robot", bot.name, "ticks_missing", lost)
		}
		bot.recordTold = why
	}
}

// recorderHealth tells how the recorders are.
func (s *Server) recorderHealth() (all []PartHealth) {
	for _, bot := range s.robots {
		p := PartHealth{Part: "recorder", Robot: bot.name, OK: true, Detail: "off"}
		if bot.record != nil {
			bytes, lost, err := bot.record.State()
			p.Detail = fmt.Sprintf("%d bytes, %d ticks missing", bytes, lost)
			if err != nil {
				p.OK, p.Detail = false, err.Error()
			}
		}
		all = append(all, p)
	}
	return all
}

// recorderMetrics tells what the recorders have, and lack.
func (s *Server) recorderMetrics(p *metricsText) {
	each := func(value func(r *telemetry.File) float64) {
		for _, bot := range s.robots {
			if bot.record != nil {
				p.value(label("robot", bot.name), value(bot.record))
			}
		}
	}
	p.family("poise_recorder_bytes", "gauge", "of the flight recording")
	each(func(r *telemetry.File) float64 { bytes, _, _ := r.State(); return float64(bytes) })
	p.family("poise_recorder_ticks_missing_total", "counter", "ticks that could not be recorded")
	each(func(r *telemetry.File) float64 { _, lost, _ := r.State(); return float64(lost) })
	p.family("poise_recorder_failing", "gauge", "1 if it cannot write just now")
	each(func(r *telemetry.File) float64 { _, _, err := r.State(); return flag(err != nil) })
}
