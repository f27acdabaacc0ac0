package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"poise/robot"
	"poise/robot/description"
	"poise/robot/load"
	"poise/urdf/xacro"
)

// robotFlags are the flags of every command that reads a robot.
type robotFlags struct {
	floating, fixed bool
	packages        string
	opts            load.Options
}

func (r *robotFlags) register(fs *pflag.FlagSet) {
	fs.BoolVar(&r.floating, "floating", false, "the root link is free")
	fs.BoolVar(&r.fixed, "fixed", false, "the root link is bolted to the world")
	fs.StringVar(&r.opts.Limits, "limits", "", "joint limits `file` instead of the robot's own")
	fs.StringVar(&r.opts.Cartesian, "cartesian-limits", "", "Cartesian limits `file` instead of the robot's own")
	fs.BoolVar(&r.opts.OverrideLimits, "override-limits", false, "a limit file may loosen what the URDF says")
	fs.StringVar(&r.packages, "package-path", packagePath(), "`folders` where packages are looked for")
}

// load takes the robot and its xacro arguments from the front of args, reads
// it, and returns what is left of args.
func (r *robotFlags) load(args []string) (*load.Loaded, []string, error) {
	if len(args) == 0 {
		return nil, nil, usagef("which robot? A shipped name (%s), a file or a folder", strings.Join(load.Shipped(), ", "))
	}
	switch {
	case r.floating && r.fixed:
		return nil, nil, usagef("--floating and --fixed exclude each other")
	case r.floating:
		r.opts.Base = robot.BaseFloating
	case r.fixed:
		r.opts.Base = robot.BaseFixed
	}
	r.opts.PackagePath = filepath.SplitList(r.packages)
	r.opts.Env = environment()
	name, rest := args[0], args[1:]
	var given []string
	for len(rest) > 0 && strings.Contains(rest[0], ":=") {
		given, rest = append(given, rest[0]), rest[1:]
	}
	arguments, err := xacro.ParseArgs(given)
	if err != nil {
		return nil, nil, usagef("%v", err)
	}
	for _, key := range slices.Sorted(maps.Keys(arguments)) {
		r.opts.Arguments = append(r.opts.Arguments, description.Argument{Name: key, Value: arguments[key]})
	}
	bot, err := load.Robot(name, r.opts)
	return bot, rest, err
}

// packagePath joins the search paths of ROS 1 and ROS 2.
func packagePath() string {
	const sep = string(filepath.ListSeparator)
	return strings.Trim(os.Getenv("ROS_PACKAGE_PATH")+sep+os.Getenv("AMENT_PREFIX_PATH"), sep)
}

// environment returns the variables that xacro files may ask for.
func environment() map[string]string {
	all := map[string]string{}
	for _, v := range os.Environ() {
		if name, value, ok := strings.Cut(v, "="); ok {
			all[name] = value
		}
	}
	return all
}
