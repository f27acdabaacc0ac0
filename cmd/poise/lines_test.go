package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"poise/internal/approx"
	"poise/internal/golden"
	"poise/internal/oracle"
)

// poise runs the command line and returns what a shell would see.
func poise(stdin string, args ...string) (stdout, stderr string, code int) {
	var out, err bytes.Buffer
	code = run(&env{in: strings.NewReader(stdin), out: &out, err: &err}, args)
	return out.String(), err.String(), code
}

// tolGolden is relative to max(1, max|ref|); forward dynamics is worse by the
// condition of the mass matrix.
var (
	tolGolden  = approx.Tol{Rel: 1e-9}
	tolForward = approx.Tol{Rel: 1e-8}
)

func TestLinesAgreeWithReferenceFiles(t *testing.T) {
	for _, name := range oracle.DynamicsFiles {
		t.Run(name, func(t *testing.T) {
			ref := oracle.ReadDynamics(t, name)
			file := golden.Path(t, "golden/dynamics/"+ref.URDF)
			base := "--fixed"
			if ref.Floating {
				base = "--floating"
			}
			ask := func(command, op string, request func(c oracle.Case) map[string]any) []map[string]json.RawMessage {
				t.Helper()
				return askAll(t, ref, file, base, command, op, request)
			}
			for link := range ref.Cases[0].Frames {
				compareFrame(t, ref, link, ask)
			}
			if !ref.Kinematics {
				compareForces(t, ref, ask)
			}
		})
	}
}

type asker func(command, op string, request func(c oracle.Case) map[string]any) []map[string]json.RawMessage

// askAll sends all cases as one stream and returns the answers.
func askAll(t *testing.T, ref *oracle.Dynamics, file, base, command, op string, request func(c oracle.Case) map[string]any) []map[string]json.RawMessage {
	t.Helper()
	var in strings.Builder
	for _, c := range ref.Cases {
		line, err := json.Marshal(request(c))
		if err != nil {
			t.Fatal(err)
		}
		in.Write(append(line, '\n'))
	}
	out, stderr, code := poise(in.String(), command, file, op, base)
	singular := op == "aba" && ref.Singular
	if (code == exitOK) == singular || stderr != "" {
		t.Fatalf("poise %s %s: exit code %d, %s", command, op, code, stderr)
	}
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if len(lines) != len(ref.Cases) {
		t.Fatalf("%d answers, want %d", len(lines), len(ref.Cases))
	}
	answers := make([]map[string]json.RawMessage, len(lines))
	for i, l := range lines {
		if err := json.Unmarshal([]byte(l), &answers[i]); err != nil {
			t.Fatalf("%v in %s", err, l)
		}
	}
	return answers
}

func compareFrame(t *testing.T, ref *oracle.Dynamics, link string, ask asker) {
	request := func(c oracle.Case) map[string]any { return map[string]any{"q": c.Q, "frame": link} }
	for i, a := range ask("kin", "fk", request) {
		want := ref.Cases[i].Frames[link]
		var p xyz
		var q xyzw
		into(t, a["position"], &p)
		into(t, a["orientation"], &q)
		approx.Equal(t, "position", []float64{p.X, p.Y, p.Z}, want.Position, tolGolden)
		got := []float64{q.X, q.Y, q.Z, q.W}
		if got[0]*want.Quaternion[0]+got[1]*want.Quaternion[1]+got[2]*want.Quaternion[2]+got[3]*want.Quaternion[3] < 0 {
			got = []float64{-q.X, -q.Y, -q.Z, -q.W}
		}
		approx.Equal(t, "orientation", got, want.Quaternion, tolGolden)
	}
	for i, a := range ask("kin", "jacobian", request) {
		approx.Equal(t, "J", matrix(t, a["J"]), flat(ref.Cases[i].Frames[link].Jacobian), tolGolden)
	}
}

