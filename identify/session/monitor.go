package session

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"poise/dynamics"
	"poise/identify"
	"poise/kinematics"
	"poise/loop"
	"poise/robot"
	"poise/servo"
	"poise/servo/model"
)

// Monitor watches whether servos still behave by their models. It changes none of them.
//
// The cycle passes setpoints and readings through a ring to Update, outside the cycle. Torques are computed for a
// base held upright, so no servo is judged while a free robot leans, is pushed or falls, nor are those of a
// chain that carries the robot or touches something.
type Monitor struct {
	id    *Identifier
	every int // ticks
	ticks int
	ring  []moment
	taken atomic.Uint64
	put   atomic.Uint64

	mu     sync.Mutex
	rows   []moment // oldest first, not all judged yet
	joints []watched
	d      *dynamics.Data
	q      []float64
	v, a   []float64
	tau    []float64
}

// moment is what all servos were told and measured in a tick.
type moment struct {
	time    float64
	carries bool   // some foot carries
	shaken  bool   // the base leans, or something pushes it: torques are not those of one that is held
	touched uint64 // chains whose foot touches something, a bit each
	joints  []row
}

// watched is a servo.
type watched struct {
	model  *model.Model // that it is judged by
	online *identify.Online
}

const (
	watchTime   = 0.02 // s between moments, at least
	watchRoom   = 256  // moments that wait for Update
	watchWay    = 0.02 // rad that a joint moves at least for its window to be looked at
	watchWindow = 60   // moments that are smoothed together
)

// Misfit is a servo that does not fit its model any more.
type Misfit struct {
	Joint      string
	Error      float64    // RMS of what the model leaves, as a distance from the goal, rad
	Limit      float64    // rad
	Parameters [4]float64 // a0 … a3 as they show now
	Model      [4]float64 // as the model has them
}

// MisfitLimit is how much a model may err while a servo moves, rad: the bound by which Sweetie Bot's servo
// identification accepts a model.
const MisfitLimit = 0.01

func newMonitor(id *Identifier) *Monitor {
	m, n := id.robot.Model, len(id.robot.Model.Joints())
	if id.robot.Exact || id.robot.Models == nil { // nothing behaves by a model
		return &Monitor{id: id}
	}
	w := &Monitor{id: id, every: max(1, int(math.Round(watchTime/id.robot.Period))), ring: make([]moment, watchRoom), joints: make([]watched, n), d: dynamics.NewData(m),
		q: make([]float64, m.NumQ()), v: make([]float64, m.NumV()), a: make([]float64, m.NumV()), tau: make([]float64, m.NumV())}
	for i := range w.ring {
		w.ring[i].joints = make([]row, n)
	}
	kinematics.NewSpace(m).NeutralTo(w.q)
	return w
}

// tick hands a tick over, if it is its turn. What finds no room is not watched. Loop-safe.
func (w *Monitor) tick(t *loop.TickRecord) {
	if w.ring == nil {
		return
	}
	if w.ticks++; w.ticks%w.every != 0 {
		return
	}
	put := w.put.Load()
	if put-w.taken.Load() >= watchRoom {
		return
	}
	s := &w.ring[put%watchRoom]
	dt := t.Tick.Dt
	s.time, s.carries, s.touched = float64(t.Tick.Time)/1e9, false, 0
	s.shaken = w.id.robot.Model.Floating() && shaken(t.Measurement.IMU)
	for k := range t.Measurement.Touch {
		if k < len(w.id.feet) && w.id.feet[k] < 64 && t.Measurement.Touch[k].Pressed && t.Measurement.Touch[k].Age != servo.Never {
			s.touched |= 1 << w.id.feet[k]
		}
	}
	for i := range t.Command.Support {
		s.carries = s.carries || t.Command.Support[i].Weight > 0
	}
	ahead := 0.0
	if w.id.robot.Stepped {
		ahead = dt
	}
	lasts := float64(w.every-1) * dt
	for i := range s.joints {
		p, m := &t.Setpoints[i], &t.Measurement.Joints[i]
		r := row{time: s.time - lasts, goal: p.Position, play: p.PlayTime + lasts, share: p.Stiffness, position: math.NaN(), voltage: m.Voltage}
		if p.Mode == servo.Position && m.Age == 0 && m.Fault == 0 {
			r.position, r.measuredAt = m.Position, s.time+ahead
		}
		s.joints[i] = r
	}
	w.put.Store(put + 1)
}

// mostShaken is by how much an inertial unit may feel more or less than weight, as a share of it: more is a push or a fall.
const mostShaken = 0.15

// shaken reports whether the base leans or is accelerated, by what an inertial unit feels. Loop-safe.
func shaken(units []servo.Inertial) bool {
	if len(units) == 0 || units[0].Age == servo.Never {
		return false
	}
	f := units[0].Acceleration
	n := f.Norm()
	return !(math.Abs(n-gravity) <= mostShaken*gravity && f.Z >= n*math.Cos(mostTilt))
}

const gravity = 9.80665 // m/s²

