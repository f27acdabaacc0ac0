// Package doctest runs a document: a guide that tells its reader to write files and to run
// commands is followed to the letter in a copy of the module, so that it cannot go stale.
//
// What is followed are fenced blocks, by the words behind the fence:
//
//	go servo/toy/toy.go        the block is this file (of any language)
//	diff servo/driver.go       lines to be found in a file, and what replaces them: a block
//	                           as diff prints it, without line numbers
//	sh                         commands, which succeed
//	sh background              a command that goes on until the document ends
//	text                       what the commands before it print; … stands for anything,
//	                           on a line of its own for any lines
//
// Other blocks and indented text are for the reader alone.
package doctest

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Options are what a run needs besides the document.
type Options struct {
	// Replace changes what cannot be the same everywhere, such as a port that must be free.
	Replace map[string]string
	Env     []string // added to the environment of commands, KEY=value
}

// Result says what the document did to the module.
type Result struct {
	Written []string // files it gave whole, sorted
	Edited  []string // files it changed, sorted
}

// Run follows a document of the module that the test is in. The path is relative to the
// module's root. The first step that does not do what the document says fails the test.
func Run(t *testing.T, document string, o Options) Result {
	t.Helper()
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, document))
	if err != nil {
		t.Fatal(err)
	}
	for from, to := range o.Replace {
		if !bytes.Contains(text, []byte(from)) {
			t.Fatalf("%s does not contain %q, which was to be replaced", document, from)
		}
		text = bytes.ReplaceAll(text, []byte(from), []byte(to))
	}
	r := &runner{dir: filepath.Join(t.TempDir(), filepath.Base(root)), env: o.Env}
	if err := copyModule(r.dir, root); err != nil {
		t.Fatal(err)
	}
	blocks := parse(string(text))
	defer r.end()
	for i, b := range blocks {
		if err := r.follow(b, blocks[i+1:]); err != nil {
			t.Fatalf("%s:%d: %v", document, b.line, err)
		}
	}
	slices.Sort(r.Written)
	slices.Sort(r.Edited)
	return r.Result
}

// block is a fenced block of a document.
type block struct {
	line  int // of its fence
	words []string
	text  string
}

// kind is the first word behind the fence.
func (b block) kind() string {
	if len(b.words) == 0 {
		return ""
	}
	return b.words[0]
}

// parse returns the fenced blocks of a document.
func parse(text string) (all []block) {
	const fence = "```"
	var open *block
	for i, line := range strings.Split(text, "\n") {
		switch {
		case open == nil && strings.HasPrefix(line, fence):
			open = &block{line: i + 1, words: strings.Fields(strings.TrimPrefix(line, fence))}
		case open != nil && strings.TrimSpace(line) == fence:
			all = append(all, *open)
			open = nil
		case open != nil:
			open.text += line + "\n"
		}
	}
	return all
}

// runner follows a document.
type runner struct {
	Result
	dir        string
	env        []string
	background []*process
}

// follow does what a block says; next are the blocks behind it.
func (r *runner) follow(b block, next []block) error {
	var want *string // what commands print, if the document says it
	if len(next) > 0 && slices.Equal(next[0].words, []string{"text"}) {
		want = &next[0].text
	}
	switch kind := b.kind(); {
	case kind == "sh" && slices.Contains(b.words, "background"):
		return r.start(b.text, want)
	case kind == "sh":
		return r.run(b.text, want)
	case kind == "diff" && len(b.words) == 2:
		return r.edit(b.words[1], b.text)
	case kind != "text" && len(b.words) == 2:
		return r.write(b.words[1], b.text)
	}
	return nil
}

// write makes a file.
func (r *runner) write(name, text string) error {
	path, err := r.inside(name)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	r.Written = append(r.Written, name)
	return os.WriteFile(path, []byte(text), 0o644)
}

// edit replaces lines of a file.
func (r *runner) edit(name, diff string) error {
	path, err := r.inside(name)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var before, after strings.Builder
	for line := range strings.Lines(diff) {
		if line == "\n" {
			line = " \n" // editors strip the blank of an empty line that stays
		}
		switch sign, rest := line[0], line[1:]; sign {
		case ' ':
			before.WriteString(rest)
			after.WriteString(rest)
		case '-':
			before.WriteString(rest)
		case '+':
			after.WriteString(rest)
		default:
			return fmt.Errorf("a line of a diff begins with %q, must be a blank, - or +", sign)
		}
	}
	if n := strings.Count(string(text), before.String()); n != 1 {
		return fmt.Errorf("%s has these lines %d times, must be once:\n%s", name, n, before.String())
	}
	r.Edited = append(r.Edited, name)
	return os.WriteFile(path, []byte(strings.Replace(string(text), before.String(), after.String(), 1)), 0o644)
}