func compareForces(t *testing.T, ref *oracle.Dynamics, ask asker) {
	for i, a := range ask("dyn", "rnea", func(c oracle.Case) map[string]any { return map[string]any{"q": c.Q, "v": c.V, "a": c.A} }) {
		approx.Equal(t, "rnea", list(t, a["tau"]), ref.Cases[i].RNEA, tolGolden)
	}
	for i, a := range ask("dyn", "crba", func(c oracle.Case) map[string]any { return map[string]any{"q": c.Q} }) {
		approx.Equal(t, "crba", matrix(t, a["M"]), flat(ref.Cases[i].CRBA), tolGolden)
	}
	for i, a := range ask("dyn", "gravity", func(c oracle.Case) map[string]any { return map[string]any{"q": c.Q} }) {
		approx.Equal(t, "gravity", list(t, a["tau"]), ref.Cases[i].Gravity, tolGolden)
	}
	tau := func(c oracle.Case) []float64 {
		if c.TauIn == nil {
			return make([]float64, len(c.V))
		}
		return c.TauIn
	}
	for i, a := range ask("dyn", "aba", func(c oracle.Case) map[string]any { return map[string]any{"q": c.Q, "v": c.V, "tau": tau(c)} }) {
		if ref.Singular {
			if !strings.Contains(string(a["error"]), "singular") {
				t.Errorf("answer %s, want an error that says singular", a["error"])
			}
			continue
		}
		approx.Equal(t, "aba", list(t, a["a"]), ref.Cases[i].ABA, tolForward)
	}
	state := func(c oracle.Case) map[string]any { return map[string]any{"q": c.Q, "v": c.V} }
	for i, a := range ask("dyn", "com", state) {
		c := ref.Cases[i]
		want := c.ComWithBase
		if want == nil {
			want = c.Com
		}
		approx.Equal(t, "com", list(t, a["com"]), want, tolGolden)
		moving := make([]float64, 3)
		for k := range moving {
			moving[k] = c.VCom[k] * ref.Moving / ref.Mass
		}
		approx.Equal(t, "vcom", list(t, a["vcom"]), moving, tolGolden)
		var mass float64
		into(t, a["mass"], &mass)
		approx.Scalar(t, "mass", mass, ref.Mass, tolGolden)
	}
	for i, a := range ask("dyn", "centroidal", state) {
		// about the centre of every link, where the reference is about that of
		// the moving ones
		c := ref.Cases[i]
		want := append([]float64(nil), c.H...)
		if c.ComWithBase != nil {
			r := [3]float64{c.Com[0] - c.ComWithBase[0], c.Com[1] - c.ComWithBase[1], c.Com[2] - c.ComWithBase[2]}
			want[3] += r[1]*want[2] - r[2]*want[1]
			want[4] += r[2]*want[0] - r[0]*want[2]
			want[5] += r[0]*want[1] - r[1]*want[0]
		}
		approx.Equal(t, "h", list(t, a["h"]), want, tolGolden)
	}
}

func TestBadLinesAreAnsweredAndTheStreamGoesOn(t *testing.T) {
	const good = `{"q":[0,0,0,0,0,0,0],"frame":"tool0"}`
	q := func(s string) string { return fmt.Sprintf(`{"q":[%s,0,0,0,0,0,0],"frame":"tool0"}`, s) }
	for _, tc := range []struct {
		name, line string
		want       []string // each in the one error
	}{
		{"no JSON", `hello`, []string{"not JSON at byte 1"}},
		{"cut off", `{"q":[0,0`, []string{"not JSON"}},
		{"two objects", good + good, []string{"not JSON"}},
		{"no object", `[1,2]`, []string{"an object is wanted"}},
		{"no object but null", `null`, []string{"an object is wanted"}},
		{"nothing in it", `{}`, []string{"q is missing", "frame is missing"}},
		{"too few", `{"q":[0,0],"frame":"tool0"}`, []string{"q has 2 numbers, want 7"}},
		{"too many and more", `{"q":[0,0,0,0,0,0,0,0],"frame":"tol0","x":1}`,
			[]string{"q has 8 numbers, want 7", `frame "tol0" is unknown`, `"tool0"`, `key "x" is unknown`}},
		{"case of a key", `{"Q":[0,0,0,0,0,0,0],"frame":"tool0"}`, []string{`key "Q" is unknown`, "q is missing"}},
		{"twice", `{"q":[0,0,0,0,0,0,0],"frame":"tool0","frame":"base"}`, []string{`key "frame" is named twice`}},
		{"NaN", q("NaN"), []string{`q[0]: a finite number is wanted, not "NaN"`}},
		{"minus infinity", q("-Infinity"), []string{`q[0]: a finite number is wanted, not "-Infinity"`}},
		{"overflow", q("1e999"), []string{`q[0]: a finite number is wanted, not 1e999`}},
		{"null", q("null"), []string{`q[0]: a finite number is wanted, not null`}},
		{"string", q(`"1"`), []string{`q[0]: a finite number is wanted, not "1"`}},
		{"no array", `{"q":1,"frame":"tool0"}`, []string{"q: an array of 7 numbers is wanted, not 1"}},
		{"null array", `{"q":null,"frame":"tool0"}`, []string{"q: an array of 7 numbers is wanted, not null"}},
		{"frame is a number", `{"q":[0,0,0,0,0,0,0],"frame":1}`, []string{"frame: a string is wanted, not 1"}},
		{"frame is null", `{"q":[0,0,0,0,0,0,0],"frame":null}`, []string{"frame: a string is wanted, not null"}},
		{"too long", `{"q":"` + strings.Repeat("x", maxLine) + `"}`, []string{"longer than"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			out, stderr, code := poise(good+"\n"+tc.line+"\r\n\n"+good, "kin", "arm6", "fk")
			if code != exitFailure || stderr != "" {
				t.Errorf("exit code %d, %q", code, stderr)
			}
			lines := strings.Split(out, "\n")
			if len(lines) != 4 || lines[0] != lines[2] || !strings.Contains(lines[0], `"position"`) {
				t.Fatalf("answers:\n%s", out)
			}
			var answer map[string]string
			if err := json.Unmarshal([]byte(lines[1]), &answer); err != nil || len(answer) != 1 {
				t.Fatalf("answer %s: %v", lines[1], err)
			}
			for _, w := range tc.want {
				if !strings.Contains(answer["error"], w) {
					t.Errorf("error %q does not say %q", answer["error"], w)
				}
			}
		})
	}
}

