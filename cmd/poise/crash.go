package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// crashWatch leaves a report if the program does not end in order: what it was, and, if Go
// could still write it, the panic and the stacks of all goroutines.
type crashWatch struct {
	file *os.File // nil if there is no place for a report
	left []string // of earlier runs: where their reports are, and what they say
}

// keptReports is how many reports of crashes are kept.
const keptReports = 20

// stateFolder is where reports are, "" if there is no home.
func stateFolder() string {
	state := os.Getenv("XDG_STATE_HOME")
	if state == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		state = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(state, "poise")
}

// watchCrashes looks for reports of earlier runs and begins one of this run. about is what
// the report says besides.
func watchCrashes(about string) (*crashWatch, error) {
	w := &crashWatch{}
	folder := stateFolder()
	if folder == "" {
		return w, nil
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return w, err
	}
	err := w.collect(folder)
	file, e := os.OpenFile(filepath.Join(folder, fmt.Sprintf("run-%d-%s.txt", os.Getpid(), time.Now().UTC().Format("20060102-150405.000"))), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
	if e != nil {
		return w, errors.Join(err, e)
	}
	w.file = file
	tryLock(file) // as long as the process lives
	_, e = fmt.Fprintf(file, "poise, process %d, since %s\n%s\n%s\n", os.Getpid(), time.Now().Format(time.RFC3339), strings.Join(os.Args, " "), about)
	return w, errors.Join(err, e, debug.SetCrashOutput(file, debug.CrashOptions{}))
}

// collect turns what processes left behind that are dead into reports, and forgets the
// oldest of them.
func (w *crashWatch) collect(folder string) error {
	runs, err := filepath.Glob(filepath.Join(folder, "run-*.txt"))
	for _, name := range runs {
		file, e := os.OpenFile(name, os.O_RDWR, 0)
		if e != nil {
			continue // another start has it already
		}
		if tryLock(file) {
			report := filepath.Join(folder, "crash-"+strings.TrimPrefix(filepath.Base(name), "run-"))
			if e = os.Rename(name, report); e == nil {
				w.left = append(w.left, fmt.Sprintf("the last run did not end in order: %s; report: %s", headline(file), report))
			}
			err = errors.Join(err, e)
		}
		file.Close()
	}
	reports, e := filepath.Glob(filepath.Join(folder, "crash-*.txt"))
	slices.SortFunc(reports, func(a, b string) int { return modified(a).Compare(modified(b)) })
	for i := 0; i < len(reports)-keptReports; i++ {
		e = errors.Join(e, os.Remove(reports[i]))
	}
	return errors.Join(err, e)
}

func modified(name string) time.Time {
	if at, err := os.Stat(name); err == nil {
		return at.ModTime()
	}
	return time.Time{}
}

// headline is the line of a report that says most.
func headline(file *os.File) string {
	lines := bufio.NewScanner(file)
	for n := 0; lines.Scan(); n++ {
		if text := lines.Text(); n >= 3 && (strings.HasPrefix(text, "panic:") || strings.HasPrefix(text, "fatal error:")) {
			return text
		}
	}
	return "it was killed, or the power failed"
}

// end removes the report of a run that ended in order.
func (w *crashWatch) end() error {
	if w.file == nil {
		return nil
	}
	return errors.Join(debug.SetCrashOutput(nil, debug.CrashOptions{}), os.Remove(w.file.Name()), w.file.Close())
}
