package servo

import "math"

// carry extrapolates setpoints beyond the end of the period at constant velocity, so that a joint whose next
// setpoint is lost goes on. Position and velocity within the period are unchanged.
type carry struct {
	over float64 // time of extrapolation, s
	last []float64
	has  []bool
}

// Setpoints of a long period are far apart: a lost one leaves a leg behind by up to a third of a rad.
const (
	longPeriod = 0.04 // s, from which on setpoints are extrapolated,
	overShare  = 0.5  // by this share of the period
	wildChange = 20.0 // rad/s or m/s: a faster joint was placed, and is not extrapolated
)

// Beyond returns by how much setpoints are extrapolated beyond a period, s, if they aim ahead by a lead.
func Beyond(period, lead float64) float64 {
	if period < longPeriod {
		return 0
	}
	return max(overShare*period-lead, 0)
}

// on extrapolates a position setpoint. Loop-safe for joints that it has seen.
func (x *carry) on(dst *Setpoint, c *Command) {
	if !(x.over > 0) || c.Joint < 0 || dst.Mode != Position {
		return
	}
	for c.Joint >= len(x.last) { // in the first tick
		x.last, x.has = append(x.last, 0), append(x.has, false)
	}
	p := dst.Position
	if by := (p - x.last[c.Joint]) / c.Dt; c.Torque && x.has[c.Joint] && math.Abs(by) < wildChange {
		dst.Position += by * x.over
		dst.PlayTime += x.over
	}
	x.last[c.Joint], x.has[c.Joint] = p, c.Torque && finite(p)
}

// carried is an inverter whose setpoints are extrapolated.
type carried struct {
	Inverter
	carry carry
}

// InvertTo aims beyond the end of the period. Loop-safe.
func (x *carried) InvertTo(dst *Setpoint, c *Command) {
	x.Inverter.InvertTo(dst, c)
	x.carry.on(dst, c)
}