func TestQuaternionMustHaveUnitLength(t *testing.T) {
	for _, tc := range []struct {
		w    float64
		code int
	}{{1, exitOK}, {-1, exitOK}, {1.0005, exitOK}, {0, exitFailure}, {0.9, exitFailure}, {2, exitFailure}} {
		in := fmt.Sprintf(`{"q":[0,0,0,0,0,0,%v,0,0,0,0,0,0,0]}`, tc.w)
		out, _, code := poise(in, "dyn", "arm6", "gravity", "--floating")
		if code != tc.code {
			t.Errorf("w = %v: exit code %d, want %d: %s", tc.w, code, tc.code, out)
		}
		if code == exitFailure && !strings.Contains(out, "q[3] to q[6]: the quaternion has length") {
			t.Errorf("w = %v: %s", tc.w, out)
		}
	}
}

func TestHugeNumbersGiveAnErrorAndNoNaN(t *testing.T) {
	in := `{"q":[0,0,0,0,0,0,0],"v":[1e200,1e200,1e200,1e200,1e200,1e200,1],"a":[0,0,0,0,0,0,0]}`
	out, _, code := poise(in, "dyn", "arm6", "rnea")
	if code != exitFailure || !strings.Contains(out, "the result is not finite") {
		t.Errorf("exit code %d: %s", code, out)
	}
}

func TestRobotWithoutMassHasNoCentre(t *testing.T) {
	file := golden.Path(t, "robots/panda/panda.urdf")
	in := `{"q":[0,0,0,0,0,0,0,0],"v":[0,0,0,0,0,0,0,0]}`
	for _, op := range []string{"com", "centroidal"} {
		out, _, code := poise(in, "dyn", file, op)
		if code != exitFailure || !strings.Contains(out, "no centre of mass") {
			t.Errorf("%s: exit code %d: %s", op, code, out)
		}
	}
	out, _, code := poise(`{"q":[0,0,0,0,0,0,0,0],"v":[0,0,0,0,0,0,0,0],"tau":[1,0,0,0,0,0,0,0]}`, "dyn", file, "aba")
	if code != exitFailure || !strings.Contains(out, `singular`) {
		t.Errorf("aba: exit code %d: %s", code, out)
	}
}

func TestUsageOfLineCommands(t *testing.T) {
	for _, tc := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"no robot", []string{"kin"}, exitUsage, "which robot"},
		{"no operation", []string{"kin", "arm6"}, exitUsage, "what to compute"},
		{"unknown operation", []string{"dyn", "arm6", "rna"}, exitUsage, `; did you mean "rnea"?`},
		{"unknown flag", []string{"dyn", "arm6", "rnea", "--floatin"}, exitUsage, `there is no flag --floatin; did you mean "--floating"?`},
		{"too much", []string{"dyn", "arm6", "rnea", "crba"}, exitUsage, `"crba" is too much`},
		{"both bases", []string{"dyn", "arm6", "rnea", "--fixed", "--floating"}, exitUsage, "exclude each other"},
		{"no such robot", []string{"dyn", "arm7", "rnea"}, exitFailure, "arm7"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			out, stderr, code := poise("", tc.args...)
			if code != tc.code || !strings.Contains(stderr, tc.want) || out != "" {
				t.Errorf("exit code %d, stderr %q, stdout %q", code, stderr, out)
			}
		})
	}
}

