package loop

import (
	"math"

	"poise/control"
	"poise/external"
	"poise/robot"
	"poise/trajectory/move"
)

// Reactions to impacts.
const (
	softShare   = 0.3  // of its stiffness that a limb keeps when it softens,
	softFor     = 2.0  // s,
	softFade    = 1.0  // and in so many s has all of it again
	softDrop    = 0.05 // s in which it is lost
	retreatBy   = 0.3  // s: a limb that retreats goes back to where it was to be so long ago,
	retreatTime = 0.4  // in so many s
	retreatKept = 320  // ticks of the past that are kept for that at most: enough down to 1 ms
)

// triggers are what the program of a seat asks of what is felt.
type triggers struct {
	waits    bool // its clock stands,
	awaited  control.Trigger
	since    float64         // s, from then on
	chosen   control.LimbSet // limbs of which it says how to react,
	reaction [control.MaxLimbs]control.Reaction
	back     retreat
}

// retreat is a limb on its way back: an offset of its reference.
type retreat struct {
	past    [][]float64 // ring of references
	at, n   int
	joints  robot.Set
	by      []float64 // [joints] offsets
	began   float64   // s
	on      bool
	leaving bool // it is on its way to the reference again
}

func (t *triggers) init(joints int) {
	t.back.past, t.back.by = make([][]float64, retreatKept), make([]float64, joints)
	block := make([]float64, retreatKept*joints)
	for i := range t.back.past {
		t.back.past[i] = block[i*joints : (i+1)*joints]
	}
}

// begin forgets what the last program asked for.
func (t *triggers) begin() {
	t.waits, t.chosen = false, 0
	t.back.on, t.back.n = false, 0
}

// pass takes the events of the program that have left.
func (s *seat) pass(from, to uint32) {
	p, ok := s.program.(control.Triggered)
	if !ok {
		return
	}
	for n := from; n < to; n++ {
		t, ok := p.Trigger(n)
		switch {
		case !ok:
		case t.Waits:
			s.felt.waits, s.felt.awaited, s.felt.since = true, t, s.l.now
		default:
			for c := range min(len(s.l.cfg.Model.Chains()), control.MaxLimbs) {
				if t.Limbs.Has(robot.ChainID(c)) {
					s.felt.chosen = s.felt.chosen.With(robot.ChainID(c))
					s.felt.reaction[c] = t.Reaction
				}
			}
		}
	}
}

// awaits ends a wait when what is waited for is there: limbs of which nothing is felt are not
// waited for. It is false if that took too long.
func (s *seat) awaits() bool {
	w := &s.felt
	if !w.waits {
		return true
	}
	for i := range s.l.measured.Contacts {
		c := &s.l.measured.Contacts[i]
		if w.awaited.Limbs.Has(robot.ChainID(i)) && c.Known() && c.Carries() == w.awaited.Swing {
			return s.l.now-w.since <= w.awaited.Timeout
		}
	}
	w.waits = false
	return true
}

// react does what is to be done about an impact: as the one who moves the limb says, or the robot.
func (f *feeling) react(l *Loop, e *external.Event) (most control.Reaction) {
	if e.Kind != external.Impact {
		return control.Ignore
	}
	limb := f.limbs[e.Chain]
	moved := false
	for _, s := range l.seats {
		if s.program == nil || !s.owned().Overlaps(limb) {
			continue
		}
		moved = true
		reaction := f.reactions[e.Chain]
		if s.felt.chosen.Has(e.Chain) {
			reaction = s.felt.reaction[e.Chain]
		}
		switch reaction {
		case control.Hold:
			s.paused = true
		case control.Retreat:
			s.paused = true
			s.felt.back.begin(s, limb)
		}
		most = max(most, reaction)
	}
	if !moved {
		most = f.reactions[e.Chain]
	}
	if most == control.Soften {
		for leaf := range limb.All {
			f.soft[leaf] = softFor + softFade
		}
	}
	return most
}

// soften lets a tick pass for limbs that give way.
func (f *feeling) soften(dt float64) {
	for j := range f.soft {
		to := 1.0
		if left := f.soft[j]; left > 0 {
			f.soft[j] = max(0, left-dt)
			to = softShare + (1-softShare)*max(0, 1-left/softFade)
		}
		f.share[j] = max(to, f.share[j]-(1-softShare)*dt/softDrop)
	}
}

// stiffness is the share of its own that a joint keeps.
func (f *feeling) stiffness(j int) float64 {
	if f.sense == nil {
		return 1
	}
	return f.share[j]
}

// begin sends a limb back to where its reference was.
func (b *retreat) begin(s *seat, limb robot.Set) {
	if b.n == 0 || b.on {
		return
	}
	ticks := max(1, min(b.n-1, int(math.Round(retreatBy/s.l.tick.Dt))))
	now, then := b.past[b.at], b.past[(b.at-ticks+2*retreatKept)%retreatKept]
	for j := range b.by {
		b.by[j] = then[j] - now[j]
	}
	b.joints, b.began, b.on, b.leaving = limb, s.l.now, true, false
}

// apply keeps the reference of a tick, and shifts that of a limb that retreats.
func (b *retreat) apply(s *seat) {
	if b.past == nil {
		return
	}
	b.at = (b.at + 1) % retreatKept
	b.n = min(b.n+1, retreatKept)
	copy(b.past[b.at], s.ref.Q)
	if !b.on {
		return
	}
	if !s.paused && !b.leaving {
		b.leaving, b.began = true, s.l.now
	}
	ease := move.MinimumJerk(s.l.now-b.began, retreatTime)
	if b.leaving {
		if ease = (move.State{P: 1 - ease.P, V: -ease.V, A: -ease.A}); s.l.now-b.began >= retreatTime {
			b.on = false
		}
	}
	for leaf := range b.joints.Intersect(s.ref.Has).All {
		if j := int(leaf); j < len(b.by) {
			s.ref.Q[j] += ease.P * b.by[j]
			s.ref.V[j] += ease.V * b.by[j]
			s.ref.A[j] += ease.A * b.by[j]
		}
	}
}
