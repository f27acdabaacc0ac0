package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/pflag"

	"poise/problem"
	"poise/wire/rosbridge/client"
)

// callCommand calls any service with its request as JSON.
func callCommand(e *env, fs *pflag.FlagSet) func(args []string) error {
	return newRemote(e, fs).callText
}

func (r *remote) callText(rest []string) error {
	e := r.e
	end, err := r.open(rest, "SERVICE", "[JSON]")
	if err != nil {
		return err
	}
	defer end()
	request, err := e.jsonArgument(rest[1:])
	if err != nil {
		return err
	}
	text, err := r.c.Call(r.ctx, r.service(rest[0]), request) // as long as it takes: it may plan
	if err != nil && strings.Contains(err.Error(), "there is no service") {
		return fmt.Errorf("%w (%s lists what there is)", err, r.commandLine("call", "/rosapi/services"))
	}
	if err != nil {
		return r.unanswered(err)
	}
	if r.e.json {
		fmt.Fprintf(e.out, "%s\n", text)
	} else {
		fmt.Fprintf(e.out, "%s\n", indent(text))
	}
	a := answered{Success: true}
	if err := json.Unmarshal(text, &a); err == nil && !a.Success {
		return &toldError{fmt.Errorf("%s: %s", rest[0], r.advised(a.Message, explanationsOf(text)))}
	}
	return nil
}

// jsonArgument returns the text of an optional argument, which is JSON; - reads it from
// standard input.
func (e *env) jsonArgument(args []string) (text []byte, err error) {
	if len(args) == 0 {
		return nil, nil
	}
	if text = []byte(args[0]); args[0] == "-" {
		if text, err = io.ReadAll(e.in); err != nil {
			return nil, err
		}
	}
	if !json.Valid(text) {
		return nil, usagef("the request is no JSON: %s", args[0])
	}
	return text, nil
}

// goalCommand sends a goal of any action and waits for its end.
func goalCommand(e *env, fs *pflag.FlagSet) func(args []string) error {
	return newRemote(e, fs).goal
}

func (r *remote) goal(rest []string) error {
	end, err := r.open(rest, "ACTION", "[JSON]")
	if err != nil {
		return err
	}
	defer end()
	goal, err := r.e.jsonArgument(rest[1:])
	if err != nil {
		return err
	}
	if goal == nil {
		goal = []byte("{}")
	}
	return r.performText(r.service(rest[0]), "", goal, rest[0])
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

// topicCommand lists topics, prints what one says, or publishes on one.
func topicCommand(e *env, fs *pflag.FlagSet) func(args []string) error {
	r := newRemote(e, fs)
	count := fs.Int("count", 0, "echo, pub with --rate: end after `N` messages; otherwise with Ctrl-C")
	rate := fs.Float64("rate", 0, "pub: so many messages a second, `Hz`; otherwise one")
	var gone atomic.Bool
	r.changed = func(why error) { // echo waits for a server that is started again
		if why != nil && !gone.Swap(true) {
			fmt.Fprintf(e.err, "poise: topic: the server is gone; waiting for it\n")
		} else if why == nil {
			gone.Store(false)
		}
	}
	return func(args []string) error { return r.topic(args, *count, *rate) }
}

// leastRate and mostRate are how often a message may be published, Hz.
const leastRate, mostRate = 0.001, 1000

func (r *remote) topic(rest []string, count int, rate float64) error {
	if verbs := []string{"list", "echo", "pub"}; !slices.Contains(verbs, first(rest)) {
		return wrongVerb("topic", rest, verbs)
	}
	if len(rest) > 0 && rest[0] == "pub" {
		if err := checkArguments(rest, []string{"pub", "NAME", "TYPE", "JSON"}); err != nil {
			return err
		}
		if rate != 0 && !(rate >= leastRate && rate <= mostRate) {
			return usagef("--rate is %g, must be %g … %d Hz; 0 publishes once", rate, leastRate, mostRate)
		}
		if count > 0 && rate == 0 {
			return usagef("--count is %d: without --rate a message is published once", count)
		}
	} else if rate != 0 {
		return usagef("--rate is %g: it is of pub alone", rate)
	}
	if count < 0 {
		return usagef("--count is %d: how many messages, 0 for all that come", count)
	}
	end, err := r.open(rest, "list|echo|pub", "[NAME]", "[TYPE]", "[JSON]")
	if err != nil {
		return err
	}
	defer end()
	switch {
	case rest[0] == "pub":
		return r.publish(rest[1], rest[2], rest[3], count, rate)
	case rest[0] == "list" && len(rest) == 1:
		return r.listTopics()
	case rest[0] == "echo" && len(rest) == 2:
		return r.echo(rest[1], count)
	case rest[0] == "echo":
		return usagef("NAME is missing: echo what?")
	}
	return usagef("%q: want list, echo NAME or pub NAME TYPE JSON", strings.Join(rest, " "))
}

func (r *remote) listTopics() error {
	text, err := r.c.Call(r.ctx, "/rosapi/topics", nil)
	if err != nil {
		return r.unanswered(err)
	}
	if r.e.json {
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
			return fmt.Errorf("%w (%s lists what there is)", err, r.commandLine("topic", "list"))
		}
		if lost > 0 {
			fmt.Fprintf(r.e.err, "poise: topic: %d messages were lost: this reader is too slow\n", lost)
		}
		if r.e.json {
			fmt.Fprintf(r.e.out, "%s\n", msg)
		} else {
			fmt.Fprintf(r.e.out, "%s\n---\n", indent(msg))
		}
	}
	return nil
}

// publish publishes a message, once or again and again. The protocol has no answer to a message: what the server says against it comes before
// the answer of a call that follows.
func (r *remote) publish(name, typ, text string, count int, rate float64) error {
	msg, err := r.e.jsonArgument([]string{text})
	if err != nil {
		return err
	}
	if err := r.known(r.service(name)); err != nil {
		return err
	}
	p, err := r.c.Advertise(r.service(name), typ, false)
	if err != nil {
		return err
	}
	tick := make(<-chan time.Time)
	if rate > 0 {
		every := time.NewTicker(time.Duration(float64(time.Second) / rate))
		defer every.Stop()
		tick = every.C
	}
	n := 1
	for ; ; n++ {
		if err := p.Publish(msg); err != nil {
			return err
		}
		if rate == 0 || n == count {
			break
		}
		select {
		case <-tick:
			continue
		case <-r.ctx.Done():
		}
		break
	}
	if err := r.known(r.service(name)); err != nil {
		return err
	}
	if err := p.Refused(); err != nil {
		return err
	}
	end := answered{Success: true, Message: fmt.Sprintf("published %d times", n)}
	if n == 1 {
		end.Message = "published"
	}
	return r.tellEnd(end, true, end.Message)
}

// known refuses a topic that the server does not have: what is published there is heard by no robot.
func (r *remote) known(name string) error {
	ctx, cancel := context.WithTimeout(context.Background(), callPatience) // r.ctx may have ended with Ctrl-C
	defer cancel()
	text, err := r.c.Call(ctx, "/rosapi/topics", nil)
	if err != nil {
		return r.unanswered(err)
	}
	var a struct{ Topics []string }
	if err := json.Unmarshal(text, &a); err != nil {
		return err
	}
	if !slices.Contains(a.Topics, name) {
		return fmt.Errorf("there is no topic %q%s (%s lists what there is)", name, problem.Hint(name, a.Topics), r.commandLine("topic", "list"))
	}
	return nil
}
