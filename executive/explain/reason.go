package explain

import (
	"fmt"
	"math"
	"strconv"

	"poise/arbiter"
	"poise/control"
	"poise/loop"
	"poise/problem"
	"poise/robot"
)

// Reason puts a reason of the cycle into words. controller is whose goal or order
// it is about.
func (w *Words) Reason(r control.Reason, controller string) problem.Problem {
	out := problem.Problem{Code: Code(r.Code), Joint: w.Joint(r.Joint), Owner: w.who(r.Who), At: r.At, Value: r.Value, Limit: r.Max}
	if r.Joint >= 0 {
		out.Resource = w.Resource(robot.LeafID(r.Joint))
	}
	if say, ok := sentences[r.Code]; ok {
		say(w, &out, r, controller)
	} else {
		out.Text = r.Code.String()
	}
	return out
}

// sentences make the words of each code. They see the joint and owner by name.
var sentences = map[control.Code]func(w *Words, out *problem.Problem, r control.Reason, controller string){
	control.BadProgram: func(_ *Words, out *problem.Problem, _ control.Reason, who string) {
		out.Text = "controller " + quoted(who) + " cannot perform such a goal"
		out.Help = "send it to a controller of its kind"
	},
	control.NotRunning: func(_ *Words, out *problem.Problem, _ control.Reason, who string) {
		out.Text = "controller " + quoted(who) + " is stopped and takes no goals"
		out.Help = "start it with switch_controllers"
	},
	control.StartTooFar: func(w *Words, out *problem.Problem, r control.Reason, _ string) {
		out.Text = fmt.Sprintf("joint %s is %s %s away from where the motion starts, %s is allowed", out.Joint, num(r.Value), w.Unit(r.Joint), num(r.Max))
		out.Help = "allow an approach move, go to the start pose first, or widen the tolerance of the joint"
	},
	control.BeyondLimit: func(_ *Words, out *problem.Problem, r control.Reason, _ string) {
		out.Text = fmt.Sprintf("joint %s would come to %s, its limit is %s%s", out.Joint, num(r.Value), num(r.Max), at(r.At))
		out.Help = "slow the motion down, or keep it within the limits of the joint"
	},
	control.NotGranted: func(_ *Words, out *problem.Problem, r control.Reason, who string) {
		if who == "" { // no controller asks: joints are placed
			out.Text = fmt.Sprintf("%s is moved by %s", what(out), quoted(out.Owner))
			out.Help = "stop " + quoted(out.Owner) + " first"
			return
		}
		out.Text = fmt.Sprintf("controller %s does not get %s%s", quoted(who), what(out), heldBy(out))
		if out.Owner != "" {
			out.Text += fmt.Sprintf(" (priority %s against %s)", num(r.Value), num(r.Max))
			out.Help = "stop " + quoted(out.Owner) + " or wait until it gives " + what(out) + " back"
		}
	},
	control.ResourceLost: func(_ *Words, out *problem.Problem, _ control.Reason, who string) {
		out.Text = fmt.Sprintf("controller %s needs %s and lost it", quoted(who), what(out))
		if out.Owner != "" {
			out.Text += " to " + quoted(out.Owner)
			out.Help = "start it again when " + quoted(out.Owner) + " is done"
		}
	},
	control.Replaced: func(_ *Words, out *problem.Problem, _ control.Reason, _ string) {
		out.Text = "a newer goal took its place"
	},
	control.Cancelled: func(_ *Words, out *problem.Problem, _ control.Reason, _ string) {
		out.Text = "its client called it off"
	},
	control.Panicked: func(_ *Words, out *problem.Problem, _ control.Reason, who string) {
		out.Text = "the code of controller " + quoted(who) + " failed; what it moved was stopped and is held"
		out.Help = "the controller takes no goals until it is started again with switch_controllers"
	},
	control.PowerOff: func(_ *Words, out *problem.Problem, _ control.Reason, _ string) {
		out.Text = "the servos have no torque"
		if out.Joint != "" {
			out.Text = what(out) + " has no torque"
		}
		out.Help = "switch torque on with set_torque or set_power"
	},
	control.NeverRead: func(_ *Words, out *problem.Problem, _ control.Reason, _ string) {
		out.Text = "joint " + out.Joint + " has not been heard of yet"
		out.Help = "try again in a moment; if it stays so, see whether its servo answers"
	},
	control.StoppedByFault: func(w *Words, out *problem.Problem, r control.Reason, _ string) {
		out.Text = "a fault holds the robot"
		if out.Joint != "" {
			out.Text = "a fault holds joint " + out.Joint
		}
		out.Help = "see the state for the fault; mend it, then reset"
	},
	control.Stale: func(_ *Words, out *problem.Problem, r control.Reason, _ string) {
		out.Text = fmt.Sprintf("nothing was heard for %s s, %s is allowed", num(r.Value), num(r.Max))
		out.Help = "send values at a steady rate"
	},
	control.ToleranceBroken: func(w *Words, out *problem.Problem, r control.Reason, _ string) {
		out.Text = fmt.Sprintf("joint %s was %s %s off%s, %s is allowed", out.Joint, num(r.Value), w.Unit(r.Joint), at(r.At), num(r.Max))
		out.Help = "widen the tolerance of the joint, or slow the motion down"
	},
	control.Stopping: func(_ *Words, out *problem.Problem, _ control.Reason, _ string) {
		out.Text = "the robot was stopped"
		out.Help = "reset, then, if the stop took the torque, set_torque; then try again"
	},
	control.Full: func(_ *Words, out *problem.Problem, _ control.Reason, _ string) {
		out.Text = "there is no room for another order"
		out.Help = "send fewer at a time, and try again"
	},
	control.Unknown: func(_ *Words, out *problem.Problem, _ control.Reason, _ string) {
		out.Text = "there is no such controller, or it does not perform such a goal now"
	},
	control.NonFinite: func(w *Words, out *problem.Problem, r control.Reason, who string) {
		out.Resource = w.Resource(robot.LeafID(max(r.Value, 0)))
		out.Text = fmt.Sprintf("controller %s gave %s a value that is not finite; it was stopped", quoted(who), what(out))
	},
	control.BadValue: func(_ *Words, out *problem.Problem, r control.Reason, _ string) {
		out.Text = fmt.Sprintf("the value %s is not between 0 and %s", num(r.Value), num(r.Max))
	},
	control.NotActive: func(_ *Words, out *problem.Problem, _ control.Reason, who string) {
		out.Text = "controller " + quoted(who) + " is not operational and follows nothing"
		out.Help = "switch it on with set_operational"
	},
	control.NotPlaceable: func(_ *Words, out *problem.Problem, _ control.Reason, _ string) {
		out.Text = "joints of this robot cannot be put somewhere at once: its driver moves them"
		out.Help = "move it there by a goal"
	},
	control.NoMasses: func(_ *Words, out *problem.Problem, _ control.Reason, _ string) {
		out.Text = "cycle 1 needs the masses of the robot, and its description has none"
		out.Help = "give links of the URDF their inertials; poise check tells what is missing"
	},
	control.WholeRobotOnly: func(_ *Words, out *problem.Problem, _ control.Reason, _ string) {
		out.Text = "cycle 2 is of the whole robot, and some of it was named"
		out.Help = "name no resources"
	},
	control.NoWholeBody: func(_ *Words, out *problem.Problem, _ control.Reason, _ string) {
		out.Text = "cycle 2 balances a robot on its feet, and the base of this one is fixed"
		out.Help = "choose cycle 1"
	},
	control.Unreachable: func(_ *Words, out *problem.Problem, r control.Reason, _ string) {
		out.Text = fmt.Sprintf("a limb stays %s m or rad away from where it is to be, %s is allowed", num(r.Value), num(r.Max))
		if out.Joint != "" {
			out.Text += "; joint " + out.Joint + " is in the way"
		}
		out.Help = "choose a target nearer to the present pose"
	},
	control.LimbUnreachable: func(_ *Words, out *problem.Problem, r control.Reason, _ string) {
		out.Text = fmt.Sprintf("limb %s stays %s m or rad away from where it is to be, %s is allowed", out.Resource, num(r.Value), num(r.Max))
		out.Help = "choose a pose that the limb can reach, or one nearer to the present"
	},
	control.BaseTooFar: func(_ *Words, out *problem.Problem, r control.Reason, _ string) {
		out.Text = fmt.Sprintf("the next pose of the base is %s m or rad away from where it is, %s is allowed", num(r.Value), num(r.Max))
		out.Help = "go there in smaller steps, or with the target of the stance controller"
	},
	control.NothingStands: func(_ *Words, out *problem.Problem, _ control.Reason, _ string) {
		out.Text = "no foot stands over which the base could be moved"
		out.Help = "say with ref_support which limbs carry"
	},
	control.NotOwned: func(w *Words, out *problem.Problem, r control.Reason, who string) {
		if out.Joint == "" {
			out.Resource = w.Resource(robot.LeafID(max(r.Value, 0)))
		}
		out.Text = fmt.Sprintf("%s does not own %s", quoted(who), what(out))
		out.Help = "ask for all resources that the reference needs"
	},
	control.TooFast: func(w *Words, out *problem.Problem, r control.Reason, _ string) {
		out.Text = fmt.Sprintf("a velocity of %s %s/s exceeds the limit of joint %s: at most %s is allowed", num(r.Value), w.Unit(r.Joint), out.Joint, num(r.Max))
		out.Help = "give the velocity that the values have, or none"
	},
	control.TooSteep: func(w *Words, out *problem.Problem, r control.Reason, _ string) {
		out.Text = fmt.Sprintf("an acceleration of %s %s/s² exceeds the limit of joint %s: at most %s is allowed", num(r.Value), w.Unit(r.Joint), out.Joint, num(r.Max))
		out.Help = "give the acceleration that the values have, or none"
	},
	control.LimbTooFast: func(_ *Words, out *problem.Problem, r control.Reason, _ string) {
		out.Text = fmt.Sprintf("a velocity of %s m/s or rad/s exceeds the limit of limb %s: at most %s is allowed", num(r.Value), out.Resource, num(r.Max))
		out.Help = "give the twist that the poses have, or none"
	},
	control.Unbalanced: func(_ *Words, out *problem.Problem, r control.Reason, _ string) {
		out.Text = fmt.Sprintf("the centre of mass would be %s m inside its supports, %s is needed", num(r.Value), num(r.Max))
		out.Help = "choose a target nearer to the middle of the feet"
	},
	control.StandsBeyond: func(w *Words, out *problem.Problem, r control.Reason, _ string) {
		limits := "its limit, " + num(r.Max)
		if l := w.limits(r.Joint); l.Lower.Has && l.Upper.Has {
			limits = fmt.Sprintf("what its limits of %s … %s and its servo allow, %s", num(l.Lower.Value), num(l.Upper.Value), num(r.Max))
		}
		out.Text = fmt.Sprintf("joint %s stands at %s %s, beyond %s: with torque it would move there by itself, so it gets none", out.Joint, num(r.Value), w.Unit(r.Joint), limits)
		out.Help = "move it back by hand while it is limp; if it stands right, its zero, min or max in robot.yaml is wrong: poise bus calibrate; other joints get torque by their names"
	},
	control.Fallen: func(_ *Words, out *problem.Problem, r control.Reason, _ string) {
		out.Text = fmt.Sprintf("the robot fell: it is tilted by %s rad, %s is allowed", num(r.Value), num(r.Max))
		out.Help = "reset it, give it torque, and let it get up (get_up), or put it on its feet"
	},
	control.Sunk: func(_ *Words, out *problem.Problem, r control.Reason, _ string) {
		out.Text = fmt.Sprintf("the robot fell: its body is %s m above its feet, %s is needed", num(r.Value), num(r.Max))
		out.Help = "reset it, give it torque, and let it get up (get_up), or put it on its feet"
	},
	control.NotTouched: func(_ *Words, out *problem.Problem, r control.Reason, _ string) {
		out.Text = fmt.Sprintf("the motion waited %s s for a contact that did not come", num(r.Value))
		out.Help = "contacts_real tells which feet stand; the event contact/wait may have another timeout"
	},
	control.AlreadyStands: func(_ *Words, out *problem.Problem, r control.Reason, _ string) {
		out.Text = fmt.Sprintf("the robot stands already: its body is %s m above its feet, below %s it gets up", num(r.Value), num(r.Max))
		out.Help = "go to the pose stand by go_to_pose, if another pose is wanted"
	},
	control.OnItsBack: func(_ *Words, out *problem.Problem, r control.Reason, _ string) {
		out.Text = fmt.Sprintf("the robot lies on neither of its sides, nor on its belly: it is tilted by %s rad, up to %s it would lie on a side", num(r.Value), num(r.Max))
		out.Help = "turn it on a side"
	},
	control.NoInertialUnit: func(_ *Words, out *problem.Problem, _ control.Reason, _ string) {
		out.Text = "no inertial unit measures how the robot lies and turns"
		out.Help = "a walk goes on, and does not keep its course; to get up, say how the robot lies in the goal: left, right or belly"
	},
	control.StillLies: func(_ *Words, out *problem.Problem, r control.Reason, _ string) {
		out.Text = fmt.Sprintf("the robot did not get up: it is tilted by %s rad%s, %s is allowed", num(r.Value), at(r.At), num(r.Max))
		out.Help = "try again, or put it on its feet: something may be in its way, or the ground too smooth"
	},
	control.NotStanding: func(_ *Words, out *problem.Problem, r control.Reason, _ string) {
		what := "its body"
		if out.Joint != "" {
			what = "the foot of " + out.Resource
		}
		out.Text = fmt.Sprintf("the robot does not stand: %s is %s m or rad away from a level stand, %s is allowed", what, num(r.Value), num(r.Max))
		out.Help = "go to a pose in which it stands on all its feet first, such as stand; one that lies has to get up (get_up)"
	},
	control.StillWalks: func(_ *Words, out *problem.Problem, r control.Reason, _ string) {
		out.Text = fmt.Sprintf("the robot walks, at %s m/s now: footsteps begin from a stand", num(r.Value))
		out.Help = "end the walk first: let its velocity be zero or run out, or cancel it"
	},
	control.WalksSlower: func(_ *Words, out *problem.Problem, r control.Reason, _ string) {
		out.Text = fmt.Sprintf("asked for %s m/s, it walks at %s m/s: what its legs reach by this gait", num(r.Max), num(r.Value))
		out.Help = fasterWalk
	},
	control.TurnsSlower: func(_ *Words, out *problem.Problem, r control.Reason, _ string) {
		out.Text = fmt.Sprintf("asked for %s rad/s, it turns at %s rad/s: what its legs reach by this gait", num(r.Max), num(r.Value))
		out.Help = fasterWalk
	},
	control.GoalMissed: func(w *Words, out *problem.Problem, r control.Reason, _ string) {
		out.Text = fmt.Sprintf("joint %s was still %s %s off the goal%s, %s is allowed", out.Joint, num(r.Value), w.Unit(r.Joint), at(r.At), num(r.Max))
		out.Help = "widen the goal tolerance of the joint, or allow more time to reach it"
	},
	control.Energised: func(_ *Words, out *problem.Problem, _ control.Reason, _ string) {
		out.Text = "joints that it had let go were given torque"
	},
	control.LeaseExpired: func(_ *Words, out *problem.Problem, r control.Reason, who string) {
		out.Text = fmt.Sprintf("controller %s gave no sign of life for %s s, its lease is %s s; what it had is free", quoted(who), num(r.Value), num(r.Max))
		out.Help = "send its values, or resource_requester_state, several times in each lease"
	},
	control.Unanswered: func(_ *Words, out *problem.Problem, _ control.Reason, who string) {
		out.Text = "controller " + quoted(who) + " did not confirm in time what it was offered"
		out.Help = "answer the assignment that carries the id of the request by resource_requester_state"
	},
	control.Declined: func(_ *Words, out *problem.Problem, _ control.Reason, who string) {
		out.Text = "controller " + quoted(who) + " does not take what it was offered"
	},
	control.TooOld: func(_ *Words, out *problem.Problem, r control.Reason, _ string) {
		out.Text = fmt.Sprintf("the motion was to be over %s s ago", num(r.Value))
		out.Help = "give it a later time stamp, or none"
	},
}

