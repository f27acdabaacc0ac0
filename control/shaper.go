package control

import (
	"math"

	"poise/arbiter"
	"poise/robot"
	"poise/servo"
	"poise/trajectory/move"
)

// Shaper makes one command of the merged references of a robot. It is the one
// hand-over mechanism of the cycle.
//
//	references ─▶ hold what is unowned ─▶ bridge what was handed over ─▶ gate ─▶ command
//
// Every joint has a reference in every tick: its owner's, or, where it is unowned,
// that of the shortest stop. When the reference is new, because the owner or its
// program changed or it jumped, the difference to the last command is bridged; when
// the bridge is over, command and reference are the same bit for bit. What comes
// out has passed the gate of limits, whatever the reference was.
//
// A hand-over begins at the last tick, where the command is known; references are
// taken back to there along their own motion. Poses of the base and of limb tips
// are bridged likewise.
//
// A tick is Begin, References, HandOver for every owner, Lead, Limit, Complete.
type Shaper struct {
	Motion Motion // the command
	Cut    []Cut  // what the gate took from each joint in this tick

	merged  *Aggregate
	limiter *Limiter
	bridge  *Bridge
	holder  *Holder
	poses   poses

	now, dt float64      // of this tick, s
	joints  robot.Set    // all of them, as leaves
	wraps   []bool       // joints that are angles without limits
	state   []move.State // of the command
	ref     []move.State // reference of this tick
	effort  []float64    // feed-forward of this tick's reference, N·m or N
	given   []float64    // feed-forward of references as it was commanded; Motion.Tau may have more
	fresh   robot.Set    // joints that have to be bridged: their references are new, or the gate cut them
	renewed robot.Set    // whose references are new, and so is their feed-forward
	back    []move.State // references, a tick ago
	batch   []int        // joints of one hand-over
}

// NewShaper returns the shaper of a robot, with every joint at rest at zero, that reads
// the references of an aggregate. Joints that cannot be controlled are reported as
// JointLimits does.
func NewShaper(m *robot.Model, assumed Transition, decay BridgeConfig, merged *Aggregate) (*Shaper, error) {
	limits, bounds, err := JointLimits(m, assumed)
	if err != nil {
		return nil, err
	}
	n := len(bounds)
	k := &Shaper{merged: merged, Motion: NewMotion(n, len(m.Chains()), merged.Outputs()), Cut: make([]Cut, n),
		limiter: NewLimiter(bounds), poses: newPoses(m), joints: JointLeaves(n), wraps: Wraps(m),
		state: make([]move.State, n), ref: make([]move.State, n), effort: make([]float64, n), given: make([]float64, n), back: make([]move.State, n), batch: make([]int, 0, n)}
	if k.bridge, err = NewBridge(decay, limits, k.wraps); err != nil {
		return nil, err
	}
	if k.holder, err = NewHolder(limits); err != nil {
		return nil, err
	}
	fast := fastLimits(m, assumed, limits)
	k.bridge.fast, k.holder.fast = fast, fast
	k.Motion.Copy(&merged.Motion)
	for j := range k.state {
		k.holder.Begin(j, move.State{}, 0)
	}
	return k, nil
}

// Begin begins a tick at a time, dt after the last, s.
func (k *Shaper) Begin(now, dt float64) { k.now, k.dt = now, dt }

// References takes what is asked for in this tick, and finds which joints have to
// be handed over: those whose writer is new, and those whose reference jumps. Mode
// is that of each servo.
func (k *Shaper) References(mode []servo.Mode) {
	k.poses.handOver(k)
	k.renew(k.merged.Fresh)
	for j := range k.ref {
		if k.merged.Writer[j] == arbiter.NoClient {
			k.hold(j)
			continue
		}
		k.holder.End(j)
		k.ref[j] = k.nearest(j, k.merged.Reference[j])
		most := k.limiter.bounds[j].Effort // of the reference, too: what is handed over later is within it
		k.effort[j] = min(max(k.merged.Motion.Tau[j], -most), most)
		if mode[j].Powered() && k.jumps(j) {
			k.renew(robot.Leaf(robot.LeafID(j)))
		}
	}
}

// renew says that the references of the joints among some leaves are new: motion and
// feed-forward are handed over.
func (k *Shaper) renew(leaves robot.Set) {
	joints := leaves.Intersect(k.joints)
	k.fresh, k.renewed = k.fresh.Union(joints), k.renewed.Union(joints)
}

// hold makes the reference of an unowned joint: the shortest stop, or the place that
// it was sent to, under the load that it carried.
func (k *Shaper) hold(j int) {
	leaf := robot.LeafID(j)
	if k.renewed.Has(leaf) {
		k.renewed = k.renewed.Without(leaf)
		k.bridge.DropEffort(j)
		k.holder.Carry(j, k.given[j])
	}
	if k.fresh.Has(leaf) && !k.holder.Placed(j) {
		k.bridge.Drop(j)
		k.holder.Begin(j, k.state[j], k.now-k.dt)
		k.fresh = k.fresh.Without(leaf)
	}
	k.ref[j], k.effort[j] = k.holder.At(j, k.now), k.holder.Effort(j)
}

// nearest adds whole turns to the reference of an angle without limits, so that it
// is nearest to the command: who writes −π after π has not turned back.
func (k *Shaper) nearest(j int, w move.State) move.State {
	if k.wraps[j] {
		if turns := math.Round((k.state[j].P - w.P) / (2 * math.Pi)); turns != 0 {
			w.P += 2 * math.Pi * turns
		}
	}
	return w
}

