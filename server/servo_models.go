package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"

	"poise/control"
	"poise/edge"
	"poise/executive"
	"poise/graph"
	"poise/identify/session"
	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/problem"
	"poise/robot"
	"poise/server/config"
	"poise/servo"
	"poise/servo/model"
	"poise/servo/modelfile"
)

// badModels is the code of servo models that are refused.
const badModels problem.Code = "bad_servo_models"

// keptVersions is how many sets of models can be returned to.
const keptVersions = 32

// lastNamed is the greatest version that a request may name: half of all numbers are left for those
// that follow by themselves.
const lastNamed = math.MaxInt32

// servoModels are the models of a robot's servos at run time: each set that was in force has a
// version, and can be returned to.
type servoModels struct {
	bot *servedRobot

	turn    chan struct{}    // held by the one that changes models, while the cycle takes them over
	kept    []servo.ModelSet // by version, the newest last, which is in force; whole sets
	newest  atomic.Pointer[servo.ModelSet]
	publish graph.Publisher[poisemsgs.ServoModels]
}

// invertByModel prepares the inversion by servo models, if the robot's servos behave by them.
func (bot *servedRobot) invertByModel(inversion *servo.InversionConfig, byModel *bool) {
	wanted := bot.s.cfg.Loop.Inversion == config.InvertModel
	if !bot.can.Models {
		if wanted && !bot.can.Exact {
			bot.s.log.Warn("servos are driven by lead, not by models: the driver does not move them as servo models say", "robot", bot.name)
		}
		return
	}
	var bare []string
	models := make([]*model.Model, len(bot.model.Joints()))
	for i, j := range bot.model.Joints() {
		if models[i] = bot.model.Servo(robot.JointID(i)).Model; models[i] == nil && !j.Virtual {
			bare = append(bare, j.Name)
		}
	}
	if saved, err := session.Saved(bot.model, bot.s.identifiedFolder(), bot.name); err != nil {
		bot.s.log.Warn("identified servo models cannot be read: those of the robot are used", "robot", bot.name, "why", err)
	} else if len(saved) > 0 {
		for j, m := range saved {
			if models[j] != nil {
				models[j] = m
			}
		}
		bot.s.log.Info("servo models are those that were identified", "robot", bot.name, "joints", len(saved))
	}
	first := servo.ModelSet{Version: 1, Joints: models}
	inversion.Name, inversion.Models, inversion.Version, inversion.FixedGain, *byModel = "model", models, first.Version, !bot.can.Stiffness, wanted
	bot.models = &servoModels{bot: bot, turn: make(chan struct{}, 1)}
	bot.models.keep(first)
	if wanted && len(bare) > 0 {
		bot.s.log.Warn("joints without a servo model are driven by lead", "robot", bot.name, "joints", strings.Join(bare, ", "))
	}
}

// serveServoModels registers how models are changed.
func (bot *servedRobot) serveServoModels(r *register) {
	s := bot.models
	if s == nil {
		return
	}
	s.publish = addTopic[poisemsgs.ServoModels](r, "servo_models_state", graph.QoS{Latched: true})
	s.tell()
	addService(r, "set_servo_models", func(ctx context.Context, q *poisemsgs.SetServoModelsRequest) (*poisemsgs.SetServoModelsResponse, error) {
		version, err := s.set(ctx, callerOf(ctx), q)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			all := problem.All(badModels, err)
			return &poisemsgs.SetServoModelsResponse{Message: problem.Join(all), Explanations: edge.Explanations(all), Version: version}, nil
		}
		return &poisemsgs.SetServoModelsResponse{Success: true, Message: fmt.Sprintf("version %d is being taken over", version), Version: version}, nil
	})
	listen(r, "servo_models", every, nil, func(from string, v *poisemsgs.ServoModels) { s.take(from, v.Version, v.Models) })
	listen(r, "servo_model", every, nil, func(from string, v *msgs.ServoModel) {
		s.take(from, 0, []poisemsgs.ServoModel{{Name: v.Name, Kp: v.Kp, Kgear: v.Kgear, Alpha: v.Alpha[:]}})
	})
}

// take is set for topics, which have no answer: the log has it.
func (s *servoModels) take(from string, version uint32, models []poisemsgs.ServoModel) {
	life := s.bot.s.life
	if _, err := s.set(life, from, &poisemsgs.SetServoModelsRequest{Version: version, Models: models}); err != nil && life.Err() == nil {
		s.bot.s.log.Warn("servo models are refused", "robot", s.bot.name, "from", from, "why", err)
	}
}

// set takes models over, all of a request or none. It returns the version that is in force then.
func (s *servoModels) set(ctx context.Context, who string, q *poisemsgs.SetServoModelsRequest) (uint32, error) {
	done, err := s.takeTurn(ctx)
	if err != nil {
		return uint32(s.newest.Load().Version), err
	}
	defer done()
	now := &s.kept[len(s.kept)-1]
	next, err := s.next(q)
	if err == nil {
		err = s.inForce(ctx, who, next)
	} else {
		s.bot.audit(executive.Audit{Who: who, What: "servo models", Result: err.Error()})
	}
	if err != nil {
		return uint32(now.Version), err
	}
	return uint32(next.Version), nil
}

