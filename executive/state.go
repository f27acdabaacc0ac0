package executive

import (
	"slices"

	"poise/action"
	"poise/control"
	"poise/loop"
	"poise/robot"
	"poise/servo"
)

// State is what the robot does, and which goals and controllers do it.
type State struct {
	Tick        servo.Tick
	Power       loop.Power
	Stopped     bool    // goals are refused until a reset
	Paused      bool    // motions stand still until Resume or Reset
	Silent      bool    // the cycle does not run
	Wanted      float64 // how fast time is to go for motions
	Rate        float64 // and goes for the slowest
	Controllers []ControllerState
	Owners      []Ownership // of every resource that is owned, whole or in part
	Goals       []GoalState // that are not over
	Faults      []FaultState
	Limp        []string // resources and joints without torque, those of missing servos left out
	Missing     []string // joints whose servos were missing when the robot was opened, and are
	Lost        uint64   // reports that found no room: always 0
}

// ControllerState is what one controller does.
type ControllerState struct {
	Name, Kind string
	Short      string // what it does, for people
	Switched   bool   // it is switched on and off, not given goals
	Outside    bool   // a seat for an external controller
	Client     string // name that the external one registered, "" if none has the seat
	Running    bool   // takes goals
	Active     bool   // performs one
	Paused     bool
	Goal       GoalID // that it performs
	Resources  []string
	Time       float64 // of what it performs, s
	Rate       float64
	Refused    Explanation // of its stream's newest value; no code if it was taken
	Waits      Explanation // what it goes on without and waits for, such as a stream that stopped; no code if nothing
}

// Ownership is the owner of a resource, or of a part of it.
type Ownership struct {
	Resource string
	Owner    string
	Part     bool // not all of it
}

// GoalState is how far a goal has come.
type GoalState struct {
	Goal           GoalID
	Who            string
	State          action.State
	Controller     string
	Phase          Phase
	Time, Duration float64
	Rate           float64
}

// FaultState is a fault that is there, or was and has not been reset.
type FaultState struct {
	Kind        loop.FaultKind
	Joint       string // "" for the robot
	Severity    loop.Severity
	Since       servo.Tick
	Explanation Explanation
}

// State returns what the robot does now.
func (e *Executive) State() State {
	e.catchUp()
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.state()
}

// View shows the newest state of the cycle to f, which must not keep it or call
// back. It reports whether there is one.
func (e *Executive) View(f func(*loop.Snapshot)) bool {
	e.catchUp()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.robot.snap == nil {
		return false
	}
	f(e.robot.snap)
	return true
}

func (e *Executive) state() State {
	st := State{Silent: e.robot.silent, Faults: slices.Clone(e.robot.faults)}
	for _, s := range e.robot.seats {
		st.Controllers = append(st.Controllers, e.controllerState(s))
	}
	for _, j := range e.goals.live {
		st.Goals = append(st.Goals, j.state())
	}
	if s := e.robot.snap; s != nil {
		st.Tick, st.Power, st.Stopped, st.Wanted, st.Rate, st.Lost = s.Tick, s.Power, s.Stopped, s.Wanted, s.Rate, s.Lost
		gone := s.Limp.Intersect(e.cfg.Absent)
		st.Paused, st.Limp = s.Paused, e.words.Limbs(s.Limp.Minus(gone))
		for leaf := range gone.All {
			st.Missing = append(st.Missing, e.words.Joint(robot.JointID(leaf)))
		}
		st.Owners = e.robot.owners(s)
	}
	return st
}

func (e *Executive) controllerState(s *seat) ControllerState {
	c := ControllerState{Name: s.Name, Kind: s.Kind, Short: s.Short, Switched: s.Operate != nil, Outside: s.Remote, Client: s.client, Refused: s.fed, Running: !s.halted}
	if a := e.robot.activity(s); a != nil {
		c.Running, c.Active, c.Paused, c.Resources = a.Running, a.Active, a.Paused, e.words.Names(a.Own)
		if a.Active {
			c.Time, c.Rate = a.Time, a.Rate
			if a.Status == control.Going && a.Why.Code != control.OK {
				c.Waits = e.words.Reason(a.Why, s.title())
			}
			if j := e.goals.ordered[a.Goal]; j != nil {
				c.Goal = j.id
			}
		}
	}
	return c
}

func (j *job) state() GoalState {
	g := GoalState{Goal: j.id, Who: j.who, State: j.h.State(), Phase: Starting}
	if j.work != nil {
		g.Duration = j.work.duration
	}
	if j.stop != nil && j.number == 0 {
		g.Phase = Planning
		if j.result.Executed {
			g.Phase = Evaluating
		}
	}
	if j.seat != nil {
		g.Controller = j.seat.Name
		if a := j.e.robot.activity(j.seat); j.begun && a != nil && a.Goal == j.number {
			g.Time, g.Rate, g.Phase = a.Time, a.Rate, j.phase(a)
		}
	}
	return g
}
