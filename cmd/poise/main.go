// Command poise takes a robot description and gives a moving robot.
//
// main only wires: each command stands in a file of its own, and the work is
// done by the packages below.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"poise/problem"
)

// commands lists what the binary can do, in the order of the help text.
var commands = []command{
	{"serve", "[--robot ROBOT] [--package-path FOLDERS] [--listen 127.0.0.1:8080] [--motions DIR] [--bus [NAME=]PORT[,baud=N] …] [--physics] [--world FILE] [--with-real-sim] [--config FILE] [--period S] [--priority N] [--record FILE|--no-record] [--mirror URL] [--ros1] [--ros1-master] [--ros1-open] [--remap A:=B] [--guard] [--quiet] [NAME:=VALUE …]",
		"the main job: a virtual robot, its graph for ROS clients, and the Studio in the browser", runServe},
	{"check", "ROBOT [NAME:=VALUE …] [--json] [--floating|--fixed] [--limits F] [--cartesian-limits F] [--override-limits] [--write-limits] [--package-path DIRS]",
		"what it is: joints, groups, limits and where each comes from, mass, warnings", runCheck},
	{"kin", "ROBOT [NAME:=VALUE …] fk|jacobian|ik [--floating|--fixed]",
		"where links are and how joints move them: JSON lines in, JSON lines out", runKin},
	{"dyn", "ROBOT [NAME:=VALUE …] rnea|crba|aba|gravity|com|centroidal [--floating|--fixed]",
		"forces, masses and momentum of rigid bodies: JSON lines in, JSON lines out", runDyn},
	{"plan", "ROBOT [NAME:=VALUE …] REQUEST [--compat pilz] [--sampling S] [--current JSON] [--limits F] [--cartesian-limits F] [--override-limits] [-o F] [--plot F] | --execute REQUEST [--server ADDRESS]",
		"a MotionPlanRequest or MotionSequenceRequest (JSON or YAML) → the planned motion, or why not, as JSON", runPlan},
	{"motions", "list|show|lint|import|export|preview [NAME …|FILE …] [--dir DIR] [--robot R] [--json] [--goal [--ros1]] [--replace] [-o F] [--plot F] [--period S] [--scale X] [--backward] [--marked]",
		"stored motions: list, show and judge them, exchange them with ROS, draw their curves", runMotions},
	{"arbitrate", "SCENARIO [--plot FILE.png|FILE.svg]",
		"run the arbiter on a script of requests and faults: a JSON line for every change", runArbitrate},
	{"sim", "ROBOT [NAME:=VALUE …] SCENARIO [--report F] [--trace F] [--plot F] [--seeds N] [--motions DIR] [--floating|--fixed]",
		"physics without a server: a robot with mass acts out a scenario and is judged", runSim},
	{"bus", "[scan PORT | monitor PORT | ping PORT ID | read PORT ID [REGISTER …] | write PORT ID REGISTER VALUE [--torque] | set-id PORT ID NEW | set-baud PORT ID BAUD | emulate FAMILY --robot ROBOT] [--family herkulex|dynamixel|feetech] [--baud N] [--ids A-B] [--count N] [--log FILE] [--limp=false] [--link PATH] [--yes] [--json]",
		"real servos: list the ports, find servos, read and write their registers, give them ids; or emulate them", runBus},
	{"replay", "[FILE] [--robot ROBOT] [--json]",
		"run a flight recording again and compare every tick, bit for bit; without FILE the last one of the state folder", runReplay},
	{"interface", "list|show|md5 [TYPE] [--ros1] [--full] [--json]",
		"message, service and action types: their definitions as ROS writes them, and their ROS 1 sums", runInterface},
	{"config", "[--config FILE] [--drivers]",
		"the configuration of the server with all defaults and comments; or the drivers that a robot can have", runConfig},
	{"play", "NAME [--robot NAME] [--speed PERCENT] [--loop] [--part] [--backward] [--return] [--no-approach] [--server ADDRESS] [--json]",
		"play a stored motion on a running server; Ctrl-C ramps down", runPlay},
	{"pose", "NAME [--robot NAME] [--server ADDRESS] [--json]",
		"move to a named pose, all joints at once; Ctrl-C ramps down", runPose},
	{"stop", "[CATEGORY] [--robot NAME] [--server ADDRESS] [--json]",
		"stop all robots, or one: 2 (ramp, then hold; the default), 1 (ramp, then torque off) or 0 (torque off)", runStop},
	{"reset", "[--robot NAME] [--server ADDRESS] [--json]", "take goals again after a stop or a fault; after stop 0 or 1, torque on comes next", runReset},
	{"torque", "on|off [RESOURCE …] [--robot NAME] [--server ADDRESS] [--json]",
		"give the torque back or take it away: of the whole robot, or of some limbs", runTorque},
	{"pause", "[CONTROLLER] [--robot NAME] [--server ADDRESS] [--json]", "let motions stand still on their paths", runPause},
	{"resume", "[CONTROLLER] [--robot NAME] [--server ADDRESS] [--json]", "let them go on", runResume},
	{"speed", "PERCENT [CONTROLLER] [--robot NAME] [--server ADDRESS] [--json]", "how fast motions go, 0 … 200 %; prints what was achieved", runSpeed},
	{"state", "[--robot NAME] [--server ADDRESS] [--json]", "power, goals, who owns what, faults", runState},
	{"controllers", "[--robot NAME] [--server ADDRESS] [--json]", "the controllers and what they do", runControllers},
	{"switch", "[--start NAMES] [--stop NAMES] [--publisher NODE] [--strict] [--robot NAME] [--server ADDRESS] [--json]", "start and stop controllers: all of it, or nothing", runSwitch},
	{"topic", "list | echo NAME [--count N] [--robot NAME] [--server ADDRESS] [--json]", "the topics of a server, and what one says", runTopic},
	{"bag", "info FILE | record -O FILE TOPIC …|-a [--lz4] [--duration S] [--limit N] | play FILE [TOPIC …] [--rate X] [--delay S] [--wait-for-subscribers]; [--server ADDRESS] [--ros1-open] [--json]",
		"bag files of ROS 1: what is in one, record one, play one; at ROS_MASTER_URI, or of a Poise server", runBag},
	{"goal", "ACTION [JSON] [--robot NAME] [--server ADDRESS] [--json]", "send a goal of any action; Ctrl-C ramps down", runGoal},
	{"call", "SERVICE [JSON] [--robot NAME] [--server ADDRESS] [--json]", "call any service of a server", runCall},
}

