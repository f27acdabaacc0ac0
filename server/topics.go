package server

import (
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"time"

	"poise/edge"
	"poise/executive"
	"poise/graph"
	"poise/kinematics"
	"poise/loop"
	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/robot"
	"poise/servo"
	"poise/spatial"
)

// worldFrame is what the robots stand in.
const worldFrame = edge.WorldFrame

// topics publishes the state of a robot, each topic at its rate. Messages are made from
// snapshots, in the goroutine that pumps the executive.
type topics struct {
	bot   *servedRobot
	names []string // of the joints

	command   graph.Publisher[msgs.JointState]
	measured  graph.Publisher[msgs.JointState]
	tf        graph.Publisher[msgs.TFMessage]
	balance   *balances
	dynamics  graph.Publisher[poisemsgs.DynamicsState]
	levels    levels
	status    graph.Publisher[poisemsgs.RobotStatus]
	switching graph.Publisher[poisemsgs.ControllersState]
	assigned  graph.Publisher[msgs.ResourceAssignment]
	resources graph.Publisher[poisemsgs.ResourceState]
	explained graph.Publisher[poisemsgs.GoalExplanations]
	health    graph.Publisher[msgs.DiagnosticArray]
	events    graph.Publisher[poisemsgs.Event]
	clock     graph.Publisher[msgs.Clock] // of the first robot, if time is simulated
	senses    *senses
	feelings  *feelings
	ports     *ports

	jointsDue, portsDue, tfDue, statusDue, healthDue int64 // cycle time, ns
	assignedDue                                      int64
	owners, resourcesNow                             string

	quick []*graph.Advertisement // what is published at the rates of joints and frames
	told  statusKey              // of the robot, when its status was published

	posture posture
	kin     *kinematics.Data
	full    []float64
	links   []link // that move
}

// link is a transform of tf: a link seen from the one that carries it.
type link struct {
	parent, child         string
	parentFrame, ownFrame robot.FrameID
}

func newTopics(bot *servedRobot) (*topics, error) {
	m := bot.model
	t := &topics{bot: bot, kin: kinematics.NewData(m), full: make([]float64, m.NumQ())}
	kinematics.NewSpace(m).NeutralTo(t.full)
	for _, j := range m.Joints() {
		t.names = append(t.names, j.Name)
	}
	var err error
	r := bot.register()
	joints := graph.QoS{}
	if rate := bot.s.cfg.Rates.JointStates; rate > pumped {
		joints.Depth = int(min(rate, graph.MaxDepth)) // of every cycle: a second of them waits for a client that is held up
	}
	t.command = addTopic[msgs.JointState](r, "joint_states", joints)
	t.measured = addTopic[msgs.JointState](r, "joint_states_real", joints)
	t.tf = addSharedTopic[msgs.TFMessage](r, "tf", graph.QoS{Depth: 100}, bot.s.otherFrames)
	if m.Floating() { // an arm that is bolted down does not fall over
		t.balance = newBalances(bot, r)
	}
	t.dynamics = addTopic[poisemsgs.DynamicsState](r, "dynamics_state", graph.QoS{})
	if m.Floating() {
		t.levels = newLevels(bot, r)
	}
	t.status = addTopic[poisemsgs.RobotStatus](r, "robot_status", graph.QoS{Latched: true})
	t.switching = addTopic[poisemsgs.ControllersState](r, "controllers_state", graph.QoS{Latched: true})
	t.assigned = addTopic[msgs.ResourceAssignment](r, "resource_assignment", graph.QoS{Latched: true})
	t.resources = addTopic[poisemsgs.ResourceState](r, "resource_state", graph.QoS{Latched: true})
	t.health = addTopic[msgs.DiagnosticArray](r, "diagnostics", graph.QoS{})
	t.explained = addTopic[poisemsgs.GoalExplanations](r, "goal_explanations", graph.QoS{Depth: 100})
	t.senses = newSenses(bot, r)
	t.feelings = newFeelings(bot, r, t.names)
	if t.ports, err = newPorts(bot, r, t.senses.feet); err != nil {
		return nil, err
	}
	if bot.body != nil {
		bot.body.advertise(r)
	}
	t.events = addTopic[poisemsgs.Event](r, "events", graph.QoS{Depth: 100})
	addTopic[msgs.String](r, "robot_description", graph.QoS{Latched: true}).Publish(&msgs.String{Data: string(bot.s.robot.URDF)})
	if text := bot.s.robot.SRDFText; text != nil { // which MoveIt 2's clients read
		addTopic[msgs.String](r, "robot_description_semantic", graph.QoS{Latched: true}).Publish(&msgs.String{Data: string(text)})
	}
	still := addSharedTopic[msgs.TFMessage](r, "tf_static", graph.QoS{Latched: true}, bot.s.otherFrames)
	if r.err != nil {
		return nil, r.err
	}
	t.quick = t.quickTopics()
	tree := t.tree()
	t.claim(tree)
	still.Publish(tree)
	return t, nil
}

