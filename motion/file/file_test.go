package file_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"poise/control/follow"
	"poise/motion"
	"poise/motion/file"
	"poise/problem"
	"poise/trajectory"
)

// canonical is a file as the writer prints it, with a comment at every kind of place.
const canonical = `# Shown to visitors.

# What it is for.
description: Nods, then says hello # to all
tags: [head, greeting] # two
start_pose: stand
loop: true
goal_time_tolerance: 1

# Only the head.
joints: # of many
  joint51: {path_tolerance: 0.5, goal_tolerance: 0.174} # pitch
  # off for now
  joint52: {enabled: false}
  joint53: {path_tolerance: {position: 0.5, velocity: 1, acceleration: 0}}

points:
  # begin
  - time: 0 # at once
    label: rest
    mark: start
    positions: {joint51: -0.3, joint52: 0, joint53: 0.3, joint11: 0, joint12: -0.383, joint13: 0.699,
      joint14: -0.316} # as it stands
    supports: {leg1: 1, leg2: 1}
  - time: 0.5
    enabled: false # too fast
    positions: {joint51: 1e-76, joint52: -0.0, joint53: 0.1, joint11: 12345678.9, joint12: 1e+21, joint13: 0.30000000000000004}
    supports: {leg1: 0, leg2: 1.5}

events:
  # sound
  - {time: 0.25, type: voice/say, command: hello, options: "a, b: c"} # loud

# the end
`

func TestCanonicalFilesStayAsTheyAre(t *testing.T) {
	d, err := file.Read([]byte(canonical), "nod")
	if err != nil {
		t.Fatal(err)
	}
	if got := string(file.Write(d, []byte(canonical))); got != canonical {
		t.Errorf("got\n%s", got)
	}
	bare := file.Write(d, nil)
	if strings.Contains(string(bare), "#") {
		t.Error("comments out of nowhere")
	}
	again, err := file.Read(bare, "nod")
	if err != nil || text(t, again) != text(t, d) {
		t.Errorf("%v: %s\nwant %s", err, text(t, again), text(t, d))
	}
	want := motion.Point{Time: 0.5, Positions: []float64{1e-76, math.Copysign(0, -1), 0.1, 12345678.9, 1e21, 0.30000000000000004, math.NaN()}, Supports: []float64{0, 1.5}}
	if got := d.Points[1]; fmt.Sprint(got) != fmt.Sprint(want) || !math.Signbit(got.Positions[1]) {
		t.Errorf("%v, want %v", got, want)
	}
	if d.Marked(motion.StartMark) != 0 || d.Joints[1].Enabled || d.Joints[1].Path != nil || d.Joints[2].Path.Velocity != 1 {
		t.Errorf("%+v", d)
	}
}

// TestCommentsFollowTheirRows deletes, moves and adds things and looks where the
// comments are.
func TestCommentsFollowTheirRows(t *testing.T) {
	d, err := file.Read([]byte(canonical), "nod")
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range []motion.Operation{
		{Op: "set_time", Rows: []int{0}, Time: 2},
		{Op: "enable_points", Rows: []int{0}},
		{Op: "remove_joints", Names: []string{"joint51"}},
		{Op: "set_loop"}, {Op: "set_description"},
	} {
		if d, err = motion.Apply(d, nil, op); err != nil {
			t.Fatal(op.Op, err)
		}
	}
	got := string(file.Write(d, []byte(canonical)))
	for _, want := range []string{
		"  # begin\n  - time: 2 # at once\n    label: rest\n", // found by its label
		"  # too fast\n  - time: 0.5\n    positions:",         // its key is not written any more
		"joints: # of many\n  # off for now\n  joint52:",      // joint51 is gone, with its comment
		"# the end\n", // at the end
		"# What it is for.\n# to all\n# the end\n",                // of a key that is not written any more
		"  # sound\n  - {time: 0.25, type: voice/say, command: h", // events
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	if strings.Contains(got, "pitch") {
		t.Error("the comment of a joint that is gone stays")
	}
	if _, err := file.Read([]byte(got), "nod"); err != nil {
		t.Error(err)
	}
}

func TestReadRefusesWithLines(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"unknown key", "description: x\nauthor: me\n", `nod:2: unknown key "author"; known are description, tags`},
		{"unknown key of a row", "points:\n  - time: 0\n    lable: x\n", `nod:3: points[0]: unknown key "lable"`},
		{"key twice", "loop: true\nloop: false\n", `nod:2: key "loop" comes twice`},
		{"joint twice", "joints:\n  a: {}\n  a: {}\n", `nod:3: joints: key "a" comes twice`},
		{"position twice", "points:\n  - {time: 0, positions: {a: 0, a: 1}}\n", `nod:2: points[0].positions: key "a" comes twice`},
		{"row without a time", "points:\n  - label: x\n", "nod:2: points: time is missing"},
		{"event without a time", "events:\n  - type: x\n", "nod:2: events: time is missing"},
		{"no such mark", "points:\n  - {time: 0, mark: middle}\n", `nod:2: points: mark: "middle" must be start or end`},
		{"mark twice", "points:\n  - {time: 0, mark: end}\n  - {time: 1, mark: end}\n", "nod:3: points: mark: the end mark is already on line 2"},
		{"text for a number", "points:\n  - time: soon\n", `nod:2: points[0].time: "soon" must be a finite number`},
		{"not a number", "points:\n  - {time: 0, positions: {a: .nan}}\n", `".nan" must be a finite number`},
		{"tolerance of the wrong kind", "joints:\n  a: {path_tolerance: [1]}\n", "nod:2: joints.a.path_tolerance: is a list"},
		{"tolerance with an unknown key", "joints:\n  a: {goal_tolerance: {pos: 1}}\n", `nod:2: joints.a.goal_tolerance: unknown key "pos"`},
		{"column twice", "columns: [a, a]\n", `column "a" comes twice`},
		{"not YAML", "points: [\n", "nod:1: "},
		{"too large", strings.Repeat("# much\n", 1<<20), "at most 4194304"},
	} {
		_, err := file.Read([]byte(tc.text), "nod")
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %s", tc.name, err, tc.want)
		}
	}
	_, err := file.Read([]byte("points:\n  - label: x\n  - label: y\n"), "nod")
	var one *problem.Problem
	if !errors.As(err, &one) || strings.Count(err.Error(), "time is missing") != 2 {
		t.Error("not all problems at once:", err)
	}
}

