package main

import (
	"encoding/json"
	"flag"

	"poise/robot"
	"poise/robot/summary"
)

// runCheck says what a robot is, or everything that is wrong with it.
func runCheck(e *env, args []string) error {
	fs := flag.NewFlagSet("check", flag.ContinueOnError)
	var from robotFlags
	from.register(fs)
	asJSON := fs.Bool("json", false, "for programs")
	writeLimits := fs.Bool("write-limits", false, "propose a joint_limits.yaml for what is missing")
	args, err := parseFlags(fs, args)
	if err != nil {
		return err
	}
	if *asJSON && *writeLimits {
		return usagef("--json and --write-limits exclude each other")
	}
	bot, rest, err := from.load(args)
	switch {
	case len(rest) > 0:
		return usagef("%q is too much: one robot, then xacro arguments as name:=value", rest[0])
	case err != nil:
		return err
	case *writeLimits:
		return robot.ProposeLimits(e.out, bot.Model.Name(), bot.Model.Joints())
	case *asJSON:
		enc := json.NewEncoder(e.out)
		enc.SetEscapeHTML(false)
		return enc.Encode(summary.New(bot.Model, bot.Warnings))
	}
	return summary.Print(e.out, bot.Model, bot.Warnings)
}
