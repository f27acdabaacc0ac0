package physics

import (
	"poise/servo"
	"poise/sim"
)

// Trouble is what is wrong with the servo of a joint. The zero value is nothing.
type Trouble struct {
	Silent bool        // it neither hears nor answers, and goes on with what it was told last
	Limp   bool        // it gives no torque
	Jammed bool        // its gear does not turn
	Fault  servo.Fault // that it reports in addition
}

// A gear that is jammed gives way by no more than this.
const (
	jammedStiffness = 1e5 // N·m/rad
	jammedDamping   = 1e2 // N·m·s/rad
)

// SetTrouble sets what is wrong with the servo of a joint from now on.
func (b *Bus) SetTrouble(i int, t Trouble) {
	j := &b.joints[i]
	if t.Jammed && !j.trouble.Jammed {
		j.stuck = b.state.Q[b.model.Robot().Joints()[i].Q]
	}
	j.trouble = t
}

// fail changes what the motor of a joint does by what is wrong with it.
func (j *joint) fail(d *sim.Drive) {
	switch {
	case j.trouble.Jammed:
		*d = sim.Drive{Position: j.stuck, Kp: jammedStiffness, Kd: jammedDamping}
	case j.trouble.Limp:
		*d = sim.Drive{Limit: d.Limit, Slack: d.Slack}
	}
}
