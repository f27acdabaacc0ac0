package main

import (
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"poise/robot/description"
	"poise/urdf/xacro"
	"poise/wire/ros1"
)

// rosFlags are the flags by which the graph is shown to ROS 1.
type rosFlags struct {
	join, master, open bool
	remaps             []string
	node               []string // words for the node: __ns:=/robot1
}

func (r *rosFlags) register(fs *pflag.FlagSet) {
	fs.BoolVar(&r.join, "ros1", false, "join the ROS 1 graph of ROS_MASTER_URI; __ns:=/robot1, __name:=NAME and _PARAMETER:=VALUE are for the node")
	fs.BoolVar(&r.master, "ros1-master", false, "be the ROS 1 master as well: no roscore is needed")
	fs.BoolVar(&r.open, "ros1-open", false, "let ROS 1 peers on other machines in: ROS 1 has no passwords")
	fs.StringArrayVar(&r.remaps, "remap", nil, "another name in ROS, `A:=B`; may be given several times")
}

// take takes the words that are for the node, those with an underscore in front, and returns
// the others. ros2 says that there is a ROS 2 node for them, too.
func (r *rosFlags) take(rest []string, ros2 bool) (others []string, err error) {
	for _, word := range rest {
		if strings.HasPrefix(word, "_") && strings.Contains(word, ":=") {
			r.node = append(r.node, word)
		} else {
			others = append(others, word)
		}
	}
	switch on := r.join || r.master; {
	case on:
	case r.open:
		return nil, usagef("--ros1-open opens ROS 1, which --ros1 or --ros1-master turns on")
	case ros2:
	case len(r.remaps) > 0:
		return nil, usagef("--remap is for names in ROS, which --ros1, --ros1-master or --ros2 turns on")
	case len(r.node) > 0:
		return nil, usagef("%s is for a ROS node, which --ros1, --ros1-master or --ros2 turns on", r.node[0])
	}
	return others, nil
}

// config returns how ROS 1 is joined, nil if it is not.
func (r *rosFlags) config() (*ros1.Config, error) {
	if !r.join && !r.master {
		return nil, nil
	}
	names, params, err := ros1.ReadNames(r.node, r.remaps)
	if err != nil {
		return nil, usagef("%v", err)
	}
	c := ros1.Environment(os.Getenv)
	c.OwnMaster, c.Open, c.Names, c.Params = r.master, r.open, names, map[string]any{}
	for name, text := range params {
		c.Params[names.Self()+"/"+name] = parameter(text)
	}
	return &c, nil
}

// parameter reads a value as ROS nodes do: a number, true or false, or a text.
func parameter(text string) any {
	if n, err := strconv.ParseInt(text, 10, 32); err == nil {
		return int(n)
	}
	if x, err := strconv.ParseFloat(text, 64); err == nil {
		return x
	}
	switch text {
	case "true":
		return true
	case "false":
		return false
	}
	return text
}

// xacroArguments reads name:=value, which are for the robot's file.
func xacroArguments(rest []string) (all []description.Argument, err error) {
	for _, word := range rest {
		if !strings.Contains(word, ":=") {
			return nil, usagef("takes no argument but NAME:=VALUE, got %q", word)
		}
	}
	given, err := xacro.ParseArgs(rest)
	if err != nil {
		return nil, usagef("%v", err)
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		all = append(all, description.Argument{Name: name, Value: given[name]})
	}
	return all, nil
}
