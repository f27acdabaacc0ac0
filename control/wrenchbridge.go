package control

import "poise/spatial"

// WrenchBridge carries the wrench that is asked of a contact over to a new owner's
// reference: command = reference + offset, and the offset fades as that of a pose
// does. When it ends the command is the reference bit for bit.
type WrenchBridge struct {
	active        bool
	began         float64 // s
	force, torque decay
}

// Begin starts from the command to the reference, both of time t (s). Loop-safe.
func (b *WrenchBridge) Begin(t float64, command, reference spatial.Wrench) {
	b.began = t
	b.force = decay{x: command.Force.Sub(reference.Force)}
	b.torque = decay{x: command.Torque.Sub(reference.Torque)}
	b.active = command != reference
}

// Apply makes of the reference of time t (s) the command. Loop-safe.
func (b *WrenchBridge) Apply(t float64, w *spatial.Wrench) {
	if !b.active {
		return
	}
	s := t - b.began
	if s >= expEnds*poseTime {
		b.active = false
		return
	}
	w.Force, w.Torque = w.Force.Add(b.force.at(s).x), w.Torque.Add(b.torque.at(s).x)
}
