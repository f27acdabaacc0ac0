package walk

import (
	"poise/control"
	"poise/kinematics/ik"
	"poise/spatial"
)

// Numbers of legs that do not reach.
const (
	mostPull  = 0.015  // m that a foot is put nearer to its place under the body at most
	sparePull = 0.0002 // m beyond what would just do: joints move without bounds where a leg is straight
)

// pulled returns where the tip of a leg is led some seconds from now: where it is planned to be or, by a share of the way, nearer to its place
// under the body. Commands that jump make a step longer by a hair than a leg reaches, and a walk must not end by that.
func (c *Controller) pulled(leg int, after, share float64) (tip spatial.Pose, way float64) {
	tip = c.foot(leg, after).Pose
	m, _, _, _ := c.plan.Foot(leg, after)
	com := c.plan.Com(after)
	yaw, _, _ := c.plan.Yaw(after)
	n := c.nominal[leg]
	home := com.P.Add(spatial.TurnZ(yaw).MulVec(spatial.Vec3{X: n.X, Y: n.Y}))
	by := spatial.Vec3{X: home.X - m.P.X, Y: home.Y - m.P.Y}
	tip.P = tip.P.Add(by.Scale(share))
	return tip, by.Norm()
}

// pull finds by which share of the way to its place under the body a leg has to be led nearer to reach it now; the base of c.q is set.
func (c *Controller) pull(leg int) (share float64, reason control.Reason) {
	tip, distance := c.pulled(leg, 0, 0)
	r := c.legs[leg].solveTo(c.near[0], tip, c.q)
	if r.Status == ik.Solved {
		return 0, control.Because(control.OK)
	}
	most := 1.0
	if distance > mostPull {
		most = mostPull / distance
	}
	reaches := func(share float64) bool {
		tip, _ := c.pulled(leg, 0, share)
		return c.legs[leg].solveTo(c.near[0], tip, c.q).Status == ik.Solved
	}
	if !(distance > 0) || !reaches(most) {
		return 0, c.legs[leg].unreachable(&r)
	}
	return min(1, bisect(most, 0, 7, reaches)+sparePull/distance), control.Because(control.OK)
}
