package poise_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"poise/internal/golden"
)

// TestGuaranteesNameRealTests keeps docs/guarantees.md honest: every test that it
// names exists.
func TestGuaranteesNameRealTests(t *testing.T) {
	doc, err := os.ReadFile("docs/guarantees.md")
	if err != nil {
		t.Fatal(err)
	}
	defined := map[string]bool{}
	function := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	err = filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, m := range function.FindAllSubmatch(source, -1) {
			defined[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`\b(?:Test|Fuzz)[A-Z]\w+`).FindAllString(string(doc), -1)
	if len(named) < 20 {
		t.Fatalf("only %d tests are named", len(named))
	}
	for _, n := range named {
		if !defined[n] {
			t.Errorf("docs/guarantees.md names %s, which does not exist", n)
		}
	}
}

// TestLinksInDocsLeadSomewhere looks at every relative link of the documents.
func TestLinksInDocsLeadSomewhere(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#\s]+)\)`)
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != "." || d.Name() == "node_modules") {
			return fs.SkipDir
		}
		if filepath.Ext(path) != ".md" {
			return nil
		}
		text, err := os.ReadFile(path)
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), m[1])); err != nil {
				t.Errorf("%s links to %s, which is not there", path, m[1])
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// commitNamed finds what may be a commit: seven hexadecimal digits. A commit has at least one
// letter and one digit, or digits alone after the word "commit".
var commitNamed = regexp.MustCompile(`\b[0-9a-f]{7}\b`)

// commitsIn returns the commits that a text names, each once per place.
func commitsIn(text string) []string {
	var found []string
	for _, at := range commitNamed.FindAllStringIndex(text, -1) {
		word := text[at[0]:at[1]]
		switch letters, digits := strings.ContainsAny(word, "abcdef"), strings.ContainsAny(word, "0123456789"); {
		case letters && digits:
		case digits && strings.HasSuffix(strings.TrimRight(text[:at[0]], " \n`"), "commit"):
		default:
			continue // a word such as "defaced", or a number
		}
		found = append(found, word)
	}
	return found
}

// TestCommitsInDocsAreInTheHistory: the state behind a figure can be checked out.
func TestCommitsInDocsAreInTheHistory(t *testing.T) {
	if _, err := os.Stat(".git"); err != nil {
		t.Skip("absent: .git, as in an archive or a copy of the sources")
	}
	git := func(args ...string) string {
		out, err := exec.Command("git", args...).Output()
		if err != nil {
			golden.Missing(t, "absent: git, or the history of this folder: git %s: %v", strings.Join(args, " "), err)
		}
		return strings.TrimSpace(string(out))
	}
	if git("rev-parse", "--is-shallow-repository") == "true" {
		t.Skip("absent: the history, of which a shallow clone has a part")
	}
	history := map[string]bool{}
	for _, hash := range strings.Fields(git("rev-list", "HEAD")) {
		history[hash[:7]] = true
	}
	files, err := filepath.Glob("docs/*.md")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	named := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, commit := range commitsIn(string(text)) {
			named++
			if !history[commit] {
				t.Errorf("%s names commit %s, which is not in the history", file, commit)
			}
		}
	}
	if named < 5 {
		t.Errorf("only %d commits are named", named)
	}
}

func TestCommitsAreDistinguishedFromNumbersAndWords(t *testing.T) {
	text := "at commit 6165175, `36d07a6` | cd85b51 |; 0.0303992 m, 1000000 tasks, a facade, defaced, commit\n1234567."
	if got, want := strings.Join(commitsIn(text), " "), "6165175 36d07a6 cd85b51 1234567"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
