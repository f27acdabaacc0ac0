package robot

import (
	"fmt"
	"io"
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
)

// ProposeLimits writes a joint_limits.yaml with a number for every velocity,
// acceleration, deceleration and jerk limit that is missing, and says how it
// was found. It repeats the limits that are there, so that it can take the
// place of the file it was made from. Nothing ever uses a proposal by itself:
// a person reads it, changes it and saves it. Joints of several coordinates have
// no place in such a file.
func ProposeLimits(w io.Writer, robot string, joints []Joint) error {
	joints = slices.DeleteFunc(slices.Clone(joints), func(j Joint) bool { return j.Kind.NumQ() != 1 })
	p := &proposal{w: w}
	p.line("# Limits of robot %q: A PROPOSAL, to be accepted by a person.", robot)
	p.line("# Lines marked PROPOSED stand in no file and were not measured: check each against")
	p.line("# the data sheet of the drive before you save this as joint_limits.yaml.")
	if len(joints) == 0 {
		p.line("joint_limits: {}")
	} else {
		p.line("joint_limits:")
	}
	for _, j := range joints {
		p.joint(j)
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

func (p *proposal) joint(j Joint) {
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
	a := p.value("acceleration", l.Acceleration, v/speedUpTime, fmt.Sprintf("full speed in %g s", speedUpTime))
	p.value("deceleration", l.Deceleration, -a, "as fast as it speeds up")
	p.value("jerk", l.Jerk, a/jerkTime, fmt.Sprintf("full acceleration in %g s", jerkTime))
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
	text := strconv.FormatFloat(guess, 'g', 3, 64)
	guess, _ = strconv.ParseFloat(text, 64)
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
