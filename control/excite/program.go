package excite

import (
	"encoding/json"
	"math"

	"poise/control"
	"poise/robot"
	"poise/trajectory/move"
)

// Part is a part of a program.
type Part string

// The parts, in order.
const (
	Approach   Part = "approach"   // to the middle of the motion
	Delay      Part = "delay"      // quick and small
	Excitation Part = "excitation" // a sum of sines
	Sweeps     Part = "sweeps"     // constant speeds
	Return     Part = "return"     // to where it began
)

// Sine is one of a sum.
type Sine struct {
	Amplitude float64 `json:"amplitude"` // rad
	Frequency float64 `json:"frequency"` // rad/s
	Phase     float64 `json:"phase"`     // rad
}

// Knot begins an interval of constant acceleration.
type Knot struct {
	Time         float64 `json:"time"`     // s since the sweeps began
	Position     float64 `json:"position"` // from the middle, rad
	Velocity     float64 `json:"velocity"`
	Acceleration float64 `json:"acceleration"`
}

// Axis is how one joint moves.
type Axis struct {
	Joint  robot.JointID `json:"joint"`
	From   float64       `json:"from"`   // where it has to be at the start, rad
	Centre float64       `json:"centre"` // middle of the motion, rad
	Quick  []Sine        `json:"quick"`
	Sum    []Sine        `json:"sum"`
	Sweep  []Knot        `json:"sweep"`
}

// Program is the motion of some joints.
type Program struct {
	Needs    robot.Set `json:"needs"` // joints that move, and what goes with them
	Axes     []Axis    `json:"axes"`
	Times    Times     `json:"times"`
	Farthest float64   `json:"farthest"` // a joint may be from its command, rad
	Silence  float64   `json:"silence"`  // that a joint may not be heard of, s
}

// Times are how long the parts take, s; a part that takes none is left out.
type Times struct {
	Approach   float64 `json:"approach"`
	Delay      float64 `json:"delay"`
	Excitation float64 `json:"excitation"`
	Sweeps     float64 `json:"sweeps"`
	Return     float64 `json:"return"`
}

// PartEnd is a part and when it ends.
type PartEnd struct {
	Part Part
	End  float64 // s
}

// Ends lists the parts that take time, in order.
func (t *Times) Ends() (all []PartEnd) {
	end := 0.0
	for _, p := range []struct {
		name Part
		time float64
	}{{Approach, t.Approach}, {Delay, t.Delay}, {Excitation, t.Excitation}, {Sweeps, t.Sweeps}, {Return, t.Return}} {
		if end += p.time; p.time > 0 {
			all = append(all, PartEnd{p.name, end})
		}
	}
	return all
}

// Duration is how long it takes at full speed, s.
func (p *Program) Duration() float64 {
	t := &p.Times
	return t.Approach + t.Delay + t.Excitation + t.Sweeps + t.Return
}

// Claim asks for all of it: a joint less would move the others in another way.
func (p *Program) Claim() (needs, wants robot.Set) { return p.Needs, p.Needs }

// MarshalBinary is for the flight recorder.
func (p *Program) MarshalBinary() ([]byte, error) { return json.Marshal(p) }

// Decode reads what MarshalBinary wrote.
func Decode(b []byte) (control.Program, error) {
	p := new(Program)
	return p, json.Unmarshal(b, p)
}

// At returns how an axis moves at a time. Loop-safe.
func (p *Program) At(axis int, time float64) move.State {
	a, t := &p.Axes[axis], &p.Times
	if time < t.Approach {
		return between(a.From, a.Centre, time, t.Approach)
	}
	time -= t.Approach
	if time < t.Delay {
		return faded(a.Centre, a.Quick, time, t.Delay)
	}
	time -= t.Delay
	if time < t.Excitation {
		return faded(a.Centre, a.Sum, time, t.Excitation)
	}
	time -= t.Excitation
	if time < t.Sweeps {
		return swept(a.Centre, a.Sweep, time)
	}
	return between(a.Centre, a.From, time-t.Sweeps, t.Return)
}

func between(from, to, t, length float64) move.State {
	if !(length > 0) {
		return move.State{P: to}
	}
	s := move.MinimumJerk(t, length)
	way := to - from
	return move.State{P: from + way*s.P, V: way * s.V, A: way * s.A}
}

// fading is how long a sum of sines takes to come and to go, s.
const fading = 1.0

// faded is a sum of sines that comes and goes.
func faded(centre float64, sum []Sine, t, length float64) move.State {
	q, v, a := 0.0, 0.0, 0.0
	for i := range sum {
		x := &sum[i]
		sin, cos := math.Sincos(x.Frequency*t + x.Phase)
		q += x.Amplitude * sin
		v += x.Amplitude * x.Frequency * cos
		a -= x.Amplitude * x.Frequency * x.Frequency * sin
	}
	f, g := move.MinimumJerk(t, fading), move.MinimumJerk(length-t, fading)
	w, wv, wa := f.P*g.P, f.V*g.P-f.P*g.V, f.A*g.P-2*f.V*g.V+f.P*g.A
	return move.State{P: centre + w*q, V: w*v + wv*q, A: w*a + 2*wv*v + wa*q}
}

// swept is where intervals of constant acceleration lead.
func swept(centre float64, k []Knot, t float64) move.State {
	if len(k) == 0 {
		return move.State{P: centre}
	}
	i := 0
	for i+1 < len(k) && k[i+1].Time <= t {
		i++
	}
	d := t - k[i].Time
	return move.State{P: centre + k[i].Position + d*(k[i].Velocity+d*k[i].Acceleration/2), V: k[i].Velocity + d*k[i].Acceleration, A: k[i].Acceleration}
}
