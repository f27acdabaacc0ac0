package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"poise/msgs/poisemsgs"
)

// stopCommand stops all robots, or the one that is named. It asks by POST /stop, which is
// served also when no more clients are; a server that does not know that is asked as any
// command asks it.
func stopCommand(e *env, fs *pflag.FlagSet) func(args []string) error {
	r := newRemote(e, fs)
	return func(args []string) error {
		if err := checkArguments(args, []string{"[CATEGORY]"}); err != nil {
			return err
		}
		q, wrong := stopCategory(args)
		if wrong != nil { // said instead of the answer, once the robots stand
			quiet := *e
			quiet.out, r.e = io.Discard, &quiet
		}
		if err := r.stop(args, q); err != nil {
			return err
		}
		return wrong
	}
}

// stop asks for a stop; args are those of the command.
func (r *remote) stop(args []string, q *poisemsgs.StopRequest) error {
	soon := time.Now().Add(dialPatience)
	if r.robot == "" && r.server != "" {
		if heard, err := r.postStop(q.Category, soon, stopPatience); heard {
			return err
		}
	}
	err := r.ask(args, []string{"[CATEGORY]"}, "stop", func([]string) (any, error) { return q, nil })
	var none *noServerError
	if r.robot != "" && errors.As(err, &none) {
		if heard, failed := r.postStop(q.Category, soon, stopPatience); heard {
			return failed
		}
	}
	return err
}

// stopCategory reads the category; one that cannot be read is 2, and said to be wrong
// once the robots have been stopped.
func stopCategory(rest []string) (*poisemsgs.StopRequest, error) {
	q := &poisemsgs.StopRequest{Category: 2}
	if len(rest) == 0 {
		return q, nil
	}
	n, err := strconv.ParseUint(rest[0], 10, 8)
	if err != nil || n > 2 {
		return q, usagef("category %q was taken as 2: there are 0, 1 and 2 (torque off; ramp, then torque off; ramp, then hold)", rest[0])
	}
	q.Category = uint8(n)
	return q, nil
}

// tellStop shows the answer of POST /stop.
func (r *remote) tellStop(text []byte) error {
	var a answered
	if err := json.Unmarshal(text, &a); err != nil {
		return err
	}
	switch {
	case r.e.json:
		fmt.Fprintln(r.e.out, strings.TrimSpace(string(text)))
	case a.Success:
		fmt.Fprintln(r.e.out, a.Message)
	}
	if !a.Success {
		return r.refusal(a.Message)
	}
	return nil
}

// stopPatience is how long robots may take to stand.
const stopPatience = 15 * time.Second

// postStop asks the server to stop the robot, or all, and shows its answer. heard is false if it did not hear it, or
// does not know of such stops. What is sent and not answered soon is told meanwhile; after patience it is not confirmed.
func (r *remote) postStop(category uint8, soon time.Time, patience time.Duration) (heard bool, _ error) {
	at, err := url.Parse(rosbridgeURL(r.server))
	if err != nil {
		return false, err
	}
	at.Scheme, at.Path = strings.Replace(at.Scheme, "ws", "http", 1), "/stop"
	values := url.Values{"category": {strconv.Itoa(int(category))}, "until": {"stands"}}
	if r.robot != "" {
		values.Set("robot", r.robot)
	}
	at.RawQuery = values.Encode()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	sent := make(chan *time.Timer, 1)
	text, err := post(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteRequest: func(w httptrace.WroteRequestInfo) {
		if w.Err == nil && len(sent) == 0 {
			sent <- time.AfterFunc(time.Until(soon), func() {
				fmt.Fprintf(r.e.err, "the stop is sent to the server at %s, which has not confirmed it; still waiting\n", r.server)
			})
		}
	}}), at.String())
	select {
	case late := <-sent:
		late.Stop()
		if errors.Is(err, context.DeadlineExceeded) {
			return true, fmt.Errorf("the stop is sent and not confirmed: the server at %s did not answer within %g s, and nothing is known of its robots",
				r.server, patience.Seconds())
		}
	default:
	}
	if err != nil {
		return false, err
	}
	return true, r.tellStop(text)
}

// post asks by POST, and returns the answer of a server that knows what is asked.
func post(ctx context.Context, at string) ([]byte, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, at, nil)
	if err != nil {
		return nil, err
	}
	res, err := http.DefaultClient.Do(q)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	if err == nil && res.StatusCode != http.StatusOK && res.StatusCode != http.StatusAccepted {
		err = fmt.Errorf("%s", res.Status)
	}
	return text, err
}
