package main

import (
	"github.com/spf13/pflag"

	"poise/msgs"
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