// fasterWalk is what may make a walk faster.
const fasterWalk = "ask for less, or name a faster gait; legs whose servos get positions alone walk more slowly than by poise cycle 1"

// Fault puts a fault into words, and what is done about it.
func (w *Words) Fault(k loop.FaultKind, severity loop.Severity, r control.Reason) problem.Problem {
	out := problem.Problem{Code: "fault_" + Underscored(k.String()), Joint: w.Joint(r.Joint), At: r.At, Value: r.Value, Limit: r.Max}
	out.Text = k.String()
	if out.Joint != "" {
		out.Resource = w.Resource(robot.LeafID(r.Joint))
		out.Text += " of joint " + out.Joint
	}
	switch k {
	case loop.ControllerPanic:
		out.Owner = w.who(arbiter.ClientID(max(0, min(r.Value, float64(arbiter.NoClient)))))
		out.Text += " of " + quoted(out.Owner)
	case loop.Fallen:
		if out.Text += fmt.Sprintf(": tilted by %s rad, %s is allowed", num(r.Value), num(r.Max)); r.Code == control.Sunk {
			out.Text = k.String() + fmt.Sprintf(": its body is %s m above its feet, %s is needed", num(r.Value), num(r.Max))
		}
	case loop.Overrun:
		out.Text += fmt.Sprintf(": the cycle missed %.0f periods in about its last hundred turns, %s are allowed", math.Ceil(r.Value), num(r.Max))
	default:
		if m, ok := faultMeasures[k]; ok {
			unit := m.unit
			if unit == "" {
				unit = w.Unit(r.Joint)
			}
			out.Text += fmt.Sprintf(": %s %s %s, %s %s is %s", num(r.Value), unit, m.what, num(r.Max), unit, m.bound)
		}
	}
	if severity > loop.SeverityWarn {
		out.Text += " (" + severity.String() + ")"
	}
	out.Help = faultHelp[k]
	return out
}

