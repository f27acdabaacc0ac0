package servotest

import (
	"context"
	"errors"
	"math"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"poise/servo"
)

// toy is a small driver that keeps the contract, unless it is given a bug.
type toy struct {
	bug    string
	open   bool
	opened int
	silent bool
	can    servo.Capabilities
	q      []float64
	goal   []servo.Setpoint
	told   []servo.Mode // before Close
	last   []servo.Reading
	limp   []atomic.Bool
	hand   chan [2]float64 // joint and position
	leak   chan struct{}
	waste  *servo.Reading
}

const toyJoints = 3

func newToy(bug string) *toy {
	r := &toy{bug: bug, q: make([]float64, toyJoints), goal: make([]servo.Setpoint, toyJoints), told: make([]servo.Mode, toyJoints), last: make([]servo.Reading, toyJoints),
		limp: make([]atomic.Bool, toyJoints), hand: make(chan [2]float64, 16), leak: make(chan struct{}),
		can: servo.Capabilities{Simulated: true, Torque: true, Modes: servo.ModesOf(servo.Off, servo.Position, servo.Velocity, servo.Effort)}}
	for i := range r.last {
		r.last[i].Age = servo.Never
		r.limp[i].Store(true)
	}
	if bug == "declares torque without off" {
		r.can.Modes &^= servo.ModesOf(servo.Off)
	}
	return r
}

func (r *toy) Capabilities() servo.Capabilities {
	c := r.can
	if r.bug == "capabilities change" {
		c.Simulated = !r.open
	}
	return c
}

func (r *toy) Open(ctx context.Context) error {
	switch {
	case r.bug == "opens once" && r.opened > 0 && !r.open:
		return errors.New("port is busy")
	case r.bug == "refuses to open twice" && r.open:
		return errors.New("is open already")
	case r.bug == "remembers a cancelled opening" && r.opened == -1:
		return errors.New("is being opened")
	case ctx.Err() != nil:
		if r.bug == "remembers a cancelled opening" {
			r.opened = -1
		}
		return ctx.Err()
	case r.open:
		return nil
	}
	r.open = true
	r.opened++
	if r.bug == "leaks a goroutine" {
		go func() { <-r.leak }()
	}
	for i := range r.goal {
		r.goal[i] = servo.Setpoint{}
		r.limp[i].Store(true)
	}
	return nil
}

func (r *toy) Close() error {
	if r.bug == "refuses to close twice" && !r.open {
		return errors.New("is closed already")
	}
	r.open = false
	return nil
}

func (r *toy) Exchange(t servo.Tick, dst *servo.Measurement, src []servo.Setpoint) servo.Fault {
	switch r.bug {
	case "waits":
		time.Sleep(time.Microsecond)
	case "waits when silent":
		if r.silent {
			time.Sleep(time.Second)
		}
	case "allocates":
		r.waste = new(servo.Reading)
	case "changes setpoints":
		src[0].PlayTime = 1
	}
	if !r.open && r.bug != "lives on when closed" || r.silent {
		for i := range dst.Joints {
			if r.last[i].Age != servo.Never && r.bug != "ages stand still" {
				r.last[i].Age++
			}
			dst.Joints[i] = r.last[i]
			dst.Joints[i].Fault |= servo.NoAnswer
			if r.bug == "invents readings" {
				dst.Joints[i].Age = 0
			}
		}
		return servo.BusDown
	}
	for len(r.hand) > 0 {
		h := <-r.hand
		r.q[int(h[0])] = h[1]
	}
	for i := range dst.Joints {
		fault := r.obey(i, &src[i], t.Dt)
		r.last[i] = servo.Reading{Position: r.q[i], Fault: fault}
		if r.goal[i].Mode == servo.Effort || r.bug == "gives effort when off" {
			r.last[i].Effort = r.goal[i].Effort
		}
		if r.bug == "forgets a joint" && i == 1 {
			continue
		}
		dst.Joints[i] = r.last[i]
	}
	return 0
}

// obey moves a joint by a period.
func (r *toy) obey(i int, s *servo.Setpoint, dt float64) (fault servo.Fault) {
	mode := s.Mode
	switch {
	case r.bug == "follows when off" && mode == servo.Off:
		mode = servo.Position
	case r.bug == "goes limp in other modes" && !r.can.Modes.Has(mode):
		r.q[i] -= 0.01 // and falls
		return servo.BadMode
	case r.bug == "takes other modes for position" && !r.can.Modes.Has(mode):
		mode = servo.Position
	case r.bug == "is silent about other modes" && !r.can.Modes.Has(mode):
		return 0
	case r.bug == "ignores velocity" && mode == servo.Velocity:
		return 0
	case r.bug == "turns the wrong way" && mode == servo.Position:
		r.q[i] = -s.Position
		return 0
	case !r.can.Modes.Has(mode):
		return servo.BadMode
	}
	for _, x := range []float64{s.Position, s.Velocity, s.Effort, s.Kp, s.Kd, s.Stiffness, s.PlayTime} {
		if x-x != 0 && r.bug != "takes any number" {
			s = &r.goal[i] // as before
			mode = s.Mode
			break
		}
	}
	if r.bug == "forgets the last setpoints" {
		r.told[i] = r.goal[i].Mode
	} else {
		r.told[i] = mode
	}
	r.goal[i] = *s
	r.limp[i].Store(mode == servo.Off)
	switch mode {
	case servo.Position:
		r.q[i] = s.Position
	case servo.Velocity:
		r.q[i] += s.Velocity * dt
	case servo.Effort:
		r.q[i] += s.Effort * dt
	}
	return 0
}

