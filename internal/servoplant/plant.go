// Package servoplant is a servo that swings a pendulum, for judging identification. It shares no
// code and no equation with packages model and sim: it is written in newtons and metres, with a
// friction of Karnopp's kind, a gear with play between two masses, and a line that delays, jitters,
// quantises and loses.
package servoplant

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
)

// Truth is what identification has to find: the parameters of the servo's equation.
type Truth struct {
	A0, A1, A2, A3, A5 float64
	A4, Vs             float64 // Stribeck
	Kp                 float64
	Delay              float64 // s
}

// Deployed is the servo of the pony's legs.
var Deployed = Truth{A0: 2.1095, A1: 53.9546, A2: 12.5499, A3: 234.9008, Kp: 100, Delay: 0.0224}

// Scatter returns the truth with each parameter changed by up to a share.
func (t Truth) Scatter(r *rand.Rand, share float64) Truth {
	for _, p := range []*float64{&t.A0, &t.A1, &t.A2, &t.A3} {
		*p *= 1 + share*(2*r.Float64()-1)
	}
	return t
}

// Plant is a servo, its load and its line.
type Plant struct {
	Truth
	Inertia float64 // of the link, kg·m²
	Weight  float64 // m·g·l, N·m
	Lean    float64 // angle of the link at the joint's zero, rad

	Period, Quantum, Loss, Jitter, Ripple float64
	RippleHz                              float64 // frequency of the supply's ripple
	Voltage                               float64
	GoalLoss                              float64 // share of goals that do not arrive, which the log does not know
	Feedback                              bool    // the servo's own loop is quantised, too

	Damping      float64 // share by which damping falls as the servo warms, exponentially over Warm seconds
	Friction     float64 // … and dry friction
	Warm         float64
	LoadFriction float64 // share of the load's torque that rubs
	Play         float64 // of the gear, rad
	DeadBand     float64 // about the goal, in which the servo gives nothing, rad
	Slip         float64 // by which a loose sensor lags behind, rad
	Stiction     float64 // rad/s below which friction is viscous, in place of Karnopp's; 0 for his
	Fading       float64 // share by which the motor's torque falls over Warm seconds
	Saturation   float64 // greatest y over U; 0 is unlimited
}

// Bench returns a plant as the judging asks for it: 22.4 ms, steps of 0.325°, 10 % loss, 5 ms
// jitter, 5 % ripple.
func Bench(t Truth) Plant {
	return Plant{Truth: t, Inertia: 0.006, Weight: 0.35, Lean: 0.2,
		Period: 0.0224, Quantum: 0.325 * math.Pi / 180, Loss: 0.1, Jitter: 0.005, Ripple: 0.05, RippleHz: 1.7, Voltage: 12, Feedback: true}
}

// Row is a line of the log.
type Row struct {
	Time, MeasuredAt, Goal, Play, Position, Voltage, Torque, Pwm, Temperature float64
	Lost                                                                      bool
}

// step is that of the plant's own integration, s.
const step = 5e-5

// Run lets the servo follow a reference for a time and returns the log.
func (p *Plant) Run(r *rand.Rand, reference func(t float64) float64, duration float64) []Row {
	s := state{p: p, phase: 2 * math.Pi * r.Float64()}
	s.motor = reference(0)
	s.link, s.sensor = s.motor, s.motor
	s.from, s.to = s.motor, s.motor
	type sent struct{ at, goal float64 }
	var line []sent
	var rows []Row
	work := []float64{0} // sum of torques
	n := int(duration / p.Period)
	next, at := 0.0, make([]float64, n)
	for i := range at {
		at[i] = float64(i)*p.Period + p.Jitter*r.Float64()
	}
	read := make([]float64, n)
	for i := range read {
		read[i] = at[i] + 0.002 + 0.006*r.Float64()
	}
	i, m := 0, 0
	for k := 0; m < n; k++ {
		t := float64(k) * step
		for i < n && t >= at[i] {
			next = reference(float64(i) * p.Period)
			if p.GoalLoss == 0 || r.Float64() >= p.GoalLoss {
				line = append(line, sent{at[i], next})
			}
			rows = append(rows, Row{Time: at[i], Goal: next, Play: p.Period})
			i++
		}
		for len(line) > 0 && t >= line[0].at+p.Delay {
			s.from, s.begun, s.to = s.desired(t), t, line[0].goal
			line = line[1:]
		}
		if m < i && t >= read[m] {
			row := &rows[m]
			row.MeasuredAt, row.Position = t, p.quantised(s.sensor)
			row.Voltage, row.Torque = s.supply(t), s.rigid
			row.Pwm, row.Temperature = s.pwm, 30+15*(1-math.Exp(-t/20))
			row.Lost = r.Float64() < p.Loss
			m++
		}
		s.advance(t)
		s.sensor = math.Max(s.link-p.Slip/2, math.Min(s.link+p.Slip/2, s.sensor))
		if p.Play > 0 {
			work = append(work, work[len(work)-1]+s.rigid)
		}
	}
	if p.Play > 0 {
		for i := range rows {
			a := max(int((rows[i].MeasuredAt-averaging/2)/step), 0)
			b := min(a+int(averaging/step), len(work)-1)
			rows[i].Torque = (work[b] - work[a]) / float64(b-a)
		}
	}
	return rows
}

func (p *Plant) quantised(x float64) float64 {
	if p.Quantum == 0 {
		return x
	}
	return p.Quantum * math.Floor(x/p.Quantum+0.5)
}

