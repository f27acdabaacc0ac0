package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"poise/identify"
	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/msgs/rosjson"
	"poise/wire/rosbridge/client"
)

// identExecution is poise ident --execute: servos of a server's robot are moved and identified.
type identExecution struct {
	r    remote
	goal poisemsgs.ServoIdentGoal
	on   bool
}

func (x *identExecution) register(e *env, fs *pflag.FlagSet) {
	x.r.e = e
	fs.BoolVar(&x.on, "execute", false, "identify the servos of RESOURCES of a server's robot: it moves, the log is kept, and better models are taken over; --robot is then its name on the server")
	fs.StringVar(&x.r.server, "server", defaultServer, "of --execute: the `address` of the server")
	fs.Float64Var(&x.goal.Duration, "duration", 0, "of --execute: `s` of excitation; otherwise 30")
	fs.Float64Var(&x.goal.Amplitude, "amplitude", 0, "of --execute: `rad` that a joint goes to either side at most; otherwise 0.5")
	fs.BoolVar(&x.goal.Sweeps, "sweeps", false, "of --execute: also sweeps of constant speed, for the Stribeck curve")
	fs.StringVar(&x.goal.Mounting, "mounting", "", "of --execute: how a robot is held whose legs move: `fixed` or lifted")
	fs.Uint32Var(&x.goal.Seed, "seed", 0, "of --execute: `number` that all is drawn by")
	fs.BoolVar(&x.goal.PreFlightOnly, "pre-flight", false, "of --execute: only look whether it could be done; nothing moves")
	fs.BoolVar(&x.goal.KeepModels, "keep-models", false, "of --execute: models in force stay, whatever is found")
}

// executeFlags are those that --execute takes.
var executeFlags = []string{"execute", "server", "robot", "duration", "amplitude", "sweeps", "mounting", "seed", "pre-flight", "keep-models", "json"}

// check refuses flags of the one kind of use with the other.
func (x *identExecution) check(fs *pflag.FlagSet, args []string) error {
	if x.on {
		if len(args) == 0 {
			return usagef("RESOURCES are missing: limbs or joints whose servos are to be identified")
		}
		return onlyFlags(fs, "--execute takes no %s: poise ident LOG takes the log that is kept", executeFlags...)
	}
	for _, name := range executeFlags {
		if name != "execute" && name != "robot" && name != "json" && fs.Changed(name) {
			return usagef("--%s is for --execute", name)
		}
	}
	return nil
}

// run performs the identification, and prints the verdict on each servo as poise ident LOG does.
func (x *identExecution) run(args []string, robot string) error {
	r := &x.r
	r.robot, x.goal.Resources = robot, args
	end, err := r.open(args, "RESOURCE", "[RESOURCE …]")
	if err != nil {
		return err
	}
	defer end()
	what := "identification of " + strings.Join(args, ", ")
	goal := client.Text(&x.goal, msgs.ROS2)
	u, err := r.follow(r.name("servo_ident"), "poise_msgs/action/ServoIdent", goal, what, func(json.RawMessage) {})
	switch {
	case err != nil:
		return err
	case u.Status != statusSucceeded:
		return r.ending(u, what)
	}
	return x.tell(u)
}

// executed is a verdict as poise ident prints it, with what became of it.
type executed struct {
	*identify.Result
	RMSEBefore identify.Number `json:"rmse_before"` // of the model that was in force, rad
	Published  bool            `json:"published"`
	Version    uint32          `json:"version"`
	Log        string          `json:"log"`
}

func (x *identExecution) tell(u client.Update) error {
	e := x.r.e
	var found poisemsgs.ServoIdentResult
	if err := rosjson.Unmarshal(u.Result, &found); err != nil {
		return err
	}
	enc := json.NewEncoder(e.out)
	enc.SetEscapeHTML(false)
	if x.goal.PreFlightOnly {
		return enc.Encode(map[string]any{"checks": found.Checks, "plan": found.Plan})
	}
	for i := range found.Joints {
		r := verdictOf(&found.Joints[i])
		if err := enc.Encode(executed{Result: r, RMSEBefore: identify.Number(found.Joints[i].RmseBefore), Published: found.Joints[i].Published, Version: found.Version, Log: found.Log}); err != nil {
			return err
		}
		if e.json {
			continue
		}
		tellIdentified(e.err, r)
		switch {
		case found.Joints[i].Published:
			fmt.Fprintf(e.err, "  in force as version %d: the model before errs by %.4f rad\n", found.Version, found.Joints[i].RmseBefore)
		case found.Joints[i].Kept:
			fmt.Fprintf(e.err, "  the model in force errs by %.4f rad, which is less, and stays\n", found.Joints[i].RmseBefore)
		}
	}
	if !e.json {
		for _, note := range found.Notes {
			fmt.Fprintf(e.err, "poise: ident: %s\n", note)
		}
		if found.Log != "" {
			fmt.Fprintf(e.err, "log: %s\n", found.Log)
		}
	}
	return nil
}

// verdictOf is a verdict as package identify has it.
func verdictOf(j *poisemsgs.ServoIdentJoint) *identify.Result {
	parameters := func(p []float64) (out identify.Parameters) {
		if len(p) == 7 {
			out = identify.Parameters{A0: identify.Number(p[0]), A1: identify.Number(p[1]), A2: identify.Number(p[2]), A3: identify.Number(p[3]), A4: identify.Number(p[4]), A5: identify.Number(p[5]), Vs: identify.Number(p[6])}
		}
		return out
	}
	r := &identify.Result{Joint: j.Joint, Accepted: j.Accepted, Reasons: append([]string{}, j.Reasons...), Details: append([]string{}, j.Details...), Taken: append([]string{}, j.Taken...),
		Parameters: parameters(j.Parameters), Sigma: parameters(j.Sigma), Delay: identify.Number(j.Delay), DelaySigma: identify.Number(j.DelaySigma), DelayMeasured: true,
		Condition: identify.Number(j.Condition), RMSE: identify.Number(j.Rmse), RMSETorque: identify.Number(j.RmseTorque), TrainRMSE: identify.Number(j.RmseFit), Effects: []identify.Effect{},
		Voltage: identify.Number(j.Voltage), Temperature: identify.Number(j.Temperature), Kp: identify.Number(j.Kp), Gear: identify.Number(j.Gear), Period: identify.Number(j.Period),
		Duration: identify.Number(j.Duration), Readings: int(j.Readings), Lost: int(j.Lost), Kept: j.Kept}
	for i := range min(len(j.Autocorrelation), len(r.Autocorrelation)) {
		r.Autocorrelation[i] = identify.Number(j.Autocorrelation[i])
	}
	for _, e := range j.Effects {
		name, text, _ := strings.Cut(e, ": ")
		r.Effects = append(r.Effects, identify.Effect{Name: name, Text: text})
	}
	return r
}
