package smooth_test

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"poise/edge"
	"poise/internal/golden"
	"poise/msgs"
	"poise/msgs/rosjson"
	"poise/planner"
	"poise/planner/pilz"
	"poise/planner/pipeline"
	"poise/planner/smooth"
	"poise/robot"
	"poise/robot/load"
)

func prbt(t testing.TB) *robot.Model {
	t.Helper()
	r, err := load.Robot(golden.Path(t, "robots/prbt"), load.Options{OverrideLimits: true})
	must(t, err)
	return r.Model
}

// current is the robot's state where a reference request gives none.
var current = []float64{0, -0.016763700542892668, -1.673499069949556, 0, -1.4848572841831293, 2.3561944901923377}

// goldenRequest is one of the reference requests: a single one, or a sequence.
type goldenRequest struct {
	name   string
	items  []planner.Item
	single bool
}

// goldenRequests reads those that can be read.
func goldenRequests(t *testing.T) (all []goldenRequest) {
	t.Helper()
	files, err := filepath.Glob(golden.Path(t, "golden/pilz/requests") + "/*.json")
	must(t, err)
	for _, f := range files {
		raw, err := os.ReadFile(f)
		must(t, err)
		g := goldenRequest{name: filepath.Base(f)}
		var probe map[string]json.RawMessage
		must(t, json.Unmarshal(raw, &probe))
		var list []msgs.MotionSequenceItem
		if _, ok := probe["items"]; ok {
			var msg msgs.MotionSequenceRequest
			must(t, rosjson.Unmarshal(raw, &msg))
			list = msg.Items
		} else {
			var msg msgs.MotionPlanRequest
			must(t, rosjson.Unmarshal(raw, &msg))
			list, g.single = []msgs.MotionSequenceItem{{Req: msg}}, true
		}
		for i := range list {
			req, why := edge.PlanRequest(&list[i].Req)
			if why != nil {
				t.Fatalf("%s: %v", g.name, why)
			}
			g.items = append(g.items, planner.Item{Request: req, Radius: list[i].BlendRadius})
		}
		all = append(all, g)
	}
	if len(all) < 100 {
		t.Fatalf("%d requests", len(all))
	}
	return all
}

type modes interface {
	Plan(context.Context, *planner.Request, []float64) (*planner.Motion, *planner.Refusal)
	Sequence(context.Context, []planner.Item, []float64) ([]*planner.Motion, *planner.Refusal)
}

func (g *goldenRequest) plan(p modes) ([]*planner.Motion, *planner.Refusal) {
	if !g.single {
		return p.Sequence(context.Background(), g.items, current)
	}
	m, why := p.Plan(context.Background(), &g.items[0].Request, current)
	if why != nil {
		return nil, why
	}
	return []*planner.Motion{m}, nil
}

// What is answered otherwise than by Pilz, on purpose.
var otherwise = map[string]string{
	"PtpPtpSequence.json":               "the blend is slowed down instead of refused",
	"circ1_center_velScaleTooHigh.json": "slowed down instead of refused",
	"circ1_center_accScaleTooHigh.json": "slowed down instead of refused",
	"lin2_cart_full_speed.json":         "slowed down instead of refused",
	"lin2_cart_speed_limit_0.5.json":    "the link whose speed is limited does not exist",
	"lin_discontinuous_fails.json":      "refused for the configuration that the goal asks for, not for a limit",
}

func TestReferenceRequestsAreAnsweredLikePilzOrBetter(t *testing.T) {
	m := prbt(t)
	period := 0.004
	if testing.Short() {
		period = 0.05
	}
	for _, g := range goldenRequests(t) {
		_, theirs := g.plan(&pilz.Planner{Model: m})
		ours, why := g.plan(&smooth.Planner{Model: m, Sampling: period})
		for _, x := range ours {
			checkMotion(t, m, x, period)
		}
		a, b := edge.PlanCode(&pipeline.Answer{Refusal: theirs}, "").Val, edge.PlanCode(&pipeline.Answer{Refusal: why}, "").Val
		reason, expected := otherwise[g.name]
		if a != b && !expected {
			t.Errorf("%s: code %d (%v), Pilz answers %d", g.name, b, why, a)
		}
		if expected {
			t.Logf("%s: %s: code %d (%v), Pilz answers %d", g.name, reason, b, why, a)
		}
		if t.Failed() {
			t.Fatal(g.name)
		}
	}
}

// Never more than 1 % and one sample slower than Pilz where what Pilz plans keeps
// the limits between its samples too. No joint of this arm has a jerk limit.
func TestNeverSlowerThanPilzWherePilzKeepsTheLimits(t *testing.T) {
	m := prbt(t)
	compared := 0
	for _, period := range []float64{0.001, 0.01, 0.1} {
		if testing.Short() && period < 0.1 {
			continue
		}
		for i, g := range goldenRequests(t) {
			if testing.Short() && i%3 > 0 {
				continue
			}
			theirs, why := g.plan(&pilz.Planner{Model: m})
			if why != nil || !keepsLimits(t, m, &g) {
				continue
			}
			ours, why := g.plan(&smooth.Planner{Model: m, Sampling: period})
			if why != nil {
				if _, expected := otherwise[g.name]; !expected {
					t.Errorf("%s: %v", g.name, why)
				}
				continue
			}
			compared++
			for _, x := range ours {
				checkMotion(t, m, x, period)
			}
			if a, b := duration(theirs...), duration(ours...); b > 1.01*a+period+1e-9 {
				t.Errorf("%s, sampled every %g s: %.6g s, Pilz takes %.6g s", g.name, period, b, a)
			}
		}
	}
	t.Logf("%d compared", compared)
	if compared < 8 {
		t.Errorf("only %d compared", compared)
	}
}

// keepsLimits reports whether Pilz's motion keeps the limits between its samples:
// planned again with fine samples it still does.
func keepsLimits(t *testing.T, m *robot.Model, g *goldenRequest) bool {
	t.Helper()
	fine, why := g.plan(&pilz.Planner{Model: m, Sampling: 0.002})
	if why != nil {
		return false
	}
	for _, mo := range fine {
		l := limitsOf(m, mo.Joints, 1, 1)
		pts := mo.Trajectory.Points
		for i := 2; i < len(pts)-2; i++ {
			for j := range l.Velocity {
				if math.Abs(pts[i].Velocity[j]) > l.Velocity[j]*1.001 || math.Abs(pts[i].Acceleration[j]) > l.Acceleration[j]*1.001 {
					return false
				}
			}
		}
	}
	return true
}
