package main

import "poise/msgs"

// runPose moves the server's robot to a named pose and waits until it is there: motions
// that have to begin in one send people here.
func runPose(e *env, args []string) error {
	r := newRemote(e, "pose")
	rest, end, err := r.open(args, "NAME")
	if err != nil {
		return err
	}
	defer end()
	goal := &msgs.TextActionGoal{Command: msgs.TextCommand{Type: "pose", Command: rest[0]}}
	return r.perform("go_to_pose", "text_msgs/action/TextAction", goal, rest[0])
}
