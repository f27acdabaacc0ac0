package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"poise/control"
	"poise/control/follow"
	"poise/control/walk"
	"poise/controllers"
	"poise/edge"
	"poise/executive"
	"poise/executive/explain"
	"poise/feedforward"
	"poise/identify/session"
	"poise/loop"
	"poise/msgs/poisemsgs"
	"poise/planner/pipeline"
	"poise/problem"
	"poise/robot"
	"poise/robot/summary"
	"poise/server/config"
	"poise/servo"
	servotopics "poise/servo/topics"
)

// servedRobot is one robot of the list: its driver, its cycle and its executive.
type servedRobot struct {
	s      *Server
	name   string
	first  bool                  // graph names without a robot's name are its own
	frames string                // prefix of its frames in tf: "" for the first robot, else its name and a slash
	driver servo.Driver          // open until the server ends
	can    servo.Capabilities    // of the driver
	about  poisemsgs.DrivenRobot // the same for robot_info
	model  *robot.Model
	loop   *loop.Loop
	exec   *executive.Executive
	recent recentState // of the executive
	period time.Duration
	set    config.Robot // how it is to start, react and be left

	noCycle1 bool // it lacks masses: cycle 0 is used in place of the one that is configured

	record   recording
	overruns overruns

	every   *everyCycle // nil if the newest state is often enough
	topics  *topics
	body    *body        // of a robot with mass; nil of others
	models  *servoModels // of servos that behave by them; nil of others
	feels   bool         // what touches it
	ident   *session.Identifier
	seats   []controllers.Seat
	unfit   map[string]error // why kinds of controllers do not suit the robot
	actions map[string]edge.Action
	outside []controllers.Stream // references of external controllers
}

// register puts the topics, services and actions of the robot into the graph.
func (bot *servedRobot) register() *register {
	return &register{graph: bot.s.graph, exec: bot.exec, robot: bot.name, first: bot.first, life: bot.s.life, background: &bot.s.background, model: bot.model, actions: bot.actions,
		explained: func(x *poisemsgs.GoalExplanations) { bot.topics.explained.Publish(x) }}
}

// planning is what MoveIt offers, for this robot.
func (bot *servedRobot) planning() *planning {
	return &planning{model: bot.model, exec: bot.exec, exact: bot.can.Exact, name: bot.s.robot.Model.Name(), plans: bot.s.pipelines().Names()}
}

// addRobot opens the driver of a robot and makes its loop, executive and topics. The robot
// has no torque yet.
func (s *Server) addRobot(ctx context.Context, r config.Robot) error {
	bot := &servedRobot{s: s, name: r.Name, first: len(s.robots) == 0, model: s.robot.Model, period: s.cfg.Period(), set: r, actions: map[string]edge.Action{}}
	if !bot.first {
		bot.frames = bot.name + "/"
	}
	var err error
	if bot.driver, bot.period, err = s.open(ctx, r); err != nil {
		return fmt.Errorf("robot %q, driver %s: %w", r.Name, r.Driver, err)
	}
	if by, ok := bot.driver.(servo.Rester); ok {
		if err := s.guard.Rest(r.Name, by.Rest()); err != nil {
			return errors.Join(err, bot.driver.Close())
		}
	}
	bot.can = bot.driver.Capabilities()
	bot.body = newBody(bot)
	bot.about = edge.DrivenRobot(r.Name, r.Driver, bot.driver)
	bot.about.HasMass = bot.body != nil
	s.robots = append(s.robots, bot) // from here on closeDrivers closes its driver
	return bot.assemble()
}

// open constructs, opens and calibrates the driver of a robot, and says which period its
// cycle has.
func (s *Server) open(ctx context.Context, r config.Robot) (servo.Driver, time.Duration, error) {
	entry, ok := s.drivers.Find(r.Driver)
	if !ok {
		return nil, 0, errors.New("there is no such driver")
	}
	if r.Settings == nil {
		r.Settings = entry.Settings()
	}
	settings, err := s.surround(r.Settings)
	if err != nil {
		return nil, 0, err
	}
	d, err := entry.New(s.robot.Model, s.cfg.Loop.Period, settings)
	if err != nil {
		return nil, 0, err
	}
	period := s.cfg.Period()
	if p, ok := d.(servo.Paced); ok {
		if period, err = s.paced(p); err != nil {
			return nil, 0, err
		}
		if d, err = entry.New(s.robot.Model, period.Seconds(), settings); err != nil {
			return nil, 0, err
		}
	}
	if t, ok := d.(*servotopics.Driver); ok {
		s.link(t, r.Name)
	}
	if err := d.Open(ctx); err != nil {
		return nil, 0, err
	}
	if c, ok := d.(servo.Calibrator); ok {
		if err := c.Calibrate(ctx); err != nil {
			return nil, 0, errors.Join(fmt.Errorf("calibration: %w", err), d.Close())
		}
	}
	return d, period, nil
}

