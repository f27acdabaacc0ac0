package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"poise/problem"
)

// helpGroups are the headings of the help text, in order.
var helpGroups = []string{groupServe, groupDrive, groupFiles, groupAbout}

const (
	groupServe = "Run a robot"
	groupDrive = "Drive a robot that runs"
	groupFiles = "Robots, plans and motions, without a server"
	groupAbout = "About poise"
)

// helpRobot explains the word ROBOT.
const helpRobot = `ROBOT is a name shipped inside (pony, arm6, so101), a .urdf or .xacro file (xacro arguments
as name:=value after it), or a folder. Flags may stand before or after arguments.
Packages that package://… and $(find …) name are looked for above the robot's own
file and in the folders of --package-path, by default those of ROS_PACKAGE_PATH and
AMENT_PREFIX_PATH.
`

// help lists the commands.
func help(w io.Writer, all []command) {
	fmt.Fprint(w, "Poise: robot motion control. A robot description goes in, a moving robot comes out.\n\nusage: poise COMMAND …\n")
	for _, g := range helpGroups {
		fmt.Fprintf(w, "\n%s:\n", g)
		for _, c := range all {
			if c.group == g {
				fmt.Fprintf(w, "  %-12s %s\n", c.name, c.short)
			}
		}
	}
	fmt.Fprintf(w, "\npoise help COMMAND explains its flags and gives examples; with --json every command\nspeaks to programs.\n\n%s", helpRobot)
}

// helpText explains one command: how it is called, every flag, examples.
func helpText(c *command, fs *pflag.FlagSet) string {
	var b strings.Builder
	fmt.Fprintf(&b, "usage: %s\n\n%s\n", c.usage(), c.short)
	if c.long != "" {
		fmt.Fprintf(&b, "\n%s\n", c.long)
	}
	b.WriteString("\nflags:\n")
	for _, f := range flagLines(fs) {
		fmt.Fprintf(&b, "  %-28s %s\n", f.call, f.text)
	}
	b.WriteString("\nexamples:\n")
	for _, line := range c.example {
		fmt.Fprintf(&b, "  %s\n", line)
	}
	if strings.Contains(c.args, "ROBOT") {
		fmt.Fprintf(&b, "\n%s", helpRobot)
	}
	return b.String()
}

// flagLine is a flag of the help text.
type flagLine struct{ call, text string }

func flagLines(fs *pflag.FlagSet) (lines []flagLine) {
	fs.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		value, text := pflag.UnquoteUsage(f)
		call := dashed(f.Name)
		if f.Value.Type() != "bool" {
			call += " " + value
		}
		switch plain := f.DefValue; plain {
		case "", "0", "-1", "false", "[]":
		default:
			if f.Name != "package-path" { // it follows from the environment
				text += fmt.Sprintf(" (default %s)", plain)
			}
		}
		lines = append(lines, flagLine{call, text})
	})
	return lines
}

// helpMarkdown is the reference of the command line, docs/cli.md.
func helpMarkdown(w io.Writer, root *cobra.Command, all []command) {
	fmt.Fprint(w, "# The command line\n\n<!-- poise help --markdown: make docs writes this file -->\n\n"+
		"`poise help COMMAND` says the same. Exit codes are 0, 1 for a refusal or a failure, and 2 for wrong usage.\n\n"+helpRobot)
	for _, g := range helpGroups {
		fmt.Fprintf(w, "\n## %s\n", g)
		for i := range all {
			c, cmd := named(all, root, all[i].name)
			if c.group != g {
				continue
			}
			fmt.Fprintf(w, "\n### poise %s\n\n    %s\n\n%s.\n", c.name, c.usage(), strings.ToUpper(c.short[:1])+c.short[1:])
			if c.long != "" {
				fmt.Fprintf(w, "\n```text\n%s\n```\n", c.long)
			}
			fmt.Fprint(w, "\n| flag | meaning |\n|---|---|\n")
			for _, f := range flagLines(cmd.Flags()) {
				fmt.Fprintf(w, "| `%s` | %s |\n", f.call, strings.ReplaceAll(f.text, "|", `\|`))
			}
			fmt.Fprintf(w, "\n```sh\n%s\n```\n", strings.Join(c.example, "\n"))
		}
	}
}

// helpCommand is poise help.
func helpCommand(root *cobra.Command, others []command) command {
	return command{name: "help", args: "[COMMAND]", short: "list the commands, or explain one with its flags and examples", group: groupAbout,
		example: []string{"poise help", "poise help play"}, words: commandNames(others),
		declare: func(e *env, fs *pflag.FlagSet) func(args []string) error {
			markdown := fs.Bool("markdown", false, "all commands as a document: docs/cli.md")
			return func(args []string) error {
				all := append(slices.Clone(others), aboutCommands(root, others)...)
				if len(args) > 0 {
					_, cmd := named(all, root, args[0])
					if cmd == nil {
						return usagef("%s: unknown command (poise help lists them)%s", args[0], problem.Hint(args[0], commandNames(all)))
					}
					return cmd.Help()
				}
				var b strings.Builder
				if help(&b, all); *markdown {
					b.Reset()
					helpMarkdown(&b, root, all)
				}
				if !e.json {
					_, err := io.WriteString(e.out, b.String())
					return err
				}
				list := []map[string]string{}
				for _, c := range all {
					list = append(list, map[string]string{"name": c.name, "usage": c.usage(), "short": c.short})
				}
				return encode(e.out, struct {
					answered
					Commands []map[string]string `json:"commands"`
				}{answered{true, b.String()}, list})
			}
		}}
}
