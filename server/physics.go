package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"poise/edge"
	"poise/executive"
	"poise/graph"
	"poise/kinematics"
	"poise/loop"
	"poise/loop/runner"
	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/problem"
	"poise/robot"
	"poise/servo/model"
	"poise/servo/modelfile"
	"poise/servo/physics"
	"poise/sim"
	"poise/sim/world"
	"poise/spatial"
)

// surround reads what a robot with mass stands in, and gives its driver the meshes and the
// pairs of links of the robot's own files.
func (s *Server) surround(settings any) (any, error) {
	given, ok := settings.(*physics.Settings)
	if !ok {
		return settings, nil
	}
	own := *given
	w := &world.World{}
	if own.World != "" {
		data, err := os.ReadFile(own.World)
		if err != nil {
			return nil, fmt.Errorf("world: %w", err)
		}
		if w, err = world.Parse(data, own.World); err != nil {
			return nil, err
		}
	}
	servos, err := s.hiddenServos(own.Servos)
	if err != nil {
		return nil, err
	}
	var report problem.Report
	solid := w.For(s.robot.Model, s.robot.SRDF, "", func(line int, thing, format string, a ...any) {
		report.Errorf(world.Invalid, problem.Pos{File: own.World, Line: max(line, 1)}, thing, format, a...)
	})
	if err := report.Err(); err != nil {
		return nil, err
	}
	ground := solid.Ground(rand.New(rand.NewPCG(uint64(own.Seed), 0x776f726c64)))
	if w.Friction == nil {
		ground.Friction = own.Friction
	}
	own.Around = &physics.Around{Ground: ground, Slope: [2]float64{w.Slope.Roll, w.Slope.Pitch},
		Mesh: world.Meshes(s.robot.Mesh), Touch: solid.Touch, Apart: solid.Apart, Servos: servos}
	return &own, nil
}

// hiddenServos reads the servos that a simulated robot has in place of those that it is said to have.
func (s *Server) hiddenServos(file string) (map[robot.JointID]*model.Model, error) {
	if file == "" {
		return nil, nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("servos: %w", err)
	}
	set, err := modelfile.Read(data, file)
	if err != nil {
		return nil, fmt.Errorf("servos: %w", err)
	}
	out := map[robot.JointID]*model.Model{}
	for i, j := range s.robot.Model.Joints() {
		said := s.robot.Model.Servo(robot.JointID(i))
		found, ok := set.Find(j.Name)
		if !ok && said.Type != "" {
			found, ok = set.Find(said.Type)
		}
		if !ok || j.Virtual {
			continue
		}
		made := found.Model
		if t := said.Model; t != nil {
			made.Gear, made.Voltage = cmp.Or(made.Gear, t.Gear), cmp.Or(made.Voltage, t.Voltage)
			made.Effort, made.Quantum = cmp.Or(made.Effort, t.Effort), cmp.Or(made.Quantum, t.Quantum)
		}
		if made.Voltage == 0 {
			return nil, fmt.Errorf("servos: %s: model %q has no voltage, nor has that of the robot", file, found.Name)
		}
		out[robot.JointID(i)] = &made
	}
	return out, nil
}

// newTime makes the clock of the cycles. Time is simulated if some robot has mass and none
// is hardware.
func (s *Server) newTime(clock runner.Clock) runner.Clock {
	masses, hardware := false, false
	for _, bot := range s.robots {
		masses = masses || bot.body != nil
		hardware = hardware || !bot.can.Simulated
	}
	if !masses || hardware {
		return clock
	}
	s.time = runner.NewSimulated(clock)
	return s.time
}

// serveClock registers the topic of simulated time, for those whose clock is the graph's.
func (s *Server) serveClock() (err error) {
	if s.time == nil {
		return nil
	}
	s.robots[0].topics.clock, err = graph.Topic[msgs.Clock](s.graph, "clock", graph.TopicOptions{})
	return err
}

// stands reports whether time stands still on purpose.
func (s *Server) frozen() bool { return s.time != nil && s.time.Frozen() }

// body is the simulated body of a robot with mass, and what it stands in.
type body struct {
	bot   *servedRobot
	world *physics.World

	state  graph.Publisher[poisemsgs.PhysicsState]
	around graph.Publisher[poisemsgs.PhysicsWorld]

	mu     sync.Mutex   // of all below: the pump's, and those of services that change something
	odom   spatial.Pose // where odometry has the base
	kin    *kinematics.Data
	stance sim.Stance
	truth  *physics.Truth
}