// state moves the plant. motor is the output of the gear as the motor pushes it, link the joint.
type state struct {
	p               *Plant
	phase           float64
	sensor          float64
	motor, spin     float64 // with play
	link, speed     float64
	from, to, begun float64
	rigid, pwm      float64
}

func (s *state) supply(t float64) float64 {
	return s.p.Voltage * (1 + s.p.Ripple*math.Sin(2*math.Pi*s.p.RippleHz*t+s.phase))
}

func (s *state) desired(t float64) float64 {
	x := (t - s.begun) / s.p.Period
	if x >= 1 {
		return s.to
	}
	return s.from + (s.to-s.from)*x
}

// advance is a step of Euler–Cromer in torques: what the motor gives, what rubs, what the link
// weighs.
func (s *state) advance(t float64) {
	p := s.p
	u := s.supply(t)
	seen := s.link
	if p.Feedback {
		seen = p.quantised(seen)
	}
	away := s.desired(t) - seen
	away -= math.Max(-p.DeadBand/2, math.Min(p.DeadBand/2, away))
	effort := p.Kp * u * away
	if most := p.Saturation * u; p.Saturation > 0 {
		s.pwm = effort / most
		effort = math.Max(-most, math.Min(most, effort))
		s.pwm = math.Max(-1, math.Min(1, s.pwm))
	}
	damping, dry := p.A1/p.A3, p.A2/p.A3
	if p.Warm > 0 {
		warm := 1 - math.Exp(-t/p.Warm)
		effort *= 1 - p.Fading*warm
		damping *= 1 - p.Damping*warm
		dry *= 1 - p.Friction*warm
	}
	gravity := p.Weight * math.Sin(s.link+p.Lean)
	drive := (effort - p.A5) / p.A3
	rotor := p.A0 / p.A3
	if p.Play == 0 {
		rub := dry + s.stribeck(s.speed)/p.A3 + p.LoadFriction*math.Abs(s.rigid)
		net := drive - damping*s.speed - gravity
		acceleration := karnopp(net, rub, s.speed, rotor+p.Inertia)
		if p.Stiction > 0 {
			acceleration = (net - rub*math.Tanh(s.speed/p.Stiction)) / (rotor + p.Inertia)
		}
		s.rigid = p.Inertia*acceleration + gravity
		s.link += step * (s.speed + step*acceleration)
		s.speed += step * acceleration
		return
	}
	s.geared(drive, gravity, damping, dry, rotor)
}

// averaging is the time over which the torque of a chattering gear is logged, s: a log has that of
// positions measured before and after.
const averaging = 0.012

// geared has two masses, and a stiff, damped contact at either end of the play between them.
func (s *state) geared(drive, gravity, damping, dry, rotor float64) {
	p := s.p
	const contact, damp = 2000.0, 0.5 // N·m/rad, N·m·s/rad
	gap, contactTorque := s.motor-s.link, 0.0
	if over := math.Abs(gap) - p.Play/2; over > 0 {
		contactTorque = math.Copysign(contact*over, gap) + damp*(s.spin-s.speed)
	}
	rub := dry + s.stribeck(s.spin)/p.A3 + p.LoadFriction*math.Abs(s.rigid)
	spin := karnopp(drive-damping*s.spin-contactTorque, rub, s.spin, rotor)
	speed := (contactTorque - gravity) / p.Inertia
	s.rigid = contactTorque
	s.spin += step * spin
	s.speed += step * speed
	s.motor += step * s.spin
	s.link += step * s.speed
}

func (s *state) stribeck(v float64) float64 {
	if s.p.Vs == 0 {
		return 0
	}
	return s.p.A4 * math.Exp(-math.Abs(v)/s.p.Vs)
}

// karnopp returns the acceleration of a mass that rubs: below a creeping speed friction takes the
// net torque away, up to its greatest size.
func karnopp(net, rub, speed, inertia float64) float64 {
	const creep = 1e-3 // rad/s
	if math.Abs(speed) < creep {
		if math.Abs(net) <= rub {
			return -speed / step
		}
		return (net - math.Copysign(rub, net)) / inertia
	}
	a := (net - math.Copysign(rub, speed)) / inertia
	if (speed+step*a)*speed < 0 { // it comes to rest first
		return -speed / step
	}
	return a
}

// CSV writes rows of a joint as poise ident reads them, without the header.
func CSV(joint string, rows []Row) string {
	var b strings.Builder
	for _, r := range rows {
		position := fmt.Sprintf("%.6f", r.Position)
		if r.Lost {
			position = ""
		}
		fmt.Fprintf(&b, "%.6f,%s,%.6f,%s,%.4f,%.6f,%.4f,%.6f\n", r.Time, joint, r.Goal, position, r.Voltage, r.Torque, r.Play, r.MeasuredAt)
	}
	return b.String()
}

// Header is that of CSV.
const Header = "time,joint,goal,position,voltage,torque,play_time,measured_at\n"

// Excitation is a sum of harmonics with random phases, faded in over a second: a tenth of a hertz
// and its multiples, to 3.5 Hz.
func Excitation(r *rand.Rand, size float64) func(t float64) float64 {
	hz := []float64{0.1, 0.3, 0.5, 1.1, 2.1, 3.5}
	amplitude := []float64{0.5, 0.3, 0.2, 0.12, 0.07, 0.05}
	phase := make([]float64, len(hz))
	for i := range phase {
		phase[i] = 2 * math.Pi * r.Float64()
	}
	return func(t float64) float64 {
		q := 0.0
		for i, f := range hz {
			q += amplitude[i] * math.Sin(2*math.Pi*f*t+phase[i])
		}
		return size * q * math.Min(t, 1)
	}
}
