package session

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"sync/atomic"

	"poise/identify"
	"poise/loop"
	"poise/robot"
	"poise/servo"
	"poise/servo/model"
)

// Tap sees every tick of a loop: it keeps how warm servos are, and records what a session wants.
type Tap struct {
	next loop.Tap // or nil
	warm []atomic.Uint64
	now  atomic.Pointer[recording]

	watch *Monitor
}

// newTap returns a tap for a robot with some joints, before another or nil.
func newTap(joints int, next loop.Tap) *Tap {
	return &Tap{next: next, warm: make([]atomic.Uint64, joints)}
}

// Tick keeps a tick. Loop-safe.
func (t *Tap) Tick(r *loop.TickRecord) {
	if t.next != nil {
		t.next.Tick(r)
	}
	for i := range t.warm {
		t.warm[i].Store(math.Float64bits(r.Measurement.Joints[i].Temperature))
	}
	t.watch.tick(r)
	if rec := t.now.Load(); rec != nil {
		rec.tick(r)
	}
}

// temperature of a servo, °C; 0 if it does not measure it.
func (t *Tap) temperature(j robot.JointID) float64 { return math.Float64frombits(t.warm[j].Load()) }

// row is what one joint was told and measured.
type row struct {
	time, goal, play, share float64
	position, measuredAt    float64 // NaN if the reading was lost
	voltage, temperature    float64 // 0 if unknown
}

// recording is the log of some joints. Its memory is taken before it begins; when that is full it
// ends.
type recording struct {
	joints []robot.JointID
	every  int    // ticks that a row stands for
	ahead  uint64 // ticks after the one in which it was exchanged at which a reading holds
	rows   []row  // of one time after the other, joints in their order
	fresh  []row  // [joints] newest reading since the last row
	seen   []uint64
	ticks  int
	zero   int64
	n      atomic.Int64 // rows that are written
}

// rowTime is how long a row stands for at least, s: a servo is slower than that.
const rowTime = 5e-3

// newRecording has room for some seconds. stepped tells that what an exchange measures holds at the end of its
// period.
func newRecording(joints []robot.JointID, period, seconds float64, stepped bool) *recording {
	every := max(1, int(math.Round(rowTime/period)))
	r := &recording{joints: joints, every: every, fresh: make([]row, len(joints)), seen: make([]uint64, len(joints))}
	if stepped {
		r.ahead = 1
	}
	r.rows = make([]row, len(joints)*int(math.Ceil(seconds/(float64(every)*period))+1))
	for i := range r.fresh {
		r.fresh[i].position = math.NaN()
	}
	return r
}

// tick keeps a tick. Loop-safe.
func (r *recording) tick(t *loop.TickRecord) {
	if r.ticks == 0 {
		r.zero = t.Tick.Time
	}
	now, dt := float64(t.Tick.Time-r.zero)/1e9, t.Tick.Dt
	for k, j := range r.joints {
		m := &t.Measurement.Joints[j]
		// a reading counts once: at the tick at which it came in
		if at := t.Tick.N + r.ahead - min(uint64(m.Age), t.Tick.N) + 1; m.Age != servo.Never && m.Fault == 0 && at > r.seen[k] {
			r.seen[k] = at
			r.fresh[k].position, r.fresh[k].measuredAt = m.Position, now+(float64(r.ahead)-float64(m.Age))*dt
		}
		if m.Voltage > 0 {
			r.fresh[k].voltage = m.Voltage
		}
		if m.Temperature > 0 {
			r.fresh[k].temperature = m.Temperature
		}
	}
	r.ticks++
	n := int(r.n.Load())
	if r.ticks%r.every != 0 || n+len(r.joints) > len(r.rows) {
		return
	}
	for k, j := range r.joints {
		s, x := &t.Setpoints[j], &r.fresh[k]
		// one row for some ticks: its goal is that of the last, reached when that would be
		lasts := float64(r.every-1) * dt
		r.rows[n+k] = row{time: now - lasts, goal: s.Position, play: s.PlayTime + lasts, share: s.Stiffness,
			position: x.position, measuredAt: x.measuredAt, voltage: x.voltage, temperature: x.temperature}
		x.position = math.NaN()
	}
	r.n.Store(int64(n + len(r.joints)))
}

// log returns what was recorded: goals in the steps that servos take them in, and the gain that each
// was followed with.
func (r *recording) log(m *robot.Model, shares bool) *identify.Log {
	out := &identify.Log{Joints: make([]identify.Joint, len(r.joints))}
	unknown := func(x float64) float64 {
		if !(x > 0) {
			return math.NaN()
		}
		return x
	}
	rows := r.rows[:r.n.Load()]
	for k, j := range r.joints {
		out.Joints[k].Name = m.Joints()[j].Name
		s := model.Model{}
		if known := m.Servo(j).Model; known != nil {
			s = known.AtJoint()
			s.Kp = known.Kp
		}
		for i := k; i < len(rows); i += len(r.joints) {
			x, kp, goal := &rows[i], s.Kp, rows[i].goal
			if s.Quantum > 0 {
				goal = s.Quantum * math.Round(goal/s.Quantum)
			}
			if shares {
				kp *= x.share
			}
			at := x.measuredAt
			if math.IsNaN(x.position) {
				at = x.time
			}
			out.Joints[k].Rows = append(out.Joints[k].Rows, identify.Row{Time: x.time, Goal: goal, PlayTime: x.play, MeasuredAt: at, Position: x.position,
				Voltage: unknown(x.voltage), Torque: math.NaN(), Kp: unknown(kp), PWM: math.NaN(), Temperature: unknown(x.temperature)})
		}
	}
	return out
}

// LogHeader is that of the logs that are written.
const LogHeader = "time,joint,goal,position,voltage,play_time,measured_at,kp,temperature\n"

// writeLog writes a log as poise ident reads it.
func writeLog(to io.Writer, log *identify.Log) error {
	w := bufio.NewWriter(to)
	w.WriteString(LogHeader) // Flush tells what failed
	field := func(x float64, digits int) string {
		if math.IsNaN(x) {
			return ""
		}
		return strconv.FormatFloat(x, 'g', digits, 64)
	}
	longest := 0
	for _, j := range log.Joints {
		longest = max(longest, len(j.Rows))
	}
	for i := range longest {
		for _, j := range log.Joints {
			if i >= len(j.Rows) {
				continue
			}
			r := &j.Rows[i]
			fmt.Fprintf(w, "%.6f,%s,%s,%s,%s,%s,%.6f,%s,%s\n", r.Time, j.Name, field(r.Goal, 9), field(r.Position, 9), field(r.Voltage, 7), field(r.PlayTime, 6),
				r.MeasuredAt, field(r.Kp, 7), field(r.Temperature, 7))
		}
	}
	return w.Flush()
}