// paced returns the period of a machine that has a rhythm of its own: that rhythm, or the
// one that is configured, if the machine keeps up with it.
func (s *Server) paced(d servo.Paced) (time.Duration, error) {
	seconds, err := d.Rhythm()
	if err != nil {
		return 0, err
	}
	rhythm := time.Duration(seconds * float64(time.Second))
	switch period := s.cfg.Period(); {
	case !s.fixedPeriod:
		return rhythm, nil
	case period < rhythm:
		return 0, fmt.Errorf("loop.period is %v, in which its lines cannot carry goals and states of all servos; %v would fit, as would a higher baud rate or more lines", period, rhythm)
	default:
		return period, nil
	}
}

// adopt says which servos are missing, and gives those that were found with torque to the
// cycle, where they are.
func (bot *servedRobot) adopt(ctx context.Context, driver servo.Driver) {
	d, ok := driver.(servo.Adopter)
	if !ok {
		return
	}
	var names []string
	for _, j := range d.Holding() {
		names = append(names, bot.model.Joints()[j].Name)
	}
	if len(names) == 0 {
		return
	}
	bot.s.log.Info("servos hold already, and are adopted where they are", "robot", bot.name, "joints", strings.Join(names, ", "))
	for bot.exec.State().Power != loop.Ready {
		select {
		case <-ctx.Done():
			return
		case <-time.After(5 * time.Millisecond):
		}
	}
	if _, err := waitFor(ctx, bot.exec.SetTorque("server", true, names)); err != nil {
		bot.s.log.Warn("servos that hold could not be adopted", "robot", bot.name, "why", err)
	}
}

// closeDrivers closes every driver that is open, and tells how each robot of a cycle that ran was left. If the cycle has
// let go of the servos, the guard need not do it.
func (s *Server) closeDrivers(letGo, ran bool) error {
	var errs []error
	for _, bot := range s.robots {
		if bot.driver == nil {
			continue
		}
		if err := bot.driver.Close(); err != nil {
			errs = append(errs, fmt.Errorf("robot %q: %w", bot.name, err))
		}
		if ran {
			var unconfirmed []string
			if d, ok := bot.driver.(servo.Releaser); ok {
				unconfirmed = d.Unconfirmed()
			}
			bot.tellLeft(unconfirmed)
		}
		if _, ok := bot.driver.(servo.Rester); ok && letGo {
			errs = append(errs, s.guard.Rest(bot.name, nil))
		}
		bot.driver = nil
	}
	return errors.Join(errs...)
}

// settings returns the settings of the robot's loop: those of the configuration, with what its driver and its
// description say.
func (bot *servedRobot) settings() (settings loop.Settings, err error) {
	s := bot.s
	if settings, err = s.cfg.Settings(); err != nil {
		return settings, err
	}
	settings.Sensors = bot.can.Sensors
	settings.Inversion.Lead.Time = bot.lead()
	settings.Inversion.Beyond = servo.Beyond(bot.period.Seconds(), settings.Inversion.Lead.Time)
	bot.invertByModel(&settings.Inversion, &settings.ByModel)
	bot.about.ByModel = settings.ByModel
	bot.feel(&settings)
	bot.about.Feels = bot.feels
	if _, ok := bot.driver.(servo.Paced); ok { // a slow line may miss some answers
		stale := &settings.Faults[loop.StaleReading]
		stale.Threshold = max(stale.Threshold, staleCycles*bot.period.Seconds())
	}
	if d, ok := bot.driver.(servo.Surveyor); ok {
		s.log.Info("servos answer", "robot", bot.name, "servos", strings.Join(d.Found(), "; "))
		for _, why := range d.Beyond() {
			s.log.Warn("servo beyond its limits: "+why, "robot", bot.name)
		}
	}
	if d, ok := bot.driver.(servo.Bounded); ok {
		settings.TorqueWithin = d.Within()
	}
	if d, ok := bot.driver.(servo.Adopter); ok {
		missing, why := d.Missing()
		for i, j := range missing {
			settings.Absent = settings.Absent.With(robot.LeafID(j))
			s.log.Warn("servo is missing: "+why[i], "robot", bot.name)
		}
	}
	if settings.Cycle1, err = bot.cycle1(); err != nil {
		return settings, fmt.Errorf("robot %q: %w", bot.name, err)
	}
	settings.Cycle2, settings.WholeBody = bot.set.Cycle == 2, bot.set.WholeBody.Stage()
	if err := bot.live(&settings); err != nil {
		return settings, fmt.Errorf("robot %q: %w", bot.name, err)
	}
	if bot.model.TransitionAcceleration().Has {
		settings.Transition.Acceleration = 0 // the robot's own
	}
	return settings, nil
}

