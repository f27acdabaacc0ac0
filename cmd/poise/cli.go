package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"poise/problem"
)

// command is one word of the command line. Cobra reads its flags, helps with them and
// completes them in a shell.
type command struct {
	name    string
	args    string   // what follows the name besides flags, as in the help text
	short   string   // one line
	long    string   // more of it, for the help of the command; may be empty
	example []string // command lines, each may end with a comment
	group   string   // of the help text
	words   []string // what can be the first argument, for shells; nil: files, and names of robots

	// declare declares the flags and returns what the command does with its arguments.
	declare func(e *env, fs *pflag.FlagSet) (do func(args []string) error)
}

// usage is the line that says how a command is called.
func (c *command) usage() string {
	return strings.TrimRight("poise "+c.name+" [flags] "+c.args, " ")
}

// run does what a command line says and returns the exit code.
func run(e *env, args []string) int {
	root, all := newRoot(e)
	root.SetArgs(args)
	root.SetOut(e.out)
	root.SetErr(e.err)
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) { // a shell asks
		if root.Execute() != nil {
			return exitFailure
		}
		return exitOK
	}
	e.json = wantsJSON(args) // failures too, also that of a flag
	switch {
	case len(args) == 0:
		help(e.out, all)
		return exitUsage
	case args[0] == "-h" || args[0] == "-help" || args[0] == "--help":
		args = append([]string{"help"}, args[1:]...)
	case args[0] == "-version" || args[0] == "--version":
		args = append([]string{"version"}, args[1:]...)
	}
	c, cmd := named(all, root, args[0])
	if c == nil {
		why := fmt.Sprintf("unknown command (poise help lists them)%s", problem.Hint(args[0], commandNames(all)))
		fmt.Fprintf(e.err, "poise: %s: %s\n", args[0], why)
		if e.json {
			_ = encode(e.out, answered{Message: args[0] + ": " + why})
		}
		return exitUsage
	}
	root.SetArgs(append([]string{c.name}, arrange(cmd.Flags(), args[1:])...))
	code := report(e, c.name, c.usage(), root.Execute())
	if e.flush != nil {
		e.flush()
	}
	return code
}

// newRoot makes the tree of commands. Each is made with its flags, so that help and shells
// can tell them.
func newRoot(e *env) (*cobra.Command, []command) {
	root := &cobra.Command{Use: "poise", SilenceErrors: true, SilenceUsage: true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true}}
	all := commands()
	all = append(all, aboutCommands(root, all)...)
	for i := range all {
		c := &all[i]
		cmd := &cobra.Command{Use: c.name, Short: c.short, Args: cobra.ArbitraryArgs, ValidArgsFunction: c.complete}
		cmd.Flags().SortFlags = false
		do := c.declare(e, cmd.Flags())
		if cmd.Flags().Lookup("json") == nil {
			cmd.Flags().BoolVar(&e.json, "json", false, jsonUsage)
		}
		cmd.RunE = func(_ *cobra.Command, args []string) error { return do(args) }
		cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return flagError(cmd.Flags(), err) })
		cmd.SetHelpFunc(func(*cobra.Command, []string) {
			if e.json {
				_ = encode(e.out, answered{true, helpText(c, cmd.Flags())})
				return
			}
			fmt.Fprint(e.out, helpText(c, cmd.Flags()))
		})
		root.AddCommand(cmd)
	}
	return root, all
}

// jsonUsage explains --json, which every command has.
const jsonUsage = "for programs: what ends the output is JSON, failures too"

// named finds a command by its name.
func named(all []command, root *cobra.Command, name string) (*command, *cobra.Command) {
	i := slices.IndexFunc(all, func(c command) bool { return c.name == name })
	if i < 0 {
		return nil, nil
	}
	for _, cmd := range root.Commands() {
		if cmd.Name() == name {
			return &all[i], cmd
		}
	}
	return nil, nil
}

func commandNames(all []command) []string {
	names := make([]string, len(all))
	for i, c := range all {
		names[i] = c.name
	}
	return names
}

// wantsJSON reports whether a command line asks for JSON, also if it cannot be understood.
func wantsJSON(args []string) bool {
	for _, word := range args {
		name, value, given := strings.Cut(strings.TrimPrefix(word, "-"), "=")
		switch {
		case word == "--":
			return false
		case strings.HasPrefix(word, "-") && strings.TrimPrefix(name, "-") == "json":
			on, err := strconv.ParseBool(value)
			return !given || on && err == nil
		}
	}
	return false
}

// arrange puts a command line into the form that every reader of flags understands: first
// the flags, each with two dashes, then "--" and the arguments. Flags may stand before,
// between or after the arguments, with one dash or two; a number below zero is an argument,
// and what follows "--" is never a flag.
func arrange(fs *pflag.FlagSet, args []string) []string {
	var flags, rest []string
	for i := 0; i < len(args); i++ {
		word := args[i]
		if word == "--" {
			rest = append(rest, args[i+1:]...)
			break
		}
		if len(word) < 2 || word[0] != '-' || isNumber(word) {
			rest = append(rest, word)
			continue
		}
		word = strings.TrimPrefix(word[1:], "-")
		if word == "h" {
			word = "help"
		}
		flags = append(flags, "--"+word)
		if f := fs.Lookup(word); f == nil || f.NoOptDefVal != "" {
			continue
		}
		if i++; i == len(args) {
			return flags // which ends with a flag that lacks its value: that is refused
		}
		flags = append(flags, args[i]) // even with a dash in front
	}
	return append(append(flags, "--"), rest...)
}

func isNumber(word string) bool {
	_, err := strconv.ParseFloat(word, 64)
	return err == nil
}

// flagError puts what is wrong with a flag into the words of the help text.
func flagError(fs *pflag.FlagSet, err error) error {
	var unknown *pflag.NotExistError
	var bare *pflag.ValueRequiredError
	var bad *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown):
		return noFlag(fs, unknown.GetSpecifiedName())
	case errors.As(err, &bare):
		return usagef("a value is missing after %s", dashed(bare.GetSpecifiedName()))
	case errors.As(err, &bad):
		name := dashed(bad.GetFlag().Name)
		switch {
		case bad.GetFlag().Value.Type() == "bool":
			return usagef("%q is neither true nor false for %s", bad.GetValue(), name)
		case errors.Is(err, strconv.ErrRange):
			return usagef("%q is no value of %s, it is too large", bad.GetValue(), name)
		}
		return usagef("%q is no value of %s", bad.GetValue(), name)
	}
	return usagef("%v", err)
}

// noFlag refuses a flag that a command does not have.
func noFlag(fs *pflag.FlagSet, name string) error {
	var names []string
	fs.VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	return usagef("there is no flag --%s%s", name, problem.Hint("--"+name, names))
}

// dashed is a flag as people write it: -o, --robot.
func dashed(name string) string {
	return strings.Repeat("-", min(len(name), 2)) + name
}
