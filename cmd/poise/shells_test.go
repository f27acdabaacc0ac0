package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// shell is one that completes: where its program is, and how it is asked for what would
// stand on a line after the tab key.
type shell struct {
	name string
	tab  func(t *testing.T, path, line string) string
}

// needsShell returns where a shell is. In CI it is there: make setup installs it.
func needsShell(t *testing.T, name string) string {
	t.Helper()
	at, err := exec.LookPath(name)
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("%s is missing: make setup installs it", name)
		}
		t.Skipf("absent: %s", name)
	}
	return at
}

// said runs a shell with poise on its path.
func said(t *testing.T, path string, words ...string) string {
	t.Helper()
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(path)+":"+os.Getenv("PATH"), "HOME="+t.TempDir(), "TERM=dumb", "LC_ALL=C")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", words[0], err, out)
	}
	return string(out)
}

// tabBash calls the function that bash calls for the tab key, and returns what it proposes.
func tabBash(t *testing.T, path, line string) string {
	words := strings.Split(line, " ")
	script := fmt.Sprintf(`compopt() { :; } # absent outside of an interactive shell
COLUMNS=80; source <(poise completion bash); complete -p poise >/dev/null
COMP_LINE=%q; COMP_POINT=%d; COMP_WORDS=(%s); COMP_CWORD=%d; COMP_TYPE=9; COMP_KEY=9
__start_poise; printf '%%s\n' "${COMPREPLY[@]}"`, line, len(line), strings.Join(words[:len(words)-1], " ")+fmt.Sprintf(" %q", words[len(words)-1]), len(words)-1)
	return said(t, path, needsShell(t, "bash"), "--norc", "--noprofile", "-c", script)
}

func tabFish(t *testing.T, path, line string) string {
	return said(t, path, needsShell(t, "fish"), "--no-config", "-c", fmt.Sprintf("poise completion fish | source; complete -C %q", line))
}

// tabZsh types the line and the tab key into a zsh of its own, and returns the line as it
// then is.
func tabZsh(t *testing.T, path, line string) string {
	zsh, dir := needsShell(t, "zsh"), t.TempDir()
	after := filepath.Join(dir, "after")
	for name, text := range map[string]string{
		"_poise": said(t, path, path, "completion", "zsh"),
		".zshrc": fmt.Sprintf("PROMPT=; setopt no_beep\nfpath=(%q $fpath)\nautoload -U compinit\ncompinit -u -d %q\n"+
			"tell() { print -r -- \"$BUFFER\" > %q.new; mv %q.new %q }\nzle -N tell\nbindkey '^Xt' tell\n", dir, filepath.Join(dir, "dump"), after, after, after),
		"type.zsh": fmt.Sprintf("zmodload zsh/zpty\nzpty z %q -i\nzpty -w -n z %q$'\\t\\C-Xt'\nwhile [[ ! -e %q ]] { zpty -r -t z >/dev/null || sleep 0.05 }\nzpty -d z\n", zsh, line, after),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(zsh, "-f", filepath.Join(dir, "type.zsh"))
	cmd.Env = append(os.Environ(), "ZDOTDIR="+dir, "PATH="+filepath.Dir(path)+":"+os.Getenv("PATH"), "HOME="+dir, "TERM=xterm", "LC_ALL=C")
	ended := make(chan error, 1)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		text, readErr := os.ReadFile(after)
		if err := errors.Join(err, readErr); err != nil {
			t.Fatalf("zsh: %v", err)
		}
		return string(text)
	case <-time.After(hang):
		_ = cmd.Process.Kill()
		t.Fatal("zsh does not complete")
	}
	return ""
}

// TestShellsRunTheirScripts: bash, also without its package of completions, fish and zsh run
// what poise completion writes, and complete commands, words, flags, shipped robots and what a
// running server has.
func TestShellsRunTheirScripts(t *testing.T) {
	t.Parallel()
	needsProgram(t)
	path, r := binary(t), serveIt(t)
	lines := []struct{ line, want string }{
		{"poise arbi", "arbitrate"}, {"poise bus set-b", "set-baud"}, {"poise check po", "pony"}, {"poise play --spe", "--speed"},
		{"poise play --server " + r.address + " no", "nod"}, {"poise topic echo --server " + r.address + " joint_states_r", "joint_states_real"},
	}
	for _, s := range []shell{{"bash", tabBash}, {"fish", tabFish}, {"zsh", tabZsh}} {
		t.Run(s.name, func(t *testing.T) {
			for _, c := range lines {
				got := s.tab(t, path, c.line)
				// who presses the tab key waits half a second for a server, which a busy machine may need
				for n := 0; n < 20 && strings.Contains(c.line, "--server") && !strings.Contains(got, c.want); n++ {
					got = s.tab(t, path, c.line)
				}
				if !strings.Contains(got, c.want) {
					t.Errorf("%s: after %q it has %q, want %q", s.name, c.line, got, c.want)
				}
			}
		})
	}
}
