package rosgoal_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os/exec"
	"reflect"
	"strings"
	"testing"

	"poise/control/follow"
	"poise/internal/golden"
	"poise/motion"
	"poise/motion/file"
	"poise/motion/rosgoal"
	"poise/trajectory"
)

// stored is a goal as motions were stored, support columns among the joints.
const stored = `{
    "trajectory": {
        "header": {
            "seq": 0,
            "stamp": {
                "secs": 0,
                "nsecs": 0
            },
            "frame_id": ""
        },
        "joint_names": [
            "joint51",
            "support/leg1",
            "joint52"
        ],
        "points": [
            {
                "positions": [
                    -0.30000000000000004,
                    1.0,
                    1e-76
                ],
                "velocities": [],
                "accelerations": [],
                "effort": [],
                "time_from_start": {
                    "secs": 0,
                    "nsecs": 0
                }
            },
            {
                "positions": [
                    0.1,
                    0.0,
                    -0.0
                ],
                "velocities": [],
                "accelerations": [],
                "effort": [],
                "time_from_start": {
                    "secs": 1,
                    "nsecs": 299999999
                }
            }
        ]
    },
    "path_tolerance": [
        {
            "name": "joint51",
            "position": 0.5,
            "velocity": 0.0,
            "acceleration": 0.0
        },
        {
            "name": "joint52",
            "position": 3.14,
            "velocity": 0.1,
            "acceleration": 1e-05
        }
    ],
    "goal_tolerance": [],
    "goal_time_tolerance": {
        "secs": 1,
        "nsecs": 0
    }
}
`

// through reads a goal, writes it as a motion file, reads that and makes the goal again.
func through(t testing.TB, data []byte) []byte {
	t.Helper()
	d, _, err := rosgoal.Read(data)
	if err != nil {
		t.Fatal(err)
	}
	d, err = file.Read(file.Write(d, nil), "x")
	if err != nil {
		t.Fatal(err)
	}
	g, err := d.Goal(motion.Part{})
	if err != nil {
		t.Fatal(err)
	}
	return rosgoal.Write(g)
}

func TestStoredGoalComesBackByteForByte(t *testing.T) {
	if got := string(through(t, []byte(stored))); got != stored {
		t.Errorf("got\n%s", got)
	}
	d, notes, err := rosgoal.Read([]byte(stored))
	if err != nil || len(notes) > 0 {
		t.Fatal(notes, err)
	}
	if len(d.Columns) != 2 || len(d.Joints) != 2 || len(d.Chains) != 1 || d.Joints[0].Goal != nil || d.Points[1].Time != 1.299999999 {
		t.Errorf("%+v", d)
	}
	// in both dialects of time
	other := strings.NewReplacer(`"secs"`, `"sec"`, `"nsecs"`, `"nanosec"`).Replace(stored)
	if got := string(through(t, []byte(other))); got != stored {
		t.Errorf("got\n%s", got)
	}
}

func TestTemplateWithoutPointsComesBack(t *testing.T) {
	template := `{"trajectory": {"joint_names": ["a", "support/b"], "points": []}, "path_tolerance": [], "goal_tolerance": [], "goal_time_tolerance": {"secs": 0, "nsecs": 0}}`
	var want, got struct {
		Trajectory struct {
			JointNames []string `json:"joint_names"`
			Points     []any    `json:"points"`
		}
	}
	if err := json.Unmarshal([]byte(template), &want); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(through(t, []byte(template)), &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v %v, want %+v", got, err, want)
	}
}

// TestRandomGoalsComeBackBitForBit makes goals of random bits and compares every
// number of what comes back, after a round through a motion file.
func TestRandomGoalsComeBackBitForBit(t *testing.T) {
	rounds := 1000
	if testing.Short() {
		rounds = 100
	}
	for seed := range uint64(rounds) {
		rng := rand.New(rand.NewPCG(seed, 888))
		text, want := randomGoal(rng)
		got := through(t, text)
		if string(got) != string(text) {
			t.Fatalf("seed %d\n%s\nwant\n%s", seed, got, text)
		}
		var back struct {
			Trajectory struct {
				Points []struct{ Positions []float64 }
			}
		}
		if err := json.Unmarshal(got, &back); err != nil {
			t.Fatal(err)
		}
		for i, p := range back.Trajectory.Points {
			for k, v := range p.Positions {
				if math.Float64bits(v) != math.Float64bits(want[i][k]) {
					t.Fatalf("seed %d: point %d column %d: %v, want %v", seed, i, k, v, want[i][k])
				}
			}
		}
	}
}

