package stream

import (
	"slices"

	"poise/control"
	"poise/robot"
	"poise/spatial"
)

// Program follows a stream with the joints of Needs, and those of Wants while it
// has them, until it is cancelled. It is never written after it was sent.
type Program struct {
	Needs    robot.Set `json:"needs"`
	Wants    robot.Set `json:"wants"`
	Timeout  float64   `json:"timeout"`  // s without a value until it holds; 0 means 0.5
	Patience float64   `json:"patience"` // s without a value until it gives up; 0 is never
	Speed    float64   `json:"speed"`    // share of the limits of velocity, 0 … 1; 0 means 1
	Ranks    []Rank    `json:"ranks,omitempty"`
	Lease    float64   `json:"lease,omitempty"` // s, of an external controller; 0 is the loop's
}

// Rank gives some leaves priorities of their own; of several the first counts.
type Rank struct {
	Leaves      robot.Set `json:"leaves"`
	Pending     float32   `json:"pending"`     // while it asks
	Operational float32   `json:"operational"` // once it runs
}

// Rank returns the priorities of a leaf, if it has its own.
func (p *Program) Rank(leaf robot.LeafID) (pending, operational float32, own bool) {
	for i := range p.Ranks {
		if r := &p.Ranks[i]; r.Leaves.Has(leaf) {
			return r.Pending, r.Operational, true
		}
	}
	return 0, 0, false
}

// LeaseTime returns how long an external controller may give no sign of life, s.
func (p *Program) LeaseTime() float64 { return p.Lease }

// Claim returns what it asks for.
func (p *Program) Claim() (needs, wants robot.Set) { return p.Needs, p.Wants }

// MarshalBinary is for the flight recorder.
func (p *Program) MarshalBinary() ([]byte, error) { return control.EncodeRecord("program", p) }

// Streams of a seat that are followed side by side: the lanes of samples.
const (
	Joints   = 0
	Outputs  = 1
	Supports = 2
	Limbs    = 3
)

// Sample is one value of a stream: where some joints are to be, or limbs and the base,
// which become joints by inverse kinematics; which limbs carry; what typed outputs show.
type Sample struct {
	At      int64     `json:"at"` // when it was made, on the clock of the cycle (Tick.Time), ns
	Joints  robot.Set `json:"joints"`
	Q       []float64 `json:"q"`                 // of each joint of the robot; those of Joints count
	V       []float64 `json:"v,omitempty"`       // velocities there, if it says some
	A       []float64 `json:"a,omitempty"`       // accelerations, likewise
	Tau     []float64 `json:"tau,omitempty"`     // feed-forward efforts, likewise
	Support []Support `json:"support,omitempty"` // which limbs carry

	Stream int           `json:"stream,omitempty"`  // of which stream it is: Joints, Outputs, Supports or Limbs
	Limbs  []Limb        `json:"limbs,omitempty"`   // where tips are to be; then Joints is empty
	InBase bool          `json:"in_base,omitempty"` // poses of limbs are seen from the base
	Base   *spatial.Pose `json:"base,omitempty"`    // X_WB: feet that stand stay where they are
	Output []Output      `json:"output,omitempty"`  // typed values
}

// Output is the value of a typed leaf that is no joint.
type Output struct {
	Leaf  robot.LeafID `json:"leaf"`
	Value float64      `json:"value"`
}

// Leaves returns the joints, supports and typed outputs that the sample speaks of. Limbs and the
// base are refused by name where they are not the controller's.
func (s *Sample) Leaves(m *robot.Model) robot.Set {
	set := s.Joints
	for _, x := range s.Output {
		set = set.With(x.Leaf)
	}
	if len(s.Support) == 0 {
		return set
	}
	res, err := m.Resources()
	if err != nil {
		return set
	}
	for i, leaf := range res.Leaves() {
		if leaf.Kind == robot.SupportLeaf && slices.ContainsFunc(s.Support, func(x Support) bool { return x.Chain == leaf.Chain }) {
			set = set.With(robot.LeafID(i))
		}
	}
	return set
}

// Lane returns of which stream it is.
func (s *Sample) Lane() int { return s.Stream }

// Support says how much a limb carries: 0 is free, 1 carries.
type Support struct {
	Chain  robot.ChainID `json:"chain"`
	Weight float64       `json:"weight"`

	Contact *robot.ContactID `json:"contact,omitempty"` // which points touch; nil is as before, the chain's own at first
}

// Claim asks for nothing: a sample is fed to what runs already.
func (s *Sample) Claim() (needs, wants robot.Set) { return robot.Set{}, robot.Set{} }

// MarshalBinary is for the flight recorder.
func (s *Sample) MarshalBinary() ([]byte, error) { return control.EncodeRecord("sample", s) }

// Decode reads what MarshalBinary wrote.
func Decode(b []byte) (control.Program, error) {
	return control.DecodeRecord("stream", b, func(kind string) control.Program {
		switch kind {
		case "program":
			return new(Program)
		case "sample":
			return new(Sample)
		}
		return nil
	})
}

// OperateWanted returns the program that follows a stream on some leaves, and goes on
// with those that it is left with.
func OperateWanted(_ *robot.Model, set robot.Set) (control.Program, error) {
	return &Program{Wants: set}, nil
}

// OperateNeeded returns the program that follows a stream on some leaves, all of which
// it needs.
func OperateNeeded(_ *robot.Model, set robot.Set) (control.Program, error) {
	return &Program{Needs: set}, nil
}
