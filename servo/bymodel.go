package servo

import (
	"math"

	"poise/servo/model"
)

// How models are used in the cycle.
const (
	voltageTime  = 1.0  // s, of the filter of the voltage: the supply sags with every step, its charge does not
	voltageStale = 2.0  // s without a measurement after which the nominal voltage is used again
	lowVoltage   = 0.5  // of nominal, and
	highVoltage  = 1.25 // of nominal: what a supply can have
	blendTime    = 0.5  // s in which a correction is taken over at most
	torqueStep   = 0.03 // N·m by which a blend changes a joint's torque in a tick at most,
	strongStep   = 4e-3 // or this share of all that its servo can give, if that is more
	leastShare   = 0.05 // of full gain, by which corrections are computed at least
)

// ModelSet is the servo models of a robot. It is sent like a program and, like one, never
// written again.
type ModelSet struct {
	Version uint64         `json:"version"`
	Joints  []*model.Model `json:"joints"` // nil where none is known
}

// Check returns what is wrong with the models, by joint.
func (s *ModelSet) Check() (wrong map[int]error) {
	for j, m := range s.Joints {
		if m == nil {
			continue
		}
		if err := usable(m); err != nil {
			if wrong == nil {
				wrong = map[int]error{}
			}
			wrong[j] = err
		}
	}
	return wrong
}

// Reach returns by how far goals may be beyond where a joint is to be: what makes a servo give
// all it can, rad; infinite if its model does not say. Loop-safe.
func Reach(m *model.Model) float64 {
	at := m.AtJoint()
	share := 1.0
	if at.Stiffness > 0 {
		share = math.Max(leastShare, at.Share(at.Stiffness, at.Voltage))
	}
	return at.Limit(at.Voltage) / (at.Kp * at.Voltage * share)
}

// InversionState is what an inversion by models tells of itself.
type InversionState struct {
	Version   uint64  // of the models
	Blending  bool    // newer ones, or the choice of some joints, are still being taken over
	Modelled  int     // joints that are driven by a model now, in part or wholly
	Voltage   float64 // by which the first of them is driven, V
	Measured  bool    // the voltage was measured once
	Stale     bool    // and is no more: nominal voltage is used
	Absurd    bool    // what is measured is beyond what the supply can have, and was clipped
	Saturated int     // joints whose servos cannot do all that they are asked
	Failed    int     // joints whose model gave no finite goal: they are driven by lead
}

// ByModel is the inverter of servos whose models are known. The position is the one at which the
// servo's own error gives what the motion needs, and what friction and rotor take; the effort
// then is in the position. Joints without a model, and those that are not to be driven by one,
// have what Lead gives. Every change between the two, and between models, is blended, so that it
// changes a joint's torque by a bounded amount per tick.
type ByModel struct {
	lead   Lead
	carry  carry
	fixed  bool // gains stay as they are, whatever the setpoint's stiffness
	joints []modelled
	state  InversionState
	tick   InversionState // as it is gathered, joint by joint

	volts  float64 // as last measured
	silent float64 // s since then
}

// modelled is one joint.
type modelled struct {
	known     bool
	old, now  model.Model // at the joint; old counts while mix is below 1
	next      model.Model // taken when that is over, if one waits
	waits     bool
	mix       float64 // share of now
	weight    float64 // share of what the model adds to lead
	voltage   float64 // filtered
	stiffness float64 // share of full gain that the model is used with, 0 … 1
	step      float64 // N·m that a blend may change in a tick
}

func newByModel(c InversionConfig) *ByModel {
	b := &ByModel{lead: c.Lead, carry: carry{over: c.Beyond}, fixed: c.FixedGain, joints: make([]modelled, len(c.Models)), silent: math.Inf(1)}
	b.state.Version = c.Version
	for j, m := range c.Models {
		if m != nil {
			b.joints[j].take(m)
		}
	}
	return b
}

// SetModels takes newer models over, or older ones again: those of joints that differ, from the
// next tick on and gradually. A joint for which the set has none keeps its own. Loop-safe.
func (b *ByModel) SetModels(s *ModelSet) {
	b.state.Version = s.Version
	for j := range min(len(b.joints), len(s.Joints)) {
		if s.Joints[j] != nil {
			b.joints[j].take(s.Joints[j])
		}
	}
}

// take begins the way to another model, or lets it wait until the way to the last is over.
func (j *modelled) take(m *model.Model) {
	at := m.AtJoint()
	switch {
	case !j.known:
		*j = modelled{known: true, now: at, mix: 1, voltage: at.Voltage}
		j.bound()
	case at == j.now:
		j.waits = false
	case j.mix < 1:
		j.next, j.waits = at, true
	default:
		j.old, j.now, j.mix = j.now, at, 0
		j.bound()
	}
}

// bound finds how fast blends may be.
func (j *modelled) bound() {
	j.step = torqueStep
	if most := j.now.Limit(j.now.Voltage) / j.now.A[3]; !math.IsInf(most, 1) {
		j.step = math.Max(torqueStep, strongStep*most)
	}
}

// State returns how the last tick went. Loop-safe.
func (b *ByModel) State() InversionState { return b.state }