func main() {
	os.Exit(run(&env{in: os.Stdin, out: os.Stdout, err: os.Stderr}, os.Args[1:]))
}

// env is what a command may touch of the outside.
type env struct {
	in       io.Reader
	out, err io.Writer
	json     bool   // failures are told on standard output, too, as JSON
	flush    func() // writes what a command left to be written later; may be nil
}

// command is one word of the command line.
type command struct {
	name  string
	args  string // what follows the name, as in the help text
	short string // one line
	run   func(e *env, args []string) error
}

// usageError is a command line that cannot be understood: exit code 2.
type usageError struct{ msg string }

func (e *usageError) Error() string { return e.msg }

func usagef(format string, a ...any) error { return &usageError{fmt.Sprintf(format, a...)} }

// errAnswered ends a command with exit code 1 whose answer has been printed
// already, such as a refusal given as JSON.
var errAnswered = errors.New("answered")

// toldError is a refusal that stands on standard output already, whole and as JSON;
// people read it on standard error.
type toldError struct{ error }

// exitError ends a command with the exit code of another program, which has said why.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// Exit codes are a contract: scripts rely on them.
const (
	exitOK      = 0
	exitFailure = 1 // a refusal or a failure
	exitUsage   = 2 // wrong usage
)

func run(e *env, args []string) int {
	if len(args) == 0 || args[0] == "help" || args[0] == "-h" || args[0] == "--help" {
		help(e.out)
		if len(args) == 0 {
			return exitUsage
		}
		return exitOK
	}
	for _, c := range commands {
		if c.name == args[0] {
			code := report(e, c, c.run(e, args[1:]))
			if e.flush != nil {
				e.flush()
			}
			return code
		}
	}
	names := make([]string, len(commands))
	for i, c := range commands {
		names[i] = c.name
	}
	fmt.Fprintf(e.err, "poise: %s: unknown command (poise help lists them)%s\n", args[0], problem.Hint(args[0], names))
	return exitUsage
}