// faultMeasures say what the value of a fault measures, and in which unit; none is that
// of the joint.
var faultMeasures = map[loop.FaultKind]struct{ unit, what, bound string }{
	loop.TrackingError:   {"", "from its command", "allowed"},
	loop.StaleReading:    {"s", "without an answer", "allowed"},
	loop.Overheat:        {"°C", "measured", "allowed"},
	loop.LowVoltage:      {"V", "measured", "needed"},
	loop.StandstillMoved: {"", "from where it stopped", "allowed"},
	loop.CycleGap:        {"s", "without a cycle", "allowed"},
	loop.SilentUnit:      {"s", "without a measurement", "allowed"},
}

var faultHelp = map[loop.FaultKind]string{
	loop.TrackingError:   "see what holds the joint back, then reset",
	loop.StaleReading:    "see whether the servo still answers, then reset",
	loop.Overheat:        "let it cool down, then reset",
	loop.LowVoltage:      "charge or connect the supply, then reset",
	loop.ServoFault:      "clear the servo's own fault, then reset",
	loop.BusSilent:       "see whether the bus is connected, then reset",
	loop.Overrun:         "the computer is too busy for this cycle: a longer --period, or --priority for real time, helps",
	loop.ControllerPanic: "start the controller again with switch_controllers, then reset",
	loop.StandstillMoved: "see what moves the joint, then reset",
	loop.CycleGap:        "the program or the computer stood still; reset, or resume a motion that is paused",
	loop.SilentUnit:      "see whether the inertial unit has power, is connected and sends",
	loop.Fallen:          "put the robot on its feet, then reset",
}

// what names what an explanation is about.
func what(out *problem.Problem) string {
	switch {
	case out.Joint != "" && out.Resource != "" && out.Resource != out.Joint:
		return "joint " + out.Joint + " of " + out.Resource
	case out.Joint != "":
		return "joint " + out.Joint
	case out.Resource != "":
		return out.Resource
	}
	return "a resource"
}

func heldBy(out *problem.Problem) string {
	if out.Owner == "" {
		return ""
	}
	return ": " + quoted(out.Owner) + " has it"
}

func at(t float64) string {
	if t == 0 {
		return ""
	}
	return " at " + num(t) + " s"
}

// num prints a number as people read it: four digits.
func num(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }
