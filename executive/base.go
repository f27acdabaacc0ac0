package executive

import (
	"math"

	"poise/control"
	"poise/loop"
	"poise/problem"
	"poise/servo"
	"poise/spatial"
)

// What is taken for a pose: how far from 1 the length of an orientation may be, as tf2 has it,
// and how far from the tilt that odometry has the base may be said to be, rad: that of an inertial
// unit is known, that of the ground alone is believed as long as a robot can stand on it.
const (
	unitWithin   = 0.01
	tiltWithin   = 0.05
	groundWithin = 0.5
)

// SetBase says where the base of the robot is: odometry goes on from there, of the
// measurement and, unless a controller owns the base, of the command.
func (e *Executive) SetBase(who string, position spatial.Vec3, orientation spatial.Quat) *Answer {
	const what = "set odometry"
	return e.ask(func() *Answer {
		why := badPose(position, orientation)
		unit, _ := orientation.Unit()
		X := spatial.Pose{R: unit.Matrix(), P: position}
		if len(why) == 0 {
			why = e.robot.tiltedOtherwise(X.R)
		}
		if len(why) > 0 {
			return e.refuse(who, what, why...)
		}
		settled := func(*loop.Snapshot) (Outcome, bool) { return Outcome{}, true }
		return e.command(&command{who: who, what: what, settled: settled}, loop.Order{Kind: loop.SetBase, Program: &control.BasePlacement{Pose: X}})
	})
}

// badPose returns what of a pose cannot be one.
func badPose(position spatial.Vec3, orientation spatial.Quat) (problems []Explanation) {
	bad := func(thing string, value, limit float64, text string, args ...any) {
		x := problem.New("bad_pose", text, args...)
		if x.Thing, x.Limit = thing, limit; value-value == 0 {
			x.Value = value
		}
		problems = append(problems, *x)
	}
	for i, x := range [3]float64{position.X, position.Y, position.Z} {
		if !(math.Abs(x) <= control.FarthestBase) {
			bad("pose.position."+"xyz"[i:i+1], x, control.FarthestBase, "%g m is not between %g and %g", x, -control.FarthestBase, control.FarthestBase)
		}
	}
	q := orientation
	finite := true
	for i, x := range [4]float64{q.X, q.Y, q.Z, q.W} {
		if x-x != 0 {
			finite = false
			bad("pose.orientation."+"xyzw"[i:i+1], x, 1, "%g is not a finite number", x)
		}
	}
	length := math.Hypot(math.Hypot(q.W, q.X), math.Hypot(q.Y, q.Z))
	if finite && !(math.Abs(length-1) <= unitWithin) {
		bad("pose.orientation", length, 1, "the quaternion has the length %g, want 1 within %g", length, unitWithin)
	}
	return problems
}

// tiltedOtherwise returns that the base is tilted otherwise than R_WB says.
func (r *robotState) tiltedOtherwise(R_WB spatial.Mat3) []Explanation {
	if r.snap == nil || !r.snap.Measured.Base.Has {
		return nil
	}
	limit, by, help := groundWithin, "odometry has", "send a tilt that the robot can stand in"
	if m := &r.snap.Measured; len(m.IMU) > 0 && m.IMU[0].Age != servo.Never {
		limit, by, help = tiltWithin, "the inertial unit measures", "roll and pitch are the unit's: send those of odom, with a place and a heading of your own"
	}
	up := spatial.Vec3{Z: 1}
	said, is := R_WB.TMulVec(up), r.snap.Measured.Base.Pose.R.TMulVec(up)
	angle := math.Atan2(said.Cross(is).Norm(), said.Dot(is))
	if angle <= limit {
		return nil
	}
	x := problem.New("tilted_otherwise", "it is tilted by %.3g rad against what %s, %g is allowed", angle, by, limit).With("%s", help)
	x.Thing, x.Value, x.Limit = "pose.orientation", angle, limit
	return []Explanation{*x}
}
