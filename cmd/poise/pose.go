package main

import (
	"slices"

	"github.com/spf13/pflag"

	"poise/control/getup"
	"poise/msgs"
	"poise/problem"
)

// poseCommand moves the server's robot to a named pose and waits until it is there: motions
// that have to begin in one send people here.
func poseCommand(e *env, fs *pflag.FlagSet) func(args []string) error {
	r := newRemote(e, fs)
	return func(args []string) error {
		end, err := r.open(args, "NAME")
		if err != nil {
			return err
		}
		defer end()
		goal := &msgs.TextActionGoal{Command: msgs.TextCommand{Type: "pose", Command: args[0]}}
		return r.perform("go_to_pose", "text_msgs/action/TextAction", goal, args[0])
	}
}

// getUpCommand brings the server's robot back on its feet.
func getUpCommand(e *env, fs *pflag.FlagSet) func(args []string) error {
	r := newRemote(e, fs)
	return func(args []string) error {
		from := ""
		if len(args) > 0 {
			if from, args = args[0], args[1:]; from == "" || !slices.Contains(getup.Names, from) {
				return usagef("%q is not one of left, right and belly%s", from, problem.Hint(from, getup.Names[1:]))
			}
		}
		end, err := r.open(args)
		if err != nil {
			return err
		}
		defer end()
		if err := r.performs("get_up", "it cannot get up"); err != nil {
			return err
		}
		goal := &msgs.TextActionGoal{Command: msgs.TextCommand{Type: "get_up", Command: from}}
		return r.perform("get_up", "text_msgs/action/TextAction", goal, "get-up")
	}
}