// quickTopics lists what is published at the rates of joints and frames, and tells it so.
func (t *topics) quickTopics() (all []*graph.Advertisement) {
	p, s := t.ports, t.senses
	all = append(all, t.command.Advertisement, t.measured.Advertisement, s.imu.Advertisement, s.support.Advertisement, p.command.Advertisement,
		p.measured.Advertisement, p.limbs.Advertisement, p.limbsReal.Advertisement, p.support.Advertisement, t.tf.Advertisement, t.dynamics.Advertisement)
	for _, o := range p.outputs {
		all = append(all, o.topic.Advertisement)
	}
	if b := t.balance; b != nil {
		all = append(all, b.now.Advertisement, b.reference.Advertisement, b.odom.Advertisement)
	}
	if f := t.feelings; f != nil {
		all = append(all, f.forces.Advertisement, f.contacts.Advertisement)
	}
	if t.bot.body != nil {
		all = append(all, t.bot.body.state.Advertisement)
	}
	all = slices.DeleteFunc(all, func(a *graph.Advertisement) bool { return a == nil }) // the robot has it not
	for _, a := range all {
		a.Sampled()
	}
	return all
}

// claim notes the frames that the server publishes, for otherFrames.
func (t *topics) claim(still *msgs.TFMessage) {
	own := t.bot.s.frames
	own[worldFrame] = true
	own[t.bot.frames+t.bot.model.Frames()[0].Name] = true
	for _, l := range t.links {
		own[l.child] = true
	}
	for _, x := range still.Transforms {
		own[x.ChildFrameID] = true
	}
}

// otherFrames admits transforms of others on tf and tf_static: frames of their own, which
// may hang on the robot's, and not where the robot's frames are.
func (s *Server) otherFrames(_ string, v any) error {
	for _, x := range v.(*msgs.TFMessage).Transforms {
		if name := strings.TrimLeft(x.ChildFrameID, "/"); s.frames[name] {
			return fmt.Errorf("frame %q is the server's: only it says where that is; frames of your own may hang on it", name)
		}
	}
	return nil
}

// tree sorts the links into those that move and those that do not, which it
// returns as transforms.
func (t *topics) tree() *msgs.TFMessage {
	m := t.bot.model
	t.kin.UpdatePosition(t.full)
	out := &msgs.TFMessage{}
	for _, j := range m.Document().Joints {
		parent, ok := m.Frame(j.Parent)
		own, ok2 := m.Frame(j.Child)
		if !ok || !ok2 {
			continue
		}
		l := link{t.bot.frames + j.Parent, t.bot.frames + j.Child, parent, own}
		if m.Frames()[parent].Body == m.Frames()[own].Body {
			out.Transforms = append(out.Transforms, t.transform(l, servo.Tick{}))
		} else {
			t.links = append(t.links, l)
		}
	}
	if root := m.Frames()[0].Name; !m.Floating() && root != worldFrame {
		out.Transforms = append(out.Transforms, msgs.TransformStamped{Header: msgs.Header{FrameID: worldFrame},
			ChildFrameID: t.bot.frames + root, Transform: edge.Transform(spatial.IdentityPose)})
	}
	return out
}