// report prints what went wrong, one line each, and chooses the exit code.
func report(e *env, c command, err error) int {
	var usage *usageError
	var other exitError
	var told *toldError
	if isHelp := errors.Is(err, flag.ErrHelp); e.json && err != nil && !isHelp && !errors.As(err, &told) && !errors.Is(err, errAnswered) {
		text, _ := json.Marshal(answered{Message: err.Error()}) // text always can be written
		fmt.Fprintf(e.out, "%s\n", text)
	}
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintf(e.out, "usage: poise %s %s\n%s\n", c.name, c.args, c.short)
		return exitOK
	case errors.Is(err, errAnswered):
		return exitFailure
	case errors.As(err, &other):
		return int(other)
	case errors.As(err, &usage):
		fmt.Fprintf(e.err, "poise: %s: %v\nusage: poise %s %s\n", c.name, err, c.name, c.args)
		return exitUsage
	}
	if told != nil {
		err = told.error
	}
	for _, one := range flatten(err) {
		fmt.Fprintf(e.err, "poise: %s: %v\n", c.name, one)
	}
	return exitFailure
}

// flatten takes joined errors apart, so that each stands on its own line.
func flatten(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, one := range joined.Unwrap() {
		all = append(all, flatten(one)...)
	}
	return all
}

// parseFlags reads flags standing before, between or after the arguments, and
// returns the arguments. What follows "--" is never a flag.
func parseFlags(fs *flag.FlagSet, args []string) ([]string, error) {
	fs.SetOutput(io.Discard)
	var rest []string
	for {
		if err := fs.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				return nil, err
			}
			word, undefined := strings.CutPrefix(err.Error(), "flag provided but not defined: ")
			if undefined && isNumber(word) { // a number below zero is an argument
				rest, args = append(rest, word), fs.Args()
				continue
			}
			if undefined {
				return nil, noFlag(fs, strings.TrimLeft(word, "-"))
			}
			return nil, usagef("%s", flagWords.Replace(err.Error()))
		}
		left := fs.Args()
		if len(left) == 0 {
			return rest, nil
		}
		if n := len(args) - len(left); n > 0 && args[n-1] == "--" {
			return append(rest, left...), nil
		}
		rest = append(rest, left[0])
		args = left[1:]
	}
}

// noFlag refuses a flag that a command does not have.
func noFlag(fs *flag.FlagSet, name string) error {
	var names []string
	fs.VisitAll(func(f *flag.Flag) { names = append(names, "--"+f.Name) })
	return usagef("there is no flag --%s%s", name, problem.Hint("--"+name, names))
}

// flagWords puts what the flag package says into the words of the help text.
var flagWords = strings.NewReplacer("flag needs an argument: -", "a value is missing after --",
	"invalid value ", "", "for flag -", "is no value of --", ": parse error", "", ": value out of range", ", it is too large",
	"invalid boolean value ", "", "for -", "is neither true nor false for --")

func isNumber(word string) bool {
	_, err := strconv.ParseFloat(word, 64)
	return err == nil
}

func help(w io.Writer) {
	fmt.Fprintf(w, "Poise: robot motion control. A robot description goes in, a moving robot comes out.\n\nusage: poise COMMAND …\n\n")
	for _, c := range commands {
		fmt.Fprintf(w, "  poise %s %s\n        %s\n", c.name, c.args, c.short)
	}
	fmt.Fprintf(w, "\nROBOT is a name shipped inside (pony, arm6), a .urdf or .xacro file (xacro arguments\nas name:=value after it), or a folder. Flags may stand before or after arguments.\nPackages that package://… and $(find …) name are looked for above the robot's own\nfile and in the folders of --package-path, by default those of ROS_PACKAGE_PATH and\nAMENT_PREFIX_PATH.\n")
}
