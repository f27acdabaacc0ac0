package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/pflag"

	"poise/msgs/poisemsgs"
	"poise/msgs/rosjson"
)

// status asks a server what its robot does, and hands that to show unless the answer is
// wanted as it came.
func (r *remote) status(args []string, show func(s *poisemsgs.RobotStatus)) error {
	end, err := r.open(args)
	if err != nil {
		return err
	}
	defer end()
	text, err := r.call("get_state", &poisemsgs.GetStateRequest{})
	if err != nil || r.e.json {
		return err
	}
	var a poisemsgs.GetStateResponse
	if err := rosjson.Unmarshal(text, &a); err != nil {
		return err
	}
	show(&a.State)
	return nil
}

func stateCommand(e *env, fs *pflag.FlagSet) func(args []string) error {
	r := newRemote(e, fs)
	return func(args []string) error {
		return r.status(args, func(s *poisemsgs.RobotStatus) { showState(e.out, s) })
	}
}

func showState(out io.Writer, s *poisemsgs.RobotStatus) {
	fmt.Fprintf(out, "power %s", s.Power)
	if s.Stopped {
		fmt.Fprint(out, ", stopped: goals are refused until poise reset")
	}
	if s.Paused {
		fmt.Fprint(out, ", paused: motions stand still until poise resume")
	}
	fmt.Fprintf(out, "\nspeed %.0f %%", 100*s.Rate)
	if s.Rate != s.WantedRate {
		fmt.Fprintf(out, " (of %.0f %% wanted)", 100*s.WantedRate)
	}
	fmt.Fprintln(out)
	table(out, func(w io.Writer) {
		for _, g := range s.Goals {
			fmt.Fprintf(w, "goal\t%s\t%s\t%s\t%.2f", g.Action, g.State, g.Phase, g.Time)
			if g.Duration > 0 { // otherwise it has no end
				fmt.Fprintf(w, "/%.2f", g.Duration)
			}
			fmt.Fprint(w, " s")
			if g.Phase == "stepping" {
				fmt.Fprint(w, ": its feet step to where they are when it begins")
			}
			fmt.Fprintln(w)
		}
		for _, c := range s.Controllers {
			for _, x := range c.Waits {
				fmt.Fprintf(w, "waits\t%s\t%s\n", c.Name, x.Text)
			}
		}
		for _, o := range s.Owners {
			fmt.Fprintf(w, "owner\t%s\t%s\n", o.Resource, o.Owner)
		}
		for _, limp := range s.Limp {
			fmt.Fprintf(w, "limp\t%s\n", limp)
		}
		for _, joint := range s.Missing {
			fmt.Fprintf(w, "missing\t%s\n", joint)
		}
		for _, f := range s.Faults {
			fmt.Fprintf(w, "fault\t%s\t%s\t%s\n", f.Kind, f.Severity, f.Explanation.Text)
		}
	})
}

func controllersCommand(e *env, fs *pflag.FlagSet) func(args []string) error {
	r := newRemote(e, fs)
	return func(args []string) error {
		return r.status(args, func(s *poisemsgs.RobotStatus) { showControllers(e.out, s) })
	}
}

func showControllers(out io.Writer, s *poisemsgs.RobotStatus) {
	table(out, func(w io.Writer) {
		fmt.Fprintln(w, "name\tkind\tstate\tresources")
		for _, c := range s.Controllers {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", c.Name, c.Kind, c.State, strings.Join(c.Resources, " "))
		}
	})
}

func table(w io.Writer, fill func(w io.Writer)) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fill(t)
	_ = t.Flush() // a reader that went away is no trouble
}
