package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"poise/edge"
	"poise/msgs"
	"poise/msgs/rosjson"
	"poise/wire/rosbridge/client"
)

// runPlay plays a stored motion on the server and waits for its end.
func runPlay(e *env, args []string) error {
	r := newRemote(e, "play")
	options := map[string]*bool{}
	for _, word := range []string{"loop", "part", "backward", "approach", "return"} {
		options[word] = r.fs.Bool(word, false, "")
	}
	speed := r.fs.Float64("speed", 100, "")
	noApproach := r.fs.Bool("no-approach", false, "")
	rest, end, err := r.open(args, 1, 1)
	if err != nil {
		return err
	}
	defer end()
	var words []string
	for _, word := range []string{"loop", "part", "backward", "approach", "return"} {
		if *options[word] || word == "approach" && !*noApproach {
			words = append(words, word)
		}
	}
	if *speed != 100 {
		words = append(words, fmt.Sprintf("speed=%g", *speed/100))
	}
	goal := &msgs.TextActionGoal{Command: msgs.TextCommand{Type: "motion", Command: rest[0], Options: strings.Join(words, " ")}}
	return r.perform("play_motion", "text_msgs/action/TextAction", goal, rest[0])
}

// executeOnServer plans and performs a request on the server's robot, from where it
// is.
func executeOnServer(r *remote, text []byte, pilz bool) error {
	sequence, err := rosjson.HasKey(text, "items")
	if err != nil {
		return err
	}
	if sequence {
		var q msgs.MotionSequenceRequest
		if err := rosjson.Unmarshal(text, &q); err != nil {
			return err
		}
		for i := range q.Items {
			if pilz {
				q.Items[i].Req.PipelineID = edge.PilzPipeline
			}
		}
		return r.perform("sequence_move_group", "moveit_msgs/action/MoveGroupSequence", &msgs.MoveGroupSequenceGoal{Request: q}, "sequence")
	}
	var q msgs.MotionPlanRequest
	if err := rosjson.Unmarshal(text, &q); err != nil {
		return err
	}
	if pilz {
		q.PipelineID = edge.PilzPipeline
	}
	return r.perform("move_action", "moveit_msgs/action/MoveGroup", &msgs.MoveGroupGoal{Request: q}, q.PlannerID)
}

// perform sends a goal, shows how it gets on and tells how it ended. Ctrl-C cancels it
// and waits for the ramp.
func (r *remote) perform(action, typ string, goal any, what string) error {
	g, err := r.c.SendGoal(context.Background(), r.name(action), typ, client.Text(goal, msgs.ROS2))
	if err != nil {
		return err
	}
	bar := newBar(r.e.err, what)
	defer bar.end()
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		select {
		case <-r.ctx.Done():
			// the goal may be over by now, then there is nothing to cancel
			_ = g.Cancel(context.Background())
		case <-ended:
		}
	}()
	for {
		u, err := g.Next(context.Background())
		if err != nil {
			return err
		}
		if !u.Done {
			bar.show(u.Feedback)
			if r.json {
				fmt.Fprintf(r.e.out, "%s\n", u.Feedback)
			}
			continue
		}
		bar.end()
		return r.ending(u, what)
	}
}

// Statuses of ROS 2.
const (
	statusSucceeded = 4
	statusCancelled = 5
)

// ending tells how a goal ended.
func (r *remote) ending(u client.Update, what string) error {
	if r.json {
		line := map[string]any{"status": u.Status, "rejected": u.Rejected}
		if u.Rejected {
			line["text"] = u.Text
		} else {
			line["result"] = json.RawMessage(u.Result)
		}
		text, err := json.Marshal(line)
		if err != nil {
			return err
		}
		fmt.Fprintf(r.e.out, "%s\n", text)
	}
	switch {
	case u.Status == statusSucceeded:
		if !r.json {
			fmt.Fprintf(r.e.out, "%s: done\n", what)
		}
		return nil
	case r.json:
		return errAnswered
	case u.Rejected:
		return fmt.Errorf("%s: refused: %s", what, u.Text)
	case u.Status == statusCancelled:
		return fmt.Errorf("%s: cancelled", what)
	}
	var result struct {
		ErrorString string `json:"error_string"`
		ErrorCode   struct {
			Message string `json:"message"`
		} `json:"error_code"`
		Response struct {
			ErrorCode struct {
				Message string `json:"message"`
			} `json:"error_code"`
		} `json:"response"`
	}
	_ = json.Unmarshal(u.Result, &result) // of an answer of another shape nothing is told
	why := errors.New(firstText(result.ErrorString, result.ErrorCode.Message, result.Response.ErrorCode.Message, "it gave no reason"))
	return fmt.Errorf("%s: aborted: %w", what, why)
}

func firstText(all ...string) string {
	for _, s := range all {
		if s != "" {
			return s
		}
	}
	return ""
}

// bar shows how far a motion is, on a terminal.
type bar struct {
	w     io.Writer
	what  string
	width int
	last  time.Time
}

func newBar(w io.Writer, what string) *bar {
	b := &bar{what: what}
	if f, ok := w.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			b.w = w
		}
	}
	return b
}

// show draws the bar of some feedback.
func (b *bar) show(feedback []byte) {
	if b.w == nil || time.Since(b.last) < 50*time.Millisecond {
		return
	}
	b.last = time.Now()
	var f struct{ Status, State string }
	_ = json.Unmarshal(feedback, &f) // without words there is an empty bar
	line := b.what + " "
	var phase string
	var at, end float64
	if n, _ := fmt.Sscanf(f.Status, "%s %g/%g", &phase, &at, &end); n == 3 && end > 0 {
		const width = 30
		done := int(min(max(at/end, 0), 1) * width)
		line += fmt.Sprintf("[%s%s] %.1f/%.1f s %s", strings.Repeat("=", done), strings.Repeat(" ", width-done), at, end, phase)
	} else {
		line += firstText(f.Status, f.State)
	}
	fmt.Fprintf(b.w, "\r%-*s", b.width, line)
	b.width = max(b.width, len(line))
}

func (b *bar) end() {
	if b.w != nil && b.width > 0 {
		fmt.Fprintf(b.w, "\r%s\r", strings.Repeat(" ", b.width))
		b.width = 0
	}
}

// runExecute is poise plan --execute: the server's robot, from where it is.
func runExecute(e *env, args []string) error {
	r := newRemote(e, "plan")
	r.fs.Bool("execute", true, "")
	compat := r.fs.String("compat", "", "")
	rest, end, err := r.open(args, 1, 1)
	if err != nil {
		return err
	}
	defer end()
	if *compat != "" && *compat != "pilz" {
		return usagef("--compat %q is unknown: only pilz is", *compat)
	}
	text, err := readRequest(e, rest[0])
	if err != nil {
		return err
	}
	return executeOnServer(r, text, *compat == "pilz")
}