// TestRandomDocumentsRoundTrip writes random documents, odd names and numbers among
// them, and reads back the same, every bit of every number.
func TestRandomDocumentsRoundTrip(t *testing.T) {
	rounds := 2000
	if testing.Short() {
		rounds = 200
	}
	for seed := range uint64(rounds) {
		d := randomDocument(rand.New(rand.NewPCG(seed, 88)))
		out := file.Write(d, nil)
		got, err := file.Read(out, "x")
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, out)
		}
		if text(t, got) != text(t, d) {
			t.Fatalf("seed %d:\n%s\nread  %s\nwrote %s", seed, out, text(t, got), text(t, d))
		}
		if again := file.Write(got, out); string(again) != string(out) {
			t.Fatalf("seed %d: written again\n%s\nfirst\n%s", seed, again, out)
		}
	}
}

var oddTexts = []string{"", "a", "nod", "null", "~", "true", "No", "12", "1e5", "x: y", "x #y", "# x", "- a", "a,b", "it's", "\"q\"", "two\nlines", "two\n\nlines\n",
	"end\n\n", " space", "space ", "tab\t", "привет", "日本", "emoji 🐴", "\u2028", "\x00", "back\\slash", "{a}", "[b]", "a: |", "\n", "a\n b", "&x", "*x", "!x", "%x", "@x", "`x", "?", "-", "a-", "support/leg1"}

func randomDocument(rng *rand.Rand) *motion.Document {
	odd := func() string { return oddTexts[rng.IntN(len(oddTexts))] }
	number := func() float64 {
		switch rng.IntN(4) {
		case 0:
			return float64(rng.IntN(7) - 3)
		case 1:
			return math.Round(rng.NormFloat64()*1000) / 1000
		}
		for {
			if x := math.Float64frombits(rng.Uint64()); !math.IsNaN(x) && !math.IsInf(x, 0) {
				return x
			}
		}
	}
	names := func(n int) (all []string) {
		for _, k := range rng.Perm(len(oddTexts))[:rng.IntN(n)] {
			if oddTexts[k] != "" {
				all = append(all, oddTexts[k])
			}
		}
		return all
	}
	tolerance := func() *trajectory.Tolerance {
		switch rng.IntN(3) {
		case 0:
			return nil
		case 1:
			return &trajectory.Tolerance{Position: number()}
		}
		return &trajectory.Tolerance{Position: math.Remainder(number(), 8), Velocity: math.Remainder(number(), 8), Acceleration: math.Remainder(number(), 8)}
	}
	d := &motion.Document{Description: odd(), Tags: names(3), StartPose: odd(), Loop: rng.IntN(2) == 0, GoalTimeTolerance: number(), Columns: names(9), Chains: names(4), Order: names(4)}
	for _, n := range names(6) {
		d.Joints = append(d.Joints, motion.Joint{Name: n, Enabled: rng.IntN(2) == 0, Path: tolerance(), Goal: tolerance()})
	}
	marked := rng.IntN(6)
	for i := range rng.IntN(5) {
		p := motion.Point{Time: number(), Label: odd(), Enabled: rng.IntN(2) == 0}
		if i == marked {
			p.Mark = motion.EndMark
		}
		for range d.Columns {
			if p.Positions = append(p.Positions, number()); rng.IntN(5) == 0 {
				p.Positions[len(p.Positions)-1] = math.NaN()
			}
		}
		for range d.Chains {
			p.Supports = append(p.Supports, float64(rng.IntN(2)))
		}
		d.Points = append(d.Points, p)
	}
	for range rng.IntN(3) {
		d.Events = append(d.Events, follow.Event{Time: number(), Type: odd(), Command: odd(), Options: odd()})
	}
	return d
}

// text is a document as bytes; lists that are empty and lists that are not there are
// the same.
func text(t testing.TB, d *motion.Document) string {
	t.Helper()
	b, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(b), "null", "[]")
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(canonical))
	f.Add([]byte("description: |\n  a # b\n  c\n# d\njoints: {a: {}, \"b # c\": {enabled: true}} # e\n"))
	f.Add([]byte("points: [{time: 0, positions: {a: 0x10, b: 1_0}}, {time: -.5e1}] # f\n"))
	f.Add(file.Write(randomDocument(rand.New(rand.NewPCG(1, 1))), nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := file.Read(data, "fuzz")
		if err != nil {
			return
		}
		out := file.Write(d, data)
		got, err := file.Read(out, "again")
		if err != nil {
			t.Fatalf("%v\nread %q\nwrote %q", err, data, out)
		}
		if text(t, got) != text(t, d) {
			t.Fatalf("read %s\nwrote %s\n%q", text(t, d), text(t, got), out)
		}
		if again := file.Write(got, out); string(again) != string(out) {
			t.Fatalf("not stable:\n%q\n%q", out, again)
		}
		if _, err := d.Goal(motion.Part{}); err != nil && len(d.Joints) == 0 && len(d.Chains) == 0 {
			t.Fatal(err)
		}
	})
}