// inside returns the path of a file of the copy.
func (r *runner) inside(name string) (string, error) {
	if !filepath.IsLocal(name) {
		return "", fmt.Errorf("%s is not inside the module", name)
	}
	return filepath.Join(r.dir, name), nil
}

// command returns a script of the document, to be run as a reader would.
func (r *runner) command(script string) *exec.Cmd {
	c := exec.Command("bash", "-euo", "pipefail", "-c", script)
	c.Dir = r.dir
	// without the folder's name in what is compiled, the cache knows it from other builds
	c.Env = append(os.Environ(), "GOFLAGS=-trimpath", "CGO_ENABLED=0", "XDG_DATA_HOME="+filepath.Join(r.dir, ".data"), "XDG_STATE_HOME="+filepath.Join(r.dir, ".state"))
	c.Env = append(c.Env, r.env...)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return c
}

// run runs commands to their end.
func (r *runner) run(script string, want *string) error {
	c := r.command(script)
	out, err := c.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w\n%s\n%s", err, script, out)
	}
	if want != nil && !matches(string(out), *want) {
		return fmt.Errorf("%sprints\n%s\nand the document says\n%s", script, out, *want)
	}
	return nil
}

// process is a command in the background.
type process struct {
	cmd   *exec.Cmd
	out   output
	ended chan struct{}
}

// output gathers what a process prints.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// patience is how long a command in the background may take to print what the document
// says: a busy machine is slow.
const patience = 5 * time.Minute

// start starts a command and waits until it has printed what the document says.
func (r *runner) start(script string, want *string) error {
	p := &process{cmd: r.command("exec " + strings.TrimSpace(script)), ended: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.out
	if err := p.cmd.Start(); err != nil {
		return err
	}
	r.background = append(r.background, p)
	go func() {
		_ = p.cmd.Wait() // how it ended is in what it printed
		close(p.ended)
	}()
	for deadline := time.Now().Add(patience); want != nil && !matches(p.out.String(), *want); {
		select {
		case <-p.ended:
			return fmt.Errorf("%sends and prints\n%s\nand the document says\n%s", script, p.out.String(), *want)
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%sprints within %v\n%s\nand the document says\n%s", script, patience, p.out.String(), *want)
		}
	}
	return nil
}

// end ends what is still there, the last first.
func (r *runner) end() {
	for _, p := range slices.Backward(r.background) {
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGTERM) // it may have ended
		select {
		case <-p.ended:
		case <-time.After(patience):
			_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
		}
	}
}

// matches reports whether a text is what the document says.
func matches(got, want string) bool {
	var p strings.Builder
	p.WriteString(`(?s)^\s*`)
	for line := range strings.Lines(strings.TrimSpace(want)) {
		line = strings.TrimSpace(line)
		if line == "…" {
			p.WriteString(`.*?`)
			continue
		}
		words := strings.Fields(line) // tabs and blanks are the same on paper
		for i, w := range words {
			words[i] = strings.ReplaceAll(regexp.QuoteMeta(w), "…", `[^\n]*?`)
		}
		p.WriteString(`[^\S\n]*` + strings.Join(words, `[^\S\n]+`) + `[^\S\n]*(?:\n+|$)`)
	}
	p.WriteString(`\s*$`)
	return regexp.MustCompile(p.String()).MatchString(got)
}

// moduleRoot returns the folder of go.mod, here or above.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		} else if parent := filepath.Dir(dir); parent == dir {
			return "", errors.New("doctest: no go.mod here or above")
		} else {
			dir = parent
		}
	}
}

// copyModule copies a module without what was built or fetched.
func copyModule(to, from string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		switch {
		case d.IsDir() && path != from && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules" || name == "bin"):
			return fs.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, name), 0o755)
		case !d.Type().IsRegular():
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, name), data, info.Mode().Perm()|0o200)
	})
}
