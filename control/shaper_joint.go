package control

import (
	"math"

	"poise/robot"
	"poise/trajectory/move"
)

// What happens to single joints beside the stream of references.

// Follow lets the command of a joint without torque be where the joint is, at rest
// and without effort: motions planned from the command then start at the real position.
func (k *Shaper) Follow(j int, q float64) {
	k.Cut[j], k.Motion.Tau[j], k.given[j] = 0, 0, 0
	k.limiter.Reset(j, q)
	k.set(j, move.State{P: q})
}

// Forget drops the bridge and the holder's target of a joint; its next reference is
// handed over from its command.
func (k *Shaper) Forget(j int) {
	k.bridge.Drop(j)
	k.bridge.DropEffort(j)
	k.holder.End(j)
	k.renew(robot.Leaf(robot.LeafID(j)))
}

// Take sets the command of a joint to a state to which something else has led it; its next
// reference is handed over from there.
func (k *Shaper) Take(j int, w move.State) {
	k.limiter.Put(j, w.P, w.V)
	k.set(j, w)
	k.Forget(j)
}

// Place sets the command of an unowned joint at once, because the robot was placed
// there.
func (k *Shaper) Place(j int, q float64) {
	k.Follow(j, q)
	k.Forget(j)
	k.holder.Begin(j, move.State{P: q}, k.now)
	k.holder.Carry(j, 0)
	k.fresh, k.renewed = k.fresh.Without(robot.LeafID(j)), k.renewed.Without(robot.LeafID(j))
}

// Send moves an unowned joint to a position and holds it there. Joints that are sent
// in the same tick move together.
func (k *Shaper) Send(j int, q float64) {
	k.holder.Put(j, q)
	k.renew(robot.Leaf(robot.LeafID(j)))
}

// Stay ends the motion of a joint that was sent: it stops where it is.
func (k *Shaper) Stay(j int) {
	k.holder.End(j)
	k.renew(robot.Leaf(robot.LeafID(j)))
}

// Renew says that what these leaves are asked for is new in this tick, though their
// writer is not.
func (k *Shaper) Renew(leaves robot.Set) {
	k.renew(leaves)
	k.poses.fresh = k.poses.fresh.Union(leaves)
}

// restSpeed is the step velocity below which a joint counts as at rest, rad/s.
const restSpeed = 1e-6

// Still reports whether the command of a joint stands still.
func (k *Shaper) Still(j int) bool { return math.Abs(k.limiter.Velocity(j)) <= restSpeed }

// AtRest reports whether the whole command stands still.
func (k *Shaper) AtRest() bool {
	for j := range k.state {
		if !k.Still(j) {
			return false
		}
	}
	return true
}

// HandingOver reports whether a joint is being bridged.
func (k *Shaper) HandingOver(j int) bool { return k.bridge.Active(j) }

// Arrived reports whether a joint stands still where its reference is.
func (k *Shaper) Arrived(j int) bool {
	return k.Still(j) && !k.bridge.Active(j) && !k.fresh.Has(robot.LeafID(j))
}

// Offset returns the difference of a joint's command from its reference because it is
// being handed over.
func (k *Shaper) Offset(j int) move.State { return k.bridge.Offset(j, k.now) }

// Bounds returns what a joint may do.
func (k *Shaper) Bounds(j int) Bounds { return k.limiter.Bounds(j) }
