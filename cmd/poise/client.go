package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"poise/msgs"
	"poise/msgs/rosapimsgs"
	"poise/msgs/rosjson"
	"poise/problem"
	"poise/server/config"
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
	server string
	robot  string
	ctx    context.Context
	c      *client.Client

	changed func(why error) // told when the connection goes, and nil when it is back; may be nil
}

// newRemote declares the flags that all clients share.
func newRemote(e *env, fs *pflag.FlagSet) *remote {
	r := &remote{e: e}
	fs.StringVar(&r.server, "server", defaultServer, "the `address` of the server")
	fs.StringVar(&r.robot, "robot", "", "the `name` of the robot on the server, if it has several: virtual, real")
	return r
}

// open looks at the arguments and connects. names are those that are wanted: in brackets
// those that can be left out, with an ellipsis the one that repeats. The context ends
// with the first Ctrl-C; the second ends the program.
func (r *remote) open(args []string, names ...string) (end func(), err error) {
	if err = checkArguments(args, names); err != nil {
		return nil, err
	}
	if r.server == "" {
		return nil, usagef("--server is empty: an address such as %s", defaultServer)
	}
	dialing, cancel := context.WithTimeout(context.Background(), dialPatience)
	defer cancel()
	if r.c, err = client.Dial(dialing, rosbridgeURL(r.server), client.Options{Changed: r.changed}); err != nil {
		return nil, noServer(r.server, err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	r.ctx = ctx
	if err = r.find(); err != nil {
		stop()
		r.c.Close()
		return nil, err
	}
	return func() { stop(); r.c.Close() }, nil
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

// noServer says why no server answers: what the network said, without the words of the
// libraries between.
func noServer(server string, err error) error {
	reason := err.Error()
	var op *net.OpError
	var name *net.DNSError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		reason = fmt.Sprintf("it did not answer within %g s", dialPatience.Seconds())
	case errors.As(err, &name):
		reason = fmt.Sprintf("the name %q is unknown", name.Name)
	case errors.As(err, &op):
		reason = op.Err.Error()
		var code syscall.Errno
		if errors.As(op.Err, &code) {
			reason = code.Error()
		}
	}
	return &noServerError{fmt.Errorf("no Poise server at %q: %s; start one with poise serve, or say where it is with --server ADDRESS", server, reason)}
}

// noServerError is that of a server that takes no client.
type noServerError struct{ error }

// find sees whether the robot that is meant is there.
func (r *remote) find() error {
	if r.robot == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(r.ctx, callPatience)
	defer cancel()
	text, err := r.c.Call(ctx, "/rosapi/topic_type", client.Text(&rosapimsgs.TopicTypeRequest{Topic: r.name("joint_states")}, msgs.ROS2))
	if err != nil {
		return r.unanswered(err)
	}
	var a struct{ Type string }
	if err := json.Unmarshal(text, &a); err != nil {
		return err
	}
	if a.Type == "" {
		names, err := r.robots(ctx)
		if err != nil {
			return err
		}
		p := problem.Unknown("unknown_robot", "robot", r.robot, names)
		p.Thing = "--robot"
		p.Text += " on the server at " + r.server
		if len(names) == 1 && problem.DidYouMean(r.robot, names) == "" {
			p.Help += fmt.Sprintf("; poise serve --with-real-sim adds %q, which is simulated", config.Second)
		}
		return p
	}
	return nil
}

// robots lists the robots of the server.
func (r *remote) robots(ctx context.Context) ([]string, error) {
	text, err := r.c.Call(ctx, "/robot_info", []byte("{}"))
	if err != nil {
		return nil, r.unanswered(err)
	}
	var a struct{ Robots []struct{ Name string } }
	if err := json.Unmarshal(text, &a); err != nil {
		return nil, err
	}
	names := make([]string, len(a.Robots))
	for i, one := range a.Robots {
		names[i] = one.Name
	}
	return names, nil
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
	if r.robot == "" {
		return "/" + name
	}
	return "/" + r.robot + "/" + name
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
	if r.e.json {
		fmt.Fprintf(r.e.out, "%s\n", text)
	}
	if !a.Success {
		return nil, r.refusal(r.advised(a.Message, explanationsOf(text)))
	}
	return text, nil
}

// refusal is the error of an answer that is no; with --json the whole of it stands on
// standard output already.
func (r *remote) refusal(why string) error {
	if r.e.json {
		return &toldError{errors.New(why)}
	}
	return errors.New(why)
}

// quiet asks a service by its full name, without printing its answer; the error of one that is no has its code.
func (r *remote) quiet(service string, request, response any) error {
	ctx, cancel := context.WithTimeout(r.ctx, callPatience)
	defer cancel()
	text, err := r.c.Call(ctx, service, client.Text(request, msgs.ROS2))
	if err != nil {
		return r.unanswered(err)
	}
	var a answered
	if err := json.Unmarshal(text, &a); err != nil {
		return err
	}
	if !a.Success {
		why := explanationsOf(text)
		no := problem.New("", "%s", r.advised(a.Message, why))
		if len(why) > 0 {
			no.Code = problem.Code(why[0].Code)
		}
		return no
	}
	return rosjson.Unmarshal(text, response)
}