// newBody returns the body of a robot that has one, nil of others.
func newBody(bot *servedRobot) *body {
	d, ok := bot.driver.(*physics.Driver)
	if !ok {
		return nil
	}
	b := &body{bot: bot, world: d.World(), odom: spatial.IdentityPose, kin: kinematics.NewData(bot.model)}
	b.world.See(func(t *physics.Truth) {
		b.truth = t
		b.kin.UpdatePosition(t.Q)
		b.stance = sim.StanceOf(bot.model, b.kin, b.base().P)
	})
	return b
}

// base returns where the base of the robot is.
func (b *body) base() spatial.Pose {
	if !b.bot.model.Floating() {
		return spatial.IdentityPose
	}
	q := b.truth.Q
	return spatial.Pose{R: spatial.Quat{X: q[3], Y: q[4], Z: q[5], W: q[6]}.Matrix(), P: spatial.Vec3{X: q[0], Y: q[1], Z: q[2]}}
}

// advertise registers the topics of the body.
func (b *body) advertise(r *register) {
	b.state = addTopic[poisemsgs.PhysicsState](r, "physics/state", graph.QoS{Latched: true})
	b.around = addTopic[poisemsgs.PhysicsWorld](r, "physics/world", graph.QoS{Latched: true})
	b.around.Publish(b.surroundings())
}

// surroundings tells what of the ground stays as it is.
func (b *body) surroundings() *poisemsgs.PhysicsWorld {
	boxes, field := b.world.Solid()
	out := &poisemsgs.PhysicsWorld{Header: msgs.Header{FrameID: worldFrame}}
	for _, box := range boxes {
		out.Boxes = append(out.Boxes, poisemsgs.PhysicsBox{Pose: edge.Pose(box.Pose), Size: edge.Vector(box.Half.Scale(2))})
	}
	if field != nil {
		out.Origin, out.Cell, out.Columns = msgs.Point{X: field.X0, Y: field.Y0}, field.Cell, uint32(field.NY)
		for _, z := range field.Z {
			out.Heights = append(out.Heights, float32(z))
		}
	}
	return out
}

// show looks at the body anew and publishes its state.
func (b *body) show() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.world.See(func(*physics.Truth) {})
	b.tell()
}

// showBeside shows the body beside where odometry has its base now.
func (b *body) showBeside(odom spatial.Pose) {
	b.mu.Lock()
	b.odom = odom
	b.mu.Unlock()
	b.show()
}

// tell publishes the state of the body as it was last seen.
func (b *body) tell() {
	t := b.truth
	b.state.PublishFunc(func() *poisemsgs.PhysicsState {
		m, s := b.bot.model, b.bot.s
		out := &poisemsgs.PhysicsState{Header: msgs.Header{Stamp: msgs.TimeOf(int64(math.Round(t.Time * 1e9))), FrameID: worldFrame},
			Base: edge.Pose(b.base()), Odometry: edge.Pose(b.odom), Grabbed: t.Grabbed, Voltage: t.Volts, Speed: 1, Achieved: 1}
		b.kin.UpdatePosition(t.Q)
		com, _ := b.kin.Com()
		out.CoM = edge.Vector(com)
		out.Mass = m.Mass()
		if m.Floating() {
			out.Twist = msgs.Twist{Linear: edge.Vector(b.base().R.MulVec(spatial.Vec3{X: t.V[0], Y: t.V[1], Z: t.V[2]})),
				Angular: edge.Vector(b.base().R.MulVec(spatial.Vec3{X: t.V[3], Y: t.V[4], Z: t.V[5]}))}
			out.Fallen = b.fallen()
		}
		if p, ok := sim.ZMP(t.Contacts); ok {
			out.ZMP, out.Carried = msgs.Vector3{X: p.X, Y: p.Y}, true
		}
		for _, c := range t.Contacts {
			out.Contacts = append(out.Contacts, b.contact(c.Link, c.Other, c.Point, c.Force))
		}
		for _, p := range t.Pushes {
			at := b.kin.BodyPose(p.Body).Apply(p.Point)
			out.Pushes = append(out.Pushes, b.contact(m.Bodies()[p.Body].Link, robot.NoFrame, at, p.Force))
		}
		out.Friction, out.Roll, out.Pitch, _, out.Payload = b.world.Ground()
		out.Mass += out.Payload
		if t.Broken != sim.OK {
			out.Fault = t.Broken.String()
		}
		if s.time != nil {
			out.Paused = s.time.Paused()
			if out.Speed, out.Achieved = s.time.Rate(); math.IsInf(out.Speed, 1) {
				out.Speed = 0
			}
		}
		return out
	})
}

func (b *body) contact(link, other robot.FrameID, at, force spatial.Vec3) poisemsgs.PhysicsContact {
	frames := b.bot.model.Frames()
	c := poisemsgs.PhysicsContact{Link: frames[link].Name, Point: msgs.Point(edge.Vector(at)), Force: edge.Vector(force)}
	if other != robot.NoFrame {
		c.Other = frames[other].Name
	}
	return c
}

