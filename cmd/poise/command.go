package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"poise/control"
	"poise/msgs/poisemsgs"
	"poise/msgs/rosjson"
	"poise/problem"
)

// simple is a command that is one call.
func simple(names []string, service string, request func(args []string) (any, error)) func(e *env, fs *pflag.FlagSet) func(args []string) error {
	return func(e *env, fs *pflag.FlagSet) func(args []string) error {
		r := newRemote(e, fs)
		return func(args []string) error { return r.ask(args, names, service, request) }
	}
}

// ask calls a service and prints the message of its answer.
func (r *remote) ask(args, names []string, service string, request func(args []string) (any, error)) error {
	if err := checkArguments(args, names); err != nil {
		return err
	}
	q, err := request(args) // what is wrong with it is told without a server, too
	if err != nil {
		return err
	}
	end, err := r.open(args, names...)
	if err != nil {
		return err
	}
	defer end()
	return r.tell(service, q, "")
}

// tell calls a service and prints the message of its answer, after the name of who gives it.
func (r *remote) tell(service string, q any, who string) error {
	text, err := r.call(service, q)
	if err != nil || r.e.json {
		return err
	}
	var a answered
	if err := json.Unmarshal(text, &a); err != nil {
		return err
	}
	if strings.Contains(a.Message, "set_torque") { // after a stop that took it
		a.Message += "; try: " + r.commandLine("torque", "on")
	}
	fmt.Fprintln(r.e.out, who+a.Message)
	return nil
}

// resetCommand resets all robots, as stop stops them, or the one that is named.
func resetCommand(e *env, fs *pflag.FlagSet) func(args []string) error {
	r := newRemote(e, fs)
	return func(args []string) error {
		if r.robot != "" {
			return r.ask(args, nil, "reset", func([]string) (any, error) { return &poisemsgs.ResetRequest{}, nil })
		}
		return r.resetAll(args)
	}
}

// resetAll resets one robot after the other; one that is refused does not keep from the others.
func (r *remote) resetAll(args []string) error {
	end, err := r.open(args)
	if err != nil {
		return err
	}
	defer end()
	ctx, cancel := context.WithTimeout(r.ctx, callPatience)
	defer cancel()
	names, err := r.robots(ctx)
	if err != nil {
		return err
	}
	var refused []error
	for i, name := range names {
		one, who := *r, ""
		if i > 0 { // names without a robot's are the first one's
			one.robot = name
		}
		if len(names) > 1 {
			who = name + ": "
		}
		if err := one.tell("reset", &poisemsgs.ResetRequest{}, who); err != nil {
			refused = append(refused, fmt.Errorf("%s%w", who, err))
		}
	}
	return errors.Join(refused...)
}

var (
	// torqueCommand gives the torque back or takes it away: of the whole robot, or of some
	// resources.
	torqueCommand = simple([]string{"on|off", "[RESOURCE …]"}, "set_torque", func(args []string) (any, error) {
		if args[0] != "on" && args[0] != "off" {
			return nil, usagef("torque %q: on or off%s", args[0], problem.Hint(args[0], []string{"on", "off"}))
		}
		return &poisemsgs.SetTorqueRequest{On: args[0] == "on", Resources: args[1:]}, nil
	})
	// cycleCommand chooses the cycle of motion control: of the whole robot, or of some
	// resources.
	cycleCommand = simple([]string{"0|1|2", "[RESOURCE …]"}, "switch_cycle", func(args []string) (any, error) {
		n, err := strconv.Atoi(args[0])
		if err != nil || n < 0 || n > control.LastCycle {
			return nil, usagef("cycle %q: must be 0 … %d", args[0], control.LastCycle)
		}
		return &poisemsgs.SwitchCycleRequest{Cycle: int32(n), Resources: args[1:]}, nil
	})
	pauseCommand = simple([]string{"[CONTROLLER]"}, "pause", func(args []string) (any, error) {
		return &poisemsgs.PauseRequest{Controller: first(args)}, nil
	})
	resumeCommand = simple([]string{"[CONTROLLER]"}, "resume", func(args []string) (any, error) {
		return &poisemsgs.ResumeRequest{Controller: first(args)}, nil
	})
)

func first(rest []string) string {
	if len(rest) == 0 {
		return ""
	}
	return rest[0]
}

// speedCommand sets how fast motions go, in percent.
func speedCommand(e *env, fs *pflag.FlagSet) func(args []string) error {
	return newRemote(e, fs).speed
}

func (r *remote) speed(args []string) error {
	if len(args) > 0 { // a mistake is told without a server, too
		if _, err := parsePercent(args[0]); err != nil {
			return err
		}
	}
	end, err := r.open(args, "PERCENT", "[CONTROLLER]")
	if err != nil {
		return err
	}
	defer end()
	percent, err := parsePercent(args[0])
	if err != nil {
		return err
	}
	text, err := r.call("set_speed", &poisemsgs.SetSpeedRequest{Rate: percent / 100, Controller: first(args[1:])})
	if err != nil || r.e.json {
		return err
	}
	var a poisemsgs.SetSpeedResponse
	if err := rosjson.Unmarshal(text, &a); err != nil {
		return err
	}
	held := ""
	if percent > 0 && a.Achieved == 0 {
		if why := r.standing(&poisemsgs.GoalInfo{Controller: first(args[1:])}, "the robot"); why != "" {
			held = ": " + why
		}
	}
	fmt.Fprintf(r.e.out, "%.0f %%%s\n", 100*a.Achieved, held)
	return nil
}

// fastest is the greatest speed of motions, %.
const fastest = 200

// parsePercent reads a speed.
func parsePercent(text string) (float64, error) {
	percent, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(text, "%")), 64)
	switch {
	case err != nil || math.IsNaN(percent):
		return 0, usagef("speed %q is no percent, 0 … %d", text, fastest)
	case percent < 0 || percent > fastest:
		return 0, fmt.Errorf("speed %g %% is not between 0 and %d %%", percent, fastest)
	}
	return percent, nil
}

// switchCommand starts and stops controllers, all or none.
func switchCommand(e *env, fs *pflag.FlagSet) func(args []string) error {
	r := newRemote(e, fs)
	start := fs.String("start", "", "`names` of controllers to start, with commas between them")
	stop := fs.String("stop", "", "`names` of controllers to stop, with commas between them")
	strict := fs.Bool("strict", false, "what is already as wanted is an error")
	publisher := fs.String("publisher", "", "the `node` whose values started streams take, * for any; otherwise that of this command, which ends")
	return func(args []string) error {
		end, err := r.open(args)
		if err != nil {
			return err
		}
		defer end()
		if *start == "" && *stop == "" {
			return usagef("says neither --start nor --stop")
		}
		text, err := r.call("switch_controllers", &poisemsgs.SwitchControllersRequest{Start: commaList(*start), Stop: commaList(*stop), Strict: *strict, Publisher: *publisher})
		if err != nil || e.json {
			return err
		}
		var a answered
		if err := json.Unmarshal(text, &a); err != nil {
			return err
		}
		fmt.Fprintln(e.out, a.Message)
		return nil
	}
}

func commaList(names string) []string {
	return strings.FieldsFunc(names, func(c rune) bool { return c == ',' || c == ' ' })
}