// Update judges what came since the last call.
func (w *Monitor) Update() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for taken := w.taken.Load(); taken < w.put.Load(); taken++ {
		s := &w.ring[taken%watchRoom]
		w.rows = append(w.rows, moment{time: s.time, carries: s.carries, shaken: s.shaken, touched: s.touched, joints: slices.Clone(s.joints)})
		w.taken.Store(taken + 1)
		if len(w.rows) == watchWindow {
			w.judge()
			w.rows = slices.Delete(w.rows, 0, watchWindow*2/3)
		}
	}
}

// judge takes one window.
func (w *Monitor) judge() {
	m := w.id.robot.Model
	if slices.ContainsFunc(w.rows, func(s moment) bool { return s.shaken }) {
		return
	}
	smoothed := make([][]identify.Moved, len(w.joints))
	for i := range w.joints {
		j := robot.JointID(i)
		known := w.id.model(j)
		if known == nil || m.Joints()[i].Virtual {
			continue
		}
		if x := &w.joints[i]; x.model != known { // another model: it is judged from now on
			*x = watched{known, identify.NewOnline(known)}
		}
		if !w.moves(i) {
			continue
		}
		smoothed[i] = identify.Smoothed(w.rowsOf(i, known), known.Lead)
	}
	for i, c := range m.Chains() {
		touched := slices.ContainsFunc(w.rows, func(s moment) bool { return i < 64 && s.touched&(1<<i) != 0 })
		if touched || m.Floating() && c.Contact != robot.NoContact && w.carried() {
			for _, j := range c.Joints {
				smoothed[j] = nil
			}
		}
	}
	w.add(smoothed)
}

// moves reports whether a joint moved enough to tell something.
func (w *Monitor) moves(i int) bool {
	low, high := math.Inf(1), math.Inf(-1)
	for _, s := range w.rows {
		if q := s.joints[i].position; !math.IsNaN(q) {
			low, high = min(low, q), max(high, q)
		}
	}
	return high-low > watchWay
}

func (w *Monitor) carried() bool {
	return slices.ContainsFunc(w.rows, func(s moment) bool { return s.carries })
}

// rowsOf are the rows of a joint, none if a reading is missing for long.
func (w *Monitor) rowsOf(i int, known *model.Model) (rows []identify.Row) {
	at := known.AtJoint()
	for _, s := range w.rows {
		reading := &s.joints[i]
		if n := len(rows); n > 0 && !(reading.time > rows[n-1].Time) {
			continue
		}
		kp, goal := known.Kp, reading.goal
		if w.id.robot.Shares {
			kp *= reading.share
		}
		if at.Quantum > 0 {
			goal = at.Quantum * math.Round(goal/at.Quantum)
		}
		volts := reading.voltage
		if !(volts > 0) {
			volts = known.Voltage
		}
		rows = append(rows, identify.Row{Time: reading.time, Goal: goal, PlayTime: reading.play, MeasuredAt: max(reading.measuredAt, reading.time), Position: reading.position, Voltage: volts, Torque: math.NaN(), Kp: kp, PWM: math.NaN(), Temperature: math.NaN()})
	}
	return rows
}

// add computes torques at the times that all joints share, and hands the samples on.
func (w *Monitor) add(smoothed [][]identify.Moved) {
	m := w.id.robot.Model
	at := make([]int, len(smoothed))
	for _, s := range w.rows {
		ahead := s.time
		if w.id.robot.Stepped {
			ahead += w.id.robot.Period
		}
		now := make([]*identify.Moved, len(smoothed))
		for i, all := range smoothed {
			j := &m.Joints()[i]
			for at[i] < len(all) && all[at[i]].Time < ahead-1e-6 {
				at[i]++
			}
			w.v[j.V], w.a[j.V] = 0, 0
			if p := s.joints[i].position; !math.IsNaN(p) {
				w.q[j.Q] = p
			}
			if at[i] < len(all) && math.Abs(all[at[i]].Time-ahead) < 1e-6 {
				now[i] = &all[at[i]]
				w.v[j.V], w.a[j.V] = now[i].Velocity, now[i].Acceleration
			}
		}
		w.d.InverseTo(w.tau, w.q, w.v, w.a, dynamics.Load{})
		for i, x := range now {
			if x != nil {
				w.joints[i].online.Add(x.Goal, x.Position, x.Velocity, x.Acceleration, w.tau[m.Joints()[i].V], x.Gain, x.Voltage)
			}
		}
	}
}

// Misfits lists the servos that do not fit their models.
func (w *Monitor) Misfits() (all []Misfit) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.joints {
		x := &w.joints[i]
		if x.online == nil {
			continue
		}
		if p, rms, ok := x.online.Estimate(); ok && rms > MisfitLimit {
			m := x.model.AtJoint()
			all = append(all, Misfit{Joint: w.id.robot.Model.Joints()[i].Name, Error: rms, Limit: MisfitLimit, Parameters: p, Model: [4]float64(m.A[:4])})
		}
	}
	return all
}
