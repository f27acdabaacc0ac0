package step

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"poise/control"
	"poise/robot"
	"poise/spatial"
	"poise/trajectory"
	"poise/trajectory/clock"
	"poise/trajectory/spline"
)

// Program is a compiled goal. It never changes.
type Program struct {
	r     record
	needs robot.Set
	track *clock.Track
}

// record is a program as the flight recorder has it, from which it is built again.
type record struct {
	Times  []float64     `json:"times"` // of the samples: when contacts change
	Chains []chainRecord `json:"chains"`

	Joints []robot.JointID `json:"joints"` // columns of Table; then six of the base
	Base   bool            `json:"base"`
	Leaf   robot.LeafID    `json:"leaf"`   // of the base
	Origin spatial.Mat3    `json:"origin"` // from which the base's rotation vector counts
	Knots  []float64       `json:"knots"`
	Table  [][]float64     `json:"table"`

	Velocity     []float64 `json:"velocity"` // limits of joints; 0 is unlimited
	Acceleration []float64 `json:"acceleration"`
	Position     float64   `json:"position"` // tolerance of limbs, m; 0 is no tolerance
	Orientation  float64   `json:"orientation"`
	Deviation    float64   `json:"deviation"` // of limbs from their curves, m
}

type chainRecord struct {
	Chain    robot.ChainID     `json:"chain"`
	Contacts []robot.ContactID `json:"contacts"` // from each sample on
}

// Claim returns what it asks for: the limbs, and the base if it moves.
func (p *Program) Claim() (needs, wants robot.Set) { return p.needs, robot.Set{} }

// Duration returns how long it takes at rate 1, s.
func (p *Program) Duration() float64 { return p.r.Times[len(p.r.Times)-1] - p.r.Times[0] }

// Deviation returns how far limbs get from the curves through their samples, m.
func (p *Program) Deviation() float64 { return p.r.Deviation }

// MarshalBinary is for the flight recorder.
func (p *Program) MarshalBinary() ([]byte, error) { return json.Marshal(p.r) }

// Decode reads what MarshalBinary wrote.
func Decode(b []byte) (control.Program, error) {
	var r record
	if err := json.Unmarshal(b, &r); err != nil {
		return nil, fmt.Errorf("step: %w", err)
	}
	if err := r.check(); err != nil {
		return nil, err
	}
	p, err := build(r)
	if err != nil {
		return nil, err
	}
	return p, nil
}

var errRecord = errors.New("step: the record is not of a program")

// check refuses records that no Program wrote.
func (r *record) check() error {
	n := len(r.Joints)
	if r.Base {
		n += frameColumns
	}
	ok := len(r.Times) >= 2 && len(r.Chains) > 0 && len(r.Joints) > 0 && len(r.Knots) == len(r.Table) && len(r.Knots) >= 2 &&
		len(r.Velocity) == len(r.Joints) && len(r.Acceleration) == len(r.Joints)
	for _, j := range r.Joints {
		ok = ok && j >= 0 && j < robot.MaxLeaves
	}
	for _, c := range r.Chains {
		ok = ok && c.Chain >= 0 && len(c.Contacts) == len(r.Times)
	}
	for _, row := range r.Table {
		ok = ok && len(row) == n
	}
	for _, x := range r.Velocity {
		ok = ok && x >= 0
	}
	for _, x := range r.Acceleration {
		ok = ok && x >= 0
	}
	if !ok || r.Leaf >= robot.MaxLeaves {
		return errRecord
	}
	return nil
}

// build makes the program of a record.
func build(r record) (*Program, error) {
	p := &Program{r: r}
	for _, j := range r.Joints {
		p.needs = p.needs.With(robot.LeafID(j)) // a joint's leaf has its number
	}
	curve, err := spline.Akima(r.Knots, r.Table, 0)
	if err != nil {
		return nil, err
	}
	limits := trajectory.Limits{Velocity: orInfinite(r.Velocity, curve.Joints()), Acceleration: orInfinite(r.Acceleration, curve.Joints())}
	if p.track, err = clock.Compile(curve, &limits, clock.Options{}); err != nil {
		return nil, err
	}
	if r.Base {
		p.needs = p.needs.With(r.Leaf)
	}
	return p, nil
}

// orInfinite lengthens limits to n columns; 0 is unlimited.
func orInfinite(x []float64, n int) []float64 {
	all := make([]float64, n)
	for i := range all {
		all[i] = math.Inf(1)
		if i < len(x) && x[i] > 0 {
			all[i] = x[i]
		}
	}
	return all
}

// swing is the share that is over of the time for which a limb touches nothing; 0 if it does not touch again.
func (p *Program) swing(contacts []robot.ContactID, k int, t float64) float64 {
	from, to := k, k
	for from > 0 && contacts[from-1] == robot.NoContact {
		from--
	}
	for to < len(contacts) && contacts[to] == robot.NoContact {
		to++
	}
	if to == len(contacts) {
		return 0
	}
	return control.SwingOf(p.r.Times[from], p.r.Times[to], t)
}
