package kinematics

import (
	"poise/robot"
	"poise/spatial"
)

// Com returns the centre of mass of the whole robot, every link, also those
// welded to the world. A robot without mass has none: ok is false. Loop-safe.
func (d *Data) Com() (c spatial.Vec3, ok bool) {
	d.need(position, "Com")
	d.needAll("Com")
	M := d.joint[robot.World].subtree
	if M == 0 {
		return spatial.Vec3{}, false
	}
	for b := range d.joint {
		j := &d.joint[b]
		c = c.Add(d.pose[b].Apply(j.com).Scale(j.mass / M))
	}
	return c, true
}

// ComVelocity returns the velocity of the centre of mass; see Com. Loop-safe.
func (d *Data) ComVelocity() (v spatial.Vec3, ok bool) {
	d.need(velocity, "ComVelocity")
	d.needAll("ComVelocity")
	M := d.joint[robot.World].subtree
	if M == 0 {
		return spatial.Vec3{}, false
	}
	for b := range d.joint {
		j := &d.joint[b]
		v = v.Add(d.twist[b].At(d.pose[b].R.MulVec(j.com)).Linear.Scale(j.mass / M))
	}
	return v, true
}

// ComJacobianTo stores in dst the 3×NumV matrix that maps v to the velocity of
// the centre of mass, world axes; see Com. If ok is false, dst is zero.
// Loop-safe.
//
// A joint moves the centre of what hangs on it, as much as that weighs.
func (d *Data) ComJacobianTo(dst []float64) (ok bool) {
	d.need(position, "ComJacobianTo")
	d.needAll("ComJacobianTo")
	n := d.nv
	mustLen("dst", dst, 3*n)
	clear(dst)
	M := d.joint[robot.World].subtree
	if M == 0 {
		return false
	}
	Jx, Jy, Jz := dst[:n], dst[n:2*n], dst[2*n:]
	add := func(v int, u spatial.Vec3) {
		Jx[v] += u.X / M
		Jy[v] += u.Y / M
		Jz[v] += u.Z / M
	}
	clear(d.moment)
	for b := len(d.joint) - 1; b > 0; b-- {
		j := &d.joint[b]
		X := &d.pose[b]

		// first moment about the world's origin, handed to the parent
		mc := d.moment[b].Add(X.Apply(j.com).Scale(j.mass))
		d.moment[j.parent] = d.moment[j.parent].Add(mc)

		// about the joint
		mr := mc.Sub(X.P.Scale(j.subtree))
		v := int(j.v)
		switch j.kind {
		case robot.Revolute, robot.Continuous:
			add(v, X.R.Col(2).Cross(mr).Scale(j.ratio))
		case robot.Prismatic:
			add(v, X.R.Col(2).Scale(j.ratio*j.subtree))
		case robot.Planar:
			ex, ey := d.planarAxes(b)
			add(v, ex.Scale(j.subtree))
			add(v+1, ey.Scale(j.subtree))
			add(v+2, X.R.Col(2).Cross(mr))
		case robot.Floating:
			for k := range 3 {
				add(v+k, X.R.Col(k).Scale(j.subtree))
				add(v+3+k, X.R.Col(k).Cross(mr))
			}
		}
	}
	return true
}
