package server

import (
	"math"

	"poise/graph"
	"poise/loop"
	"poise/msgs"
	"poise/servo"
)

// followArm is the controller that a leader leads.
const followArm = "follow_arm"

// followLeader lets the controller follow_arm have the measured joints of the robot that leads.
// They are its references, by any client that activated it.
func (bot *servedRobot) followLeader(r *register) {
	if bot.set.Leader == "" {
		return
	}
	for i := range bot.seats {
		seat := &bot.seats[i]
		if seat.Declaration.Name != followArm {
			continue
		}
		s := &seat.Declaration.Streams[0]
		sub, err := s.Subscribe(r.graph, "/"+bot.set.Leader+"/joint_states_real", nil)
		if err != nil {
			r.fail(err)
			return
		}
		var lead leading
		r.receive(sub, func(m *graph.Message) {
			states, ok := m.Value.(*msgs.JointState)
			var now servo.Tick
			if !ok || !bot.exec.View(func(s *loop.Snapshot) { now = s.Tick }) {
				return
			}
			states, was := bot.led(&lead, states, now)
			if told := lead.gone != was; told && lead.gone {
				bot.s.log.Warn("the leader is not measured: the follower stays where it is", "robot", bot.name, "leader", bot.set.Leader)
			} else if told {
				bot.s.log.Info("the leader is back: the follower glides to it", "robot", bot.name, "leader", bot.set.Leader, "by", glide)
			}
			if lead.gone {
				return
			}
			if value, err := s.Read(bot.model, now, states); err == nil {
				bot.exec.Lead(seat.Loop.Name, value)
			}
		})
	}
}

// led returns what the leader says, as it is followed, and whether it was gone before.
func (bot *servedRobot) led(lead *leading, states *msgs.JointState, now servo.Tick) (to *msgs.JointState, was bool) {
	was = lead.gone
	stale := false
	for _, leader := range bot.s.robots {
		if leader.name != bot.set.Leader {
			continue
		}
		leader.exec.View(func(s *loop.Snapshot) {
			for _, age := range s.Measured.Age {
				stale = stale || age != servo.Never && float64(age)*s.Tick.Dt > leaderGone
			}
		})
	}
	at := make([]float64, len(states.Position))
	bot.exec.View(func(s *loop.Snapshot) {
		for i := range at {
			if at[i] = states.Position[i]; i >= len(states.Name) {
				continue
			}
			if id, ok := bot.model.Joint(states.Name[i]); ok {
				at[i] = s.Command.Q[id]
			}
		}
	})
	out := *states
	out.Position = lead.follow(float64(now.Time)*1e-9, stale, states.Position, at)
	return &out, was
}

// How a leader is followed that was away: how long it may be unheard, s, and how fast the follower then
// comes to it, rad/s or m/s, beside what the leader does meanwhile.
const (
	leaderGone = 0.3
	glide      = 0.3
)

// leading is a leader as it is followed. One that was away may be back elsewhere: the follower does not run
// to it but glides, from where it is.
type leading struct {
	begun, gone bool
	time        float64   // of the last value, s
	off         []float64 // of each joint: where it is followed less where it is
}

// follow returns where the leader is followed: at is where the follower is, stale that the leader is not
// measured any more.
func (l *leading) follow(now float64, stale bool, leader, at []float64) []float64 {
	away := l.gone || l.begun && now-l.time > leaderGone || len(l.off) != len(leader)
	dt := now - l.time
	if l.gone = stale; stale {
		return leader
	}
	if away {
		was := l.begun
		l.off, dt = make([]float64, len(leader)), 0
		for i := range l.off {
			if was && i < len(at) {
				l.off[i] = at[i] - leader[i]
			}
		}
	}
	l.begun, l.time = true, now
	out := make([]float64, len(leader))
	for i := range out {
		step := glide * max(dt, 0)
		l.off[i] -= math.Max(-step, math.Min(step, l.off[i]))
		out[i] = leader[i] + l.off[i]
	}
	return out
}
