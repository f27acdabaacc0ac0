package server

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"poise/executive"
	"poise/loop"
	"poise/telemetry"
)

// recording is the flight recording of a robot.
type recording struct {
	file           *telemetry.File // nil if nothing is recorded
	name           string
	err            error     // why nothing is recorded though it should be
	fault, warning time.Time // when a fault last saved it, and one that is only told; the pump's own
	told           string    // why it cannot write, as was logged last; the watch's own
}

// startRecord begins the flight recording of a robot, if the configuration wants one.
func (bot *servedRobot) startRecord(c *loop.Config) error {
	bot.record.err = bot.createRecord(c)
	if bot.record.err == nil || !bot.s.recordIfPossible {
		return bot.record.err
	}
	bot.s.log.Warn("the robot is not recorded", "robot", bot.name, "why", bot.record.err)
	return nil
}

// createRecord begins a recording. What an earlier run has left under its name is put aside.
func (bot *servedRobot) createRecord(c *loop.Config) error {
	r := &bot.s.cfg.Record
	if r.File == "" {
		return nil
	}
	name := r.File
	if !bot.first {
		end := filepath.Ext(name)
		name = strings.TrimSuffix(name, end) + "-" + bot.name + end
	}
	h, err := telemetry.NewHeader(bot.s.cfg.Robot, bot.period.Seconds(), c)
	if err != nil {
		return fmt.Errorf("record: %w", err)
	}
	before, err := telemetry.PutAside(name)
	if err != nil {
		return fmt.Errorf("record: %w", err)
	}
	if before != "" {
		bot.s.log.Info("the recording of an earlier run was put aside", "robot", bot.name, "folder", before)
	}
	robots := int64(len(bot.s.cfg.AllRobots()))
	bot.record.file, err = telemetry.Create(name, h, telemetry.Options{Room: int64(r.Megabytes) << 20 / robots, Time: time.Duration(r.Minutes * float64(time.Minute)),
		Saves: r.Saves, Saved: int64(r.SavedMegabytes) << 20 / robots})
	if err != nil {
		return fmt.Errorf("record: %w", err)
	}
	bot.record.name, c.Tap = name, bot.record.file
	return nil
}

// closeRecords ends all recordings. What they lack is logged: it is no failure of the
// server, which has ended in order.
func (s *Server) closeRecords() {
	for _, bot := range s.robots {
		if bot.record.file == nil {
			continue
		}
		err := bot.record.file.Close()
		_, lost, _ := bot.record.file.State()
		if err != nil {
			s.log.Warn("the recording is not whole", "robot", bot.name, "file", bot.record.name, "why", err, "ticks_missing", lost)
			continue
		}
		s.log.Info("the recording is written", "robot", bot.name, "file", bot.record.name, "ticks_missing", lost)
	}
}

// saveRecord keeps the ring of the recorder after something that people will ask about.
func (bot *servedRobot) saveRecord(n *executive.Notice) {
	if bot.record.file == nil || bot.s.ending.Load() { // the end keeps it anyway
		return
	}
	reason := n.Kind
	switch n.Kind {
	case "stop", "panic":
	case "fault": // one that comes and goes must not push all other saves out
		last := &bot.record.fault
		if n.Severity <= loop.SeverityWarn {
			reason, last = telemetry.Warning, &bot.record.warning
		}
		now := time.Now()
		if now.Sub(*last) <= faultSaves {
			return
		}
		*last = now
	default:
		return
	}
	bot.record.file.Save(reason)
}

// faultSaves is how often faults, and those about which nothing is done, are each a reason to
// save the ring.
const faultSaves = time.Minute

// tellRecorders logs when a recorder cannot write, and when it can again.
func (s *Server) tellRecorders() {
	for _, bot := range s.robots {
		if bot.record.file == nil {
			continue
		}
		_, lost, err := bot.record.file.State()
		why := ""
		if err != nil {
			why = err.Error()
		}
		switch {
		case why == bot.record.told:
		case why != "":
			s.log.Warn("the recorder cannot write", "robot", bot.name, "why", why)
		default:
			s.log.Info("the recorder writes again", "robot", bot.name, "ticks_missing", lost)
		}
		bot.record.told = why
	}
}

// recorderHealth tells how the recorders are.
func (s *Server) recorderHealth() (all []PartHealth) {
	for _, bot := range s.robots {
		p := PartHealth{Part: "recorder", Robot: bot.name, OK: true, Detail: "off"}
		if bot.record.err != nil {
			p.OK, p.Detail = false, bot.record.err.Error()
		} else if bot.record.file != nil {
			bytes, lost, err := bot.record.file.State()
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
			if bot.record.file != nil {
				p.value(label("robot", bot.name), value(bot.record.file))
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
