package server

import (
	"math"
	"slices"
	"time"

	"poise/contact"
	"poise/control"
	"poise/edge"
	"poise/estimate"
	"poise/graph"
	"poise/loop"
	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/robot"
	"poise/spatial"
)

// balances publishes how a robot with a free base stands, and where its odometry has it.
type balances struct {
	model     *robot.Model
	now       graph.Publisher[poisemsgs.BalanceState] // as it is: commanded, of robots that are where they are told to be, else measured
	reference graph.Publisher[poisemsgs.BalanceState] // as it is commanded
	odom      graph.Publisher[msgs.Odometry]
	footsteps graph.Publisher[poisemsgs.FootstepsState] // planned, where the robot is as tf has it
	pose      graph.Publisher[msgs.PoseStamped]         // of the base, as tf has it
	told      spatial.Pose                              // the last of them
	exact     bool
	base      string             // frame of it
	of        *estimate.Balancer // nil if the robot has no mass
	found     estimate.Balance
	measured  control.Measured
}

func newBalances(bot *servedRobot, r *register) *balances {
	b := &balances{model: bot.model, exact: bot.can.Exact, base: bot.frames + bot.model.Frames()[0].Name}
	b.now = addTopic[poisemsgs.BalanceState](r, "balance_state", graph.QoS{})
	b.reference = addTopic[poisemsgs.BalanceState](r, "balance_state_reference", graph.QoS{})
	b.odom = addTopic[msgs.Odometry](r, "odom", graph.QoS{})
	b.footsteps = addTopic[poisemsgs.FootstepsState](r, "footsteps_planned", graph.QoS{})
	b.pose = addTopic[msgs.PoseStamped](r, "base_pose", graph.QoS{Latched: true})
	b.of, _ = estimate.NewBalancer(bot.model) // of what has no mass nothing is told
	return b
}

// publish tells how the robot stands in a posture.
func (b *balances) publish(now *loop.Snapshot, p *posture) {
	b.odom.PublishFunc(func() *msgs.Odometry {
		at := &now.Measured.Base
		out := &msgs.Odometry{Header: edge.Header(now.Tick, worldFrame), ChildFrameID: b.base}
		out.Pose.Pose = edge.Pose(at.Pose)
		out.Twist.Twist = msgs.Twist{Linear: edge.Vector(at.Twist.Linear), Angular: edge.Vector(at.Twist.Angular)}
		return out
	})
	if elsewhere(b.told, p.base) && (!b.pose.Heard() || b.pose.HeardBy(time.Now())) {
		b.told = p.base
		b.pose.Publish(&msgs.PoseStamped{Header: edge.Header(now.Tick, worldFrame), Pose: edge.Pose(p.base)})
	}
	b.footsteps.PublishFunc(func() *poisemsgs.FootstepsState { return b.planned(now, p.base) })
	b.reference.PublishFunc(func() *poisemsgs.BalanceState {
		b.ofCommand(now)
		return b.message(now)
	})
	b.now.PublishFunc(func() *poisemsgs.BalanceState {
		if b.exact {
			b.ofCommand(now)
		} else if b.of != nil {
			b.measured = now.Measured
			b.measured.Base.Pose = p.base // which is level before odometry begins
			b.of.MeasurementTo(&b.found, &b.measured)
		}
		return b.message(now)
	})
}

// planned tells where feet are put down next, of a robot whose base is somewhere: the plan goes by what is commanded, and
// what is lost on the way counts for both alike.
func (b *balances) planned(now *loop.Snapshot, base spatial.Pose) *poisemsgs.FootstepsState {
	out := &poisemsgs.FootstepsState{Header: edge.Header(now.Tick, worldFrame)}
	from, to := contact.Level(now.Command.Base.Pose), contact.Level(base)
	from.P.Z, to.P.Z = 0, 0
	move := to.Mul(from.Inverse())
	turn := math.Atan2(move.R[3], move.R[0])
	for i := range now.Command.Support {
		next := &now.Command.Support[i].Next
		if !next.Has {
			continue
		}
		at := move.Apply(next.At)
		out.Steps = append(out.Steps, poisemsgs.PlannedFootstep{Limb: b.model.Chains()[i].Name, X: at.X, Y: at.Y, Z: at.Z, Yaw: next.Yaw + turn, Swinging: next.Swinging})
	}
	return out
}

// elsewhere reports whether a base is elsewhere by 0.1 mm, or turned by about 0.1 mrad: less is
// the noise of readings.
func elsewhere(from, to spatial.Pose) bool {
	const least = 1e-4
	most := to.P.Sub(from.P).Norm()
	for i, x := range to.R {
		most = max(most, math.Abs(x-from.R[i]))
	}
	return most > least
}

func (b *balances) ofCommand(now *loop.Snapshot) {
	if b.of != nil {
		b.of.ReferenceTo(&b.found, &now.Command)
	}
}

// dynamicsState tells which torques and forces the command needs, and which joints use them.
func (t *topics) dynamicsState(now *loop.Snapshot) *poisemsgs.DynamicsState {
	d := &now.Dynamics
	out := &poisemsgs.DynamicsState{Header: edge.Header(now.Tick, worldFrame), Name: t.names, Cycle: make([]uint8, len(t.names)),
		Needed: slices.Clone(now.Needed), Effort: slices.Clone(now.Command.Tau), Residual: wrench(d.Residual),
		Correction: d.Correction, Contradicts: d.Contradicts, Limited: d.Limited, Failed: d.Failed}
	for leaf := range now.Cycle1.All {
		out.Cycle[leaf] = 1
		if now.Cycle2 {
			out.Cycle[leaf] = 2
		}
	}
	for _, f := range now.Forces {
		out.Supports, out.Forces = append(out.Supports, t.bot.model.Chains()[f.Chain].Name), append(out.Forces, wrench(f.Wrench))
		out.Points = append(out.Points, msgs.Point(edge.Vector(f.Point)))
	}
	return out
}

func wrench(w spatial.Wrench) msgs.Wrench {
	return msgs.Wrench{Force: edge.Vector(w.Force), Torque: edge.Vector(w.Torque)}
}

// message words the balance that was found last.
func (b *balances) message(now *loop.Snapshot) *poisemsgs.BalanceState {
	f := &b.found
	on := func(p contact.Point) msgs.Vector3 { return msgs.Vector3{X: p.X, Y: p.Y, Z: f.Ground} }
	margin := func(x float64) float64 {
		if math.IsInf(x, 0) {
			return 0 // without a polygon
		}
		return x
	}
	out := &poisemsgs.BalanceState{Header: edge.Header(now.Tick, worldFrame), Mass: f.Mass, CoM: edge.Vector(f.Com), CoMVelocity: edge.Vector(f.ComVelocity),
		CapturePoint: on(f.Capture), Pressed: f.HasCoP, Carried: f.HasZMP, Margin: margin(f.ZMPMargin), CoMMargin: margin(f.ComMargin),
		CoPMargin: margin(f.CoPMargin), CaptureMargin: margin(f.CaptureMargin), Stable: f.ZMPMargin > 0}
	if f.HasCoP {
		out.CoP = on(f.CoP)
	}
	if f.HasZMP {
		out.ZMP = on(f.ZMP)
	}
	for _, c := range f.Support.Corners {
		out.SupportPoints = append(out.SupportPoints, on(c))
	}
	for _, l := range f.Feet {
		out.Supports, out.Loads = append(out.Supports, b.model.Chains()[l.Chain].Name), append(out.Loads, l.Force.Z)
	}
	return out
}
