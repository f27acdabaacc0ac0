package control

import (
	"fmt"
	"math"
	"strings"

	"poise/problem"
	"poise/trajectory/move"
)

// Decay is how the difference between command and reference decays in a bridge.
type Decay uint8

// The decays.
const (
	// JerkLimited is the fastest decay within the share of velocity,
	// acceleration and jerk that the reference leaves, the same duration for all
	// joints of a hand-over.
	JerkLimited Decay = iota
	// Exponential is critically damped: x″ = −2/T·x′ − x/T².
	Exponential
)

var decayNames = [...]string{"jerk_limited", "exponential"}

func (d Decay) String() string { return decayNames[d] }

// MarshalText writes the decay's name.
func (d Decay) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads the decay's name.
func (d *Decay) UnmarshalText(text []byte) error {
	for i, name := range decayNames {
		if string(text) == name {
			*d = Decay(i)
			return nil
		}
	}
	return fmt.Errorf("control: no decay is named %q; there are %s%s", text, strings.Join(decayNames[:], " and "), problem.Hint(string(text), decayNames[:]))
}

// BridgeConfig chooses the decay, by name and parameters. The zero value is
// jerk-limited.
type BridgeConfig struct {
	Decay        Decay   `json:"decay"`
	TimeConstant float64 `json:"time_constant"` // T of Exponential, s, > 0
}

// expEnds is how many time constants an exponential decay lasts: what is left
// then is below the rounding of a reading.
const expEnds = 40

// Share of the limits that a bridge has at least, however much the reference
// claims: a hand-over must end. One that begins at speed has as much as that
// speed is of its limit, up to a half: a joint that may hardly brake would run far
// away before it came back. What both together ask too much the gate cuts.
const (
	leastShare = 0.1
	speedShare = 0.5
)

// Bridge carries joints from where the command is to where a new owner's
// reference is:
//
//	command = reference + offset,   offset → 0
//
// At a hand-over the offset is the difference in position, velocity and
// acceleration, so nothing jumps; when it has decayed it is exactly zero, and the
// command is the reference bit for bit.
type Bridge struct {
	config BridgeConfig
	limits []move.Limits
	fast   []move.Limits // of joints that are faster than limits; nil: the same
	wraps  []bool        // an angle without limits: the short way round

	plan *move.Motion // of one hand-over, reused
	from []move.State // its axes
	rest []move.State
	lim  []move.Limits

	joints []bridging
}

// bridging is the offset of one joint.
type bridging struct {
	active  bool
	began   float64 // s
	ends    float64 // s after it began
	profile move.Profile
	first   move.State // Exponential: where it began

	effort effortFade
}

// effortFade is the offset of a joint's feed-forward: a straight ramp to zero, or
// an exponential decay. Both go on where they are when a hand-over begins again, so
// one that begins again in every tick still ends.
type effortFade struct {
	first float64 // offset at the beginning, N·m or N; 0 if there is no fade
	began float64 // s
	ends  float64 // s after it began
}

// leastEffortFade is how long feed-forward takes at least to be handed over, s: a
// hand-over at rest, which has no way to go, must not step either.
const leastEffortFade = 0.25

// NewBridge returns a bridge for joints with the given limits; wraps tells which
// are angles without limits. A joint whose acceleration is unbounded must have a
// transition acceleration in its limits: a bridge has to know how fast it may be.
func NewBridge(c BridgeConfig, limits []move.Limits, wraps []bool) (*Bridge, error) {
	n := len(limits)
	if c.Decay == Exponential && !(c.TimeConstant > 0 && !math.IsInf(c.TimeConstant, 1)) {
		return nil, fmt.Errorf("control: time constant of the exponential decay is %g s, must be above zero", c.TimeConstant)
	}
	plan, err := move.New(limits)
	if err != nil {
		return nil, err
	}
	return &Bridge{config: c, limits: limits, wraps: wraps, plan: plan,
		from: make([]move.State, n), rest: make([]move.State, n), lim: make([]move.Limits, n), joints: make([]bridging, n)}, nil
}

// Begin starts a hand-over of some joints at time t (s): from the state of the
// command to that of the reference, both indexed by joint. peak is the share of
// the limits that the reference may use; the bridge takes the rest. It returns
// how long the hand-over takes, s.
func (b *Bridge) Begin(t float64, joints []int, command, reference []move.State, peak float64) float64 {
	return b.BeginWith(t, joints, command, reference, min(max(1-peak, leastShare), 1))
}

