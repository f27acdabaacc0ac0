package motions

import (
	"bytes"
	"context"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"poise/executive"
	"poise/graph"
	"poise/motion/library"
	"poise/motion/shipped"
	"poise/msgs/poisemsgs"
	"poise/robot/load"
)

// bench is the services of a pony's library in a folder of its own.
type bench struct {
	t      *testing.T
	g      *graph.Graph
	folder string
	log    bytes.Buffer
}

func newBench(t *testing.T) *bench {
	t.Helper()
	bot, err := load.Robot("pony", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, g: graph.New(graph.Options{}), folder: t.TempDir()}
	t.Cleanup(b.g.Close)
	s := &Services{Library: library.Open(b.folder, shipped.Of("pony")), Model: bot.Model, Log: slog.New(slog.NewTextHandler(&b.log, nil)),
		Last: func() (k executive.Kept, ok bool) { return k, false }}
	if err := s.Serve(b.g); err != nil {
		t.Fatal(err)
	}
	return b
}

func ask[Req, Res any](b *bench, service string, q Req) *Res {
	b.t.Helper()
	ctx, cancel := graph.WithTimeout(graph.WithCaller(context.Background(), "tester"), 5*time.Minute) // else it hangs
	defer cancel()
	r, err := graph.Call[Req, Res](ctx, b.g, "motions/"+service, &q)
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

func (b *bench) put(name, version string) *poisemsgs.MotionsPutResponse {
	b.t.Helper()
	m := poisemsgs.Motion{Name: name, Columns: []string{"joint52"}, Joints: []poisemsgs.MotionJoint{{Name: "joint52", Enabled: true}}}
	for i, q := range []float64{0, 0.2} {
		m.Points = append(m.Points, poisemsgs.MotionPoint{Time: float64(i), Enabled: true, Positions: []float64{q}})
	}
	return ask[poisemsgs.MotionsPutRequest, poisemsgs.MotionsPutResponse](b, "put", poisemsgs.MotionsPutRequest{Motion: m, Version: version})
}

func (b *bench) get(name string) *poisemsgs.MotionsGetResponse {
	b.t.Helper()
	return ask[poisemsgs.MotionsGetRequest, poisemsgs.MotionsGetResponse](b, "get", poisemsgs.MotionsGetRequest{Name: name})
}

// TestAMotionsLife: put, got, replaced by its version alone, deleted; each change is in
// the audit with its caller.
func TestAMotionsLife(t *testing.T) {
	b := newBench(t)
	first := b.put("turn", "")
	if !first.Success || first.Version == "" {
		t.Fatalf("%+v", first)
	}
	if got := b.get("turn"); !got.Success || got.Version != first.Version || len(got.Motion.Points) != 2 {
		t.Errorf("%+v", got)
	}
	for version, code := range map[string]string{"": "motion_exists", "stale": "version_conflict"} {
		r := b.put("turn", version)
		if r.Success || len(r.Explanations) != 1 || r.Explanations[0].Code != code || r.Explanations[0].Help == "" {
			t.Errorf("put over version %q: %+v, want %s", version, r, code)
		}
	}
	if r := ask[poisemsgs.MotionsDeleteRequest, poisemsgs.MotionsDeleteResponse](b, "delete", poisemsgs.MotionsDeleteRequest{Name: "turn", Version: first.Version}); !r.Success {
		t.Errorf("%+v", r)
	}
	if got := b.get("turn"); got.Success || got.Explanations[0].Code != "unknown_motion" {
		t.Errorf("after it was deleted: %+v", got)
	}
	for _, what := range []string{"turn", "who=tester"} {
		if !strings.Contains(b.log.String(), what) {
			t.Errorf("the audit does not say %q:\n%s", what, b.log.String())
		}
	}
}

func TestRefusalsNameTheCode(t *testing.T) {
	b := newBench(t)
	if r := b.put("../out", ""); r.Success || r.Explanations[0].Code != "bad_name" {
		t.Errorf("a bad name: %+v", r)
	}
	if r := b.get("nodd"); r.Success || !strings.Contains(r.Message, `"nod"`) {
		t.Errorf("a name that is nearly right: %+v", r)
	}
	r := ask[poisemsgs.MotionsSaveLastRequest, poisemsgs.MotionsSaveLastResponse](b, "save_last", poisemsgs.MotionsSaveLastRequest{Name: "last"})
	if r.Success || r.Message == "" {
		t.Errorf("nothing was received yet: %+v", r)
	}
	if files, err := os.ReadDir(b.folder); err != nil || len(files) > 0 {
		t.Errorf("refusals left %d files, %v", len(files), err)
	}
}

// TestUnreadableFilesAreListedAndWarnedOfOnce, and again when they have changed.
func TestUnreadableFilesAreListedAndWarnedOfOnce(t *testing.T) {
	b := newBench(t)
	for round, text := range []string{"points: 3\n", "points: 4\npoints: 5\n"} {
		if err := os.WriteFile(filepath.Join(b.folder, "broken.motion.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			r := ask[poisemsgs.MotionsListRequest, poisemsgs.MotionsListResponse](b, "list", poisemsgs.MotionsListRequest{})
			found := false
			for _, m := range r.Motions {
				found = found || m.Name == "broken" && m.Error != ""
				if m.Shipped && (m.Error != "" || m.Duration <= 0 || len(m.Findings) > 0) {
					t.Errorf("a shipped motion: %+v", m)
				}
			}
			if !r.Success || !found {
				t.Errorf("the list does not have the broken file: %v %s", r.Success, r.Message)
			}
		}
		if n := strings.Count(b.log.String(), "a motion cannot be read"); n != round+1 {
			t.Errorf("%d warnings after %d versions of the file", n, round+1)
		}
	}
}

// TestFindingsOfTheListAreSentences that name the joint.
func TestFindingsOfTheListAreSentences(t *testing.T) {
	b := newBench(t)
	text := "joints: {joint52: {}}\npoints:\n  - {time: 0, positions: {joint52: 0}}\n  - {time: 0.2, positions: {joint52: 1.2}}\n"
	if err := os.WriteFile(filepath.Join(b.folder, "hasty.motion.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r := ask[poisemsgs.MotionsListRequest, poisemsgs.MotionsListResponse](b, "list", poisemsgs.MotionsListRequest{})
	for _, m := range r.Motions {
		if m.Name == "hasty" {
			if len(m.Findings) == 0 || !strings.Contains(m.Findings[0], "joint52") {
				t.Errorf("findings %q do not name joint52", m.Findings)
			}
			return
		}
	}
	t.Error("the list does not have the motion")
}

// TestForcesAlongAMotion: what the timeline draws. A dance at three times its speed throws the pony over:
// findings say when, and the curves, where they are asked for, agree with them.
func TestForcesAlongAMotion(t *testing.T) {
	b := newBench(t)
	m := ask[poisemsgs.MotionsGetRequest, poisemsgs.MotionsGetResponse](b, "get", poisemsgs.MotionsGetRequest{Name: "dance"}).Motion
	edited := ask[poisemsgs.MotionsEditRequest, poisemsgs.MotionsEditResponse](b, "edit", poisemsgs.MotionsEditRequest{Motion: m,
		Operation: poisemsgs.MotionOperation{Op: "scale_times", Value: 0.33}})
	if !edited.Success {
		t.Fatal(edited.Message)
	}
	sample := func(forces bool) *poisemsgs.MotionsSampleResponse {
		r := ask[poisemsgs.MotionsSampleRequest, poisemsgs.MotionsSampleResponse](b, "sample", poisemsgs.MotionsSampleRequest{Motion: edited.Motion, Forces: forces})
		if !r.Success {
			t.Fatal(r.Message)
		}
		return r
	}
	if r := sample(false); r.Forces.Known || len(r.Forces.Joints) > 0 {
		t.Errorf("forces that were not asked for: %+v", r.Forces)
	}
	r := sample(true)
	f := r.Forces
	if !f.Known || len(f.Joints) != 30 || len(f.Feet) != 4 || len(f.Margin) != len(r.Times) || len(f.Feet[0].Force) != len(r.Times) || math.Abs(f.Weight-2.8202*9.81) > 0.01 {
		t.Fatalf("%d joints, %d feet, %d margins for %d times, %v N; %s", len(f.Joints), len(f.Feet), len(f.Margin), len(r.Times), f.Weight, f.Message)
	}
	outside := 0
	for k, at := range r.Times {
		told := slices.ContainsFunc(r.Findings, func(x poisemsgs.Finding) bool {
			return x.Rule == "zmp" && x.FromTime-0.002 <= at && at <= x.ToTime+0.002
		})
		if f.Margin[k] < -1e-4 {
			if outside++; !told {
				t.Errorf("at %v s the margin is %v, and no finding says so", at, f.Margin[k])
			}
		}
	}
	if outside == 0 {
		t.Error("it stands all the time")
	}
	for _, j := range f.Joints {
		for k := range r.Times {
			if j.Least[k] > j.Most[k] || len(j.Effort) != len(r.Times) {
				t.Fatalf("%s: %v … %v at %v s", j.Joint, j.Least[k], j.Most[k], r.Times[k])
			}
		}
	}
	slower := ask[poisemsgs.MotionsEditRequest, poisemsgs.MotionsEditResponse](b, "edit", poisemsgs.MotionsEditRequest{Motion: edited.Motion,
		Operation: poisemsgs.MotionOperation{Op: "slow_to_fit"}})
	if !slower.Success {
		t.Fatal(slower.Message)
	}
	if r := ask[poisemsgs.MotionsLintRequest, poisemsgs.MotionsLintResponse](b, "lint", poisemsgs.MotionsLintRequest{Motion: slower.Motion}); len(r.Findings) > 0 {
		t.Errorf("slowed down it still has %v", r.Findings)
	}
}
