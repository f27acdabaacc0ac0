// Command poise takes a robot description and gives a moving robot.
//
// main only wires: each command stands in a file of its own, and the work is
// done by the packages below.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"poise/problem"
)

func main() {
	os.Exit(run(&env{in: os.Stdin, out: os.Stdout, err: os.Stderr}, os.Args[1:]))
}

// env is what a command may touch of the outside.
type env struct {
	in       io.Reader
	out, err io.Writer
	json     bool   // failures are told on standard output, too, as JSON
	flush    func() // writes what a command left to be written later; may be nil
}

// usageError is a command line that cannot be understood: exit code 2.
type usageError struct{ msg string }

func (e *usageError) Error() string { return e.msg }

func usagef(format string, a ...any) error { return &usageError{fmt.Sprintf(format, a...)} }

// wrongVerb is the error of a command whose first argument is missing or not one of its verbs.
func wrongVerb(command string, rest, verbs []string) error {
	list := strings.Join(verbs, ", ")
	if len(rest) == 0 {
		return usagef("want one of %s", list)
	}
	return usagef("there is no poise %s %s: want one of %s%s", command, rest[0], list, problem.Hint(rest[0], verbs))
}

// errAnswered ends a command with exit code 1 whose answer has been printed
// already, such as a refusal given as JSON.
var errAnswered = errors.New("answered")

// toldError is a refusal that stands on standard output already, whole and as JSON;
// people read it on standard error.
type toldError struct{ error }

// exitError ends a command with the exit code of another program, which has said why.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// Exit codes are a contract: scripts rely on them.
const (
	exitOK      = 0
	exitFailure = 1 // a refusal or a failure
	exitUsage   = 2 // wrong usage
)

// report prints what went wrong, one line each, and chooses the exit code.
func report(e *env, name, usage string, err error) int {
	var wrong *usageError
	var other exitError
	var told *toldError
	if e.json && err != nil && !errors.As(err, &told) && !errors.Is(err, errAnswered) && !errors.As(err, &other) {
		text, _ := json.Marshal(answered{Message: err.Error()}) // text always can be written
		fmt.Fprintf(e.out, "%s\n", text)
	}
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errAnswered):
		return exitFailure
	case errors.As(err, &other):
		return int(other)
	case errors.As(err, &wrong):
		fmt.Fprintf(e.err, "poise: %s: %v\nusage: %s\npoise help %s explains its flags\n", name, err, usage, name)
		return exitUsage
	}
	if told != nil {
		err = told.error
	}
	for _, one := range flatten(err) {
		fmt.Fprintf(e.err, "poise: %s: %v\n", name, one)
	}
	return exitFailure
}

// flatten takes joined errors apart, so that each stands on its own line.
func flatten(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, one := range joined.Unwrap() {
		all = append(all, flatten(one)...)
	}
	return all
}

// inFile puts the name of a file before each problem of an error.
func inFile(name string, err error) error {
	var all []error
	for _, one := range flatten(err) {
		all = append(all, fmt.Errorf("%s: %w", name, one))
	}
	return errors.Join(all...)
}