// takeTurn waits until no one else changes models. It is no mutex: the cycle takes its time, and a caller may go.
func (s *servoModels) takeTurn(ctx context.Context) (done func(), err error) {
	select {
	case s.turn <- struct{}{}:
		return func() { <-s.turn }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// inForce lets the cycle take a set over, and tells of it.
func (s *servoModels) inForce(ctx context.Context, who string, next servo.ModelSet) error {
	o, err := waitFor(ctx, s.bot.exec.SetServoModels(who, &control.ServoModels{ModelSet: next}))
	if err == nil && !o.OK() {
		err = problem.New(badModels, "%s", problem.Join(o.Explanations))
	}
	if err != nil {
		return err
	}
	s.keep(next)
	s.tell()
	return nil
}

// keep lets a set be the newest.
func (s *servoModels) keep(set servo.ModelSet) {
	s.kept = append(s.kept, set)
	if len(s.kept) > keptVersions {
		s.kept = slices.Delete(s.kept, 0, 1)
	}
	s.newest.Store(&set)
}

// next makes the set that a request asks for: models of the joints that it names, and those in
// force of the others; or a set that was in force, under a new version.
func (s *servoModels) next(q *poisemsgs.SetServoModelsRequest) (servo.ModelSet, error) {
	now := s.kept[len(s.kept)-1]
	if q.Rollback {
		return s.earlier(q)
	}
	out := servo.ModelSet{Version: cmp.Or(uint64(q.Version), now.Version+1), Joints: slices.Clone(now.Joints)}
	if q.Version > lastNamed {
		return out, problem.New(badModels, "version %d is above %d", q.Version, uint32(lastNamed)).With("version 0 is the next one")
	}
	if out.Version <= now.Version {
		return out, problem.New(badModels, "version %d is not newer than %d, which is in force", q.Version, now.Version).With("version 0 is the next one; rollback returns to an earlier one")
	}
	if len(q.Models) == 0 {
		return out, problem.New(badModels, "no model is given")
	}
	var wrong []error
	given := map[string]bool{}
	for i := range q.Models {
		name := q.Models[i].Name
		if given[name] {
			wrong = append(wrong, problem.New(badModels, "servo model %q is given twice", name))
		}
		given[name] = true
		for _, j := range s.joints(&q.Models[i], &wrong) {
			made, err := merged(&q.Models[i], now.Joints[j])
			if err != nil {
				wrong = append(wrong, problem.New(badModels, "servo model %q: %v", q.Models[i].Name, err))
				break
			}
			out.Joints[j] = made
		}
	}
	return out, errors.Join(wrong...)
}

// joints finds the joints that a model is for: the one of its name, or all whose servos are of a
// type, or name a model, of that name.
func (s *servoModels) joints(m *poisemsgs.ServoModel, wrong *[]error) (all []int) {
	bot := s.bot.model
	if id, ok := bot.Joint(m.Name); ok {
		return []int{int(id)}
	}
	var known []string
	for i, j := range bot.Joints() {
		known = append(known, j.Name)
		if kind := bot.Servo(robot.JointID(i)).Type; kind != "" {
			if known = append(known, kind); kind == m.Name {
				all = append(all, i)
			}
		}
	}
	if all == nil {
		*wrong = append(*wrong, problem.Unknown(badModels, "joint or type of servo", m.Name, slices.Compact(slices.Sorted(slices.Values(known)))))
	}
	return all
}

// earlier returns a set that was in force, the last one if no version is named.
func (s *servoModels) earlier(q *poisemsgs.SetServoModelsRequest) (servo.ModelSet, error) {
	now := s.kept[len(s.kept)-1]
	if len(q.Models) > 0 {
		return now, problem.New(badModels, "rollback returns to models that were in force, and takes none")
	}
	for i := len(s.kept) - 2; i >= 0; i-- {
		if old := s.kept[i]; q.Version == 0 || old.Version == uint64(q.Version) {
			return servo.ModelSet{Version: now.Version + 1, Joints: old.Joints}, nil
		}
	}
	return now, problem.New(badModels, "version %d is not among those that were in force before %d", q.Version, now.Version).
		With("the last %d are kept", keptVersions)
}

// merged returns the model of a message. What old messages do not have is as it was.
func merged(m *poisemsgs.ServoModel, before *model.Model) (*model.Model, error) {
	in := modelfile.Message{Name: m.Name, Kp: m.Kp, Gear: m.Kgear, Alpha: m.Alpha, Speed: m.Vs, Ks: m.Ks,
		Lead: m.Lead, DeadZone: m.DeadZone, Voltage: m.Voltage, Stiffness: m.Stiffness}
	if before != nil {
		in.Gear, in.Ks, in.Lead = cmp.Or(in.Gear, before.Gear), cmp.Or(in.Ks, before.Saturation), cmp.Or(in.Lead, before.Lead)
		in.DeadZone, in.Voltage, in.Stiffness = cmp.Or(in.DeadZone, before.DeadZone), cmp.Or(in.Voltage, before.Voltage), cmp.Or(in.Stiffness, before.Stiffness)
	}
	made, err := in.Model()
	if before != nil {
		made.Effort, made.Backlash, made.Quantum = before.Effort, before.Backlash, before.Quantum
	}
	if err == nil && made.Voltage == 0 {
		err = problem.New(badModels, "voltage is missing")
	}
	return &made, err
}

// tell publishes what is in force.
func (s *servoModels) tell() {
	now := &s.kept[len(s.kept)-1]
	out := poisemsgs.ServoModels{Version: uint32(now.Version), Models: []poisemsgs.ServoModel{}}
	for i, m := range now.Joints {
		if m != nil {
			out.Models = append(out.Models, poisemsgs.ServoModel{Name: s.bot.model.Joints()[i].Name, Kp: m.Kp, Kgear: m.Gear, Alpha: slices.Clone(m.A[:]),
				Vs: m.Speed, Ks: m.Saturation, Lead: m.Lead, DeadZone: m.DeadZone, Voltage: m.Voltage, Stiffness: m.Stiffness})
		}
	}
	s.publish.Publish(&out)
}
