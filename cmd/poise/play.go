package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"poise/action"
	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/msgs/rosjson"
	"poise/planner/pipeline"
	"poise/wire/rosbridge/client"
)

// playCommand plays a stored motion on the server and waits for its end.
func playCommand(e *env, fs *pflag.FlagSet) func(args []string) error {
	r := newRemote(e, fs)
	options := map[string]*bool{}
	for _, o := range playOptions {
		options[o.word] = fs.Bool(o.word, false, o.text)
	}
	speed := fs.String("speed", "100", "how fast, `percent` of its own speed, 0 … 200")
	noApproach := fs.Bool("no-approach", false, "begin only if the robot is where the motion begins")
	return func(args []string) error {
		var words []string
		for _, o := range playOptions {
			if *options[o.word] || o.word == "approach" && !*noApproach {
				words = append(words, o.word)
			}
		}
		return r.play(args, words, *speed)
	}
}

// playOptions are the words of a motion's options that are flags.
var playOptions = []struct{ word, text string }{
	{"loop", "again and again, until Ctrl-C or poise stop"},
	{"part", "only from the start mark to the end mark"},
	{"backward", "from its end to its beginning"},
	{"approach", "move to its beginning first; that is so unless --no-approach says otherwise"},
	{"return", "move back to where the robot was"},
}

// play plays a motion with some options.
func (r *remote) play(args, words []string, speed string) error {
	end, err := r.open(args, "NAME")
	if err != nil {
		return err
	}
	defer end()
	percent, err := parsePercent(speed)
	if err != nil {
		return err
	}
	if percent != 100 {
		words = append(words, fmt.Sprintf("speed=%g", percent/100))
	}
	goal := &msgs.TextActionGoal{Command: msgs.TextCommand{Type: "motion", Command: args[0], Options: strings.Join(words, " ")}}
	return r.perform("play_motion", "text_msgs/action/TextAction", goal, args[0])
}

// executeOnServer plans and performs the request of a file on the server's robot, from where it
// is.
func executeOnServer(r *remote, file string, text []byte, pilz bool) error {
	sequence, err := rosjson.HasKey(text, "items")
	if err != nil {
		return inFile(file, err)
	}
	if sequence {
		var q msgs.MotionSequenceRequest
		if err := rosjson.Unmarshal(text, &q); err != nil {
			return inFile(file, err)
		}
		for i := range q.Items {
			if pilz {
				q.Items[i].Req.PipelineID = pipeline.Pilz
			}
		}
		return r.perform("sequence_move_group", "moveit_msgs/action/MoveGroupSequence", &msgs.MoveGroupSequenceGoal{Request: q}, "sequence")
	}
	var q msgs.MotionPlanRequest
	if err := rosjson.Unmarshal(text, &q); err != nil {
		return inFile(file, err)
	}
	if pilz {
		q.PipelineID = pipeline.Pilz
	}
	return r.perform("move_action", "moveit_msgs/action/MoveGroup", &msgs.MoveGroupGoal{Request: q}, q.PlannerID)
}

// perform sends a goal, shows how it gets on and tells how it ended. Ctrl-C cancels it
// and waits for the ramp.
func (r *remote) perform(action, typ string, goal any, what string) error {
	return r.performText(r.name(action), typ, client.Text(goal, msgs.ROS2), what)
}

// cancelWhenInterrupted cancels a goal on Ctrl-C until the function that it returns is called.
func (r *remote) cancelWhenInterrupted(g *client.Goal) (ended func()) {
	over := make(chan struct{})
	go func() {
		select {
		case <-r.ctx.Done():
			_ = g.Cancel(context.Background()) // it may have ended by now
		case <-over:
		}
	}()
	return func() { close(over) }
}

// performText is perform with a goal that is JSON already, of an action by its full name.
func (r *remote) performText(action, typ string, goal []byte, what string) error {
	u, err := r.follow(action, typ, goal, what, func(feedback json.RawMessage) {
		if r.e.json {
			fmt.Fprintf(r.e.out, "{\"feedback\":%s}\n", feedback)
		}
	})
	if err != nil {
		return err
	}
	return r.ending(u, what)
}

// follow sends a goal, shows how far it is until it ends, and returns its end. Ctrl-C cancels it.
func (r *remote) follow(action, typ string, goal []byte, what string, heard func(feedback json.RawMessage)) (client.Update, error) {
	g, err := r.c.SendGoal(context.Background(), action, typ, goal)
	if err != nil {
		return client.Update{}, err
	}
	bar := newBar(r.e.err, what)
	defer bar.end()
	defer r.cancelWhenInterrupted(g)()
	var stands standstill
	for {
		u, err := g.Next(context.Background())
		switch {
		case err != nil:
			return u, fmt.Errorf("%s: %w; whether the robot still moves is unknown, poise state tells", what, err)
		case u.Done:
			return u, nil
		}
		if u.Info != nil && stands.tells(u.Info, time.Now()) {
			if why := r.standing(u.Info, what); why != "" {
				bar.end()
				fmt.Fprintf(r.e.err, "poise: %s\n", why)
			} else {
				stands = standstill{} // it will be asked again
			}
		}
		bar.show(u.Info)
		heard(u.Feedback)
	}
}