// Place implements servo.Placer.
func (r *toy) Place(joints []int, positions []float64) {
	if r.bug == "waits when placed" {
		time.Sleep(time.Second)
	}
	for k, j := range joints {
		if r.bug != "is placed elsewhere" || j != 2 {
			r.q[j] = positions[k]
		}
	}
}

// PoseByHand implements servo.HandPoser.
func (r *toy) PoseByHand(joint int, position float64) bool {
	if r.bug == "hands are stronger than torque" || r.bug == "hands reach nowhere" && !math.IsNaN(position) && r.open {
		return true
	}
	if !r.open || position-position != 0 && r.bug != "hands reach infinity" || !r.limp[joint].Load() {
		return false
	}
	r.hand <- [2]float64{float64(joint), position}
	return true
}

func subject(bug string) func(t testing.TB) Subject {
	return func(t testing.TB) Subject {
		r := newToy(bug)
		t.Cleanup(func() { close(r.leak) })
		return Subject{Driver: r, Joints: toyJoints, Period: 0.01, Ticks: 20, Silence: func(silent bool) { r.silent = silent }, Told: func(i int) servo.Mode { return r.told[i] }}
	}
}

func TestContract(t *testing.T)           { Run(t, subject("")) }
func TestContractInRealTime(t *testing.T) { RunInRealTime(t, realTime(subject(""))) }

// realTime is a subject whose seconds are short, because they are real.
func realTime(new func(t testing.TB) Subject) func(t testing.TB) Subject {
	return func(t testing.TB) Subject {
		s := new(t)
		s.Period, s.Ticks, s.Effort = 0.0001, 5, 1000
		return s
	}
}

// TestBrokenDriversAreCaught: each bug is found by the clause that is about it.
func TestBrokenDriversAreCaught(t *testing.T) {
	for bug, clause := range map[string]string{
		"declares torque without off":    "capabilities",
		"capabilities change":            "capabilities",
		"opens once":                     "life",
		"refuses to open twice":          "life",
		"refuses to close twice":         "life",
		"lives on when closed":           "life",
		"remembers a cancelled opening":  "opening that is called off",
		"invents readings":               "opening without a machine",
		"leaks a goroutine":              "no goroutine is left",
		"forgets the last setpoints":     "the last setpoints",
		"waits":                          "every part is measured",
		"waits when silent":              "ages",
		"changes setpoints":              "every part is measured",
		"forgets a joint":                "every part is measured",
		"ages stand still":               "ages",
		"follows when off":               "off",
		"gives effort when off":          "off",
		"ignores velocity":               "modes",
		"turns the wrong way":            "modes",
		"is silent about other modes":    "modes it does not have",
		"goes limp in other modes":       "modes it does not have",
		"takes other modes for position": "modes it does not have",
		"takes any number":               "non-finite setpoints",
		"is placed elsewhere":            "placing",
		"waits when placed":              "placing",
		"hands are stronger than torque": "posing by hand",
		"hands reach infinity":           "posing by hand",
		"hands reach nowhere":            "posing by hand",
		"allocates":                      "allocations",
	} {
		t.Run(bug, func(t *testing.T) {
			found := false
			for _, c := range checks {
				if c.name != clause {
					continue
				}
				found = true
				synctest.Test(t, func(t *testing.T) {
					err := c.on(t, subject(bug), true)
					if err == nil {
						t.Errorf("the clause %q holds for a driver that %s", clause, bug)
					}
					t.Log(err)
				})
			}
			if !found {
				t.Fatalf("there is no clause %q", clause)
			}
		})
	}
}

// TestEverySubjectIsComplete: what the tests cannot do without is asked for.
func TestEverySubjectIsComplete(t *testing.T) {
	whole := subject("")(t)
	for what, spoil := range map[string]func(s *Subject){
		"driver":    func(s *Subject) { s.Driver = nil },
		"joints":    func(s *Subject) { s.Joints = 0 },
		"period":    func(s *Subject) { s.Period = math.NaN() },
		"silence":   func(s *Subject) { s.Silence = nil },
		"tolerance": func(s *Subject) { s.Tolerance = s.Step },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a subject without a good %s is taken", what)
				}
			}()
			s := whole.withDefaults()
			spoil(&s)
			s.withDefaults()
		}()
	}
}
