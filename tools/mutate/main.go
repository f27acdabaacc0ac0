// Command mutate breaks the code on purpose, one way after the other, and runs
// the tests of the package each time: a mutation that no test notices is a rule
// that no test holds.
//
//	go run ./tools/mutate [-run REGEXP] [-v]
//
// The tree itself is not touched: the go command reads the changed file through
// an overlay. A mutation whose text is not found, or does not compile, is an
// error: it would prove nothing.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// mutation replaces one text in one file.
type mutation struct {
	file     string // from the root of the module
	breaks   string // the rule that no longer holds
	old, new string
}

// testTimeout ends the tests of a mutant that hangs: that is noticed too.
const testTimeout = 2 * time.Minute

func main() {
	only := flag.String("run", "", "only mutations whose file or rule matches")
	verbose := flag.Bool("v", false, "tell which test noticed")
	flag.Parse()
	if err := mutateAll(*only, *verbose); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

func mutateAll(only string, verbose bool) error {
	filter, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)

	caught, survived := 0, 0
	for _, m := range mutations {
		if !filter.MatchString(m.file + " " + m.breaks) {
			continue
		}
		overlay, err := m.apply(root, dir)
		if err != nil {
			return err
		}
		noticed, by, err := m.test(root, overlay)
		switch {
		case err != nil:
			return err
		case noticed:
			caught++
			fmt.Printf("caught    %s: %s\n", m.file, m.breaks)
			if verbose {
				fmt.Printf("          by %s\n", by)
			}
		default:
			survived++
			fmt.Printf("SURVIVED  %s: %s\n", m.file, m.breaks)
		}
	}
	fmt.Printf("%d mutations, %d caught, %d survived\n", caught+survived, caught, survived)
	if survived > 0 {
		return fmt.Errorf("%d mutations are noticed by no test", survived)
	}
	return nil
}

func moduleRoot() (string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return "", fmt.Errorf("go list: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// apply writes the changed file and the overlay that shows it to the go
// command, and returns the overlay's name.
func (m *mutation) apply(root, dir string) (string, error) {
	name := filepath.Join(root, filepath.FromSlash(m.file))
	text, err := os.ReadFile(name)
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(text), m.old); n != 1 {
		return "", fmt.Errorf("%s: %s: the text to replace is there %d times, must be once:\n%s", m.file, m.breaks, n, m.old)
	}
	changed := filepath.Join(dir, "mutant.go")
	if err := os.WriteFile(changed, []byte(strings.Replace(string(text), m.old, m.new, 1)), 0o600); err != nil {
		return "", err
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {name: changed}})
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, overlay, 0o600)
}

var failure = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)|^panic: (.*)`)

// test runs the tests of the file's package, the short ones first, and says
// what noticed.
func (m *mutation) test(root, overlay string) (noticed bool, by string, err error) {
	pkg := "./" + filepath.ToSlash(filepath.Dir(m.file))
	build := exec.Command("go", "test", "-overlay", overlay, "-run", "^$", "-vet=off", pkg)
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return false, "", fmt.Errorf("%s: %s: does not compile:\n%s", m.file, m.breaks, out)
	}
	for _, short := range []string{"-short", "-short=false"} {
		run := exec.Command("go", "test", "-overlay", overlay, "-count=1", "-failfast", "-vet=off", short, "-timeout", testTimeout.String(), pkg)
		run.Dir = root
		out, err := run.CombinedOutput()
		if err == nil {
			continue
		}
		for _, match := range failure.FindAllStringSubmatch(string(out), -1) {
			by = match[1] + match[2] // the last and innermost
			if match[2] != "" {
				break
			}
		}
		if by == "" {
			return false, "", fmt.Errorf("%s: %s: no test failed, and yet:\n%s", m.file, m.breaks, out)
		}
		return true, by, nil
	}
	return false, "", nil
}
