package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"poise/problem"
	"poise/robot"
	"poise/robot/setup"
)

// newRobotCommand proposes how a robot is used and writes it beside its URDF.
func newRobotCommand(e *env, fs *pflag.FlagSet) func(args []string) error {
	from := new(robotFlags)
	fs.BoolVar(&from.floating, "floating", false, "the root link is free, whatever is proposed")
	fs.BoolVar(&from.fixed, "fixed", false, "the root link is bolted to the world, whatever is proposed")
	fs.StringVar(&from.packages, "package-path", packagePath(), "`folders` where packages are looked for, meshes too")
	renamed := fs.StringArray("rename", nil, "give a limb another name, `OLD=NEW`; may be given several times")
	dry := fs.Bool("dry-run", false, "write nothing, print robot.yaml as it would be")
	noLimits := fs.Bool("no-limits", false, "write no joint_limits.yaml: propose no accelerations")
	return func(args []string) error {
		if len(args) == 0 {
			return usagef("which robot? The URDF or xacro file of it")
		}
		bot, rest, err := from.load(args)
		switch {
		case len(rest) > 0:
			return usagef("%q is too much: one robot, then xacro arguments as name:=value", rest[0])
		case err != nil:
			return err
		}
		s, err := setup.Open(bot)
		if err != nil {
			return err
		}
		if err := changeSetup(s, from.opts.Base, *renamed, *noLimits); err != nil {
			return err
		}
		var written []string
		if !*dry {
			if written, err = s.Write(); err != nil {
				return err
			}
		}
		return tellSetup(e, s, written, *dry)
	}
}

// changeSetup changes a proposal as the flags say.
func changeSetup(s *setup.Setup, base robot.Base, renamed []string, noLimits bool) error {
	p := s.Proposal
	switch base {
	case robot.BaseFloating:
		p.Base, p.Why = "floating", "--floating says so"
	case robot.BaseFixed:
		p.Base, p.Why = "fixed", "--fixed says so"
	}
	var limbs []string
	for _, l := range p.Limbs {
		limbs = append(limbs, l.Name)
	}
	for _, pair := range renamed {
		old, name, ok := strings.Cut(pair, "=")
		i := slices.Index(limbs, old)
		switch {
		case !ok || name == "":
			return usagef("--rename %q: a limb and its new name, OLD=NEW", pair)
		case i < 0:
			return fmt.Errorf("--rename %s: no limb %q is proposed, but %s%s", pair, old, problem.List(limbs), problem.Hint(old, limbs))
		}
		p.Limbs[i].Name = name
	}
	if noLimits {
		p.Limits = false
	}
	return s.Choose(p)
}

// tellSetup says what was written, or would be, and what comes next.
func tellSetup(e *env, s *setup.Setup, written []string, dry bool) error {
	message := fmt.Sprintf("nothing is missing in %s", filepath.Join(s.Folder, setup.File))
	switch {
	case dry && len(s.Added) > 0:
		message = fmt.Sprintf("would add to %s: %s", filepath.Join(s.Folder, setup.File), strings.Join(s.Added, ", "))
	case len(written) > 0:
		message = fmt.Sprintf("wrote %s in %s", strings.Join(written, " and "), s.Folder)
	}
	if e.json {
		return encode(e.out, struct {
			answered
			*setup.Setup
			Written     []string `json:"written"`
			RobotYAML   string   `json:"robot_yaml"`
			JointLimits string   `json:"joint_limits"`
		}{answered{true, message}, s, written, string(s.Text), string(s.Limits)})
	}
	if dry {
		fmt.Fprint(e.out, string(s.Text))
		if s.Limits != nil {
			fmt.Fprintf(e.out, "\n# And %s:\n\n%s", setup.LimitsFile, s.Limits)
		}
		return nil
	}
	fmt.Fprintln(e.out, message)
	if len(s.Kept) > 0 {
		fmt.Fprintf(e.out, "kept as it was: %s\n", strings.Join(s.Kept, ", "))
	}
	for _, l := range s.Proposal.Limbs {
		fmt.Fprintf(e.out, "  %-18s %s, %s%s\n", l.Name, l.Kind, problem.Count(len(l.Joints), "joint"), toTip(&l))
	}
	for _, n := range s.Proposal.Notes {
		fmt.Fprintf(e.out, "note: %s\n", n)
	}
	fmt.Fprintf(e.out, "read it, change it, then: %s\n", s.Serve)
	return nil
}

func toTip(l *setup.Limb) string {
	switch {
	case l.Tip == "":
		return ""
	case len(l.Points) > 0:
		return fmt.Sprintf(", to %s, stands on %s", l.Tip, problem.Count(len(l.Points), "point"))
	}
	return ", to " + l.Tip
}
