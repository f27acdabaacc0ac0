package main

import (
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"poise/problem"
	"poise/wire/ros2"
)

// ros2Flags are the flags by which the graph is shown to ROS 2.
type ros2Flags struct {
	given        *pflag.Flag // --ros2
	distribution string
	open, args   bool
	remaps       []string
	params       []string
	files        []string
	levels       []string
	enclave      string
}

func (r *ros2Flags) register(fs *pflag.FlagSet) {
	fs.StringVar(&r.distribution, "ros2", "", "be a ROS 2 node in the domain of ROS_DOMAIN_ID, for peers of `humble|jazzy|rolling`; jazzy if none is named")
	r.given = fs.Lookup("ros2")
	r.given.NoOptDefVal = "jazzy"
	fs.BoolVar(&r.open, "ros2-open", false, "let ROS 2 peers on other machines in: DDS has no passwords")
	fs.BoolVar(&r.args, "ros-args", false, "ROS 2's word before its arguments")
	fs.StringArrayVar(&r.remaps, "r", nil, "with --ros2: another name, `A:=B`, as __ns:=/robot1 and __node:=NAME; may be given several times")
	fs.StringArrayVar(&r.params, "p", nil, "with --ros2: a parameter of the node, `NAME:=VALUE`; may be given several times")
	fs.StringArrayVar(&r.params, "param", nil, "with --ros2: the same as -p, `NAME:=VALUE`")
	fs.StringArrayVar(&r.files, "params-file", nil, "with --ros2: parameters of the node by a YAML `file` of ROS 2; may be given several times, and -p goes before it")
	fs.StringArrayVar(&r.levels, "log-level", nil, "with --ros2: the `level` of the log: debug, info, warn, error, fatal; or NODE:=LEVEL")
	fs.StringVar(&r.enclave, "e", "/", "with --ros2: the `enclave` that others are told; security of DDS is not there")
	fs.StringVar(&r.enclave, "enclave", "/", "with --ros2: the same as -e, `enclave`")
}

// on reports whether ROS 2 is joined; that of --ros2= is a mistake, which config tells.
func (r *ros2Flags) on() bool { return r.given != nil && r.given.Changed }

// config returns how ROS 2 is joined, nil if it is not. words are those for a node:
// __ns:=/robot1.
func (r *ros2Flags) config(remaps, words []string) (*ros2.Config, error) {
	if !r.on() {
		if r.open {
			return nil, usagef("--ros2-open opens ROS 2, which --ros2 turns on")
		}
		if r.args || len(r.remaps)+len(r.params)+len(r.files)+len(r.levels) > 0 || r.enclave != "/" {
			return nil, usagef("--ros-args -r, -p, --params-file, --log-level and -e are for a ROS 2 node, which --ros2 turns on")
		}
		return nil, nil
	}
	if r.distribution == "" {
		return nil, usagef("--ros2= names no distribution of ROS 2: humble, jazzy, rolling; --ros2 alone is jazzy")
	}
	if !strings.HasPrefix(r.enclave, "/") || strings.ContainsAny(r.enclave, ";= ") {
		return nil, usagef("-e %q is no enclave such as / or /robot1/arm", r.enclave)
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
	params, err := r.parameters(names)
	if err != nil {
		return nil, err
	}
	c, local, err := ros2.Environment(os.Getenv)
	if err != nil {
		return nil, err
	}
	if local && r.open {
		return nil, usagef("--ros2-open opens ROS 2 to the network, and ROS_LOCALHOST_ONLY or ROS_AUTOMATIC_DISCOVERY_RANGE keeps it on this machine: only one of them can hold")
	}
	c.Form, c.Open, c.Names, c.Params, c.Enclave = form, r.open, names, params, r.enclave
	return &c, nil
}

// parameters reads those of files, the last of which holds, and before them those that are written out.
func (r *ros2Flags) parameters(names ros2.Names) (map[string]any, error) {
	params := map[string]any{}
	for _, file := range r.files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, usagef("--params-file: %v", err)
		}
		some, err := ros2.ReadParamsFile(text, names)
		if err != nil {
			return nil, usagef("--params-file %s: %v", file, err)
		}
		maps.Copy(params, some)
	}
	some, err := ros2.ReadParams(r.params, names.Node)
	if err != nil {
		return nil, usagef("%v", err)
	}
	maps.Copy(params, some)
	return params, nil
}

// level returns the level of the log that is asked for, the last one of the node, "" if none is. Those of
// other loggers are of no node here.
func (r *ros2Flags) level(node string) (level string, err error) {
	for _, word := range r.levels {
		logger, of, ofOne := strings.Cut(word, ":=")
		if !ofOne {
			logger, of = node, word
		}
		if known := []string{"debug", "info", "warn", "error", "fatal"}; !slices.Contains(known, strings.ToLower(of)) {
			return "", usagef("--log-level: level %q is unknown (%s)%s", of, strings.Join(known, ", "), problem.Hint(strings.ToLower(of), known))
		}
		if logger == node {
			level = of
		}
	}
	return level, nil
}