// standing says why a goal stands, and what lets it go on; "" if the server knows of nothing that holds it.
func (r *remote) standing(g *poisemsgs.GoalInfo, what string) string {
	var a poisemsgs.GetStateResponse
	if r.quiet(r.name("get_state"), &poisemsgs.GetStateRequest{}, &a) != nil {
		return "" // if the server is gone, the goal tells
	}
	paused := a.State.Paused || slices.ContainsFunc(a.State.Controllers, func(c poisemsgs.ControllerInfo) bool { return c.Paused && c.Name == g.Controller })
	switch {
	case paused:
		return fmt.Sprintf("%s is paused; %s lets it go on", what, r.commandLine("resume"))
	case a.State.WantedRate == 0:
		return fmt.Sprintf("%s stands: the speed is 0 %%; %s lets it go on", what, r.commandLine("speed", "100"))
	case g.Time > 0 && !a.State.Stopped:
		return fmt.Sprintf("%s stands still; %s tells more", what, r.commandLine("state"))
	}
	return ""
}

// standstill is a goal whose clock stands, if that is not its cancel.
type standstill struct {
	since time.Time // zero while its clock goes
	told  bool
}

// standsLong is how long a goal stands before people wonder.
const standsLong = time.Second

// tells reports whether a goal stands for so long that the reason is to be told: once.
func (s *standstill) tells(g *poisemsgs.GoalInfo, now time.Time) bool {
	switch {
	case g.State != action.Active.String() || g.Rate > 0:
		*s = standstill{}
	case s.since.IsZero():
		s.since = now
	case !s.told && now.Sub(s.since) >= standsLong:
		s.told = true
		return true
	}
	return false
}

// Statuses of ROS 2.
const (
	statusSucceeded = 4
	statusCancelled = 5
)

// ended is the last line that --json prints about a goal. It begins as every answer
// does.
type ended struct {
	Success  bool            `json:"success"`
	Message  string          `json:"message"`
	Status   int             `json:"status"` // as ROS 2 numbers them
	Rejected bool            `json:"rejected"`
	Result   json.RawMessage `json:"result,omitempty"`

	Explanations []poisemsgs.Explanation `json:"explanations"` // of a success: what else should be known
}

// ending tells how a goal ended.
func (r *remote) ending(u client.Update, what string) error {
	end := ended{Success: u.Status == statusSucceeded, Message: what + ": done", Status: u.Status, Rejected: u.Rejected, Result: u.Result,
		Explanations: append([]poisemsgs.Explanation{}, u.Explanations...)}
	switch {
	case end.Success:
	case u.Rejected:
		end.Message, end.Result = r.advised(what+": refused: "+reasons(u), u.Explanations), nil
	case u.Status == statusCancelled:
		end.Message = what + ": cancelled"
	default:
		end.Message = r.advised(what+": aborted: "+reasons(u), u.Explanations)
	}
	return r.tellEnd(end, end.Success, end.Message)
}

// tellEnd prints the last line about something that was done, or fails with its message.
func (r *remote) tellEnd(end any, success bool, message string) error {
	if r.e.json {
		text, err := json.Marshal(end)
		if err != nil {
			return err
		}
		fmt.Fprintf(r.e.out, "%s\n", text)
	}
	switch {
	case !success:
		return r.refusal(message)
	case !r.e.json:
		fmt.Fprintln(r.e.out, message)
	}
	return nil
}

// reasons says why a goal did not do what was asked for, a line for each reason.
func reasons(u client.Update) string {
	lines := make([]string, len(u.Explanations))
	for i, x := range u.Explanations {
		lines[i] = x.Text
		if x.Help != "" {
			lines[i] += "; " + x.Help
		}
	}
	return cmp.Or(strings.Join(lines, "\n"), u.Text, "it gave no reason")
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
	if isTerminal(w) {
		b.w = w
	}
	return b
}

// show draws how far a goal is; of one that does not say nothing is drawn.
func (b *bar) show(g *poisemsgs.GoalInfo) {
	if b.w == nil || g == nil || time.Since(b.last) < 50*time.Millisecond {
		return
	}
	b.last = time.Now()
	line := b.what + " "
	switch {
	case g.Duration > 0:
		const width = 30
		done := int(min(max(g.Time/g.Duration, 0), 1) * width)
		line += fmt.Sprintf("[%s%s] %.1f/%.1f s %s", strings.Repeat("=", done), strings.Repeat(" ", width-done), g.Time, g.Duration, g.Phase)
	case g.Time > 0:
		line += fmt.Sprintf("%s %.2f s", g.Phase, g.Time)
		if g.Rate != 1 {
			line += fmt.Sprintf(" at %.0f %%", 100*g.Rate)
		}
	default:
		line += g.Phase
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

// execute is poise plan --execute: the server's robot, from where it is.
func (r *remote) execute(args []string, compat string) error {
	if len(args) > 1 {
		return usagef("--execute takes one REQUEST: the robot is the server's, so none is named before it, got %q", args)
	}
	end, err := r.open(args, "REQUEST")
	if err != nil {
		return err
	}
	defer end()
	if err := (&planFlags{compat: compat}).check(); err != nil {
		return err
	}
	text, err := readRequest(r.e, args[0])
	if err != nil {
		return err
	}
	return executeOnServer(r, args[0], text, compat == "pilz")
}
