package server

import (
	"fmt"
	"strings"
	"time"

	"poise/control/follow"
	"poise/executive"
	"poise/loop"
	"poise/planner/pilz"
	"poise/planner/smooth"
	"poise/robot"
	"poise/server/config"
	"poise/server/crew"
	"poise/servo/sim"
)

// instance is one robot: a simulated one in this version, be it the virtual robot
// or the one that plays the real.
type instance struct {
	s      *Server
	name   string // "virtual" or "real"
	frames string // of its frames in tf: "" or "real/"
	model  *robot.Model
	loop   *loop.Loop
	bus    *sim.Bus
	exec   *executive.Executive
	period time.Duration

	topics   *topics
	parts    []crew.Member
	switched []string // controllers with set_operational
}

// register puts the topics, services and actions of the robot into the graph.
func (in *instance) register() *register {
	return &register{graph: in.s.graph, exec: in.exec, real: in.name == "real", life: in.s.life, background: &in.s.background}
}

// planning is what MoveIt offers, for this robot.
func (in *instance) planning() *planning {
	return &planning{model: in.model, exec: in.exec, stand: in.topics.stand, joints: in.topics.pose}
}

// newInstance makes a robot that stands still with its power off.
func (s *Server) newInstance(name string) (*instance, error) {
	m := s.robot.Model
	in := &instance{s: s, name: name, model: m, period: s.cfg.Period()}
	if name == "real" {
		in.frames = "real/"
	}
	settings, err := s.cfg.Settings()
	if err != nil {
		return nil, err
	}
	if m.TransitionAcceleration().Has {
		settings.Transition.Acceleration = 0 // the robot's own
	}
	parts, err := crew.Of(m, settings.Transition)
	if err != nil {
		return nil, err
	}
	in.parts = parts
	in.bus = idealBus(m)
	if name == "real" {
		in.bus = realBus(m, &s.cfg.Sim, s.cfg.Loop.Period)
	}
	cfg := loop.Config{Model: m, Bus: in.bus, Settings: settings}
	known := make([]executive.Controller, len(parts))
	for i, p := range parts {
		cfg.Controllers = append(cfg.Controllers, p.Registration)
		known[i] = executive.Controller{Name: p.Name, Kind: p.Kind, Operate: p.Operate, Resources: p.Resources, Remote: p.Remote}
		if p.Operate != nil && !p.Remote {
			in.switched = append(in.switched, p.Name)
		}
	}
	if name == "virtual" {
		cfg.Tap = s.recorder(&cfg) // of the whole configuration
	}
	if in.loop, err = loop.New(cfg); err != nil {
		return nil, err
	}
	in.exec, err = executive.New(executive.Config{
		Model: m, Loop: in.loop, Controllers: known, Pipelines: s.pipelines(), Library: s.library,
		FeedbackRate: s.cfg.Rates.Feedback, Follow: follow.Options{Transition: settings.Transition},
		Event: in.event, Notice: in.notice, Audit: in.audit,
		Snapshot: func(now *loop.Snapshot) { in.topics.snapshot(now) },
	})
	if err != nil {
		return nil, err
	}
	in.topics, err = newTopics(in)
	return in, err
}

// assumed lists the joints whose hand-overs and stops use the acceleration of the
// configuration, because nobody says what they can do.
func (s *Server) assumed() (joints []string) {
	if s.robot.Model.TransitionAcceleration().Has {
		return nil
	}
	for _, j := range s.robot.Model.Joints() {
		if !j.Limits.Acceleration.Has {
			joints = append(joints, j.Name)
		}
	}
	return joints
}

// Assumed says what is assumed of the robot, "" if nothing is.
func (s *Server) Assumed() string {
	joints := s.assumed()
	if len(joints) == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d joints have no acceleration limit (%s): hand-overs and stops use %g rad/s² or m/s² (loop.transition_acceleration)",
		len(joints), len(s.robot.Model.Joints()), shorten(joints), s.cfg.Loop.Transition)
}

// shorten lists the first of many names.
func shorten(names []string) string {
	const few = 3
	if len(names) > few {
		return strings.Join(names[:few], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}

// pipelines are the planners by name, the configured default first.
func (s *Server) pipelines() []executive.Pipeline {
	sampling := s.cfg.Planner.Sampling
	if sampling == 0 {
		sampling = s.cfg.Loop.Period
	}
	own := executive.Pipeline{Name: "poise", Planner: &smooth.Planner{Model: s.robot.Model, Sampling: sampling}}
	compat := executive.Pipeline{Name: config.Pilz, Planner: &pilz.Planner{Model: s.robot.Model}}
	if s.cfg.Planner.Pipeline == config.Pilz {
		return []executive.Pipeline{compat, own}
	}
	return []executive.Pipeline{own, compat}
}