// BeginWith is Begin with the share of the limits that the bridge itself takes, above 0
// and at most 1.
func (b *Bridge) BeginWith(t float64, joints []int, command, reference []move.State, share float64) float64 {
	n := len(joints)
	for _, j := range joints {
		l := b.of(j, &command[j], &reference[j])
		fast := max(math.Abs(command[j].V-reference[j].V)/l.VelMax, math.Abs(command[j].A-reference[j].A)/l.AccMax)
		share = max(share, min(fast, speedShare))
	}
	for k, j := range joints {
		d := move.State{P: command[j].P - reference[j].P, V: command[j].V - reference[j].V, A: command[j].A - reference[j].A}
		if b.wraps[j] {
			d.P = math.Remainder(d.P, 2*math.Pi)
		}
		l := b.of(j, &command[j], &reference[j])
		if l != &b.limits[j] && math.Abs(d.A) > b.limits[j].AccMax {
			// the speed alone goes on: to wind such an acceleration down within limits of jerk would lead a
			// leg that was cut in its swing radians away
			d.A = 0
		}
		b.from[k], b.rest[k] = d, move.State{}
		b.lim[k] = move.Limits{VelMin: share * l.VelMin, VelMax: share * l.VelMax, AccMin: share * l.AccMin, AccMax: share * l.AccMax, Jerk: share * l.Jerk}
	}
	duration := 0.0
	if b.config.Decay == Exponential {
		duration = expEnds * b.config.TimeConstant
	} else {
		if err := b.plan.SetLimits(b.lim[:n]); err != nil {
			panic("control: " + err.Error()) // limits were valid, and a share of them is
		}
		if err := b.plan.Reach(b.from[:n], b.rest[:n], move.Options{}); err != nil {
			return b.jump(joints)
		}
		duration = b.plan.Duration()
	}
	for k, j := range joints {
		offset := &b.joints[j]
		offset.active, offset.began, offset.ends, offset.first = duration > 0, t, duration, b.from[k]
		if b.config.Decay == JerkLimited {
			offset.profile = *b.plan.Axis(k)
		}
	}
	return duration
}

// of returns the limits of a joint's hand-over: those of fast joints if it is faster than usual, or
// accelerates more: a leg that swings would run far away before gentle limits turned it round.
func (b *Bridge) of(joint int, command, reference *move.State) *move.Limits {
	l := &b.limits[joint]
	if b.fast != nil && (max(math.Abs(command.V), math.Abs(reference.V)) > l.VelMax || max(math.Abs(command.A), math.Abs(reference.A)) > l.AccMax*(1+claimSlack)) {
		return &b.fast[joint]
	}
	return l
}

// jump drops the offsets of joints whose states are non-finite: the gate after
// the bridge bounds what follows.
func (b *Bridge) jump(joints []int) float64 {
	for _, j := range joints {
		b.joints[j].active = false
	}
	return 0
}

// BeginEffort starts the hand-over of a joint's feed-forward, at the time and for the
// duration of the last Begin, or for leastEffortFade if that is longer: from that
// of the command to that of the reference, N·m or N.
func (b *Bridge) BeginEffort(t float64, joint int, command, reference float64) {
	offset := &b.joints[joint]
	offset.effort = effortFade{first: command - reference, began: t, ends: leastEffortFade}
	if offset.active && offset.began == t {
		offset.effort.ends = max(offset.ends, leastEffortFade)
	}
	if !finite(offset.effort.first) {
		offset.effort.first = 0
	}
}

// DropEffort ends the hand-over of a joint's feed-forward at once.
func (b *Bridge) DropEffort(joint int) { b.joints[joint].effort.first = 0 }

// EffortOffset returns what is added to the feed-forward of a joint at time t (s):
// exactly zero once its hand-over is over.
func (b *Bridge) EffortOffset(joint int, t float64) float64 {
	if b.joints[joint].effort.first == 0 {
		return 0
	}
	return b.effortOffset(joint, t)
}

func (b *Bridge) effortOffset(joint int, t float64) float64 {
	fade := &b.joints[joint].effort
	since := t - fade.began
	if since >= fade.ends {
		fade.first = 0
		return 0
	}
	if b.config.Decay == Exponential {
		return fade.first * math.Exp(-since/b.config.TimeConstant)
	}
	return fade.first * (1 - since/fade.ends)
}

// Active reports whether a joint is being handed over.
func (b *Bridge) Active(joint int) bool { return b.joints[joint].active }

// Drop ends the hand-over of a joint's motion at once: its command is re-seeded
// elsewhere.
func (b *Bridge) Drop(joint int) { b.joints[joint].active = false }

// Offset returns what is added to the reference of a joint at time t (s): exactly
// zero once the hand-over is over.
func (b *Bridge) Offset(joint int, t float64) move.State {
	offset := &b.joints[joint]
	if !offset.active {
		return move.State{}
	}
	since := t - offset.began
	if since >= offset.ends {
		offset.active = false
		return move.State{}
	}
	if b.config.Decay == JerkLimited {
		return offset.profile.At(since)
	}
	// x(t) = (x0 + (v0 + x0/T)·t)·e^(−t/T)
	T := b.config.TimeConstant
	k := offset.first.V + offset.first.P/T
	e := math.Exp(-since / T)
	p := (offset.first.P + k*since) * e
	v := k*e - p/T
	return move.State{P: p, V: v, A: -k*e/T - v/T}
}
