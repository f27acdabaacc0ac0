package main

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"poise/control"
	"poise/control/walk"
	"poise/robot"
	"poise/robot/setup"
	"poise/robot/summary"
)

// checkCommand says what a robot is, or everything that is wrong with it.
func checkCommand(e *env, fs *pflag.FlagSet) func(args []string) error {
	from := new(robotFlags)
	from.register(fs)
	writeLimits := fs.Bool("write-limits", false, "propose a joint_limits.yaml for what is missing")
	return func(args []string) error {
		if e.json && *writeLimits {
			return usagef("--json and --write-limits exclude each other")
		}
		bot, rest, err := from.load(args)
		switch {
		case len(rest) > 0:
			return usagef("%q is too much: one robot, then xacro arguments as name:=value", rest[0])
		case err != nil:
			return err
		}
		switch err := walk.Judge(bot.Model); {
		case err != nil && !errors.Is(err, control.ErrUnfit):
			return err // what robot.yaml says of walking is judged by what legs can do
		case err != nil && len(robot.LegJoints(bot.Model)) > 0:
			bot.Warnings = append(bot.Warnings, "it stands on legs and does not walk: "+err.Error())
		}
		if why := setup.Lies(bot.Model); why != "" {
			bot.Warnings = append(bot.Warnings, why)
		}
		switch {
		case *writeLimits:
			return robot.ProposeLimits(e.out, bot.Model.Name(), bot.Model.Joints(), robot.LegJoints(bot.Model))
		case e.json:
			return encode(e.out, struct {
				answered
				*summary.Summary
			}{answered{true, fmt.Sprintf("%s: %d joints, %d warnings", bot.Model.Name(), len(bot.Model.Joints()), len(bot.Warnings))}, summary.New(bot.Model, bot.Warnings)})
		}
		return summary.Print(e.out, bot.Model, bot.Warnings)
	}
}
