// Package pipeline asks planners, by name: the one way in which the command line,
// the services and the actions get a plan.
//
//	plans := pipeline.Standard(model, pipeline.Sampling{Coarser: true})
//	question := pipeline.Question{Items: items, Seconds: 5}
//	ctx, stop := question.Bounded(ctx)
//	defer stop()
//	answer := plans.Ask(ctx, &question, current)
//
// The first planner of a Set is meant where a question names none. A question may
// bound the time that its answer takes; the answer says how long it took.
package pipeline

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"poise/planner"
	"poise/planner/pilz"
	"poise/planner/smooth"
	"poise/problem"
	"poise/robot"
)

// The names of the planners, as pipeline_id has them.
const (
	Own  = "poise"                          // package smooth
	Pilz = "pilz_industrial_motion_planner" // package pilz: as MoveIt's Pilz planner does
)

// Planner plans on one robot; smooth.Planner and pilz.Planner are ones.
type Planner interface {
	Plan(ctx context.Context, req *planner.Request, current []float64) (*planner.Motion, *planner.Refusal)
	Sequence(ctx context.Context, items []planner.Item, current []float64) ([]*planner.Motion, *planner.Refusal)
}

// Pipeline is a planner under a name.
type Pipeline struct {
	Name    string
	Planner Planner
}

// Set is the planners that can be asked, the default first.
type Set []Pipeline

// Sampling says how far apart the points of a plan are.
type Sampling struct {
	Own, Pilz float64 // s, of either planner; 0 is its default
	Coarser   bool    // Own may be exceeded in sequences of many items
}

// Standard returns the planners of Poise, its own first.
func Standard(m *robot.Model, s Sampling) Set {
	return Set{{Own, &smooth.Planner{Model: m, Sampling: s.Own, Coarser: s.Coarser}}, {Pilz, &pilz.Planner{Model: m, Sampling: s.Pilz}}}
}

// First returns the set with the planner of a name first.
func (s Set) First(name string) Set {
	var first, rest Set
	for _, p := range s {
		if p.Name == name {
			first = append(first, p)
		} else {
			rest = append(rest, p)
		}
	}
	return append(first, rest...)
}

// Names lists the planners.
func (s Set) Names() (names []string) {
	for _, p := range s {
		names = append(names, p.Name)
	}
	return names
}

// Find returns the planner of a name, "" being the first.
func (s Set) Find(name string) (Planner, *planner.Refusal) {
	for _, p := range s {
		if name == "" || name == p.Name {
			return p.Planner, nil
		}
	}
	why := planner.Refuse(planner.UnknownCommand, "planner %q is unknown", name)
	return nil, why.With("there are %s%s", strings.Join(s.Names(), ", "), problem.Hint(name, s.Names()))
}

// Question is what is to be planned: one request, or a sequence of them.
type Question struct {
	Items    []planner.Item
	Sequence bool    // otherwise the only item is planned
	Pipeline string  // planner by name; "" is the first
	Seconds  float64 // that planning may take; 0 is no bound

	Refusal *planner.Refusal // why it cannot even be asked; it is the answer then
}

// Answer is what a planner had to say.
type Answer struct {
	Motions []*planner.Motion
	Refusal *planner.Refusal // why there are none
	Seconds float64          // that planning took
}

// Bounded returns a context that ends when the time that planning may take is over,
// counted from now: waiting for a turn is part of it.
func (q *Question) Bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if q.Seconds > 0 && q.Seconds < math.MaxInt64/1e9 {
		return context.WithTimeout(ctx, time.Duration(q.Seconds*float64(time.Second)))
	}
	return context.WithCancel(ctx)
}

// Ask plans from where the robot is, a whole configuration. How long that may take is
// the caller's to bound, by the context (Bounded).
func (s Set) Ask(ctx context.Context, q *Question, current []float64) (a Answer) {
	if q.Refusal != nil {
		return Answer{Refusal: q.Refusal}
	}
	p, why := s.Find(q.Pipeline)
	if why != nil {
		return Answer{Refusal: why}
	}
	if len(q.Items) == 0 && !q.Sequence {
		return Answer{Refusal: planner.Refuse(planner.BadRequest, "there is no request to plan")}
	}
	begin := time.Now()
	if q.Sequence {
		a.Motions, a.Refusal = p.Sequence(ctx, q.Items, current)
	} else if m, why := p.Plan(ctx, &q.Items[0].Request, current); why != nil {
		a.Refusal = why
	} else {
		a.Motions = []*planner.Motion{m}
	}
	a.Seconds = time.Since(begin).Seconds()
	if deadline, ok := ctx.Deadline(); ok && q.Seconds > 0 && a.Refusal != nil && a.Refusal.Kind == planner.TimedOut {
		a.Refusal.Value, a.Refusal.Limit = q.Seconds+time.Since(deadline).Seconds(), q.Seconds
		a.Refusal.Help = fmt.Sprintf("it was given up after %.3g s, allowed_planning_time is %.3g s", a.Refusal.Value, a.Refusal.Limit)
	}
	return a
}
