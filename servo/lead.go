package servo

// Lead makes up for the time that a setpoint takes: the position is where the joint
// is to be a lead later, and the servo is given the period and the lead to get
// there. A packet that is lost then costs a little lead, not a halt.
type Lead struct {
	Time float64 // s, ≥ 0
}

// Invert returns the setpoint for a joint commanded to be at q with velocity v at
// the end of a period dt. Loop-safe.
func (l Lead) Invert(q, v, dt float64) Setpoint {
	return Setpoint{Mode: Position, Position: q + v*l.Time, Velocity: v, Stiffness: 1, PlayTime: dt + l.Time}
}
