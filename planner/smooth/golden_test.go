package smooth_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"poise/edge"
	"poise/internal/golden"
	"poise/msgs"
	"poise/msgs/rosjson"
	"poise/planner"
	"poise/planner/pilz"
	"poise/planner/smooth"
	"poise/robot"
	"poise/robot/load"
)

func prbt(t testing.TB) *robot.Model {
	t.Helper()
	r, err := load.Robot(golden.Path(t, "robots/prbt"), load.Options{OverrideLimits: true})
	if err != nil {
		t.Fatal(err)
	}
	return r.Model
}

var current = []float64{0, -0.016763700542892668, -1.673499069949556, 0, -1.4848572841831293, 2.3561944901923377}

func TestScratch(t *testing.T) {
	m := prbt(t)
	files, _ := filepath.Glob(golden.Path(t, "golden/pilz/requests") + "/*.json")
	for _, f := range files {
		raw, _ := os.ReadFile(f)
		var probe map[string]json.RawMessage
		json.Unmarshal(raw, &probe)
		c := pilz.Planner{Model: m}
		d := smooth.Planner{Model: m}
		q := current
		name := filepath.Base(f)
		if _, seq := probe["items"]; seq {
			var msg msgs.MotionSequenceRequest
			if err := rosjson.Unmarshal(raw, &msg); err != nil {
				t.Fatal(err)
			}
			var items []planner.Item
			for i := range msg.Items {
				req, why := edge.PlanRequest(&msg.Items[i].Req)
				if why != nil {
					t.Fatal(why)
				}
				items = append(items, planner.Item{Request: req, Radius: msg.Items[i].BlendRadius})
			}
			a, why1 := c.Sequence(context.Background(), items, q)
			b, why2 := d.Sequence(context.Background(), items, q)
			t.Log(name)
			for _, x := range b {
				checkMotion(t, m, x, 0.001)
			}
			report(t, name, a, b, why1, why2)
			continue
		}
		var msg msgs.MotionPlanRequest
		if err := rosjson.Unmarshal(raw, &msg); err != nil {
			t.Log(name, err)
			continue
		}
		req, why := edge.PlanRequest(&msg)
		if why != nil {
			continue
		}
		a, why1 := c.Plan(context.Background(), &req, q)
		b, why2 := d.Plan(context.Background(), &req, q)
		if b != nil {
			t.Log(name)
			checkMotion(t, m, b, 0.001)
			t.Log(planner.Summary(b))
		}
		report(t, name, []*planner.Motion{a}, []*planner.Motion{b}, why1, why2)
	}
}

func report(t *testing.T, name string, a, b []*planner.Motion, why1, why2 *planner.Refusal) {
	dur := func(m []*planner.Motion) (x float64) {
		for _, k := range m {
			if k != nil {
				x += k.Trajectory.Points[len(k.Trajectory.Points)-1].Time
			}
		}
		return
	}
	x, y := "ok", "ok"
	if why1 != nil {
		x = why1.Kind.String()
	}
	if why2 != nil {
		y = why2.Kind.String()
	}
	flag := ""
	if x != y {
		flag = "DIFF"
	}
	if why1 == nil && why2 == nil && dur(b) > dur(a)*1.01+0.001 {
		flag = "SLOW"
	}
	t.Logf("%-45s %-4s %-18s %-18s %8.4f %8.4f", name, flag, x, y, dur(a), dur(b))
	if flag == "DIFF" {
		t.Log("      ", why1, "|", why2)
	}
}