// assemble makes the loop, the executive and the topics.
func (bot *servedRobot) assemble() error {
	s, m := bot.s, bot.model
	settings, err := bot.settings()
	if err != nil {
		return err
	}
	if bot.seats, bot.unfit, err = controllers.Fit(m, settings.Transition, s.cfg.Controllers.Tuning()); err != nil {
		return err
	}
	cfg := loop.Config{Model: m, Bus: bot.driver, Settings: settings}
	known := make([]executive.Controller, len(bot.seats))
	for i, seat := range bot.seats {
		cfg.Controllers = append(cfg.Controllers, seat.Loop)
		known[i] = seat.Executive
	}
	s.failed = errors.Join(s.failed, bot.startRecord(&cfg)) // its header needs all of cfg
	if err := bot.identifies(&cfg); err != nil {
		return err
	}
	if s.cfg.Rates.JointStates > pumped {
		bot.every = newEveryCycle(len(m.Joints()), cfg.Tap)
		cfg.Tap = bot.every
	}
	if bot.loop, err = loop.New(cfg); err != nil {
		return err
	}
	bot.exec, err = executive.New(executive.Config{
		Model: m, Loop: bot.loop, Confirm: bot.confirms(), Controllers: known, Absent: settings.Absent, Pipelines: s.pipelines(), Library: s.library, Experiment: bot.identification,
		FeedbackRate: s.cfg.Rates.Feedback, Lease: time.Duration(settings.Lease), PerSession: s.cfg.Limits.Controllers, Patience: time.Duration(s.cfg.Loop.Silence * 1e9), Follow: follow.Options{Transition: settings.Transition},
		Event: bot.event, Felt: bot.felt, Notice: bot.notice, Audit: bot.audit,
		Snapshot: func(now *loop.Snapshot) time.Duration { return bot.topics.snapshot(now) },
		Keep:     keepResults, Go: s.spawn, Plans: s.plans, Frozen: s.frozen,
	})
	if err != nil {
		return err
	}
	bot.topics, err = newTopics(bot)
	return err
}

// serve registers what the robot has on the graph.
func (bot *servedRobot) serve() error {
	r := bot.register()
	bot.serveGoals(r)
	bot.serveCommands(r)
	bot.planning().serve(r)
	bot.serveTrajectories(r)
	bot.serveGripper(r)
	if bot.body != nil {
		bot.body.serve(r)
	}
	return r.err
}

// lead returns how far ahead servos are told where to be, s, and says so.
func (bot *servedRobot) lead() float64 {
	cfg := bot.s.cfg.Loop.Lead
	lead, why := leadOf(cfg, &bot.can, bot.period), "as configured"
	switch {
	case cfg >= 0:
	case lead == 0:
		why = "setpoints of its driver act at once"
	default:
		why = "what its driver asks for"
	}
	bot.s.log.Info("setpoints aim ahead", "robot", bot.name, "lead", lead, "periods", lead/bot.period.Seconds(), "why", why)
	return lead
}

// cycle1 returns the joints that are driven by cycle 1 from the start, as configured.
func (bot *servedRobot) cycle1() (robot.Set, error) {
	if bot.set.Cycle == 0 {
		return robot.Set{}, nil
	}
	if _, lacks := feedforward.New(bot.model, make([]float64, len(bot.model.Joints()))); lacks != nil {
		bot.s.log.Warn("cycle 0 is used, not the one that is configured", "robot", bot.name, "cycle", bot.set.Cycle, "why", lacks)
		bot.noCycle1 = true
		return robot.Set{}, nil
	}
	if lacks := summary.CycleOneLacks(bot.model); len(lacks) > 0 {
		bot.s.log.Warn("cycle 1 does not know all that it needs", "robot", bot.name, "lacks", strings.Join(lacks, "; "))
	}
	all := control.JointLeaves(len(bot.model.Joints()))
	if len(bot.set.CycleResources) == 0 {
		return all, nil
	}
	words, err := explain.New(bot.model, nil)
	if err != nil {
		return robot.Set{}, err
	}
	set, unknown := words.Set(bot.set.CycleResources)
	if len(unknown) > 0 {
		return robot.Set{}, fmt.Errorf("cycle_resources: %s", problem.Join(unknown))
	}
	return set.Intersect(all), nil
}

