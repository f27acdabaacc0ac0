package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
	"text/tabwriter"
	"time"

	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/msgs/rosjson"
	"poise/wire/rosbridge/client"
)

// defaultServer is where poise serve listens unless told otherwise.
const defaultServer = "127.0.0.1:8080"

// dialPatience is how long a server may take to answer the door.
const dialPatience = 3 * time.Second

// remote is a command that talks to a running server.
type remote struct {
	e      *env
	fs     *flag.FlagSet
	server string
	robot  string
	json   bool
	ctx    context.Context
	c      *client.Client

	changed func(why error) // told when the connection goes, and nil when it is back; may be nil
}

// newRemote declares the flags that all clients share.
func newRemote(e *env, name string) *remote {
	r := &remote{e: e, fs: flag.NewFlagSet(name, flag.ContinueOnError)}
	r.fs.StringVar(&r.server, "server", defaultServer, "")
	r.fs.StringVar(&r.robot, "robot", "", "")
	r.fs.BoolVar(&r.json, "json", false, "")
	return r
}

// open reads the command line and connects. The context ends with Ctrl-C.
func (r *remote) open(args []string, least, most int) (rest []string, end func(), err error) {
	if rest, err = parseFlags(r.fs, args); err != nil {
		return nil, nil, err
	}
	switch {
	case len(rest) < least:
		return nil, nil, usagef("wants %d arguments, got %d", least, len(rest))
	case most >= 0 && len(rest) > most:
		return nil, nil, usagef("%q is too much", rest[most])
	case r.robot != "" && r.robot != "virtual" && r.robot != "real":
		return nil, nil, usagef("--robot is %q: virtual or real", r.robot)
	}
	url := r.server
	if !strings.Contains(url, "://") {
		url = "ws://" + strings.TrimSuffix(url, "/") + "/rosbridge"
	}
	url = strings.Replace(url, "http://", "ws://", 1)
	dialing, cancel := context.WithTimeout(context.Background(), dialPatience)
	defer cancel()
	if r.c, err = client.Dial(dialing, url, client.Options{Changed: r.changed}); err != nil {
		return nil, nil, fmt.Errorf("no server at %s: %w (start one with poise serve)", r.server, err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	r.ctx = ctx
	return rest, func() { stop(); r.c.Close() }, nil
}

// name returns a name of the robot that is meant.
func (r *remote) name(name string) string {
	if r.robot == "real" {
		return "/real/" + name
	}
	return "/" + name
}

// answered is how every response of poise_msgs begins.
type answered struct {
	Success bool   `json:"success"`
	Message string `json:"message"`
}

// call asks a service, prints its answer, and fails if that is no.
func (r *remote) call(service string, request any) ([]byte, error) {
	text, err := r.c.Call(r.ctx, r.name(service), client.Text(request, msgs.ROS2))
	if err != nil {
		return nil, err
	}
	var a answered
	if err := json.Unmarshal(text, &a); err != nil {
		return nil, err
	}
	if r.json {
		fmt.Fprintf(r.e.out, "%s\n", text)
	}
	if !a.Success {
		if r.json {
			return nil, errAnswered
		}
		return nil, errors.New(a.Message)
	}
	return text, nil
}

// simple is a command that is one call.
func simple(e *env, name string, args []string, least, most int, service string, request func(rest []string) (any, error)) error {
	r := newRemote(e, name)
	rest, end, err := r.open(args, least, most)
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

func runStop(e *env, args []string) error {
	category := 2
	return simple(e, "stop", args, 0, 1, "stop", func(rest []string) (any, error) {
		if len(rest) == 1 {
			if _, err := fmt.Sscan(rest[0], &category); err != nil || category < 0 || category > 2 {
				return nil, usagef("category %q: 0, 1 or 2", rest[0])
			}
		}
		return &poisemsgs.StopRequest{Category: uint8(category)}, nil
	})
}

func runReset(e *env, args []string) error {
	return simple(e, "reset", args, 0, 0, "reset", func([]string) (any, error) { return &poisemsgs.ResetRequest{}, nil })
}

// runTorque gives the torque back or takes it away: of the whole robot, or of some
// resources.
func runTorque(e *env, args []string) error {
	return simple(e, "torque", args, 1, -1, "set_torque", func(rest []string) (any, error) {
		if rest[0] != "on" && rest[0] != "off" {
			return nil, usagef("torque %q: on or off", rest[0])
		}
		return &poisemsgs.SetTorqueRequest{On: rest[0] == "on", Resources: rest[1:]}, nil
	})
}

func runPause(e *env, args []string) error {
	return simple(e, "pause", args, 0, 1, "pause", func(rest []string) (any, error) {
		return &poisemsgs.PauseRequest{Controller: first(rest)}, nil
	})
}

func runResume(e *env, args []string) error {
	return simple(e, "resume", args, 0, 1, "resume", func(rest []string) (any, error) {
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
	rest, end, err := r.open(args, 1, 2)
	if err != nil {
		return err
	}
	defer end()
	var percent float64
	if _, err := fmt.Sscanf(strings.TrimSuffix(rest[0], "%"), "%g", &percent); err != nil {
		return usagef("speed %q: percent, 0 … 200", rest[0])
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

// runSwitch starts and stops controllers, all or none.
func runSwitch(e *env, args []string) error {
	r := newRemote(e, "switch")
	start := r.fs.String("start", "", "")
	stop := r.fs.String("stop", "", "")
	strict := r.fs.Bool("strict", false, "")
	_, end, err := r.open(args, 0, 0)
	if err != nil {
		return err
	}
	defer end()
	if *start == "" && *stop == "" {
		return usagef("says neither --start nor --stop")
	}
	_, err = r.call("switch_controllers", &poisemsgs.SwitchControllersRequest{Start: commaList(*start), Stop: commaList(*stop), Strict: *strict})
	if err == nil && !r.json {
		fmt.Fprintln(e.out, "done")
	}
	return err
}

func commaList(names string) []string {
	return strings.FieldsFunc(names, func(c rune) bool { return c == ',' || c == ' ' })
}

// status asks what the robot does.
func (r *remote) status() (*poisemsgs.RobotStatus, error) {
	text, err := r.call("get_state", &poisemsgs.GetStateRequest{})
	if err != nil {
		return nil, err
	}
	var a poisemsgs.GetStateResponse
	return &a.State, rosjson.Unmarshal(text, &a)
}

func runState(e *env, args []string) error {
	r := newRemote(e, "state")
	_, end, err := r.open(args, 0, 0)
	if err != nil {
		return err
	}
	defer end()
	s, err := r.status()
	if err != nil || r.json {
		return err
	}
	fmt.Fprintf(e.out, "power %s", s.Power)
	if s.Stopped {
		fmt.Fprint(e.out, ", stopped: goals are refused until poise reset")
	}
	fmt.Fprintf(e.out, "\nspeed %.0f %%", 100*s.Rate)
	if s.Rate != s.WantedRate {
		fmt.Fprintf(e.out, " (of %.0f %% wanted)", 100*s.WantedRate)
	}
	fmt.Fprintln(e.out)
	table(e.out, func(w io.Writer) {
		for _, g := range s.Goals {
			fmt.Fprintf(w, "goal\t%s\t%s\t%s\t%.2f", g.Action, g.State, g.Phase, g.Time)
			if g.Duration > 0 { // otherwise it goes on for ever
				fmt.Fprintf(w, "/%.2f", g.Duration)
			}
			fmt.Fprintln(w, " s")
		}
		for _, o := range s.Owners {
			fmt.Fprintf(w, "owner\t%s\t%s\n", o.Resource, o.Owner)
		}
		for _, limp := range s.Limp {
			fmt.Fprintf(w, "limp\t%s\n", limp)
		}
		for _, f := range s.Faults {
			fmt.Fprintf(w, "fault\t%s\t%s\t%s\n", f.Kind, f.Severity, f.Explanation.Text)
		}
	})
	return nil
}

func runControllers(e *env, args []string) error {
	r := newRemote(e, "controllers")
	_, end, err := r.open(args, 0, 0)
	if err != nil {
		return err
	}
	defer end()
	s, err := r.status()
	if err != nil || r.json {
		return err
	}
	table(e.out, func(w io.Writer) {
		fmt.Fprintln(w, "name\tkind\tstate\tresources")
		for _, c := range s.Controllers {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", c.Name, c.Kind, c.State, strings.Join(c.Resources, " "))
		}
	})
	return nil
}

func table(w io.Writer, fill func(w io.Writer)) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fill(t)
	_ = t.Flush() // a reader that went away is no trouble
}

// runCall calls any service with its request as JSON.
func runCall(e *env, args []string) error {
	r := newRemote(e, "call")
	rest, end, err := r.open(args, 1, 2)
	if err != nil {
		return err
	}
	defer end()
	var request []byte
	if len(rest) == 2 {
		if request = []byte(rest[1]); rest[1] == "-" {
			if request, err = io.ReadAll(e.in); err != nil {
				return err
			}
		}
		if !json.Valid(request) {
			return usagef("the request is no JSON: %s", rest[1])
		}
	}
	text, err := r.c.Call(r.ctx, r.service(rest[0]), request)
	if err != nil {
		return err
	}
	if r.json {
		fmt.Fprintf(e.out, "%s\n", text)
	} else {
		fmt.Fprintf(e.out, "%s\n", indent(text))
	}
	a := answered{Success: true}
	if err := json.Unmarshal(text, &a); err == nil && !a.Success {
		return errAnswered
	}
	return nil
}

// service takes a name as it is, or as that of the robot that is meant.
func (r *remote) service(name string) string {
	if strings.HasPrefix(name, "/") {
		return name
	}
	return r.name(name)
}

func indent(text []byte) []byte {
	var b bytes.Buffer
	if json.Indent(&b, text, "", "  ") != nil {
		return text
	}
	return b.Bytes()
}

// runTopic lists topics, or prints what one says.
func runTopic(e *env, args []string) error {
	r := newRemote(e, "topic")
	count := r.fs.Int("count", 0, "")
	var gone atomic.Bool
	r.changed = func(why error) { // echo waits for a server that is started again
		if why != nil && !gone.Swap(true) {
			fmt.Fprintf(e.err, "poise: topic: the server is gone; waiting for it\n")
		} else if why == nil {
			gone.Store(false)
		}
	}
	rest, end, err := r.open(args, 1, 2)
	if err != nil {
		return err
	}
	defer end()
	switch {
	case rest[0] == "list" && len(rest) == 1:
		return r.listTopics()
	case rest[0] == "echo" && len(rest) == 2:
		return r.echo(rest[1], *count)
	}
	return usagef("list, or echo NAME")
}

func (r *remote) listTopics() error {
	text, err := r.c.Call(r.ctx, "/rosapi/topics", nil)
	if err != nil {
		return err
	}
	if r.json {
		fmt.Fprintf(r.e.out, "%s\n", text)
		return nil
	}
	var a struct{ Topics, Types []string }
	if err := json.Unmarshal(text, &a); err != nil {
		return err
	}
	table(r.e.out, func(w io.Writer) {
		for i, t := range a.Topics {
			fmt.Fprintf(w, "%s\t%s\n", t, a.Types[i])
		}
	})
	return nil
}

// echo prints messages, a JSON line each with --json; Ctrl-C or count ends it.
func (r *remote) echo(name string, count int) error {
	sub, err := r.c.Subscribe(r.service(name), "", client.SubscribeOptions{})
	if err != nil {
		return err
	}
	for n := 0; count == 0 || n < count; n++ {
		msg, lost, err := sub.Next(r.ctx)
		if errors.Is(err, context.Canceled) {
			return nil
		}
		if err != nil {
			return err
		}
		if lost > 0 {
			fmt.Fprintf(r.e.err, "poise: topic: %d messages were lost: this reader is too slow\n", lost)
		}
		if r.json {
			fmt.Fprintf(r.e.out, "%s\n", msg)
		} else {
			fmt.Fprintf(r.e.out, "%s\n---\n", indent(msg))
		}
	}
	return nil
}