func TestNoLinesNoAnswers(t *testing.T) {
	out, stderr, code := poise("\n \n", "kin", "--fixed", "arm6", "fk")
	if code != exitOK || out != "" || stderr != "" {
		t.Errorf("exit code %d, stdout %q, stderr %q", code, out, stderr)
	}
}

// TestAnswerComesBeforeTheNextQuestion lets a program talk line by line.
func TestAnswerComesBeforeTheNextQuestion(t *testing.T) {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	done := make(chan int)
	go func() {
		done <- run(&env{in: inR, out: outW, err: io.Discard}, []string{"kin", "arm6", "fk"})
	}()
	dec := json.NewDecoder(outR)
	for range 3 {
		if _, err := io.WriteString(inW, `{"q":[0,0,0,0,0,0,0],"frame":"tool0"}`+"\n"); err != nil {
			t.Fatal(err)
		}
		var answer pose
		if err := dec.Decode(&answer); err != nil {
			t.Fatal(err)
		}
	}
	inW.Close()
	if code := <-done; code != exitOK {
		t.Errorf("exit code %d", code)
	}
}

func TestRobotWithoutJoints(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rock.urdf")
	const rock = `<robot name="rock"><link name="rock"><inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>`
	if err := os.WriteFile(file, []byte(rock), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ command, op, in, want string }{
		{"dyn", "crba", `{"q":[]}`, `{"M":[]}`},
		{"dyn", "aba", `{"q":[],"v":[],"tau":[]}`, `{"a":[]}`},
		{"dyn", "com", `{"q":[],"v":[]}`, `{"mass":2,"com":[0,0,0],"vcom":[0,0,0]}`},
		{"kin", "jacobian", `{"q":[],"frame":"rock"}`, `{"J":[[],[],[],[],[],[]]}`},
	} {
		if out, stderr, code := poise(tc.in, tc.command, file, tc.op); code != exitOK || strings.TrimSpace(out) != tc.want {
			t.Errorf("%s: exit code %d, %s %s", tc.op, code, out, stderr)
		}
	}
}

func FuzzRequest(f *testing.F) {
	for _, s := range []string{
		`{"q":[0,1.5],"frame":"a"}`, `{"q":[NaN,-Infinity],"frame":"NaN"}`, `{"q":[1e999]}`, `{"q":null}`, `{`, `[]`, `{"q":[0,0],"q":[0,0]}`,
		`{"frame":"\"\\"}`, "{\"\xff\":1}", `{"a":{"b":[{}]}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		r, err := parseRequest(line)
		if err == nil {
			x := r.numbers("q", 2)
			r.text("frame")
			err = r.done()
			if err == nil && len(x) != 2 {
				t.Errorf("accepted without numbers: %q", line)
			}
			for _, xi := range x {
				if math.IsNaN(xi) || math.IsInf(xi, 0) {
					t.Errorf("%q gave %v", line, xi)
				}
			}
		}
		if err != nil {
			answer, err := json.Marshal(refusal(err))
			if err != nil || bytes.ContainsRune(answer, '\n') {
				t.Errorf("the answer to %q is %q, %v", line, answer, err)
			}
		}
	})
}

func TestReadErrorsEndTheStream(t *testing.T) {
	broken := errors.New("broken pipe")
	e := &env{in: io.MultiReader(strings.NewReader("{}\n"), failing{broken}), out: io.Discard, err: io.Discard}
	err := answerLines(e, operation{answer: func(*request) (any, error) { return 1, nil }})
	if !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func into(t *testing.T, raw json.RawMessage, v any) {
	t.Helper()
	if err := json.Unmarshal(raw, v); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
}

func list(t *testing.T, raw json.RawMessage) []float64 {
	t.Helper()
	var x []float64
	into(t, raw, &x)
	return x
}

func matrix(t *testing.T, raw json.RawMessage) []float64 {
	t.Helper()
	var x [][]float64
	into(t, raw, &x)
	return flat(x)
}

func flat(rows [][]float64) []float64 {
	var all []float64
	for _, r := range rows {
		all = append(all, r...)
	}
	return all
}
