package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"os/signal"
	"slices"
	"strconv"
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

// callPatience is how long a server may take to do what a command asks: longer than
// it grants its own robot.
const callPatience = 30 * time.Second

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

// open reads the command line and connects. names are the arguments: in brackets
// those that can be left out, with an ellipsis the one that repeats. The context ends
// with the first Ctrl-C; the second ends the program.
func (r *remote) open(args []string, names ...string) (rest []string, end func(), err error) {
	r.e.json = slices.Contains(args, "--json") || slices.Contains(args, "-json") // failures too
	if rest, err = parseFlags(r.fs, args); err != nil {
		return nil, nil, err
	}
	if err = checkArguments(rest, names); err != nil {
		return nil, nil, err
	}
	if r.robot != "" && r.robot != "virtual" && r.robot != "real" {
		return nil, nil, usagef("--robot is %q: virtual or real", r.robot)
	}
	if r.server == "" {
		return nil, nil, usagef("--server is empty: an address such as %s", defaultServer)
	}
	dialing, cancel := context.WithTimeout(context.Background(), dialPatience)
	defer cancel()
	if r.c, err = client.Dial(dialing, rosbridgeURL(r.server), client.Options{Changed: r.changed}); err != nil {
		return nil, nil, noServer(r.server, err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	r.ctx = ctx
	if err = r.find(); err != nil {
		stop()
		r.c.Close()
		return nil, nil, err
	}
	return rest, func() { stop(); r.c.Close() }, nil
}

// checkArguments compares what stands on the command line with what is wanted.
func checkArguments(rest, names []string) error {
	for i, name := range names {
		if i >= len(rest) && !strings.HasPrefix(name, "[") {
			return usagef("%s is missing", name)
		}
		if strings.HasSuffix(name, "…]") {
			return nil
		}
	}
	if len(rest) > len(names) {
		return usagef("%q is too much", rest[len(names)])
	}
	return nil
}

// rosbridgeURL completes an address: the port and the path of a Poise are known.
func rosbridgeURL(server string) string {
	scheme, host, ok := strings.Cut(server, "://")
	if !ok {
		scheme, host = "ws", server
	}
	scheme = strings.Replace(scheme, "http", "ws", 1)
	host, path, _ := strings.Cut(host, "/")
	if _, _, err := net.SplitHostPort(host); err != nil && host != "" {
		_, port, _ := net.SplitHostPort(defaultServer)
		host = net.JoinHostPort(strings.Trim(host, "[]"), port)
	}
	if path == "" {
		path = "rosbridge"
	}
	return scheme + "://" + host + "/" + path
}

// noServer says why nobody answers: what the network said, without the words of the
// libraries between.
func noServer(server string, err error) error {
	why := err.Error()
	var op *net.OpError
	var name *net.DNSError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		why = fmt.Sprintf("it did not answer within %g s", dialPatience.Seconds())
	case errors.As(err, &name):
		why = fmt.Sprintf("the name %q is unknown", name.Name)
	case errors.As(err, &op):
		why = op.Err.Error()
		var code syscall.Errno
		if errors.As(op.Err, &code) {
			why = code.Error()
		}
	}
	return fmt.Errorf("no Poise server at %q: %s; start one with poise serve, or say where it is with --server ADDRESS", server, why)
}

// find sees whether the robot that is meant is there.
func (r *remote) find() error {
	if r.robot != "real" {
		return nil
	}
	ctx, cancel := context.WithTimeout(r.ctx, callPatience)
	defer cancel()
	text, err := r.c.Call(ctx, "/rosapi/topic_type", []byte(`{"topic":"/real/joint_states"}`))
	if err != nil {
		return r.unanswered(err)
	}
	var a struct{ Type string }
	if err := json.Unmarshal(text, &a); err != nil {
		return err
	}
	if a.Type == "" {
		return fmt.Errorf("--robot real: the server at %s has no real robot; poise serve --with-real-sim starts one with a simulated", r.server)
	}
	return nil
}

// unanswered puts the end of a wait into words.
func (r *remote) unanswered(err error) error {
	switch {
	case r.ctx.Err() != nil:
		return errors.New("interrupted")
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("the server at %s did not answer within %g s", r.server, callPatience.Seconds())
	}
	return err
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
	ctx, cancel := context.WithTimeout(r.ctx, callPatience)
	defer cancel()
	text, err := r.c.Call(ctx, r.name(service), client.Text(request, msgs.ROS2))
	if err != nil {
		return nil, r.unanswered(err)
	}
	var a answered
	if err := json.Unmarshal(text, &a); err != nil {
		return nil, err
	}
	if r.json {
		fmt.Fprintf(r.e.out, "%s\n", text)
	}
	if !a.Success {
		return nil, r.refusal(a.Message)
	}
	return text, nil
}

// refusal is the error of an answer that is no; with --json the whole of it stands on
// standard output already.
func (r *remote) refusal(why string) error {
	if r.json {
		return &toldError{errors.New(why)}
	}
	return errors.New(why)
}

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

func runStop(e *env, args []string) error {
	return simple(e, "stop", args, []string{"[CATEGORY]"}, "stop", func(rest []string) (any, error) {
		category := uint8(2)
		if len(rest) == 1 {
			n, err := strconv.ParseUint(rest[0], 10, 8)
			if category = uint8(n); err != nil || n > 2 {
				return nil, usagef("category %q: 0, 1 or 2 (torque off; ramp, then torque off; ramp, then hold)", rest[0])
			}
		}
		return &poisemsgs.StopRequest{Category: category}, nil
	})
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
	_, end, err := r.open(args)
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
	_, end, err := r.open(args)
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
	_, end, err := r.open(args)
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
	rest, end, err := r.open(args, "SERVICE", "[JSON]")
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
	text, err := r.c.Call(r.ctx, r.service(rest[0]), request) // as long as it takes: it may plan
	if err != nil {
		return r.unanswered(err)
	}
	if r.json {
		fmt.Fprintf(e.out, "%s\n", text)
	} else {
		fmt.Fprintf(e.out, "%s\n", indent(text))
	}
	a := answered{Success: true}
	if err := json.Unmarshal(text, &a); err == nil && !a.Success {
		return &toldError{fmt.Errorf("%s: %s", rest[0], a.Message)}
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
	rest, end, err := r.open(args, "list|echo", "[NAME]")
	if err != nil {
		return err
	}
	defer end()
	switch {
	case rest[0] == "list" && len(rest) == 1:
		return r.listTopics()
	case *count < 0:
		return usagef("--count is %d: how many messages, 0 for all that come", *count)
	case rest[0] == "echo" && len(rest) == 2:
		return r.echo(rest[1], *count)
	case rest[0] == "echo":
		return usagef("NAME is missing: echo what?")
	}
	return usagef("%q is unknown: list, or echo NAME", strings.Join(rest, " "))
}

func (r *remote) listTopics() error {
	text, err := r.c.Call(r.ctx, "/rosapi/topics", nil)
	if err != nil {
		return r.unanswered(err)
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
			return fmt.Errorf("%w (poise topic list lists what there is)", err)
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
