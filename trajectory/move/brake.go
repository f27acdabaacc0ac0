package move

import "math"

// brakeTo writes the phases that bring a state back into the limits of velocity
// and acceleration as fast as the jerk allows, and returns their number; none if
// it is inside. A state whose acceleration will carry the velocity over its limit
// counts as outside. The rules are those of Ruckig, so that both need the same time.
func (l *Limits) brakeTo(p *[2]phase, v, a, rj float64) int {
	if rj == 0 {
		return l.brakeFreely(p, v)
	}
	swing := a * a * rj / 2 // change of velocity while the acceleration ramps to zero
	velMin, velMax := l.VelMin*grain, l.VelMax*grain
	switch {
	case a > l.AccMax*grain:
		return l.brakeAcc(p, 1, v, a, rj)
	case a < l.AccMin*grain:
		return l.brakeAcc(p, -1, v, a, rj)
	case v > velMax && v-swing > l.VelMin, a > 0 && v+swing > velMax:
		return l.brakeVel(p, 1, v, a, rj)
	case v < velMin && v+swing < l.VelMax, a < 0 && v-swing < velMin:
		return l.brakeVel(p, -1, v, a, rj)
	}
	return 0
}

// brakeFreely is brakeTo for an acceleration that may jump.
func (l *Limits) brakeFreely(p *[2]phase, v float64) int {
	switch {
	case v > l.VelMax*grain:
		p[0] = phase{dt: (v - l.VelMax) / -l.AccMin, a: l.AccMin}
	case v < l.VelMin*grain:
		p[0] = phase{dt: (l.VelMin - v) / l.AccMax, a: l.AccMax}
	default:
		return 0
	}
	return 1
}

// brakeAcc brings an acceleration above its limit down to it. If the velocity is
// then still too low, the limit is held until the velocity has come in.
func (l *Limits) brakeAcc(p *[2]phase, s, v, a, rj float64) int {
	velMin, velMax, _, accMax := l.oriented(s)
	v, a = s*v, s*a
	if v+a*a*rj/2 > velMax {
		return l.brakeVel(p, s, s*v, s*a, rj)
	}
	p[0] = phase{dt: (a - accMax) * rj, a: s * a, j: -s * l.Jerk}
	if v += (a - accMax) * (a + accMax) * rj / 2; v < velMin {
		hold := min((velMin-v)/accMax, (velMax-v)/accMax-accMax*rj/2)
		p[1] = phase{dt: max(hold, 0), a: s * accMax}
		return 2
	}
	return 1
}

// brakeVel brings a velocity that is, or is bound to get, above its limit down to
// it, but not so hard that it would then fall through the lower one.
func (l *Limits) brakeVel(p *[2]phase, s, v, a, rj float64) int {
	velMin, velMax, accMin, _ := l.oriented(s)
	v, a = s*v, s*a
	// with −j: until v is back at velMax, or until only a ramp to zero saves velMin
	toMax := (a + math.Sqrt(max(a*a+2*l.Jerk*(v-velMax), 0))) * rj
	toMin := (a + math.Sqrt(max(a*a/2+l.Jerk*(v-velMin), 0))) * rj
	dt := min(toMax, toMin)
	p[0] = phase{dt: max(dt, 0), a: s * a, j: -s * l.Jerk}
	if ramp := (a - accMin) * rj; ramp < dt {
		// the same with accMin held
		p[0].dt = max(ramp, 0)
		v += (a - accMin) * (a + accMin) * rj / 2
		hold := min((v-velMax)/-accMin, (v-velMin)/-accMin+accMin*rj/2)
		p[1] = phase{dt: max(hold, 0), a: s * accMin}
		return 2
	}
	return 1
}
