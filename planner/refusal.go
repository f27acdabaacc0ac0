package planner

import (
	"context"
	"fmt"
	"strings"
)

// Kind is what sort of trouble a refusal is; wires have a number for each.
type Kind uint8

// The kinds of refusal.
const (
	BadRequest     Kind = iota + 1 // scaling, radius, auxiliary point, geometry
	UnknownCommand                 // no such planner
	UnknownGroup
	BadState // start state
	BadGoal
	UnknownLink
	UnknownFrame
	NoSolution    // no joint position reaches the pose
	LimitExceeded // the motion would break a joint's limit
	MissingLimit  // a limit that the command needs is not known
	BlendFailed
	Cancelled
	TimedOut
)

var kindNames = [...]string{
	"", "bad request", "unknown command", "unknown group", "bad start state", "bad goal", "unknown link",
	"unknown frame", "no solution", "limit exceeded", "missing limit", "blending failed", "cancelled", "timed out",
}

func (k Kind) String() string { return kindNames[k] }

// None stands for a sample or item that a refusal does not speak of.
const None = -1

// Refusal explains why nothing was planned.
type Refusal struct {
	Kind     Kind
	Item     int     // of a sequence, counted from 0; None for a single request
	Joint    string  // "" if it is not about one
	Sample   int     // None if it is not about one
	Time     float64 // of the sample, s
	Distance float64 // along the path, m; 0 if it is not about a place on it
	Value    float64 // what was asked for or would be
	Limit    float64 // what is allowed
	What     string  // the trouble in words, with its numbers
	Help     string  // what would make it pass, "" if unknown
}

func (r *Refusal) Error() string {
	var b strings.Builder
	if r.Item != None {
		fmt.Fprintf(&b, "item %d: ", r.Item)
	}
	b.WriteString(r.What)
	if r.Help != "" {
		b.WriteString("; ")
		b.WriteString(r.Help)
	}
	return b.String()
}

// Refuse returns a refusal that is about no sample and no item.
func Refuse(k Kind, format string, a ...any) *Refusal {
	return &Refusal{Kind: k, Item: None, Sample: None, What: fmt.Sprintf(format, a...)}
}

// Stopped returns the refusal of a plan whose context has ended, nil if it goes on.
func Stopped(ctx context.Context) *Refusal {
	switch ctx.Err() {
	case nil:
		return nil
	case context.DeadlineExceeded:
		return Refuse(TimedOut, "planning took longer than it was allowed to")
	}
	return Refuse(Cancelled, "planning was cancelled")
}

// With returns the refusal with a word on what would help.
func (r *Refusal) With(help string, a ...any) *Refusal {
	r.Help = fmt.Sprintf(help, a...)
	return r
}

// short prints a number for a sentence.
func short(x float64) string { return fmt.Sprintf("%.3g", x) }