// leadOf returns how far ahead servos are told where to be, s: as configured, or below zero as
// their driver asks for.
func leadOf(configured float64, can *servo.Capabilities, period time.Duration) float64 {
	if configured < 0 {
		return can.Lead * period.Seconds()
	}
	return configured
}

// live says what the robot does after a gap of its cycle and at the end, as it is
// declared or as suits its driver.
func (bot *servedRobot) live(s *loop.Settings) error {
	if bot.set.Start == config.StartPowered && !bot.can.Simulated {
		return errors.New("start is powered, but its driver moves hardware, which starts limp; set_torque or set_power give it torque")
	}
	if s.GapPauses = bot.can.Simulated; bot.set.AfterGap != "" {
		s.GapPauses = bot.set.AfterGap == config.GapPauses
	}
	leaving := bot.leaving()
	s.Leave = loop.Leaving{Speed: leaving.Speed, Deadline: leaving.Deadline}
	if leaving.Do == "" {
		return nil
	}
	if err := s.Leave.Do.UnmarshalText([]byte(leaving.Do)); err != nil || s.Leave.Do != loop.LeaveRest {
		return err
	}
	pose, ok := bot.model.Pose(leaving.Pose)
	if !ok {
		var known []string
		for _, p := range bot.model.Poses() {
			known = append(known, p.Name)
		}
		return fmt.Errorf("leaving: %w", problem.Unknown("unknown_pose", "pose", leaving.Pose, known))
	}
	for i, id := range pose.Joints {
		if len(pose.Q[i]) == 1 {
			s.Leave.Rest = append(s.Leave.Rest, loop.RestPlace{Joint: id, Position: pose.Q[i][0]})
		}
	}
	return nil
}

// leaving is what the robot does at the end: as the configuration says or, where it says
// nothing, as the robot itself declares.
func (bot *servedRobot) leaving() config.Leaving {
	own, said := config.Leaving(bot.model.Leaving()), bot.set.Leaving
	if said.Do != "" && said.Do != own.Do {
		return said
	}
	return config.Leaving{Do: cmp.Or(said.Do, own.Do), Pose: cmp.Or(said.Pose, own.Pose), Speed: cmp.Or(said.Speed, own.Speed), Deadline: cmp.Or(said.Deadline, own.Deadline)}
}

// staleCycles is how many cycles in a row a servo on a line may be silent before that is a
// fault, if they take longer than faults.stale_reading.
const staleCycles = 10

// starts reports whether the robot gets torque without being asked for it: a simulated
// one may.
func (bot *servedRobot) starts() bool { return bot.can.Simulated && bot.set.Start != config.StartLimp }

// assumed lists the joints without an acceleration limit: their hand-overs and stops use
// loop.transition_acceleration.
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

// Assumed describes the limits that are assumed for want of others, "" if none are.
func (s *Server) Assumed() string {
	joints := s.assumed()
	if len(joints) == 0 {
		return ""
	}
	help := ""
	if !s.robot.Shipped {
		help = "; poise new-robot " + s.robot.File + " proposes limits"
	}
	return fmt.Sprintf("%d of %d joints have no acceleration limit (%s): hand-overs and stops use %g rad/s² or m/s² (loop.transition_acceleration)%s",
		len(joints), len(s.robot.Model.Joints()), shorten(joints), s.cfg.Loop.Transition, help)
}

// NoWalk says why a robot that stands on legs does not walk, "" if it does or has none.
func (s *Server) NoWalk() string {
	for _, bot := range s.robots {
		if why := bot.unfit[walk.Kind.Name]; why != nil && len(robot.LegJoints(bot.model)) > 0 {
			return why.Error()
		}
	}
	return ""
}

// shorten lists the first of many names.
func shorten(names []string) string {
	const few = 3
	if len(names) > few {
		return strings.Join(names[:few], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}

// pipelines returns the planning pipelines, the configured default first.
func (s *Server) pipelines() pipeline.Set {
	sampling := s.cfg.Planner.Sampling
	if sampling == 0 {
		sampling = s.cfg.Loop.Period
	}
	plans := pipeline.Standard(s.robot.Model, pipeline.Sampling{Own: sampling, Coarser: s.cfg.Planner.Sampling == 0})
	for _, other := range s.others {
		for i := range plans {
			if plans[i].Name == other.Name {
				plans[i] = other
			}
		}
	}
	return plans.First(s.cfg.Planner.Pipeline)
}
