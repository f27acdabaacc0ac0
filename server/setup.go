package server

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"poise/edge"
	"poise/executive"
	"poise/msgs/poisemsgs"
	"poise/problem"
	"poise/robot/setup"
)

// setupCodes name what can be wrong with a set-up, for programs.
var setupCodes = []struct {
	kind error
	code problem.Code
	help string
}{
	{setup.ErrShipped, "shipped_robot", "serve the URDF of a robot of your own: poise serve --robot my_robot.urdf"},
	{setup.ErrOther, "other_description", "give the description a folder of its own"},
	{setup.ErrChanged, "version_conflict", "ask again, and look at what is there now"},
}

// setUp proposes how the robot is used, shows the files for what was chosen, and writes
// them beside the description. The robot that is served stays as it is.
func (bot *servedRobot) setUp(ctx context.Context, q *poisemsgs.SetUpRobotRequest) (*poisemsgs.SetUpRobotResponse, error) {
	r, err := bot.prepareSetup(q)
	if q.Write {
		result := "ok"
		if err != nil {
			result = err.Error()
		}
		bot.audit(executive.Audit{Who: callerOf(ctx), What: "set up the robot", Result: result})
	}
	if err == nil {
		return r, nil
	}
	p := *problem.New("bad_setup", "%v", err)
	for _, c := range setupCodes {
		if errors.Is(err, c.kind) {
			p.Code, p.Help = c.code, c.help
		}
	}
	return &poisemsgs.SetUpRobotResponse{Message: p.Error(), Explanations: edge.Explanations([]problem.Problem{p})}, nil
}

func (bot *servedRobot) prepareSetup(q *poisemsgs.SetUpRobotRequest) (*poisemsgs.SetUpRobotResponse, error) {
	s, err := setup.Open(bot.s.robot)
	if err != nil {
		return nil, err
	}
	if q.Chosen {
		p := edge.ReadSetup(&q.Setup)
		p.Notes = s.Proposal.Notes
		if err := s.Choose(p); err != nil {
			return nil, err
		}
	}
	r := &poisemsgs.SetUpRobotResponse{Success: true, Setup: *edge.Setup(s.Proposal), Folder: s.Folder, Version: s.Version,
		RobotYAML: string(s.Text), JointLimits: string(s.Limits), Added: s.Added, Kept: s.Kept, Restart: s.Serve}
	switch {
	case len(s.Added) == 0 && s.Limits == nil:
		r.Message = "nothing is missing in " + setup.File
	case !q.Write:
		r.Message = fmt.Sprintf("%s would be added to %s", strings.Join(s.Added, ", "), setup.File)
	case q.Version != s.Version:
		return nil, fmt.Errorf("version %q was looked at, %q is there: %w", q.Version, s.Version, setup.ErrChanged)
	default:
		if r.Written, err = s.Write(); err != nil {
			return nil, err
		}
		r.Message = fmt.Sprintf("wrote %s in %s; the server uses them when it is started again: %s", strings.Join(r.Written, " and "), s.Folder, r.Restart)
	}
	return r, nil
}
