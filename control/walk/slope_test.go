package walk

import (
	"math"
	"testing"

	"poise/control"
	"poise/gait"
	"poise/servo"
	"poise/spatial"
)

// TestTheBodyGoesUphill: on ground that slopes the body is led uphill by height·slope, whatever its heading is for the odometry, 7° at most and
// smoothly; on ground that is level within what units err by, and without a unit, it is not.
func TestTheBodyGoesUphill(t *testing.T) {
	c, input := crawling(t)
	z := c.height + c.above
	for _, w := range []struct {
		degrees, heading, yaw float64 // of the slope, of its way up in the robot's axes, and of the robot for the odometry
		blind                 bool    // the unit whose orientation the base has is silent, whatever others do
		want                  float64 // m
	}{
		{0.8, 0, 0, false, 0}, {5, 0, 0, false, z * math.Sin(5*math.Pi/180)}, {-5, 0, 1, false, -z * math.Sin(5*math.Pi/180)},
		{5, math.Pi / 2, -2, false, z * math.Sin(5*math.Pi/180)}, {12, 0, 0, false, slopeFar * z}, {5, 0, 0, true, 0},
	} {
		c.slope = slope{}
		input.Meas.IMU = []servo.Inertial{{Orientation: spatial.IdentityQuat}, {}}
		if w.blind {
			input.Meas.IMU[0].Age = servo.Never
		}
		// the way up is ahead: the nose goes up about the axis to the left of it
		yaw, _, _ := c.plan.Yaw(0)
		axis := spatial.TurnZ(w.heading).MulVec(spatial.Vec3{Y: 1})
		lean := spatial.ExpRotation(axis.Scale(-w.degrees * math.Pi / 180)).Matrix()
		input.Meas.Base = control.BaseRef{Has: true, Pose: spatial.Pose{R: spatial.TurnZ(w.yaw).Mul(lean)}}
		fastest := 0.0
		for range 400 {
			c.uphill(input)
			fastest = max(fastest, math.Hypot(c.slope.x.a, c.slope.y.a))
		}
		at := c.slope.moved(gait.Motion{}, 0).P
		way := spatial.TurnZ(yaw + w.heading).TMulVec(at)
		if math.Abs(way.X-w.want) > 2e-4 || math.Abs(way.Y) > 2e-4 || fastest > 0.1 {
			t.Errorf("%+v: led to %+v with up to %g m/s²", w, way, fastest)
		}
	}
}
