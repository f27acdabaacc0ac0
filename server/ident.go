package server

import (
	"context"
	"fmt"
	"time"

	"poise/arbiter"
	"poise/control/excite"
	"poise/executive"
	"poise/identify/session"
	"poise/loop"
	"poise/msgs"
	"poise/robot"
	"poise/servo"
	"poise/servo/model"
)

// identifies prepares the identification of a robot's servos: its tap is in the configuration of the loop.
func (bot *servedRobot) identifies(cfg *loop.Config) error {
	set := &cfg.Settings
	r := session.Robot{Name: bot.name, Model: bot.model, Assumed: set.Transition, Period: bot.period.Seconds(),
		Exact: bot.can.Exact, Stepped: bot.can.Simulated, Shares: bot.can.Stiffness,
		Hottest: set.Faults[loop.Overheat].Threshold, LeastVoltage: set.Faults[loop.LowVoltage].Threshold,
		Owner: bot.gives, Folder: bot.s.identifiedFolder(), Now: time.Now}
	if bot.models != nil {
		r.Models = bot.models
	}
	x, tap, err := session.New(r, cfg.Tap)
	if err != nil {
		return err
	}
	bot.ident, cfg.Tap = x, tap
	return nil
}

// gives names a controller, and says whether it gives its joints away to one that was asked for.
func (bot *servedRobot) gives(id arbiter.ClientID) (string, bool) {
	for i := range bot.seats {
		seat := &bot.seats[i].Loop
		if own, ok := bot.loop.Controller(seat.Name); ok && own == id {
			return seat.Name, seat.Operational < identPriority(bot)
		}
	}
	return "of another kind", false
}

// identPriority is that of identification while it asks.
func identPriority(bot *servedRobot) float32 {
	for i := range bot.seats {
		if bot.seats[i].Loop.Kind == excite.Kind.Name {
			return bot.seats[i].Loop.Pending
		}
	}
	return 0
}

// identification begins one.
func (bot *servedRobot) identification(request any, now *loop.Snapshot) (executive.ExperimentRun, []executive.Explanation) {
	s, why := bot.ident.Begin(*request.(*session.Request), now)
	if len(why) > 0 {
		return nil, why
	}
	return &identRun{s}, nil
}

// identRun is an identification as the executive performs it.
type identRun struct{ s *session.Run }

func (x *identRun) Plan(ctx context.Context, now *loop.Snapshot) (executive.ExperimentPlan, []executive.Explanation) {
	p, why := x.s.Plan(ctx, now)
	if len(why) > 0 {
		return executive.ExperimentPlan{}, why
	}
	if p == nil {
		return executive.ExperimentPlan{Found: x.s.Looked()}, nil
	}
	out := executive.ExperimentPlan{Program: p, Duration: p.Duration()}
	for _, part := range p.Times.Ends() {
		out.Stages = append(out.Stages, executive.Stage{Phase: executive.Phase(part.Part), End: part.End})
	}
	return out, nil
}

func (x *identRun) Evaluate(ctx context.Context, tell func(executive.Phase, float64)) (any, []executive.Explanation) {
	out, why := x.s.Fit(ctx, func(progress float64) { tell(executive.Evaluating, progress) })
	return out, why
}

func (x *identRun) End() { x.s.End() }

// misfits adds servos that do not behave by their models any more to diagnostics.
func (bot *servedRobot) misfits(out *msgs.DiagnosticArray) {
	for _, m := range bot.ident.Monitor().Misfits() {
		s := msgs.DiagnosticStatus{Level: levelWarn, Name: bot.name + "/servo fit/" + m.Joint, HardwareID: bot.name,
			Message: fmt.Sprintf("the servo does not behave by its model: it errs by %.4f rad (RMS), at most %g may be; servo_ident finds a new one", m.Error, m.Limit)}
		for i := range m.Parameters {
			s.Values = append(s.Values, msgs.KeyValue{Key: fmt.Sprintf("a%d", i), Value: fmt.Sprintf("%.4g", m.Parameters[i])},
				msgs.KeyValue{Key: fmt.Sprintf("a%d_model", i), Value: fmt.Sprintf("%.4g", m.Model[i])})
		}
		out.Status = append(out.Status, s)
	}
}

// identifiedFolder returns the folder of logs and models of identification.
func (s *Server) identifiedFolder() string { return s.userFolder(s.cfg.Identified, "identified") }

// InForce returns the model of a joint; nil without one. It waits for nothing: what answers a change
// of models asks it.
func (s *servoModels) InForce(j robot.JointID) *model.Model { return s.newest.Load().Joints[j] }

// Adopt lets identified models be taken over, under the next version.
func (s *servoModels) Adopt(ctx context.Context, models map[robot.JointID]*model.Model) (uint64, error) {
	done, err := s.takeTurn(ctx)
	if err != nil {
		return s.newest.Load().Version, err
	}
	defer done()
	now := s.kept[len(s.kept)-1]
	next := servo.ModelSet{Version: now.Version + 1, Joints: append([]*model.Model(nil), now.Joints...)}
	for j, m := range models {
		next.Joints[j] = m
	}
	if err := s.inForce(ctx, "servo_ident", next); err != nil {
		return now.Version, err
	}
	return next.Version, nil
}

var _ session.Models = (*servoModels)(nil)
