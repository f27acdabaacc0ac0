package doctest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// guide is a document with a block of each kind.
const guide = "# A guide\n\n    not run: false\n\n" +
	"```go tool/main.go\npackage main\n\nfunc main() { println(answer) }\n```\n\n" +
	"```diff tool/answer.go\n package main\n \n-const answer = 41\n+const answer = 42\n```\n\n" +
	"```sh\necho one\ncat tool/main.go\n```\n\n" +
	"```text\none\n…\nfunc main() { …\n```\n\n" +
	"```sh background\nsh -c 'echo ready; exec sleep 1000'\n```\n\n" +
	"```text\nready\n```\n\n" +
	"```sh\ntest -f tool/main.go\n```\n\n" +
	"```text for the reader\nnothing\n```\n"

// module is a runner on a small module.
func module(t *testing.T) *runner {
	t.Helper()
	r := &runner{dir: t.TempDir()}
	if err := os.Mkdir(filepath.Join(r.dir, "tool"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(r.dir, "tool", "answer.go"), []byte("package main\n\nconst answer = 41\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.end)
	return r
}

// walk follows a document to its first step that fails.
func walk(r *runner, text string) (line int, err error) {
	blocks := parse(text)
	for i, b := range blocks {
		if err := r.follow(b, blocks[i+1:]); err != nil {
			return b.line, err
		}
	}
	return 0, nil
}

func TestGuideIsFollowed(t *testing.T) {
	r := module(t)
	if line, err := walk(r, guide); err != nil {
		t.Fatalf("line %d: %v", line, err)
	}
	if !slices.Equal(r.Written, []string{"tool/main.go"}) || !slices.Equal(r.Edited, []string{"tool/answer.go"}) {
		t.Errorf("wrote %v, edited %v", r.Written, r.Edited)
	}
	if text, err := os.ReadFile(filepath.Join(r.dir, "tool", "answer.go")); err != nil || string(text) != "package main\n\nconst answer = 42\n" {
		t.Errorf("%s, %v", text, err)
	}
	if len(r.background) != 1 {
		t.Fatalf("%d commands go on", len(r.background))
	}
	r.end()
	select {
	case <-r.background[0].ended:
	default:
		t.Error("the command in the background goes on")
	}
}

// TestStaleGuidesFail: each at the line of the step, with the reason.
func TestStaleGuidesFail(t *testing.T) {
	for _, c := range []struct {
		name, from, to string
		line           int
		want           string
	}{
		{"command fails", "test -f tool/main.go", "test -f tool/other.go", 37, "exit status 1"},
		{"an early command fails", "echo one\n", "false\necho one\n", 18, "exit status 1"},
		{"other output", "```text\none\n", "```text\ntwo\n", 18, "and the document says"},
		{"lines to replace are gone", "-const answer = 41", "-const answer = 40", 11, "0 times, must be once"},
		{"diff without signs", "-const answer = 41", "const answer = 41", 11, "must be a blank, - or +"},
		{"server ends", "exec sleep 1000", "exit 0", 29, "ends and prints"},
		{"server says something else", "echo ready; exec sleep 1000", "echo broken; exit 1", 29, "broken"},
		{"file outside", "tool/main.go\npackage", "../main.go\npackage", 5, "not inside the module"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !strings.Contains(guide, c.from) {
				t.Fatalf("the guide has no %q", c.from)
			}
			text := strings.Replace(guide, c.from, c.to, 1)
			if c.name == "server ends" {
				text = strings.Replace(text, "```text\nready\n", "```text\nready\nand steady\n", 1)
			}
			line, err := walk(module(t), text)
			if err == nil || !strings.Contains(err.Error(), c.want) || line != c.line {
				t.Errorf("line %d: %v; want line %d and %q", line, err, c.line, c.want)
			}
		})
	}
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		got, want string
		match     bool
	}{
		{"ok  \tpoise/servo\t0.2s\n", "ok poise/servo …", true},
		{"ok  \tpoise/servo\t(cached)\n", "ok poise/servo …", true},
		{"ok poise/other 0.2s\n", "ok poise/servo …", false},
		{"a\nb\nc\n", "a\n…\nc", true},
		{"a\nc\n", "a\n…\nc", true},
		{"a\nb\n", "a", false},
		{"a\nb\n", "…\nb", true},
		{"x 1.5 (y)\n", "x 1.5 (y)", true},
		{"x 1+5\n", "x 1.5", false},
		{"anything\n", "…", true},
		{"a b\n", "a  b", true},
		{"ab\n", "a b", false},
	} {
		if got := matches(c.got, c.want); got != c.match {
			t.Errorf("matches(%q, %q) is %v", c.got, c.want, got)
		}
	}
}

// TestModuleIsCopied: sources and data, not what was built or fetched.
func TestModuleIsCopied(t *testing.T) {
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "copy")
	for _, name := range []string{"go.mod", "a/b.go", "a/data.json", "bin/poise", ".git/HEAD", "page/node_modules/x.js", "a/bin/kept.go"} {
		path := filepath.Join(from, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name), 0o400); err != nil {
			t.Fatal(err)
		}
	}
	if err := copyModule(to, from); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"go.mod": true, "a/b.go": true, "a/data.json": true, "a/bin/kept.go": true, "bin/poise": false, ".git/HEAD": false, "page/node_modules/x.js": false} {
		if text, err := os.ReadFile(filepath.Join(to, name)); (err == nil) != want || want && string(text) != name {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}