// randomGoal returns a goal's text and its positions.
func randomGoal(rng *rand.Rand) ([]byte, [][]float64) {
	number := func() float64 {
		for {
			if x := math.Float64frombits(rng.Uint64()); !math.IsNaN(x) && !math.IsInf(x, 0) {
				return x
			}
		}
	}
	g := &follow.Goal{GoalTime: float64(rng.IntN(3)) - 1}
	for i := range rng.IntN(6) {
		if rng.IntN(3) == 0 {
			g.Joints = append(g.Joints, fmt.Sprint("support/leg", i))
			continue
		}
		name := fmt.Sprint("joint", i)
		g.Joints = append(g.Joints, name)
		for _, list := range []*[]follow.Tolerance{&g.Path, &g.Final} {
			if rng.IntN(2) == 0 {
				*list = append(*list, follow.Tolerance{Joint: name, Tolerance: trajectory.Tolerance{Position: math.Remainder(number(), 3), Velocity: math.Remainder(number(), 3)}})
			}
		}
	}
	var want [][]float64
	nanos := int64(0)
	for range rng.IntN(8) {
		p := trajectory.Point{Time: float64(nanos) / 1e9}
		nanos += rng.Int64N(20e9)
		for _, name := range g.Joints {
			if strings.HasPrefix(name, follow.SupportPrefix) {
				p.Position = append(p.Position, rng.Float64()*2)
			} else {
				p.Position = append(p.Position, number())
			}
		}
		g.Points, want = append(g.Points, p), append(want, p.Position)
	}
	return rosgoal.Write(g), want
}

// TestTimesComeBackToTheNanosecond goes through times up to the longest.
func TestTimesComeBackToTheNanosecond(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for range 100_000 {
		secs, nsecs := rng.Int64N(4_000_000), rng.Int64N(1e9)
		if rng.IntN(2) == 0 {
			secs = rng.Int64N(60)
		}
		if s, n := rosgoal.DurationOf(float64(secs*1e9+nsecs) / 1e9); s != secs || n != nsecs {
			t.Fatalf("%d s %d ns came back as %d s %d ns", secs, nsecs, s, n)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"not JSON", "{\n\"trajectory\": {,}}", "line 2"},
		{"no goal", `{"points": []}`, `"trajectory" is missing`},
		{"unknown field", "{\"trajectory\": {\n\"joints\": []}}", `line 2: unknown field "joints"`},
		{"wrong kind", "{\"trajectory\": {\n\"joint_names\": 3}}", "line 2: trajectory.joint_names is the number, must be a list"},
		{"a list", "[1]", "line 1: it is a list, must be an object"},
		{"a text for a position", `{"trajectory": {"joint_names": ["a"], "points": [{"positions": ["0.5"]}]}}`, "line 1: trajectory.points.positions is a text, must be a finite number"},
		{"seconds for a duration", `{"trajectory": {"points": [{"time_from_start": 1.5}]}}`, `time_from_start is the number, must be an object such as {"secs": 1, "nsecs": 500000000}`},
		{"a fraction of a second", `{"trajectory": {"points": [{"time_from_start": {"secs": 1.5}}]}}`, `time_from_start.secs is the number 1.5, must be a whole number`},
		{"row too short", `{"trajectory": {"joint_names": ["a"], "points": [{"positions": []}]}}`, "points[0]: 0 positions for 1 joint_names"},
		{"joint twice", `{"trajectory": {"joint_names": ["a", "a"]}}`, `"a" comes twice`},
		{"support twice", `{"trajectory": {"joint_names": ["support/a", "support/a"]}}`, `"a" comes twice`},
		{"tolerance of no joint", `{"trajectory": {"joint_names": ["elbow"]}, "path_tolerance": [{"name": "elbwo"}]}`, `path_tolerance[0]: "elbwo" is not in joint_names; did you mean "elbow"?`},
		{"tolerance twice", `{"trajectory": {"joint_names": ["a"]}, "goal_tolerance": [{"name": "a"}, {"name": "a"}]}`, `goal_tolerance[1]: "a" comes twice`},
		{"too long", `{"trajectory": {}, "goal_time_tolerance": {"secs": 4000001}}`, "more than a motion may last"},
		{"two goals", `{"trajectory": {}} {}`, "not a goal"},
		{"time in both dialects", `{"trajectory": {}, "goal_time_tolerance": {"secs": 1, "sec": 1}}`, "goal_time_tolerance: the time comes twice"},
		{"times that overflow", `{"trajectory": {}, "goal_time_tolerance": {"secs": 9223372036854775807, "sec": 9223372036854775807}}`, "the time comes twice"},
		{"null for a position", "{\"trajectory\": {\"joint_names\": [\"a\", \"b\"],\n\"points\": [{\"positions\": [1, null]}]}}", "line 2: trajectory.points[0].positions[1] is null"},
		{"null for a time", `{"trajectory": {"points": [{"time_from_start": null}]}}`, "trajectory.points[0].time_from_start is null"},
		{"null for a tolerance", `{"trajectory": {"joint_names": ["a"]}, "path_tolerance": [{"name": "a", "position": null}]}`, "path_tolerance[0].position is null"},
		{"key twice", `{"trajectory": {"joint_names": ["a"], "points": [{"positions": [1], "positions": [2]}]}}`, "trajectory.points[0].positions comes twice"},
		{"key twice in another case", `{"trajectory": {}, "path_tolerance": [], "Path_Tolerance": []}`, "Path_Tolerance comes twice"},
		{"two problems", `{"trajectory": {"header": null, "points": null}}`, "line 1: trajectory.points is null"},
		{"number too large", `{"trajectory": {"joint_names": ["a"], "points": [{"positions": [1e999]}]}}`, "not a goal"},
	} {
		if _, _, err := rosgoal.Read([]byte(tc.text)); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %s", tc.name, err, tc.want)
		}
	}
	_, notes, err := rosgoal.Read([]byte(`{"trajectory": {"joint_names": ["a"], "points": [{"positions": [1], "velocities": [2]}]}}`))
	if err != nil || len(notes) != 1 || !strings.Contains(notes[0], "velocities") {
		t.Error(notes, err)
	}
}

