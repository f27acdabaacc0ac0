package server

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"poise/control"
	"poise/control/follow"
	"poise/control/hold"
	"poise/control/kind"
	"poise/control/lookat"
	"poise/control/stance"
	"poise/control/stream"
	"poise/control/torqueoff"
	"poise/dynamics"
	"poise/executive"
	"poise/kinematics"
	"poise/loop"
	"poise/planner/pilz"
	"poise/planner/smooth"
	"poise/robot"
	"poise/server/config"
	"poise/servo/sim"
	"poise/spatial"
)

// instance is one robot: a simulated one in this version, be it the virtual robot
// or the one that plays the real.
type instance struct {
	s      *Server
	name   string // "virtual" or "real"
	prefix string // of its names in the graph: "" or "real/"
	frames string // of its frames in tf: "" or "real/"
	model  *robot.Model
	loop   *loop.Loop
	bus    *sim.Bus
	exec   *executive.Executive
	period time.Duration

	topics   *topics
	parts    []part
	switched []string // controllers with set_operational
}

// part is a controller of an instance: how the cycle runs it, what the executive
// knows of it.
type part struct {
	loop.Registration
	operate   func(set robot.Set, now *loop.Snapshot) (control.Program, error)
	resources []string
	remote    bool
}

// Priorities of controllers: what people do by hand wins over what was asked for,
// which wins over what goes on by itself.
const (
	byHand     = 90
	asked      = 50
	fromStream = 40
	background = 20
)

// trajectories is how many trajectories can run side by side, each on other joints;
// remotes how many controllers outside can work at a time.
const (
	trajectories = 4
	remotes      = 4
)

// controllers lists what every instance has. A robot that a kind does not suit, such
// as an arm that cannot stand, goes without it.
func controllers(m *robot.Model, assumed control.Transition) (all []part, err error) {
	resources, err := m.Resources()
	if err != nil {
		return nil, err
	}
	var everything, legs []string
	for _, r := range resources.List() {
		everything = append(everything, r.Name)
	}
	for _, c := range m.Chains() {
		if c.Contact != robot.NoContact {
			legs = append(legs, c.Name)
		}
	}
	var errs []error
	add := func(p part, kindName string, priority float32) {
		k, ok := kind.Find(kindName)
		if !ok {
			errs = append(errs, fmt.Errorf("there is no kind of controllers %q", kindName))
			return
		}
		c, err := k.New(m, assumed)
		switch {
		case errors.Is(err, control.ErrUnfit):
		case err != nil:
			errs = append(errs, fmt.Errorf("controller %s: %w", p.Name, err))
		default:
			p.Kind, p.Controller, p.Pending, p.Operational = kindName, c, priority, priority
			all = append(all, p)
		}
	}
	named := func(name string) loop.Registration { return loop.Registration{Name: name} }
	for i := range trajectories {
		add(part{Registration: named(numbered("trajectory", i))}, "follow", asked)
	}
	add(part{Registration: named("pose")}, "pose", asked)
	add(part{Registration: named("joint_state"), resources: everything,
		operate: func(set robot.Set, _ *loop.Snapshot) (control.Program, error) {
			return &stream.Program{Wants: set}, nil
		}}, "stream", fromStream)
	for i := range remotes {
		add(part{Registration: named(numbered("remote", i)), remote: true,
			operate: func(set robot.Set, _ *loop.Snapshot) (control.Program, error) {
				return &stream.Program{Needs: set}, nil
			}}, "stream", fromStream)
	}
	add(part{Registration: named("hold"), resources: everything,
		operate: func(set robot.Set, _ *loop.Snapshot) (control.Program, error) { return &hold.Program{Wants: set}, nil }}, "hold", background)
	add(part{Registration: named("torque_off"), resources: everything,
		operate: func(set robot.Set, _ *loop.Snapshot) (control.Program, error) {
			return &torqueoff.Program{Needs: set}, nil
		}}, "torque_off", byHand)
	add(part{Registration: named("stance"), resources: legs,
		operate: func(set robot.Set, _ *loop.Snapshot) (control.Program, error) { return stand(m, set) }}, "stance", background)
	add(part{Registration: named("look_at"), resources: face(m),
		operate: func(set robot.Set, _ *loop.Snapshot) (control.Program, error) { return look(m, set) }}, "look_at", background)
	if len(legs) > 0 {
		add(part{Registration: named("step")}, "step", asked)
	}
	return all, errors.Join(errs...)
}

// stand returns the program that stands on the legs of which all joints are in a set.
func stand(m *robot.Model, set robot.Set) (control.Program, error) {
	resources, err := m.Resources()
	if err != nil {
		return nil, err
	}
	var legs []string
	for _, c := range m.Chains() {
		missing := func(j robot.JointID) bool { return !set.Has(resources.OfJoint(j)) }
		if c.Contact != robot.NoContact && !slices.ContainsFunc(c.Joints, missing) {
			legs = append(legs, c.Name)
		}
	}
	if len(legs) == 0 {
		return nil, errors.New("no whole leg is among the resources")
	}
	return stance.Stand(m, legs...)
}

