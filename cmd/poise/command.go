package main

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"poise/msgs/poisemsgs"
	"poise/msgs/rosjson"
)

// simple is a command that is one call.
func simple(e *env, name string, args, names []string, service string, request func(rest []string) (any, error)) error {
	r := newRemote(e, name)
	rest, end, err := r.open(args, names...)
	if err != nil {
		return err
	}
	defer end()
	q, err := request(rest)
	if err != nil {
		return err
	}
	text, err := r.call(service, q)
	if err != nil || r.json {
		return err
	}
	var a answered
	if err := json.Unmarshal(text, &a); err != nil {
		return err
	}
	fmt.Fprintln(e.out, a.Message)
	return nil
}

func runReset(e *env, args []string) error {
	return simple(e, "reset", args, nil, "reset", func([]string) (any, error) { return &poisemsgs.ResetRequest{}, nil })
}

// runTorque gives the torque back or takes it away: of the whole robot, or of some
// resources.
func runTorque(e *env, args []string) error {
	return simple(e, "torque", args, []string{"on|off", "[RESOURCE …]"}, "set_torque", func(rest []string) (any, error) {
		if rest[0] != "on" && rest[0] != "off" {
			return nil, usagef("torque %q: on or off", rest[0])
		}
		return &poisemsgs.SetTorqueRequest{On: rest[0] == "on", Resources: rest[1:]}, nil
	})
}

func runPause(e *env, args []string) error {
	return simple(e, "pause", args, []string{"[CONTROLLER]"}, "pause", func(rest []string) (any, error) {
		return &poisemsgs.PauseRequest{Controller: first(rest)}, nil
	})
}

func runResume(e *env, args []string) error {
	return simple(e, "resume", args, []string{"[CONTROLLER]"}, "resume", func(rest []string) (any, error) {
		return &poisemsgs.ResumeRequest{Controller: first(rest)}, nil
	})
}

func first(rest []string) string {
	if len(rest) == 0 {
		return ""
	}
	return rest[0]
}

// runSpeed sets how fast motions go, in percent.
func runSpeed(e *env, args []string) error {
	r := newRemote(e, "speed")
	rest, end, err := r.open(args, "PERCENT", "[CONTROLLER]")
	if err != nil {
		return err
	}
	defer end()
	percent, err := parsePercent(rest[0])
	if err != nil {
		return err
	}
	text, err := r.call("set_speed", &poisemsgs.SetSpeedRequest{Rate: percent / 100, Controller: first(rest[1:])})
	if err != nil || r.json {
		return err
	}
	var a poisemsgs.SetSpeedResponse
	if err := rosjson.Unmarshal(text, &a); err != nil {
		return err
	}
	fmt.Fprintf(e.out, "%.0f %%\n", 100*a.Achieved)
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

// runSwitch starts and stops controllers, all or none.
func runSwitch(e *env, args []string) error {
	r := newRemote(e, "switch")
	start := r.fs.String("start", "", "")
	stop := r.fs.String("stop", "", "")
	strict := r.fs.Bool("strict", false, "")
	publisher := r.fs.String("publisher", "", "")
	_, end, err := r.open(args)
	if err != nil {
		return err
	}
	defer end()
	if *start == "" && *stop == "" {
		return usagef("says neither --start nor --stop")
	}
	_, err = r.call("switch_controllers", &poisemsgs.SwitchControllersRequest{Start: commaList(*start), Stop: commaList(*stop), Strict: *strict, Publisher: *publisher})
	if err == nil && !r.json {
		fmt.Fprintln(e.out, "done")
	}
	return err
}

func commaList(names string) []string {
	return strings.FieldsFunc(names, func(c rune) bool { return c == ',' || c == ' ' })
}
