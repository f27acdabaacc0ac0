package planner

import (
	"context"
	"fmt"
	"strings"

	"poise/problem"
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

// None stands for a sample or item that a refusal does not mention.
const None = -1

// Refusal explains why nothing was planned: the problem, and where on the way it is.
// At is the time of the sample.
type Refusal struct {
	problem.Problem
	Kind     Kind
	Item     int     // of a sequence, counted from 0; None for a single request
	Sample   int     // None if it is not about one
	Distance float64 // along the path, m; 0 if it is not about a place on it
}

// Whole returns the problem with the code of its kind and the item it is about.
func (r *Refusal) Whole() *problem.Problem {
	p := r.Problem
	p.Code = "plan_" + problem.Code(strings.ReplaceAll(r.Kind.String(), " ", "_"))
	if r.Item != None {
		p.Thing = fmt.Sprintf("item %d", r.Item)
	}
	return &p
}

func (r *Refusal) Error() string { return r.Whole().Error() }

// Unwrap returns the problem.
func (r *Refusal) Unwrap() error { return r.Whole() }

// Refuse returns a refusal that is about no sample and no item.
func Refuse(k Kind, format string, a ...any) *Refusal {
	return &Refusal{Problem: *problem.New("", format, a...), Kind: k, Item: None, Sample: None}
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
