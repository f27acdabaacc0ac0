package gait

import "math"

// roomShare is how far from its place, as a share of the reach, a foot that stands may be left behind before it is lifted.
const roomShare = 1.4

// roomy returns the share of the commanded velocity at which feet that stand stay within reach until they are lifted: commands that
// jump would leave one behind that was put down for another direction. Loop-safe.
func (p *Planner) roomy() float64 {
	share := 1.0
	sin, cos := math.Sincos(p.now.yaw)
	for i := range p.feet {
		f := &p.feet[i]
		lift := f.next - p.last
		if s := &f.swing; s.land > s.lift && p.last < s.land || !(lift > 0) || math.IsInf(lift, 1) {
			continue
		}
		n, v := f.nominal, p.target
		x, y := v.X-v.Yaw*n.Y, v.Y+v.Yaw*n.X // of its place under the body
		place := p.now.apply(n)
		ax, ay := f.at.X-place.X, f.at.Y-place.Y
		bx, by := lift*(cos*x-sin*y), lift*(sin*x+cos*y)
		// |a − s·b| = most
		most := roomShare * p.cfg.Reach
		bb, ab, aa := bx*bx+by*by, ax*bx+ay*by, ax*ax+ay*ay
		if bb < 1e-12 || aa-2*ab+bb <= most*most {
			continue
		}
		s := 0.0
		if d := ab*ab - bb*(aa-most*most); d > 0 {
			s = (ab + math.Sqrt(d)) / bb
		}
		share = min(share, max(s, 0))
	}
	return share
}
