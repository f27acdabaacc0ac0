package xacro

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"poise/internal/approx"
	"poise/internal/golden"
	"poise/internal/xmltree"
	"poise/urdf/locate"
)

// testCase is one line of testdata/cases.json.
type testCase struct {
	Name string            `json:"name"`
	File string            `json:"file"`
	Args map[string]string `json:"args,omitempty"`
	Env  map[string]string `json:"env,omitempty"`
}

func testCases(t testing.TB) []testCase {
	t.Helper()
	data, err := os.ReadFile("testdata/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []testCase
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	return cases
}

// testFiles sees testdata as the root of the file system.
func testFiles() locate.Files {
	return locate.Files{FS: os.DirFS("testdata"), Packages: []string{"/packages"}}
}

// canonical writes a tree such that two documents that mean the same are the
// same text: attributes sorted, white space of texts folded, name spaces by
// their URI.
func canonical(n *xmltree.Node) string {
	var b strings.Builder
	var write func(n *xmltree.Node, indent string)
	write = func(n *xmltree.Node, indent string) {
		if n.IsText() {
			if words := strings.Join(strings.Fields(n.Text), " "); words != "" {
				fmt.Fprintf(&b, "%s%q\n", indent, words)
			}
			return
		}
		fmt.Fprintf(&b, "%s<{%s}%s", indent, n.Space, n.Name)
		attrs := make([]string, len(n.Attrs))
		for i, a := range n.Attrs {
			attrs[i] = fmt.Sprintf(" {%s}%s=%q", a.Space, a.Name, a.Value)
		}
		slices.Sort(attrs)
		fmt.Fprintf(&b, "%s>\n", strings.Join(attrs, ""))
		for _, c := range n.Children {
			write(c, indent+"  ")
		}
	}
	write(n, "")
	return b.String()
}

func difference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(g), len(w)) {
		a, b := "", ""
		if i < len(g) {
			a = g[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if !approx.SameText(a, b) {
			return fmt.Sprintf("line %d\n got %s\nwant %s", i+1, a, b)
		}
	}
	return ""
}

func expandCase(t *testing.T, tc testCase) string {
	t.Helper()
	r, err := Expand("/cases/"+tc.File, Config{Files: testFiles(), Args: tc.Args, Env: tc.Env})
	if err != nil {
		t.Fatalf("Expand: %v", err)
	}
	// what is printed reads back as the same
	printed, err := xmltree.Parse(xmltree.Print(r.Root), "printed", xmltree.Limits{})
	if err != nil {
		t.Fatalf("the expanded document does not read back: %v", err)
	}
	got := canonical(r.Root)
	if d := difference(canonical(printed), got); d != "" {
		t.Errorf("printed and read back: %s", d)
	}
	return got
}

// TestEqualsRecordedXacro compares with the outputs that ROS xacro gave for the
// same files; see testdata/README.md.
func TestEqualsRecordedXacro(t *testing.T) {
	cases := testCases(t)
	if len(cases) < 45 {
		t.Errorf("%d cases, at least 45 wanted", len(cases))
	}
	for _, tc := range cases {
		t.Run(tc.Name, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join("testdata/expected", tc.Name+".xml"))
			if err != nil {
				t.Fatal(err)
			}
			compare(t, tc, data)
		})
	}
}

func compare(t *testing.T, tc testCase, expected []byte) {
	t.Helper()
	want, err := xmltree.Parse(expected, tc.Name+".xml", xmltree.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if d := difference(expandCase(t, tc), canonical(want)); d != "" {
		t.Errorf("differs from ROS xacro at %s", d)
	}
}

// runXacro asks ROS xacro for all cases of a folder; nil stands for a failure.
func runXacro(t *testing.T, folder string, flags ...string) map[string]*string {
	t.Helper()
	python := golden.Python(t)
	script := filepath.Join(golden.Root(t), "tools/oracle/expand_xacro.py")
	cmd := exec.Command(python, append([]string{script, "expand", folder}, flags...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%v: %s", err, stderr.String())
		}
		golden.Missing(t, "POISE_PYTHON has no xacro: %v: %s", err, stderr.String())
	}
	results := map[string]*string{}
	if err := json.Unmarshal(out, &results); err != nil {
		t.Fatal(err)
	}
	return results
}

// TestEqualsXacro runs ROS xacro itself.
func TestEqualsXacro(t *testing.T) {
	results := runXacro(t, "testdata")
	for _, tc := range testCases(t) {
		t.Run(tc.Name, func(t *testing.T) { compare(t, tc, []byte(*results[tc.Name])) })
	}
}
