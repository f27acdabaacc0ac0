package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"poise/msgs/poisemsgs"
	"poise/msgs/rosjson"
)

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
