package server

import (
	"poise/edge"
	"poise/graph"
	"poise/loop"
	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/robot"
	"poise/servo"
	"poise/spatial"
)

// senses publishes what a robot feels besides its joints.
type senses struct {
	imu     graph.Publisher[msgs.Imu]
	support graph.Publisher[poisemsgs.SupportState]
	feet    []robot.ChainID // of touch sensors, in their order
	frame   string
	has     servo.Sensors
}

// newSenses registers the topics of the sensors that a driver has. Touch sensors are those
// of the chains with contacts, in the order of the robot.
func newSenses(bot *servedRobot, r *register) *senses {
	s := &senses{has: bot.can.Sensors, frame: bot.frames + bot.model.Frames()[0].Name}
	for i, c := range bot.model.Chains() {
		if c.Contact != robot.NoContact {
			s.feet = append(s.feet, robot.ChainID(i))
		}
	}
	if s.has.IMU > 0 {
		s.imu = addTopic[msgs.Imu](r, "imu", graph.QoS{})
	}
	if s.has.Touch != len(s.feet) {
		s.has.Touch = 0
	}
	if len(s.feet) > 0 {
		s.support = addTopic[poisemsgs.SupportState](r, "support_real", graph.QoS{})
	}
	return s
}

// publish tells what was felt.
func (s *senses) publish(m *robot.Model, now *loop.Snapshot) {
	if s.hearsUnit(now) {
		s.imu.PublishFunc(func() *msgs.Imu {
			u := &now.Measured.IMU[0]
			then := now.Tick // when it was measured
			then.Stamp -= int64(float64(u.Age) * then.Dt * 1e9)
			out := &msgs.Imu{Header: edge.Header(then, s.frame), AngularVelocity: edge.Vector(u.Rate), LinearAcceleration: edge.Vector(u.Acceleration)}
			if u.Orientation == (spatial.Quat{}) {
				out.OrientationCovariance[0] = -1 // as ROS says that it is not known
			} else {
				out.Orientation = msgs.Quaternion{X: u.Orientation.X, Y: u.Orientation.Y, Z: u.Orientation.Z, W: u.Orientation.W}
			}
			return out
		})
	}
	if len(s.feet) > 0 {
		s.support.PublishFunc(func() *poisemsgs.SupportState {
			if s.has.Touch == 0 { // by its joints
				return supportState(m, s.feet, now.Tick, now.Measured.Support)
			}
			return s.supports(m, now)
		})
	}
}

// unitSilence is how old a measurement of the inertial unit may be, s: older ones are a fault, and are not published.
var unitSilence = loop.DefaultFaultRules()[loop.SilentUnit].Threshold

// hearsUnit reports whether there is an inertial unit that measured something lately.
func (s *senses) hearsUnit(now *loop.Snapshot) bool {
	if s.has.IMU == 0 {
		return false
	}
	age := now.Measured.IMU[0].Age
	return age != servo.Never && float64(age)*now.Tick.Dt <= unitSilence
}

// supports tells which feet carry: their share of the load that all of them feel together,
// 1 if they are switches without a force.
func (s *senses) supports(m *robot.Model, now *loop.Snapshot) *poisemsgs.SupportState {
	out := &poisemsgs.SupportState{Header: edge.Header(now.Tick, ""), Cycle: now.Tick.N, Support: make([]float64, len(s.feet))}
	sum := 0.0
	for i, id := range s.feet {
		c := &m.Chains()[id]
		out.Name, out.Contact = append(out.Name, c.Name), append(out.Contact, m.Contacts()[c.Contact].Name)
		if t := &now.Measured.Touch[i]; t.Pressed {
			out.Support[i] = t.Force.Norm()
			sum += out.Support[i]
		}
	}
	for i := range s.feet {
		switch {
		case sum > 0:
			out.Support[i] /= sum
		case now.Measured.Touch[i].Pressed:
			out.Support[i] = 1
		}
	}
	return out
}
