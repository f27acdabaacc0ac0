package external

import (
	"math"

	"poise/servo"
	"poise/servo/model"
)

// window is over how long the direction of a slow motion is judged, s: readings come in steps.
const window = 0.045

// delayed is how many setpoints may be on their way to a servo.
const delayed = 8

// histories is how many positions are kept for the window.
const histories = 8

// actuator is the servo of a joint as it is modelled: its ramp, and what it gives.
type actuator struct {
	known bool
	at    model.Model // at the joint

	line    [delayed]sent // on their way, the oldest first
	waiting int
	goal    servo.Setpoint
	ramp    float64 // where its own ramp is
	remains float64 // s, until the ramp is at its goal
	running bool    // it has torque

	past  [histories]float64 // positions, newest first
	count int                // how many of them count
}

type sent struct {
	delay float64 // s until it arrives
	p     servo.Setpoint
}

// given is what an actuator gave in a tick, in the mean.
type given struct {
	tau      float64 // N·m without the rotor
	friction float64 // N·m of dry friction whose direction is unknown
	spread   float64 // N·m, standard deviation by errors of the model
	ok       bool
}

// reset forgets what the servo was told.
func (a *actuator) reset(q float64) {
	a.waiting, a.running, a.remains, a.ramp, a.count = 0, false, 0, q, 0
	a.goal = servo.Setpoint{Position: q}
}

// advance lets a tick pass that began with a new setpoint; it fills in the mean of the ramp in each
// substep, and returns that of all.
func (a *actuator) advance(means *[substeps]float64, p *servo.Setpoint, delay, dt, q float64) (mean float64) {
	if a.waiting == delayed {
		copy(a.line[:], a.line[1:])
		a.waiting--
	}
	a.line[a.waiting] = sent{delay, *p}
	a.waiting++
	h := dt / substeps
	for k := range means {
		means[k] = a.pass(h, q) / h
		mean += means[k] / substeps
	}
	return mean
}

// pass lets a time pass, and what arrives in it act; it returns the integral of the ramp.
func (a *actuator) pass(dt, q float64) (integral float64) {
	passed := 0.0
	for a.waiting > 0 && a.line[0].delay < dt {
		next := &a.line[0]
		integral += a.follow(next.delay - passed)
		passed = math.Max(passed, next.delay)
		a.take(&next.p, q)
		copy(a.line[:a.waiting-1], a.line[1:a.waiting])
		a.waiting--
	}
	integral += a.follow(dt - passed)
	for i := range a.waiting {
		a.line[i].delay -= dt
	}
	return integral
}

// take lets a setpoint act.
func (a *actuator) take(p *servo.Setpoint, q float64) {
	if !p.Finite() {
		return
	}
	if p.Mode == servo.Position && a.goal.Mode != servo.Position {
		a.ramp = q
	}
	a.goal, a.remains = *p, p.PlayTime
	if step := a.at.Quantum; step > 0 {
		a.goal.Position = step * math.Round(p.Position/step)
	}
}

// follow moves the ramp, straight to its goal in the time left, and returns its integral.
func (a *actuator) follow(dt float64) (integral float64) {
	if dt <= 0 {
		return 0
	}
	if a.remains > dt {
		from := a.ramp
		a.ramp += (a.goal.Position - a.ramp) * dt / a.remains
		a.remains -= dt
		return (from + a.ramp) / 2 * dt
	}
	integral = (a.ramp+a.goal.Position)/2*a.remains + a.goal.Position*(dt-a.remains)
	a.ramp, a.remains = a.goal.Position, 0
	return integral
}

// torque returns what the servo gave in a tick in which its joint went from one position to
// another, its ramp in the mean where it was. share is the relative error of its model.
func (a *actuator) torque(ramp, from, to, volts, dt, share float64) (g given) {
	j := &a.at
	v := (to - from) / dt
	y := 0.0
	switch a.goal.Mode {
	case servo.Position:
		most := j.Limit(volts)
		y = j.Kp*math.Max(0, math.Min(1, a.goal.Stiffness))*volts*(ramp-(from+to)/2) + j.A[3]*a.goal.Effort
		y = math.Max(-most, math.Min(most, y))
	case servo.Effort:
		y = j.A[3] * a.goal.Effort
	case servo.Off:
	default:
		return given{}
	}
	sign, known := a.direction(to, dt)
	dry := j.A[2]
	if j.A[4] != 0 && j.Speed > 0 {
		dry += j.A[4] * math.Exp(-math.Abs(v)/j.Speed)
	}
	viscous := j.A[1] * v
	g.tau = (y - viscous - dry*sign - j.A[5]) / j.A[3]
	g.friction = dry * (1 - known) / j.A[3]
	square := func(x float64) float64 { return x * x }
	g.spread = share / j.A[3] * math.Sqrt(square(y)+square(viscous)+square(dry*sign))
	g.ok = true
	return g
}

// direction returns the sign of the motion as far as readings show it, −1 … 1, and how sure it is,
// 0 … 1: below a step within the window it may be either.
func (a *actuator) direction(to, dt float64) (sign, sure float64) {
	n := max(1, min(histories-1, int(math.Round(window/dt))))
	copy(a.past[1:], a.past[:histories-1])
	a.past[0] = to
	a.count = min(a.count+1, histories)
	if a.count < 2 {
		return 0, 0
	}
	n = min(n, a.count-1)
	span := float64(n) * dt
	v := (a.past[0] - a.past[n]) / span
	least := math.Max(a.at.DeadZone, 1.5*a.at.Quantum/span)
	sign = math.Max(-1, math.Min(1, v/least))
	return sign, math.Abs(sign)
}
