package main

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"poise/problem"
	"poise/telemetry"
)

// aboutCommands are those about the program itself.
func aboutCommands(root *cobra.Command, others []command) []command {
	return []command{helpCommand(root, others), versionCommand, completionCommand(root)}
}

var versionCommand = command{name: "version", short: "which build this is: of which sources, by which Go, for which machine", group: groupAbout,
	example: []string{"poise version", "poise version --json"}, words: []string{},
	declare: func(e *env, _ *pflag.FlagSet) func(args []string) error {
		return func(args []string) error {
			if len(args) > 0 {
				return usagef("%q is too much", args[0])
			}
			v := struct {
				answered
				Version  string `json:"version"`
				Go       string `json:"go"`
				Platform string `json:"platform"`
			}{Version: telemetry.Build(), Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
			v.answered = answered{true, fmt.Sprintf("poise %s, %s, %s", v.Version, v.Go, v.Platform)}
			if e.json {
				return encode(e.out, v)
			}
			_, err := fmt.Fprintln(e.out, v.Message)
			return err
		}
	}}

// completionCommand writes the scripts by which shells complete command lines.
func completionCommand(root *cobra.Command) command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return command{name: "completion", args: strings.Join(shells, "|"), short: "a script that lets a shell complete poise's command lines", group: groupAbout, words: shells,
		example: []string{
			"source <(poise completion bash)                          # this shell, now",
			"poise completion bash > /etc/bash_completion.d/poise     # all shells from now on",
			`poise completion zsh > "${fpath[1]}/_poise"`,
			"poise completion fish > ~/.config/fish/completions/poise.fish"},
		declare: func(e *env, _ *pflag.FlagSet) func(args []string) error {
			return func(args []string) error {
				if err := checkArguments(args, []string{strings.Join(shells, "|")}); err != nil {
					return err
				}
				write := map[string]func(w io.Writer) error{
					"bash":       func(w io.Writer) error { return bashCompletion(root, w) },
					"zsh":        root.GenZshCompletion,
					"fish":       func(w io.Writer) error { return root.GenFishCompletion(w, true) },
					"powershell": root.GenPowerShellCompletionWithDesc,
				}[args[0]]
				if write == nil {
					return usagef("shell %q is unknown: want one of %s%s", args[0], strings.Join(shells, ", "), problem.Hint(args[0], shells))
				}
				if !e.json {
					return write(e.out)
				}
				var b bytes.Buffer
				if err := write(&b); err != nil {
					return err
				}
				return encode(e.out, struct {
					answered
					Script string `json:"script"`
				}{answered{true, "the script for " + args[0]}, b.String()})
			}
		}}
}
