package wish

import (
	"context"

	"poise/control"
	"poise/control/follow"
	"poise/executive/explain"
	"poise/loop"
	"poise/motion/library"
	"poise/planner"
	"poise/robot"
)

// Explanation is why something was refused.
type Explanation = explain.Explanation

// Means are what goals are done with. They do not change.
type Means struct {
	Model       *robot.Model
	Words       *explain.Words
	Controllers []*Controller
	Pipelines   []Pipeline     // the first is meant where a goal names none
	Library     Library        // stored motions; nil has none
	Follow      follow.Options // of trajectories
	Approach    ApproachLimits
}

// Controller is a controller of the loop, and what the executive has to know of it.
type Controller struct {
	Name string // as registered with the loop
	Kind string // such as "follow": goals look for their controllers by it
	// Operate makes the program of a goal Operational on some leaves; now is valid
	// during the call only. Nil is for controllers that are not switched on and off
	// but given goals.
	Operate func(set robot.Set, now *loop.Snapshot) (control.Program, error)
	// Resources are what Operational asks for if the goal does not say.
	Resources []string
	// Remote makes the controller a seat for controllers outside the process.
	Remote bool
}

// Planner plans motions; smooth.Planner and pilz.Planner are ones.
type Planner interface {
	Plan(ctx context.Context, req *planner.Request, current []float64) (*planner.Motion, *planner.Refusal)
	Sequence(ctx context.Context, items []planner.Item, current []float64) ([]*planner.Motion, *planner.Refusal)
}

// Pipeline is a planner under a name.
type Pipeline struct {
	Name    string
	Planner Planner
}

// Library finds stored motions by name; *library.Library is one. It must be safe
// for concurrent use.
type Library interface {
	Get(name string) (*library.Motion, error)
}

// ApproachLimits are how fast approach moves are.
type ApproachLimits struct {
	Share float64 // of the joints' limits; default 0.5
	Speed float64 // rad/s or m/s where a joint has no velocity limit; default 1
}

func (m *Means) controller(name string) (*Controller, bool) {
	for _, c := range m.Controllers {
		if c.Name == name {
			return c, true
		}
	}
	return nil, false
}

// pool returns the names of the controllers of a kind.
func (m *Means) pool(kind string) (names []string) {
	for _, c := range m.Controllers {
		if c.Kind == kind && !c.Remote {
			names = append(names, c.Name)
		}
	}
	return names
}

func (m *Means) controllerNames() (names []string) {
	for _, c := range m.Controllers {
		names = append(names, c.Name)
	}
	return names
}

func (m *Means) pipelineNames() (names []string) {
	for _, p := range m.Pipelines {
		names = append(names, p.Name)
	}
	return names
}