// InvertTo aims where the servo's error makes what the motion needs. Loop-safe.
func (b *ByModel) InvertTo(dst *Setpoint, c *Command) {
	if c.Joint == 0 {
		b.begin(c)
	}
	b.lead.InvertTo(dst, c)
	if c.Joint < len(b.joints) {
		if j := &b.joints[c.Joint]; j.known {
			b.invert(dst, c, j)
		}
	}
	b.carry.on(dst, c)
	if c.Joint == len(b.joints)-1 {
		b.tick.Version = b.state.Version
		b.state = b.tick
	}
}

// begin starts a tick: with it the age of the voltage.
func (b *ByModel) begin(c *Command) {
	b.tick = InversionState{Measured: b.tick.Measured}
	if c.Voltage > 0 && finite(c.Voltage) {
		b.volts, b.silent, b.tick.Measured = c.Voltage, 0, true
	} else {
		b.silent += c.Dt
	}
	b.tick.Stale = b.tick.Measured && b.silent > voltageStale
}

func (b *ByModel) invert(dst *Setpoint, c *Command, j *modelled) {
	u := b.filter(c, j)
	if !c.Torque {
		j.rest()
		return
	}
	soft := b.gain(c, j, u)
	gain := math.Max(leastShare, soft)
	adds, g := b.adds(&j.now, c, u, gain)
	correction := g.Correction
	stiffness := gain * j.now.Kp * u / j.now.A[3]
	if !finite(adds) || !finite(stiffness) {
		b.tick.Failed++
		j.weight = 0
		return
	}
	if j.mix < 1 {
		before, old := b.adds(&j.old, c, u, gain)
		if !finite(before) {
			before, old = adds, g
		}
		j.mix = math.Min(1, j.mix+j.share(c.Dt, stiffness*(adds-before)))
		adds = before + j.mix*(adds-before)
		correction = old.Correction + j.mix*(correction-old.Correction)
		b.tick.Blending = true
		if j.mix == 1 && j.waits {
			j.old, j.now, j.mix, j.waits = j.now, j.next, 0, false
			j.bound()
		}
	}
	j.weigh(c, stiffness*math.Abs(adds)+math.Abs(c.Effort), &b.tick)
	if j.weight == 0 {
		return
	}
	b.note(u, g.Saturated)
	dst.Position += j.weight * adds
	dst.Correction, dst.Gain = j.weight*correction, gain
	dst.Effort = (1 - j.weight) * c.Effort
	if !b.fixed {
		dst.Stiffness = soft
	}
}

// adds is what a model adds to the position that lead alone gives.
func (b *ByModel) adds(m *model.Model, c *Command, u, gain float64) (float64, model.Goal) {
	w := model.Motion{Position: c.Position, Velocity: c.Velocity, Acceleration: c.Acceleration, Effort: c.Effort}
	ahead := *m
	ahead.Lead += b.lead.Time
	g := ahead.InvertSoft(w, u, gain)
	return g.Position - c.Position - c.Velocity*b.lead.Time, g
}

// rest is the state of a joint without torque: what comes next begins again.
func (j *modelled) rest() {
	if j.waits {
		j.now, j.waits = j.next, false
		j.bound()
	}
	j.weight, j.mix = 0, 1
}

// weigh blends the model in or out, if all of it changes the torque that much.
func (j *modelled) weigh(c *Command, torque float64, tell *InversionState) {
	want := 0.0
	if c.ByModel {
		want = 1
	}
	if j.weight == want {
		return
	}
	by := j.share(c.Dt, torque)
	j.weight += math.Max(-by, math.Min(by, want-j.weight))
	tell.Blending = true
}

func (b *ByModel) note(u float64, saturated bool) {
	if b.tick.Modelled == 0 {
		b.tick.Voltage = u
	}
	b.tick.Modelled++
	if saturated {
		b.tick.Saturated++
	}
}

// filter follows the voltage slowly: towards what was measured, towards nominal if that is stale.
func (b *ByModel) filter(c *Command, j *modelled) float64 {
	nominal := j.now.Voltage
	to := nominal
	if b.silent <= voltageStale {
		to = math.Max(lowVoltage*nominal, math.Min(highVoltage*nominal, b.volts))
		b.tick.Absurd = b.tick.Absurd || to != b.volts
	}
	j.voltage += (to - j.voltage) * c.Dt / (voltageTime + c.Dt)
	return j.voltage
}

// gain returns the part of full gain that a joint is used with: what the reference asks for, of
// the stiffness that the model is to have. The latter comes with the model's weight.
func (b *ByModel) gain(c *Command, j *modelled, u float64) float64 {
	if b.fixed {
		return 1
	}
	own := 1.0
	if j.now.Stiffness > 0 {
		own = j.now.Share(j.now.Stiffness, u)
	}
	if j.weight == 0 {
		j.stiffness = 1
	}
	by := j.share(c.Dt, c.Effort)
	j.stiffness += math.Max(-by, math.Min(by, own-j.stiffness))
	return math.Max(0, math.Min(1, c.Stiffness)) * j.stiffness
}

// share returns by how much a blend goes on in a tick, if all of it changes the torque that much.
func (j *modelled) share(dt, torque float64) float64 {
	return math.Min(dt/blendTime, j.step/math.Max(math.Abs(torque), 1e-9))
}