// jumps reports whether the limits cannot follow the reference of a joint: then it
// is handed over anew, from the last command.
func (k *Shaper) jumps(j int) bool {
	return !k.limiter.Allows(j, k.ref[j].P+k.bridge.Offset(j, k.now).P, k.dt)
}

// HandOver bridges the joints of one writer that are new to it, all together. peak is
// the share of the limits that the references use.
func (k *Shaper) HandOver(writer arbiter.ClientID, peak float64) {
	if k.gather(writer) {
		k.bridge.Begin(k.now-k.dt, k.batch, k.state, k.back, peak)
		k.handEffortsOver()
	}
}

// Lead bridges the joints that were sent somewhere, all together, with a share of their
// limits, above 0 and at most 1.
func (k *Shaper) Lead(share float64) {
	if k.gather(arbiter.NoClient) {
		k.bridge.BeginWith(k.now-k.dt, k.batch, k.state, k.back, share)
		k.handEffortsOver()
	}
}

// gather finds the joints of one writer that are new to it, and where their references
// were a tick ago. It reports whether there are any.
func (k *Shaper) gather(writer arbiter.ClientID) bool {
	k.batch = k.batch[:0]
	dt := k.dt
	for leaf := range k.fresh.All {
		if k.merged.Writer[leaf] != writer {
			continue
		}
		k.fresh = k.fresh.Without(leaf)
		w := k.ref[leaf]
		k.back[leaf] = move.State{P: w.P - dt*w.V + dt*dt/2*w.A, V: w.V - dt*w.A, A: w.A}
		k.batch = append(k.batch, int(leaf))
	}
	return len(k.batch) > 0
}

// handEffortsOver begins to bridge the feed-forward of the joints that are handed over.
func (k *Shaper) handEffortsOver() {
	for _, j := range k.batch {
		if leaf := robot.LeafID(j); k.renewed.Has(leaf) {
			k.renewed = k.renewed.Without(leaf)
			k.bridge.BeginEffort(k.now-k.dt, j, k.given[j], k.effort[j])
		}
	}
}

// Limit makes the command of a joint: reference plus offset, through the gate.
func (k *Shaper) Limit(j int) {
	w := k.ref[j]
	if o := k.bridge.Offset(j, k.now); o != (move.State{}) {
		w = move.State{P: w.P + o.P, V: w.V + o.V, A: w.A + o.A}
	}
	q, v, a, cut := k.limiter.Apply(j, w.P, k.dt)
	if cut != 0 {
		// the command is not what the bridge thinks: begin again from here
		w = move.State{P: q, V: v, A: a}
		k.fresh = k.fresh.With(robot.LeafID(j))
	}
	k.Cut[j] = cut
	// what a reference claims of its speed may be anything
	b := &k.limiter.bounds[j]
	w.V, w.A = clip(w.V, b.Velocity), clip(w.A, max(b.Acceleration, b.Deceleration))
	k.set(j, w)
}

func (k *Shaper) set(j int, w move.State) {
	k.state[j] = w
	k.Motion.Q[j], k.Motion.V[j], k.Motion.A[j] = w.P, w.V, w.A
}

// clip bounds a number, unless rounding is all that it exceeds the bound by.
func clip(x, bound float64) float64 {
	if math.Abs(x) <= bound*(1+claimSlack) {
		return x
	}
	return math.Copysign(bound, x)
}

// claimSlack is how far beyond a limit rounding leads a reference that keeps it.
const claimSlack = 1e-6

// stiffSlope is how fast stiffness changes at most, 1/s: a limb that sags must
// not snap.
const stiffSlope = 4

// Complete adds what is not motion of joints: feed-forward, stiffness, base, limbs,
// supports and typed values.
func (k *Shaper) Complete(mode []servo.Mode) {
	m, w := &k.Motion, &k.merged.Motion
	step := stiffSlope * k.dt
	for j := range m.Stiff {
		if !mode[j].Powered() {
			m.Stiff[j], m.Tau[j], k.given[j] = w.Stiff[j], 0, 0
			continue
		}
		m.Stiff[j] += min(max(w.Stiff[j]-m.Stiff[j], -step), step)
		k.completeEffort(j)
	}
	copy(m.Limb, w.Limb)
	copy(m.Point, w.Point)
	copy(m.Support, w.Support)
	copy(m.Output, w.Output)
	m.Base, m.Com, m.ZMP = w.Base, w.Com, w.ZMP
	k.poses.apply(k)
}

// completeEffort makes the feed-forward of a joint: that of the reference plus what
// is left of the hand-over, within the joint's effort limit.
func (k *Shaper) completeEffort(j int) {
	tau, most := k.effort[j]+k.bridge.EffortOffset(j, k.now), k.limiter.bounds[j].Effort
	if math.Abs(tau) > most || math.Abs(tau) == most && math.Abs(k.merged.Motion.Tau[j]) > most {
		tau = math.Copysign(most, tau)
		k.Cut[j] |= CutEffort
	}
	k.Motion.Tau[j], k.given[j] = tau, tau
}

// AddEffort adds to the feed-forward of a joint what its references do not know, within its
// effort limit. Hand-overs of references are not touched by it.
func (k *Shaper) AddEffort(j int, tau float64) {
	tau += k.given[j]
	if most := k.limiter.bounds[j].Effort; math.Abs(tau) > most {
		tau = math.Copysign(most, tau)
		k.Cut[j] |= CutEffort
	}
	k.Motion.Tau[j] = tau
}
