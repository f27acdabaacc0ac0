package executive

import (
	"fmt"
	"strings"

	"poise/control"
	"poise/loop"
	"poise/problem"
	"poise/robot"
)

// SetTorque gives joints torque, from where they are, or takes it away at once, while all
// others stay as they are. Without names it switches the power of the whole robot. It and
// Power are the only commands that add torque.
func (e *Executive) SetTorque(who string, on bool, resources []string) *Answer {
	if len(resources) == 0 {
		return e.Power(who, on)
	}
	order, what := loop.TorqueOff, "torque off: "
	if on {
		order, what = loop.TorqueOn, "torque on: "
	}
	what += strings.Join(resources, ", ")
	return e.ask(func() *Answer {
		set, unknown := e.words.Set(resources)
		if len(unknown) > 0 {
			return e.refuse(who, what, unknown...)
		}
		joints := set.Intersect(control.JointLeaves(len(e.model.Joints())))
		if joints.Empty() {
			return e.refuse(who, what, *problem.New("no_joints", "%s: nothing of it has torque", strings.Join(resources, ", ")).With("name limbs or joints"))
		}
		c := &command{who: who, what: what}
		c.settled = func(s *loop.Snapshot) (o Outcome, ok bool) {
			if on {
				if o.Explanations = e.robot.unpowered(joints); !o.OK() {
					return o, true
				}
			}
			return e.confirmed(s, on, joints, c.tick)
		}
		return e.command(c, loop.Order{Kind: order, Program: &control.Torque{Joints: joints}})
	})
}

// unconfirmed is how long servos may take to answer after they were told, s: longer than lines need that have missed some answers.
const unconfirmed = 1.0

// confirmed waits until the servos of joints have answered since they were told in a tick. Those that do not are named.
func (e *Executive) confirmed(s *loop.Snapshot, on bool, joints robot.Set, told uint64) (Outcome, bool) {
	if e.cfg.Confirm == nil {
		return Outcome{}, true
	}
	silent := e.cfg.Confirm.Unheard(told).Intersect(joints)
	if silent.Empty() {
		return Outcome{}, true
	}
	if float64(s.Tick.N-told)*s.Tick.Dt < unconfirmed {
		return Outcome{}, false
	}
	what, may := "torque off", "they may hold"
	if on {
		what, may = "torque on", "they may be limp"
	}
	return refused(*problem.New("unconfirmed", "%s is sent and not confirmed by %s: %s", what, e.cfg.Confirm.Servos(silent), may).
		With("see whether they have power and are connected")), true
}

// unpowered explains which of some leaves have no torque by the newest state, if any
// have none.
func (r *robotState) unpowered(set robot.Set) []Explanation {
	if r.snap == nil {
		return nil
	}
	return r.words.Unpowered(r.snap.Limp, set)
}

// refusal puts the reason for which the cycle does not perform a program into words. Of
// missing torque it names all limbs, not the first alone.
func (e *Executive) refusal(why control.Reason, controller string, p control.Program) []Explanation {
	if why.Code == control.PowerOff && p != nil {
		needs, _ := p.Claim()
		if all := e.robot.unpowered(needs); len(all) > 0 {
			return all
		}
	}
	x := e.words.Reason(why, controller)
	if why.Code == control.NotGranted && controller != "" {
		if j := e.goals.stepping(e.robot.seatOf(why.Who)); j != nil {
			x.Text += fmt.Sprintf("; it takes the steps of %s to where its feet begin", j.title())
			x.Help = j.patience()
		}
	}
	return []Explanation{x}
}
