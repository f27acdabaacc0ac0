package main

import (
	"os"
	"strings"

	"github.com/spf13/pflag"

	"poise/wire/ros2"
)

// ros2Flags are the flags by which the graph is shown to ROS 2.
type ros2Flags struct {
	distribution string
	open, args   bool
	remaps       []string
}

func (r *ros2Flags) register(fs *pflag.FlagSet) {
	fs.StringVar(&r.distribution, "ros2", "", "be a ROS 2 node in the domain of ROS_DOMAIN_ID, for peers of `humble|jazzy|rolling`; jazzy if none is named")
	fs.Lookup("ros2").NoOptDefVal = "jazzy"
	fs.BoolVar(&r.open, "ros2-open", false, "let ROS 2 peers on other machines in: DDS has no passwords")
	fs.BoolVar(&r.args, "ros-args", false, "ROS 2's word before its arguments")
	fs.StringArrayVar(&r.remaps, "r", nil, "with --ros2: another name, `A:=B`, as __ns:=/robot1 and __node:=NAME; may be given several times")
}

func (r *ros2Flags) on() bool { return r.distribution != "" }

// config returns how ROS 2 is joined, nil if it is not. words are those for a node:
// __ns:=/robot1.
func (r *ros2Flags) config(remaps, words []string) (*ros2.Config, error) {
	if !r.on() {
		if r.open {
			return nil, usagef("--ros2-open opens ROS 2, which --ros2 turns on")
		}
		if r.args || len(r.remaps) > 0 {
			return nil, usagef("--ros-args -r is for a ROS 2 node, which --ros2 turns on")
		}
		return nil, nil
	}
	form, err := ros2.Distribution(r.distribution)
	if err != nil {
		return nil, usagef("--ros2: %v", err)
	}
	all := append(append([]string(nil), remaps...), r.remaps...)
	for _, word := range words {
		if strings.HasPrefix(word, "__") { // _NAME:=VALUE is a parameter of ROS 1
			all = append(all, word)
		}
	}
	names, err := ros2.ReadNames(all)
	if err != nil {
		return nil, usagef("%v", err)
	}
	c, local, err := ros2.Environment(os.Getenv)
	if err != nil {
		return nil, err
	}
	if local && r.open {
		return nil, usagef("--ros2-open opens ROS 2 to the network, and ROS_LOCALHOST_ONLY or ROS_AUTOMATIC_DISCOVERY_RANGE keeps it on this machine: only one of them can hold")
	}
	c.Form, c.Open, c.Names = form, r.open, names
	return &c, nil
}
