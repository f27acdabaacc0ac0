package main

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"poise/msgs/poisemsgs"
)

// advice returns the command that helps against a refusal, "" if none is known. Servers
// speak of services; people at a command line of commands.
func (r *remote) advice(why []poisemsgs.Explanation) string {
	for _, reason := range why {
		switch {
		case reason.Code == "stopping":
			return "try: " + r.commandLine("reset")
		case reason.Code == "power_off":
			return "try: " + r.commandLine("torque", append([]string{"on"}, resourcesOf(why, reason.Code)...)...)
		case reason.Code == "has_torque" || reason.Code == "energised":
			return "try: " + r.commandLine("torque", append([]string{"off"}, resourcesOf(why, reason.Code)...)...)
		case reason.Code == "stopped_by_fault" || strings.HasPrefix(reason.Code, "fault_"):
			return r.commandLine("state") + " shows the fault, " + r.commandLine("reset") + " takes goals again"
		case reason.Code == "unknown_motion":
			return r.commandLine("call", "motions/list") + " lists those there are"
		case reason.Code == "unknown_pose":
			return r.commandLine("call", "robot_info") + " lists the poses of the robot"
		case slices.Contains([]string{"unknown_controller", "no_controller"}, reason.Code):
			return r.commandLine("controllers") + " lists those there are"
		case slices.Contains([]string{"not_running", "switched_off", "panicked"}, reason.Code):
			return r.commandLine("controllers") + " shows which run, " + r.commandLine("switch", "--start", "NAME") + " starts one"
		case slices.Contains([]string{"not_granted", "resource_lost", "all_busy", "full"}, reason.Code):
			return r.commandLine("state") + " shows who owns what"
		}
	}
	return ""
}

// resourcesOf lists the resources of the explanations with a code; none if one of them is
// about the whole robot.
func resourcesOf(why []poisemsgs.Explanation, code string) (names []string) {
	for _, x := range why {
		switch {
		case x.Code != code:
		case x.Resource == "":
			return nil
		case !slices.Contains(names, x.Resource):
			names = append(names, x.Resource)
		}
	}
	return names
}

// commandLine is a command for the same robot of the same server.
func (r *remote) commandLine(name string, args ...string) string {
	words := append([]string{"poise", name}, args...)
	if r.robot != "" {
		words = append(words, "--robot", r.robot)
	}
	if r.server != defaultServer {
		words = append(words, "--server", r.server)
	}
	for i, word := range words {
		words[i] = shellWord(word)
	}
	return strings.Join(words, " ")
}

// shellWord is a word as it is typed into a shell: between quotes if that would take it apart.
func shellWord(word string) string {
	special := func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("_-./:@%+=,", c)
	}
	if word != "" && !strings.ContainsFunc(word, special) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// advised adds the command that helps to the reason of a refusal.
func (r *remote) advised(reason string, why []poisemsgs.Explanation) string {
	if help := r.advice(why); help != "" {
		return reason + "; " + help
	}
	return reason
}

// explanationsOf reads why a service refused.
func explanationsOf(answer []byte) []poisemsgs.Explanation {
	var a struct {
		Explanations []poisemsgs.Explanation `json:"explanations"`
	}
	if json.Unmarshal(answer, &a) != nil { // a service of another kind
		return nil
	}
	return a.Explanations
}