func (t *topics) transform(l link, at servo.Tick) msgs.TransformStamped {
	parent, own := t.kin.Pose(t.kin.At(l.parentFrame)), t.kin.Pose(t.kin.At(l.ownFrame))
	return msgs.TransformStamped{Header: edge.Header(at, l.parent), ChildFrameID: l.child, Transform: edge.Transform(parent.Inverse().Mul(own))}
}

// period is that of a rate, Hz.
func period(rate float64) time.Duration { return time.Duration(math.Round(1e9 / rate)) }

// due reports whether something is to be published now, and sets when it is next.
func due(next *int64, now int64, rate float64) bool {
	if now < *next {
		return false
	}
	every := int64(period(rate))
	if *next += every; *next <= now {
		*next = now + every
	}
	return true
}

// snapshot publishes what is due, and returns how long nothing will be. It runs in the
// pump's goroutine.
func (t *topics) snapshot(now *loop.Snapshot) time.Duration {
	rates := &t.bot.s.cfg.Rates
	at := now.Tick.Time
	if t.bot.first && t.bot.s.time != nil {
		t.clock.PublishFunc(func() *msgs.Clock { return &msgs.Clock{Clock: edge.Stamp(now.Tick)} })
	}
	if every := t.bot.every; every != nil {
		every.drain(func(s *jointSample) {
			if due(&t.jointsDue, s.tick.Time, rates.JointStates) {
				t.publishJoints(s.tick, &s.command, &s.measured)
			}
		})
	}
	if due(&t.portsDue, at, rates.JointStates) {
		if t.bot.every == nil {
			t.publishJoints(now.Tick, &jointValues{now.Command.Q, now.Command.V, now.Command.Tau}, &jointValues{now.Measured.Q, now.Measured.V, now.Measured.Effort})
		}
		t.senses.publish(t.bot.model, now)
		t.ports.publish(now)
		t.feelings.publish(now)
	}
	if due(&t.tfDue, at, rates.TF) {
		t.publishFrames(now)
	}
	if due(&t.statusDue, at, statusRate) {
		t.publishStatus(now)
	}
	if due(&t.healthDue, at, rates.Diagnostics) {
		t.bot.ident.Monitor().Update()
		t.health.PublishFunc(func() *msgs.DiagnosticArray {
			stats, granted := t.bot.s.cycleStats(t.bot.name)
			out := diagnostics(t.bot.name, t.bot.model, now, &stats, granted)
			t.bot.misfits(out)
			return out
		})
	}
	if t.bot.s.time != nil || t.bot.every != nil { // time that goes as it likes, or every cycle
		return 0
	}
	next, quick := min(t.statusDue, t.healthDue), min(t.portsDue, t.tfDue)
	if from := t.heardFrom(); from < math.MaxInt64 {
		wanted := at + int64(t.bot.period) // of a state that is not there before
		if wait := from - time.Now().UnixNano(); wait > 0 {
			wanted += wait
		}
		next = min(next, max(quick, wanted))
	}
	return time.Duration(next - at)
}

// heardFrom returns when a client first wants one of the quick topics; see Advertisement.HeardFrom.
func (t *topics) heardFrom() int64 {
	first := int64(math.MaxInt64)
	for _, a := range t.quick {
		first = min(first, a.HeardFrom())
	}
	return first
}

// statusRate is how often robot_status is published, Hz.
const statusRate = 20

// pumped is up to which rate joint_states are those of the newest state, Hz: the pump looks at it
// when they are due, at most every 2 ms.
const pumped = 250

