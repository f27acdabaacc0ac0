package robot

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// What ProposeLimits assumes where no limit is given: guesses of a cautious person,
// not facts about any robot.
const (
	proposedTurn  = 1.0 // rad/s
	proposedSlide = 0.1 // m/s
	speedUpTime   = 0.5 // s from standstill to full speed
	jerkTime      = 0.1 // s from no acceleration to full
	stepping      = 10  // times as quick are joints of legs: a foot swings for some tenths of a second
)

// ProposedCartesian are limits of a tip as pilz_cartesian_limits.yaml has them, m/s, m/s² and rad/s: those of a slow arm near people, assumed for
// want of others. The four belong together.
const ProposedCartesian = "cartesian_limits: {max_trans_vel: 0.25, max_trans_acc: 0.5, max_trans_dec: -0.5, max_rot_vel: 0.5}"

// GentleTransition is what a description declares for hand-overs, moves to poses and stops of a robot whose legs are quick enough to
// step: rad/s², rad/s, and rad/s² of joints that are faster already.
type GentleTransition struct{ Acceleration, Velocity, Fast float64 }

// ProposeTransition returns it for joints of legs whose accelerations are proposed. ok is false if there are none. Slow is
// as the slowest of them was proposed to be if it did not step; the fastest stops as it steps.
func ProposeTransition(joints []Joint, legs []string) (t GentleTransition, ok bool) {
	slowest, fastest := math.Inf(1), 0.0
	for _, j := range joints {
		if j.Kind.NumQ() != 1 || j.Kind == Prismatic || j.Limits.Acceleration.Has || !slices.Contains(legs, j.Name) {
			continue
		}
		v := proposedTurn
		if j.Limits.Velocity.Has {
			v = j.Limits.Velocity.Value
		}
		slowest, fastest = min(slowest, v), max(fastest, v)
	}
	return GentleTransition{digits3(slowest / speedUpTime), digits3(slowest), digits3(fastest / speedUpTime * stepping)}, fastest > 0
}

// digits3 rounds to three digits.
func digits3(x float64) float64 {
	x, _ = strconv.ParseFloat(strconv.FormatFloat(x, 'g', 3, 64), 64)
	return x
}

// LegJoints returns the names of the joints of limbs on which a robot with a free base stands.
func LegJoints(m *Model) (names []string) {
	for _, c := range m.Chains() {
		if !m.Floating() || c.Contact < 0 {
			continue
		}
		for _, j := range c.Joints {
			names = append(names, m.Joints()[j].Name)
		}
	}
	return names
}

// ProposeLimits writes a joint_limits.yaml with a number for every velocity,
// acceleration, deceleration and jerk limit that is missing, and says how it
// was found. It repeats the limits that are there, so that it can take the
// place of the file it was made from. Nothing ever uses a proposal by itself:
// a person reads it, changes it and saves it. Joints of several coordinates have
// no place in such a file. Legs are the names of joints that walk.
func ProposeLimits(w io.Writer, robot string, joints []Joint, legs []string) error {
	joints = slices.DeleteFunc(slices.Clone(joints), func(j Joint) bool { return j.Kind.NumQ() != 1 })
	p := &proposal{w: w}
	p.line("# Limits of robot %q: A PROPOSAL, to be accepted by a person.", robot)
	p.line("# Lines marked PROPOSED stand in no file and were not measured: check each against")
	p.line("# the data sheet of the drive before you save this as joint_limits.yaml.")
	if t, ok := ProposeTransition(joints, legs); ok {
		p.line("# Legs are quick enough to step. In robot.yaml these keep hand-overs, moves to poses and stops gentle:")
		p.line("#   transition_acceleration: %s", number(t.Acceleration))
		p.line("#   transition_velocity: %s", number(t.Velocity))
		p.line("#   fast_transition_acceleration: %s", number(t.Fast))
	}
	if len(joints) == 0 {
		p.line("joint_limits: {}")
	} else {
		p.line("joint_limits:")
	}
	for _, j := range joints {
		p.joint(j, slices.Contains(legs, j.Name))
	}
	if p.proposed == 0 {
		p.line("# Nothing was missing: no line above is proposed.")
	}
	return p.err
}

type proposal struct {
	w        io.Writer
	proposed int
	err      error
}

func (p *proposal) line(format string, a ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", a...)
	}
}

func (p *proposal) joint(j Joint, leg bool) {
	l, turn, unit := j.Limits, proposedTurn, "rad/s"
	if j.Kind == Prismatic {
		turn, unit = proposedSlide, "m/s"
	}
	p.line("  %s:", strconv.Quote(j.Name))
	if l.Lower.Has && l.Upper.Has {
		p.line("    has_position_limits: true")
		p.line("    min_position: %s  # %s", number(l.Lower.Value), l.Lower.Source)
		p.line("    max_position: %s  # %s", number(l.Upper.Value), l.Upper.Source)
	}
	v := p.value("velocity", l.Velocity, turn, "a cautious "+unit)
	time, jerk, why := speedUpTime, jerkTime, ""
	if leg {
		time, jerk, why = speedUpTime/stepping, jerkTime/stepping, ", as legs step"
	}
	a := p.value("acceleration", l.Acceleration, v/time, fmt.Sprintf("full speed in %g s%s", time, why))
	p.value("deceleration", l.Deceleration, -a, "as fast as it speeds up")
	p.value("jerk", l.Jerk, a/jerk, fmt.Sprintf("full acceleration in %g s", jerk))
	if l.Effort.Has && l.Effort.Value > 0 {
		p.value("effort", l.Effort, 0, "")
	}
}

// value writes a limit that is there, or proposes one; it returns the number.
func (p *proposal) value(name string, have Limit, guess float64, how string) float64 {
	p.line("    has_%s_limits: true", name)
	if have.Has {
		p.line("    max_%s: %s  # %s", name, number(have.Value), have.Source)
		return have.Value
	}
	p.proposed++
	guess = digits3(guess)
	p.line("    max_%s: %s  # PROPOSED: %s", name, number(guess), how)
	return guess
}

// number prints the shortest decimal that reads back as x, always with a point:
// MoveIt takes no integers for these parameters, and YAML 1.1 takes 1e+06 for a
// word.
func number(x float64) string {
	text := strconv.FormatFloat(x, 'g', -1, 64)
	if strings.Contains(text, ".") {
		return text
	}
	digits, exponent, ok := strings.Cut(text, "e")
	if !ok {
		return text + ".0"
	}
	return digits + ".0e" + exponent
}
