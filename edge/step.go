package edge

import (
	"errors"
	"fmt"
	"strings"

	"poise/control/step"
	"poise/executive"
	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/problem"
	"poise/robot"
	"poise/spatial"
)

// Error codes of poise_msgs/FollowStepSequence.
const (
	StepSuccessful         = 0
	StepInvalidTrajectory  = -1
	StepInvalidEndEffector = -2
	StepUnableToAppend     = -3
	StepToleranceViolated  = -4
	StepInternalError      = -5
)

// ErrAppend refuses a step sequence that is to continue another one.
var ErrAppend error = problem.New(codeAppend, "append: steps begin where the robot is and cannot be appended")

const codeAppend = "cannot_append"

// StepGoal converts Cartesian steps. Poses of limbs are relative to the world or, if the
// header names the robot's root link, to the base; without a motion of the base always
// to it. Contact is that of the limb's own foot.
func StepGoal(m *robot.Model, g *poisemsgs.FollowStepSequenceGoal) (*executive.Step, error) {
	if g.Append {
		return nil, ErrAppend
	}
	goal := step.Goal{Times: g.TimeFromStart, PositionTolerance: g.PositionTolerance, OrientationTolerance: g.OrientationTolerance}
	switch root, frame := m.Frames()[0].Name, g.Header.FrameID; frame {
	case "", WorldFrame:
		goal.InBase = len(g.BaseMotion.Points) == 0
	case root:
		goal.InBase = true
	default:
		return nil, fmt.Errorf("header.frame_id is %q: limbs are seen from %s or from %s", frame, WorldFrame, root)
	}
	var errs []error
	poses := func(where string, points []poisemsgs.RigidBodyTrajectoryPoint) (all []spatial.Pose) {
		for i := range points {
			X, ok := PoseOf(points[i].Pose)
			if !ok {
				errs = append(errs, fmt.Errorf("%s.points[%d].pose: the orientation has no length", where, i))
			}
			all = append(all, X)
		}
		return all
	}
	goal.Base = poses("base_motion", g.BaseMotion.Points)
	for _, limb := range g.EeMotion {
		l := step.Limb{Chain: limb.Name, Poses: poses("ee_motion "+limb.Name, limb.Points)}
		contact := ""
		if id, ok := m.Chain(limb.Name); ok {
			if c := m.Chains()[id].Contact; c != robot.NoContact {
				contact = m.Contacts()[c].Name
			}
		}
		for i := range limb.Points {
			stands := ""
			if limb.Points[i].Contact {
				if stands = contact; contact == "" {
					errs = append(errs, fmt.Errorf("ee_motion %s.points[%d].contact: this limb has nothing to stand on", limb.Name, i))
				}
			}
			l.Contacts = append(l.Contacts, stands)
		}
		goal.Limbs = append(goal.Limbs, l)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return &executive.Step{Goal: goal}, nil
}

// StepCode returns the error code and the text of how steps ended.
func StepCode(m *robot.Model, r *executive.Result) (code int32, text string) {
	switch r.Code {
	case "ok":
		return StepSuccessful, r.Text()
	case "tolerance_broken", "start_too_far":
		return StepToleranceViolated, r.Text()
	case "invalid_goal":
		for _, x := range r.Explanations {
			if x.Code == codeAppend {
				return StepUnableToAppend, r.Text()
			}
		}
		return StepInvalidTrajectory, r.Text()
	case "bad_step":
		for _, x := range r.Explanations {
			if _, known := m.Chain(x.Resource); x.Resource != "" && !known {
				return StepInvalidEndEffector, r.Text()
			}
		}
		return StepInvalidTrajectory, r.Text()
	}
	return StepInternalError, r.Text()
}

// stepFeedback returns the progress of steps.
func stepFeedback(f *executive.Feedback) *poisemsgs.FollowStepSequenceFeedback {
	return &poisemsgs.FollowStepSequenceFeedback{TimeFromStart: msgs.DurationFromSeconds(f.Time)}
}

// WorldFrame is the fixed frame in which robots stand.
const WorldFrame = "world"

// InBase reports whether a frame is the robot's base: its root link, by name or as "base".
// ok is false for any other frame than that and the world, which may be given by an empty
// name.
func InBase(m *robot.Model, h *msgs.Header) (base, ok bool) {
	switch frame := strings.TrimPrefix(h.FrameID, "/"); frame {
	case "", WorldFrame:
		return false, true
	case "base", m.Frames()[0].Name:
		return true, true
	}
	return false, false
}
