package graph

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"poise/msgs"
)

func setBool(t *testing.T, g *Graph, name string, o ServiceOptions, h func(ctx context.Context, q *msgs.SetBoolRequest) (*msgs.SetBoolResponse, error)) *ServiceServer {
	t.Helper()
	return must[*ServiceServer](t)(Service(g, name, h, o))
}

func TestAServiceAnswersTypedAndAsJSON(t *testing.T) {
	g := newGraph(t)
	setBool(t, g, "torque", ServiceOptions{}, func(ctx context.Context, q *msgs.SetBoolRequest) (*msgs.SetBoolResponse, error) {
		return &msgs.SetBoolResponse{Success: q.Data, Message: "for " + Caller(ctx)}, nil
	})
	ctx := WithCaller(context.Background(), "client 3")
	r, err := Call[msgs.SetBoolRequest, msgs.SetBoolResponse](ctx, g, "/torque", &msgs.SetBoolRequest{Data: true})
	if err != nil || !r.Success || r.Message != "for client 3" {
		t.Errorf("typed: %+v, %v", r, err)
	}
	for _, args := range []string{`{"data":true}`, `[true]`} {
		if out, err := g.CallJSON(ctx, "torque", "std_srvs/SetBool", []byte(args)); string(out) != `{"success":true,"message":"for client 3"}` || err != nil {
			t.Errorf("%s: %s, %v", args, out, err)
		}
	}
	for _, args := range []string{``, `{}`, `[]`, `null`} {
		if out, err := g.CallJSON(ctx, "torque", "", []byte(args)); string(out) != `{"success":false,"message":"for client 3"}` || err != nil {
			t.Errorf("%q: %s, %v", args, out, err)
		}
	}
}

func TestCallsAreCheckedBeforeTheHandler(t *testing.T) {
	g := newGraph(t)
	setBool(t, g, "torque", ServiceOptions{}, func(context.Context, *msgs.SetBoolRequest) (*msgs.SetBoolResponse, error) {
		t.Error("the handler was called")
		return nil, nil
	})
	ctx := context.Background()
	for _, tc := range []struct{ service, typ, args, want string }{
		{"no", "", ``, "there is no service /no"},
		{"troque", "", ``, `there is no service /troque; did you mean "/torque"?`},
		{"torque", "std_srvs/Trigger", ``, "service /torque has type std_srvs/srv/SetBool, not std_srvs/srv/Trigger"},
		{"torque", "std_srvs/srv/None", ``, "is not known here"},
		{"torque", "", `{"dta":true}`, "dta: the message has no such field; it has data"},
		{"torque", "", `{"data":1}`, "data: want true or false, got a number"},
		{"torque", "", `[true,false]`, "more than 1 arguments are given, and std_srvs/srv/SetBool_Request has 1 fields"},
		{"torque", "", `{"data":`, "unexpected EOF"},
	} {
		if _, err := g.CallJSON(ctx, tc.service, tc.typ, []byte(tc.args)); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s %s %s: %v, want %s", tc.service, tc.typ, tc.args, err, tc.want)
		}
	}
	var wrong *TypeError
	if _, err := g.Call(ctx, "torque", &msgs.TriggerRequest{}); !errors.As(err, &wrong) {
		t.Errorf("a request of another type: %v", err)
	}
	var exists *ExistsError
	if _, err := g.Serve("/torque", "std_srvs/srv/Trigger", nil, ServiceOptions{}); !errors.As(err, &exists) || exists.Owner != "/poise" {
		t.Errorf("served twice: %v", err)
	}
}

func TestACallEndsAtItsDeadlineEvenIfTheHandlerDoesNot(t *testing.T) {
	g := newGraph(t)
	free := make(chan struct{})
	var cause error
	told := make(chan struct{})
	setBool(t, g, "deaf", ServiceOptions{Timeout: 5 * time.Millisecond}, func(ctx context.Context, _ *msgs.SetBoolRequest) (*msgs.SetBoolResponse, error) {
		<-ctx.Done()
		cause = ctx.Err()
		close(told)
		<-free
		return &msgs.SetBoolResponse{}, nil
	})
	_, err := g.Call(context.Background(), "deaf", &msgs.SetBoolRequest{})
	var call *CallError
	if !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &call) || err.Error() != "service /deaf did not answer within 5ms" {
		t.Errorf("own deadline: %v", err)
	}
	<-told
	if !errors.Is(cause, context.DeadlineExceeded) {
		t.Errorf("the handler was told %v", cause)
	}
	close(free)
}