// fallen judges the robot as it was last seen; the kinematics has its configuration.
func (b *body) fallen() bool {
	_, roll, pitch, _, _ := b.world.Ground()
	return b.stance.Fallen(b.kin, b.base(), spatial.FromRPY(roll, pitch, 0).Col(2), b.truth.Contacts)
}

// answered is the form of all answers about physics.
type answered interface {
	~struct {
		Success      bool                    `json:"success"`
		Message      string                  `json:"message"`
		Explanations []poisemsgs.Explanation `json:"explanations"`
	}
}

// addPhysics serves a service of the world of a robot: what it did not do, it says why.
func addPhysics[Req any, Res answered](b *body, r *register, name string, f func(ctx context.Context, q *Req) error) {
	addService(r, "physics/"+name, func(ctx context.Context, q *Req) (*Res, error) {
		return answerPhysics[Res](ctx, b, "physics "+name, f(ctx, q))
	})
}

// answerPhysics words how a change of the world or of time went, and logs it.
func answerPhysics[Res answered](ctx context.Context, b *body, what string, err error) (*Res, error) {
	answer := struct {
		Success      bool                    `json:"success"`
		Message      string                  `json:"message"`
		Explanations []poisemsgs.Explanation `json:"explanations"`
	}{Success: err == nil, Message: "done"}
	if err != nil {
		all := problem.All("bad_physics", err)
		answer.Message, answer.Explanations = problem.Join(all), edge.Explanations(all)
	}
	result := "ok"
	if err != nil {
		result = answer.Message
	}
	b.bot.audit(executive.Audit{Who: callerOf(ctx), What: what, Result: result})
	b.show() // time may stand still, and with it the topic
	res := Res(answer)
	return &res, nil
}

// serve registers the services of the body and its world.
func (b *body) serve(r *register) {
	w := b.world
	addPhysics[poisemsgs.PhysicsPushRequest, poisemsgs.PhysicsPushResponse](b, r, "push", func(_ context.Context, q *poisemsgs.PhysicsPushRequest) error {
		link, at, err := b.link(q.Link, q.Point)
		if err != nil {
			return err
		}
		return w.Push(link, at, spatial.Vec3(q.Force), q.Duration)
	})
	addPhysics[poisemsgs.PhysicsGrabRequest, poisemsgs.PhysicsGrabResponse](b, r, "grab", func(_ context.Context, q *poisemsgs.PhysicsGrabRequest) error {
		link, at, err := b.link(q.Link, q.Point)
		if err != nil {
			return err
		}
		return w.Grab(link, at, spatial.Vec3(q.Target), q.Stiffness)
	})
	addPhysics[poisemsgs.PhysicsReleaseRequest, poisemsgs.PhysicsReleaseResponse](b, r, "release", func(context.Context, *poisemsgs.PhysicsReleaseRequest) error {
		return w.Release()
	})
	addPhysics[poisemsgs.PhysicsPayloadRequest, poisemsgs.PhysicsPayloadResponse](b, r, "payload", func(_ context.Context, q *poisemsgs.PhysicsPayloadRequest) error {
		link, at, err := b.link(q.Link, []msgs.Point{q.At})
		if err != nil {
			return err
		}
		return w.SetPayload(link, q.Mass, at)
	})
	addPhysics[poisemsgs.PhysicsFrictionRequest, poisemsgs.PhysicsFrictionResponse](b, r, "friction", func(_ context.Context, q *poisemsgs.PhysicsFrictionRequest) error {
		return w.SetFriction(q.Friction)
	})
	addPhysics[poisemsgs.PhysicsSlopeRequest, poisemsgs.PhysicsSlopeResponse](b, r, "slope", func(_ context.Context, q *poisemsgs.PhysicsSlopeRequest) error {
		return w.SetSlope(q.Roll, q.Pitch)
	})
	addPhysics[poisemsgs.PhysicsVoltageRequest, poisemsgs.PhysicsVoltageResponse](b, r, "voltage", func(_ context.Context, q *poisemsgs.PhysicsVoltageRequest) error {
		return w.SetVoltage(q.Voltage)
	})
	addPhysics[poisemsgs.PhysicsLossRequest, poisemsgs.PhysicsLossResponse](b, r, "loss", func(_ context.Context, q *poisemsgs.PhysicsLossRequest) error {
		return w.SetLoss(q.Loss)
	})
	addPhysics[poisemsgs.PhysicsDropRequest, poisemsgs.PhysicsDropResponse](b, r, "drop", func(_ context.Context, q *poisemsgs.PhysicsDropRequest) error {
		return w.Drop(q.Height)
	})
	addPhysics[poisemsgs.PhysicsPutBackRequest, poisemsgs.PhysicsPutBackResponse](b, r, "put_back", func(ctx context.Context, _ *poisemsgs.PhysicsPutBackRequest) error {
		return b.putBack(ctx)
	})
	if b.bot.s.time != nil {
		b.serveTime(r)
	}
}

