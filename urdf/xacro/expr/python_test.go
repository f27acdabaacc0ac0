package expr

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"poise/internal/golden"
)

const seed = 20

// generator makes expressions whose result every Python agrees on.
type generator struct{ *rand.Rand }

func (g generator) pick(s ...string) string { return s[g.IntN(len(s))] }

func (g generator) number() string {
	switch g.IntN(6) {
	case 0:
		return fmt.Sprint(g.IntN(2000) - 1000)
	case 1:
		return fmt.Sprintf("%.3f", g.NormFloat64()*10)
	case 2:
		return fmt.Sprintf("%.4e", g.NormFloat64()*1e3)
	case 3:
		return g.pick("0", "0.0", "1", "True", "-0.0", "1e-9", "1e3")
	case 4:
		return g.pick("n", "x", "len(s)", "l[0]", "d.a", "pi")
	}
	return fmt.Sprint(g.IntN(9))
}

func (g generator) expression(depth int) string {
	if depth == 0 {
		return g.number()
	}
	first, second := g.expression(depth-1), g.expression(depth-1)
	switch g.IntN(12) {
	case 0:
		return fmt.Sprintf("(%s) %s (%s)", first, g.pick("+", "-", "*", "/", "//", "%"), second)
	case 1:
		return g.pick(
			fmt.Sprintf("%s %s %s", first, g.pick("+", "-", "/", "//", "%", "&", "|", "<<", "*"), g.number()),
			// powers of floats depend on Python's C library
			fmt.Sprintf("abs(int(%s)) ** %s", first, g.pick("0", "2", "3", "-1")))
	case 2:
		return fmt.Sprintf("(%s if %s %s %s else %s)", first, second, g.pick("<", "<=", "==", "!=", ">", ">="), g.number(), second)
	case 3:
		return fmt.Sprintf("(%s %s %s)", first, g.pick("and", "or"), second)
	case 4:
		return fmt.Sprintf("%s(%s)", g.pick("-", "+", "not ", "abs", "float", "int", "str", "bool", "round"), first)
	case 5:
		return fmt.Sprintf("%s(%s, %s)", g.pick("min", "max", "divmod", "round"), first, second)
	case 6:
		return fmt.Sprintf("[%s, %s]%s", first, second, g.pick("", "[0]", "[-1]", "[::-1]", "*2", "+[n]"))
	case 7:
		return fmt.Sprintf("sorted([%s, %s, %s])", first, second, g.number())
	case 8:
		return fmt.Sprintf("'%%%s' %% (%s)", g.pick("d", "s", "5.2f", "g", "e", "r", "+.3g", "-8d", "08.3f"), first)
	case 9:
		return fmt.Sprintf("(%s, %s) %s (%s, %s)", first, second, g.pick("<", "==", "!=", ">="), second, first)
	case 10:
		return fmt.Sprintf("str(%s)%s", first, g.pick("", "[1:]", "[-2:]", ".upper()", ".replace('1', 'one')", ".split('.')", "*2"))
	}
	return fmt.Sprintf("dict(a=%s, b=%s)%s", first, second, g.pick("", "['a']", ".get('z', 3)"))
}

// TestRandomExpressionsEqualPython asks the outside evaluator itself.
func TestRandomExpressionsEqualPython(t *testing.T) {
	python := golden.Python(t)
	count := 3000
	if testing.Short() {
		count = 300
	}
	g := generator{rand.New(rand.NewPCG(seed, 0))}
	lines := make([]string, count)
	for i := range lines {
		// abs and divmod stand in the name space python there
		line := g.expression(1 + g.IntN(4))
		lines[i] = strings.ReplaceAll(strings.ReplaceAll(line, "abs(", "python.abs("), "divmod(", "python.divmod(")
	}
	cmd := exec.Command(python, filepath.Join(golden.Root(t), "tools/oracle/expand_xacro.py"), "eval")
	cmd.Stdin = strings.NewReader(strings.Join(lines, "\n"))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%v: %s", err, stderr.String())
		}
		golden.Missing(t, "POISE_PYTHON has no xacro: %v", err)
	}
	var want [][]string
	if err := json.Unmarshal(out, &want); err != nil || len(want) != count {
		t.Fatalf("%d results for %d expressions: %v", len(want), count, err)
	}
	scope, failures := testNames(t), 0
	for i, line := range lines {
		got := outcome(t, line, scope)
		if want[i] == nil {
			failures++
		}
		if long := fmt.Sprint(want[i]); len(long) > 10_000 || strings.Contains(long, "j)") {
			continue // beyond our bounds, or complex after all
		}
		if fmt.Sprint(got) != fmt.Sprint(want[i]) {
			t.Errorf("seed %d, %d: %s\n got %q\nwant %q", seed, i, line, got, want[i])
		}
	}
	if failures > count/2 {
		t.Errorf("%d of %d expressions fail in Python: the generator proves little", failures, count)
	}
}