// TestALateCallNamesTheTimeThatWasAsked, however much of it was left when the call began.
func TestALateCallNamesTheTimeThatWasAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(Options{})
		defer g.Close()
		setBool(t, g, "slow", ServiceOptions{}, func(ctx context.Context, _ *msgs.SetBoolRequest) (*msgs.SetBoolResponse, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		ctx, cancel := WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		plain, cancelPlain := context.WithTimeout(ctx, 40*time.Millisecond)
		defer cancelPlain()
		time.Sleep(30 * time.Millisecond) // a machine that is busy
		late := func(ctx context.Context, want string) {
			t.Helper()
			_, err := g.Call(ctx, "slow", &msgs.SetBoolRequest{})
			if !errors.Is(err, context.DeadlineExceeded) || !strings.HasSuffix(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		}
		late(plain, "within 10ms") // what was left of 40 ms
		late(plain, "within 0s")
		late(ctx, "within 50ms")
	})
}

func TestACallerMayCancel(t *testing.T) {
	g := newGraph(t)
	entered, left := make(chan struct{}), make(chan struct{})
	setBool(t, g, "slow", ServiceOptions{}, func(ctx context.Context, _ *msgs.SetBoolRequest) (*msgs.SetBoolResponse, error) {
		close(entered)
		<-ctx.Done()
		close(left)
		return nil, ctx.Err()
	})
	ctx, cancel := context.WithCancel(context.Background())
	go func() { <-entered; cancel() }()
	if _, err := g.Call(ctx, "slow", &msgs.SetBoolRequest{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	<-left
}

func TestCallsOfAServiceThatGoesAwayEnd(t *testing.T) {
	g := newGraph(t)
	entered := make(chan struct{})
	s := must[*ServiceServer](t)(g.Serve("remote", "std_srvs/srv/Trigger", func(ctx context.Context, _ any) (any, error) {
		close(entered)
		<-ctx.Done() // a client that died never answers
		return nil, ctx.Err()
	}, ServiceOptions{Node: "client 1"}))
	go func() { <-entered; s.Close() }()
	if _, err := g.Call(context.Background(), "remote", &msgs.TriggerRequest{}); !errors.Is(err, ErrClosed) || err.Error() != "service /remote: its server has gone" {
		t.Errorf("got %v", err)
	}
	var missing *NotFoundError
	if _, err := g.Call(context.Background(), "remote", &msgs.TriggerRequest{}); !errors.As(err, &missing) {
		t.Errorf("afterwards: %v", err)
	}
}

func TestAHandlersFailureIsItsOwn(t *testing.T) {
	g := newGraph(t)
	setBool(t, g, "fails", ServiceOptions{}, func(context.Context, *msgs.SetBoolRequest) (*msgs.SetBoolResponse, error) {
		return nil, errors.New("no power")
	})
	setBool(t, g, "panics", ServiceOptions{}, func(context.Context, *msgs.SetBoolRequest) (*msgs.SetBoolResponse, error) { panic("oh") })
	setBool(t, g, "silent", ServiceOptions{}, func(context.Context, *msgs.SetBoolRequest) (*msgs.SetBoolResponse, error) { return nil, nil })
	for name, want := range map[string]string{
		"fails":  "service /fails: no power",
		"panics": "service /panics: the handler panicked: oh",
		"silent": "the answer of service /silent has type std_srvs/srv/SetBool_Response, not nothing",
	} {
		if _, err := g.Call(context.Background(), name, &msgs.SetBoolRequest{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCallsAtOnceAreBounded(t *testing.T) {
	g := newGraph(t)
	const bound = 3
	hold, inside := make(chan struct{}), make(chan struct{}, bound)
	setBool(t, g, "busy", ServiceOptions{MaxCalls: bound}, func(context.Context, *msgs.SetBoolRequest) (*msgs.SetBoolResponse, error) {
		inside <- struct{}{}
		<-hold
		return &msgs.SetBoolResponse{Success: true}, nil
	})
	var wg sync.WaitGroup
	for range bound {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if _, err := g.Call(context.Background(), "busy", &msgs.SetBoolRequest{}); err != nil {
				t.Error(err)
			}
		}()
	}
	for range bound {
		<-inside
	}
	var full *FullError
	if _, err := g.Call(context.Background(), "busy", &msgs.SetBoolRequest{}); !errors.As(err, &full) || full.Limit != bound {
		t.Errorf("one too many: %v", err)
	}
	close(hold)
	wg.Wait()
}