// TestMarkOfByteOrderIsSkipped reads a goal as some editors save it.
func TestMarkOfByteOrderIsSkipped(t *testing.T) {
	if got := string(through(t, []byte("\ufeff"+stored))); got != stored {
		t.Errorf("got\n%s", got)
	}
}

// TestHugeTolerancesComeBack has tolerances whose sum is no number any more.
func TestHugeTolerancesComeBack(t *testing.T) {
	huge := strings.NewReplacer(`"velocity": 0.1`, `"velocity": 1.7e+308`, `"acceleration": 1e-05`, `"acceleration": 1.7e+308`).Replace(stored)
	if got := string(through(t, []byte(huge))); got != huge {
		t.Errorf("got\n%s", got)
	}
}

// TestPythonReadsTheSameNumbers lets another language read a goal and write it in its
// own way: the bytes are the same.
func TestPythonReadsTheSameNumbers(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		golden.Missing(t, "no python3: %v", err)
	}
	text, _ := randomGoal(rand.New(rand.NewPCG(5, 5)))
	for _, in := range []string{stored, string(text)} {
		run := exec.Command(python, "-c", "import json,sys; print(json.dumps(json.load(sys.stdin), indent=4))")
		run.Stdin = strings.NewReader(in)
		out, err := run.Output()
		if err != nil {
			t.Fatal(err)
		}
		if string(out) != in {
			t.Errorf("got\n%s\nwant\n%s", out, in)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(stored))
	f.Add([]byte(`{"trajectory": {"joint_names": ["a", "support/b"], "points": [{"positions": [1, 2], "effort": [3], "time_from_start": {"sec": -1, "nanosec": 5}}]}}`))
	text, _ := randomGoal(rand.New(rand.NewPCG(6, 6)))
	f.Add(text)
	f.Fuzz(func(t *testing.T, data []byte) {
		d, _, err := rosgoal.Read(data)
		if err != nil {
			return
		}
		g, err := d.Goal(motion.Part{})
		if err != nil {
			t.Fatal(err)
		}
		once := rosgoal.Write(g)
		if twice := through(t, once); string(twice) != string(once) {
			t.Fatalf("%s\nthen %s", once, twice)
		}
	})
}