// publishJoints publishes joint_states and joint_states_real.
func (t *topics) publishJoints(at servo.Tick, command, measured *jointValues) {
	message := func(j *jointValues) *msgs.JointState {
		return &msgs.JointState{Header: edge.Header(at, ""), Name: t.names, Position: slices.Clone(j.q), Velocity: slices.Clone(j.v), Effort: slices.Clone(j.effort)}
	}
	t.command.PublishFunc(func() *msgs.JointState { return message(command) })
	t.measured.PublishFunc(func() *msgs.JointState { return message(measured) })
}

// publishFrames publishes tf, odom, dynamics and the balance.
func (t *topics) publishFrames(now *loop.Snapshot) {
	m, p := t.bot.model, &t.posture
	p.of(m, t.bot.can.Exact, now)
	if body := t.bot.body; body != nil {
		body.showBeside(p.base)
	}
	t.tf.PublishFunc(func() *msgs.TFMessage {
		for i, j := range m.Joints() {
			t.full[j.Q] = p.joints[i]
		}
		setBase(t.full, m, p.base)
		t.kin.UpdatePosition(t.full)
		out := &msgs.TFMessage{Transforms: make([]msgs.TransformStamped, 0, len(t.links)+1)}
		if m.Floating() {
			out.Transforms = append(out.Transforms, msgs.TransformStamped{Header: edge.Header(now.Tick, worldFrame),
				ChildFrameID: t.bot.frames + m.Frames()[0].Name, Transform: edge.Transform(p.base)})
		}
		for _, l := range t.links {
			out.Transforms = append(out.Transforms, t.transform(l, now.Tick))
		}
		return out
	})
	t.dynamics.PublishFunc(func() *poisemsgs.DynamicsState { return t.dynamicsState(now) })
	if m.Floating() {
		t.balance.publish(now, p)
		t.levels.publish(now)
	}
}

// publishStatus publishes the state of robot and controllers: for clients who read it, and
// for those to come when it changes.
func (t *topics) publishStatus(now *loop.Snapshot) {
	again := due(&t.assignedDue, now.Tick.Time, assignedRate) // for clients whose messages are lost
	status := t.statusKey(now)
	changed := status != t.told || status.goals
	by := time.Now()
	wanted := func(a *graph.Advertisement) bool { return changed || again && !a.Heard() || a.HeardBy(by) }
	publish, switching := wanted(t.status.Advertisement), wanted(t.switching.Advertisement)
	if !publish && !switching && !again {
		return
	}
	t.told = status
	state := t.bot.exec.State()
	if publish {
		t.status.PublishFunc(func() *poisemsgs.RobotStatus { return edge.Status(&state) })
	}
	if switching {
		t.switching.PublishFunc(func() *poisemsgs.ControllersState {
			return &poisemsgs.ControllersState{Header: edge.Header(state.Tick, ""), Controllers: edge.Controllers(&state)}
		})
	}
	if changed || again {
		t.publishOwners(&state, again)
	}
}

// statusKey is what a robot's status depends on: while it is equal, the status is.
type statusKey struct {
	changes         uint64
	goals           bool // whose times go on
	power           loop.Power
	stopped, paused bool
	wanted, rate    float64
	limp            robot.Set
	lost            uint64
}

func (t *topics) statusKey(now *loop.Snapshot) statusKey {
	s := statusKey{power: now.Power, stopped: now.Stopped, paused: now.Paused, wanted: now.Wanted, rate: now.Rate, limp: now.Limp, lost: now.Lost}
	s.changes, s.goals = t.bot.exec.Changes()
	return s
}

// publishOwners publishes who has what, again or when it changes.
func (t *topics) publishOwners(state *executive.State, again bool) {
	if now := fmt.Sprint(state.Owners); now != t.owners || again {
		t.owners = now
		t.assigned.Publish(t.assignmentOf(state))
	}
	leaves, clients := t.bot.exec.Resources()
	rounds := t.bot.exec.Rounds()
	if now := fmt.Sprint(leaves, clients, rounds); now != t.resourcesNow {
		t.resourcesNow = now
		t.resources.Publish(edge.ResourceState(state.Tick, leaves, clients, rounds))
	}
}