// ahead is where a robot looks that nobody has shown anything: straight on.
var ahead = spatial.Vec3{X: 10}

// look returns the program that looks straight on with some of eyes and head.
func look(m *robot.Model, set robot.Set) (control.Program, error) {
	p, err := lookat.At(m, ahead)
	if err != nil {
		return nil, err
	}
	p.Target.InBase = true
	p.Needs, p.Wants = p.Needs.Intersect(set), p.Wants.Intersect(set)
	if p.Needs.Empty() {
		p.Needs, p.Wants = p.Wants, robot.Set{}
	}
	if p.Needs.Empty() {
		return nil, errors.New("neither eyes nor head are among the resources")
	}
	return p, nil
}

// face names the resources that look: all of which a part can turn eyes or head.
func face(m *robot.Model) (names []string) {
	p, err := lookat.At(m, ahead)
	resources, err2 := m.Resources()
	if err != nil || err2 != nil {
		return nil // such a robot does not look
	}
	all := p.Needs.Union(p.Wants)
	for _, r := range resources.List() {
		if r.Set.Overlaps(all) {
			names = append(names, r.Name)
		}
	}
	return names
}

func numbered(name string, i int) string {
	if i == 0 {
		return name
	}
	return fmt.Sprintf("%s_%d", name, i+1)
}

// newInstance makes a robot that stands still with its power off.
func (s *Server) newInstance(name string, servos sim.Servo) (*instance, error) {
	m := s.robot.Model
	in := &instance{s: s, name: name, model: m, period: s.cfg.Period()}
	if name == "real" {
		in.prefix, in.frames = "real/", "real/"
	}
	settings, err := s.cfg.Settings()
	if err != nil {
		return nil, err
	}
	if m.TransitionAcceleration().Has {
		settings.Transition.Acceleration = 0 // the robot's own
	}
	parts, err := controllers(m, settings.Transition)
	if err != nil {
		return nil, err
	}
	in.parts = parts
	simulated := sim.Config{Servos: make([]sim.Servo, len(m.Joints())), Position: restPose(m), Seed: uint64(s.cfg.Sim.Seed)}
	if name == "real" {
		simulated.Servos, simulated.Load = realServos(m, servos), gravityLoad(m)
	}
	in.bus = sim.New(simulated)
	cfg := loop.Config{Model: m, Bus: in.bus, Settings: settings}
	known := make([]executive.Controller, len(parts))
	for i, p := range parts {
		cfg.Controllers = append(cfg.Controllers, p.Registration)
		known[i] = executive.Controller{Name: p.Name, Kind: p.Kind, Operate: p.operate, Resources: p.resources, Remote: p.remote}
		if p.operate != nil && !p.remote {
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

// restPose is where a simulated robot begins: standing or at home if it knows such a
// pose, otherwise as near to zero as its limits allow.
func restPose(m *robot.Model) []float64 {
	q := make([]float64, len(m.Joints()))
	for i, j := range m.Joints() {
		lower, upper := math.Inf(-1), math.Inf(1)
		if j.Limits.Lower.Has {
			lower = j.Limits.Lower.Value
		}
		if j.Limits.Upper.Has {
			upper = j.Limits.Upper.Value
		}
		q[i] = min(max(0, lower), upper)
	}
	for _, name := range []string{"stand", "home", "ready"} {
		found := false
		for _, p := range m.Poses() {
			if p.Name != name && !strings.HasSuffix(p.Name, "/"+name) {
				continue
			}
			found = true
			for i, j := range p.Joints {
				q[j] = p.Q[i][0]
			}
		}
		if found {
			break
		}
	}
	return q
}

// realServos gives every joint of the simulated real robot such a servo, as stiff as
// its joint is strong if nobody says how stiff.
func realServos(m *robot.Model, like sim.Servo) []sim.Servo {
	all := make([]sim.Servo, len(m.Joints()))
	for i, j := range m.Joints() {
		if j.Virtual {
			continue // nothing moves it, so nothing lags
		}
		all[i] = like
		if like.Stiffness == 0 && j.Limits.Effort.Has {
			all[i].Stiffness = config.StiffnessPerEffort * j.Limits.Effort.Value
		}
	}
	return all
}

// gravityLoad returns what each joint carries at a pose, with the robot standing on
// its feet: it makes the servos of a simulated robot sag.
func gravityLoad(m *robot.Model) func(dst, q []float64) {
	d := dynamics.NewData(m)
	full := make([]float64, m.NumQ())
	tau := make([]float64, m.NumV())
	kinematics.NewSpace(m).NeutralTo(full)
	return func(dst, q []float64) {
		for i, j := range m.Joints() {
			full[j.Q] = q[i]
		}
		d.GravityTo(tau, full)
		for i, j := range m.Joints() {
			dst[i] = tau[j.V]
		}
	}
}