// serveTime registers the services of simulated time, which is that of all robots.
func (b *body) serveTime(r *register) {
	clock := b.bot.s.time
	addPhysics[poisemsgs.PhysicsPauseRequest, poisemsgs.PhysicsPauseResponse](b, r, "pause", func(ctx context.Context, _ *poisemsgs.PhysicsPauseRequest) error {
		clock.Pause()
		return b.stood(ctx)
	})
	addPhysics[poisemsgs.PhysicsResumeRequest, poisemsgs.PhysicsResumeResponse](b, r, "resume", func(context.Context, *poisemsgs.PhysicsResumeRequest) error {
		clock.Resume()
		return nil
	})
	addPhysics[poisemsgs.PhysicsStepRequest, poisemsgs.PhysicsStepResponse](b, r, "step", func(ctx context.Context, q *poisemsgs.PhysicsStepRequest) error {
		if q.Steps == 0 || q.Steps > mostSteps {
			return fmt.Errorf("%d steps are not within 1 … %d", q.Steps, mostSteps)
		}
		if !clock.Step(uint64(q.Steps)) {
			return errors.New("simulated time runs: pause it first (physics/pause)")
		}
		return b.stood(ctx)
	})
	addPhysics[poisemsgs.PhysicsSetSpeedRequest, poisemsgs.PhysicsSetSpeedResponse](b, r, "set_speed", func(_ context.Context, q *poisemsgs.PhysicsSetSpeedRequest) error {
		speed := q.Speed
		if speed == 0 {
			speed = math.Inf(1)
		}
		if math.IsInf(q.Speed, 0) || !clock.SetRate(speed) {
			return fmt.Errorf("a speed of %g is not within 0.01 … 1000 times real time, nor 0 for as fast as possible", q.Speed)
		}
		return nil
	})
}

// stood waits until the ticks that are still to be made are over.
func (b *body) stood(ctx context.Context) error {
	for clock := b.bot.s.time; clock.Paused() && !clock.Frozen(); {
		if err := sleep(ctx, time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// mostSteps is how many steps of time can be asked for at once.
const mostSteps = 1_000_000

// sleep waits for a time, or until ctx is done.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// link finds a link, and a point in its frame: the one that is given, or its centre of mass.
func (b *body) link(name string, points []msgs.Point) (robot.FrameID, spatial.Vec3, error) {
	id, ok := b.bot.model.Frame(name)
	if !ok {
		return 0, spatial.Vec3{}, problem.Unknown("unknown_link", "link", name, world.LinkNames(b.bot.model))
	}
	if len(points) > 0 {
		return id, spatial.Vec3(points[0]), nil
	}
	return id, world.Centre(b.bot.model, name), nil
}

// putBack puts the robot back on its feet, at rest and with torque: what it did ends, stops
// and faults are reset. Time goes on for that, and then stands still again if it did.
func (b *body) putBack(ctx context.Context) error {
	bot, who := b.bot, callerOf(ctx)
	if clock := bot.s.time; clock != nil && clock.Paused() {
		clock.Resume()
		defer clock.Pause()
	}
	if bot.exec.State().Power != loop.Ready { // the torque goes first, so that it begins where it is put
		if _, err := waitFor(ctx, bot.exec.Power(who, false)); err != nil {
			return err
		}
	}
	if err := b.world.PutBack(bot.model.RestPositions()); err != nil {
		return err
	}
	for b.world.Pending() {
		if err := sleep(ctx, time.Millisecond); err != nil {
			return err
		}
	}
	var faults []problem.Problem
	for range putBackRounds { // faults are over some ticks after what caused them
		faults = nil
		for _, ask := range []func() *executive.Answer{
			func() *executive.Answer { return bot.exec.Reset(who) },
			func() *executive.Answer { return bot.exec.Power(who, true) },
		} {
			o, err := waitFor(ctx, ask())
			if err != nil {
				return err
			}
			faults = append(faults, o.Explanations...)
		}
		if len(faults) == 0 {
			return nil
		}
		if err := sleep(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
	errs := make([]error, len(faults))
	for i := range faults {
		errs[i] = &faults[i]
	}
	return errors.Join(errs...)
}

// putBackRounds is how often a robot that was put back is given its torque.
const putBackRounds = 10