// assignedRate is how often resource_assignment is published, Hz, also when nothing changed.
const assignedRate = 1

// assignment tells who owns what now.
func (t *topics) assignment() *msgs.ResourceAssignment {
	state := t.bot.exec.State()
	return t.assignmentOf(&state)
}

// assignmentOf lists every resource with the owner of all of it, "" if it has none.
func (t *topics) assignmentOf(state *executive.State) *msgs.ResourceAssignment {
	owner := map[string]string{}
	for _, o := range state.Owners {
		if !o.Part {
			owner[o.Resource] = o.Owner
		}
	}
	a := &msgs.ResourceAssignment{}
	resources, err := t.bot.model.Resources()
	if err != nil {
		return a
	}
	for _, r := range resources.List() {
		a.Resources, a.Owners = append(a.Resources, r.Name), append(a.Owners, owner[r.Name])
	}
	return a
}

// event publishes a text command of a motion.
func (bot *servedRobot) event(e executive.Event) {
	bot.topics.events.Publish(edge.EventMessage(e))
	bot.s.log.Info("event", "robot", bot.name, "motion", e.Motion, "type", e.Type, "command", e.Command, "options", e.Options)
}

// Periods within which the same line is logged once.
const (
	noticeEvery = 10 * time.Second // a fault that comes and goes
	streamEvery = time.Second      // values of a stream
)

// notice logs a notice of the executive. A fault that comes and goes is logged once per
// period, with the number of those left out; overruns once, and then as a sum.
func (bot *servedRobot) notice(n executive.Notice) {
	bot.saveRecord(&n)
	level := slog.LevelInfo
	switch n.Kind {
	case "fault", "panic", "refused":
		level = slog.LevelWarn
	}
	say := func(leftOut int) {
		args := []any{"robot", bot.name, "kind", n.Kind, "code", string(n.Explanation.Code)}
		if leftOut > 0 {
			args = append(args, "left_out", leftOut)
		}
		bot.s.log.Log(bot.s.life, level, n.Explanation.WithoutHelp(), args...)
	}
	switch overran := n.Explanation.Code == overrunCode; {
	case overran && n.Kind == "fault" && n.Severity <= loop.SeverityWarn:
		if bot.overruns.add(bot.missedPeriods()) {
			say(0)
			time.AfterFunc(overrunQuiet, func() { bot.sumUpOverruns(false) })
		}
		return
	case overran && n.Kind == "fault_cleared" && bot.overruns.busy():
		return // it may come again; the line that sums up says when it is over
	}
	switch n.Kind {
	case "fault", "fault_cleared", "refused":
		bot.s.repeats.say(bot.s.life, strings.Join([]string{bot.name, n.Kind, string(n.Explanation.Code), n.Explanation.Joint, n.Explanation.Owner}, "|"), noticeEvery, say)
	default:
		say(0)
	}
}

// audit logs every command and goal. Joints are placed as often as a slider moves: of
// such a stream one line a second is logged, with a count.
func (bot *servedRobot) audit(a executive.Audit) {
	bot.s.counts.count(bot.name, a)
	say := func(leftOut int) {
		args := []any{"robot", bot.name, "who", a.Who, "what", a.What, "result", a.Result}
		if leftOut > 0 {
			args = append(args, "left_out", leftOut)
		}
		bot.s.log.Info("audit", args...)
	}
	switch {
	case strings.HasPrefix(a.What, "stop"): // always told
	case !bot.s.shares.take(a.Who, time.Now()):
		bot.s.repeats.say(bot.s.life, "share|"+a.Who, streamEvery, say)
		return
	case a.What == "place":
		bot.s.repeats.say(bot.s.life, strings.Join([]string{bot.name, a.Who, a.What, a.Result}, "|"), streamEvery, say)
		return
	}
	say(0)
}
