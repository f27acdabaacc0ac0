package planner

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"poise/robot/load"
)

func TestAnglesOfCircles(t *testing.T) {
	for _, c := range []struct {
		text string
		want float64
		ok   bool
	}{
		{"angle=1.5", 1.5, true},
		{"angle=270deg", 1.5 * math.Pi, true},
		{"angle=-90deg", -math.Pi / 2, true},
		{"angle=36000deg", 200 * math.Pi, true},
		{"angle=36001deg", 0, false},
		{"angle=0", 0, false},
		{"angle=", 0, false},
		{"angle=NaN", 0, false},
		{"angle=inf", 0, false},
		{"radius=3", 0, false},
		{"", 0, false},
	} {
		got, ok := parseAngle(c.text)
		if ok != c.ok || ok && math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%q: %g, %v, want %g, %v", c.text, got, ok, c.want, c.ok)
		}
	}
}

func FuzzAngle(f *testing.F) {
	f.Add("angle=1e3deg")
	f.Fuzz(func(t *testing.T, text string) {
		if a, ok := parseAngle(text); ok && !(math.Abs(a) <= maxTurns*2*math.Pi && a != 0) {
			t.Errorf("%q is %g", text, a)
		}
	})
}

func TestSummaryTellsTheWorstSlowdowns(t *testing.T) {
	m := &Motion{Notes: []Note{{Kind: Bridged, Item: None, Text: "bridged"}}}
	for i := range 7 {
		m.Notes = append(m.Notes, Note{Kind: Slowed, Item: 2, Share: 0.9 - 0.1*float64(i), Text: strings.Repeat("x", i+1)})
	}
	got := Summary(m)
	for _, want := range []string{"bridged; ", "item 2: xxxxxxx", "item 2: xxxx;", "3 more places"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q does not say %q", got, want)
		}
	}
	if strings.Contains(got, "item 2: xxx;") || Summary(&Motion{}) != "" || Summary() != "" {
		t.Errorf("summary %q", got)
	}
}

func TestRadiiAndStartsOfSequences(t *testing.T) {
	start := StartState{Names: []string{"a"}, Position: []float64{0}}
	for _, c := range []struct {
		name  string
		items []Item
		radii bool // refused for them
		start bool
	}{
		{"empty", nil, false, false},
		{"good", []Item{{Radius: 0.1}, {}}, false, false},
		{"negative", []Item{{Radius: -0.1}, {}}, true, false},
		{"not a number", []Item{{Radius: math.NaN()}, {}}, true, false},
		{"infinite", []Item{{Radius: math.Inf(1)}, {}}, true, false},
		{"last", []Item{{}, {Radius: 0.1}}, true, false},
		{"second start", []Item{{Request: Request{Group: "g"}}, {Request: Request{Group: "g", Start: start}}}, false, true},
		{"start of another group", []Item{{Request: Request{Group: "g"}}, {Request: Request{Group: "h", Start: start}}}, false, false},
	} {
		if why := CheckRadii(c.items); (why != nil) != c.radii {
			t.Errorf("%s: %v", c.name, why)
		}
		if why := CheckStarts(c.items); (why != nil) != c.start {
			t.Errorf("%s: %v", c.name, why)
		}
	}
}

func TestStoppedTellsWhy(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	if why := Stopped(ctx); why != nil {
		t.Error(why)
	}
	cancel()
	if why := Stopped(ctx); why == nil || why.Kind != Cancelled {
		t.Error(why)
	}
	late, cancel := context.WithDeadline(context.Background(), time.Unix(0, 0))
	defer cancel()
	if why := Stopped(late); why == nil || why.Kind != TimedOut {
		t.Error(why)
	}
}

func TestToolLimitsFollowPilzsRule(t *testing.T) {
	r, err := load.Robot("arm6", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	l := r.Model.CartesianLimits()
	task := Task{Command: LIN}
	tool, why := task.ToolLimits(r.Model)
	if why != nil {
		t.Fatal(why)
	}
	rot := l.MaxTransAcc.Value / l.MaxTransVel.Value * l.MaxRotVel.Value
	if tool.TurnAcceleration != rot || tool.Deceleration != -l.MaxTransDec.Value || tool.Speed != l.MaxTransVel.Value {
		t.Errorf("%+v", tool)
	}
	s := tool.Scaled(0.5, 0.25, 1, 1)
	if s.Speed != tool.Speed/2 || s.Acceleration != tool.Acceleration/4 || s.Turning != tool.Turning {
		t.Errorf("scaled on the way: %+v", s)
	}
	if s = tool.Scaled(0.5, 0.25, 0, 1); s.Turning != tool.Turning/2 || s.TurnAcceleration != tool.TurnAcceleration/4 {
		t.Errorf("scaled on the spot: %+v", s)
	}
	if got := tool.Min(FreeTool); got != tool {
		t.Errorf("%+v", got)
	}
}
