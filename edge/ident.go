package edge

import (
	"fmt"
	"math"

	"poise/executive"
	"poise/identify"
	"poise/identify/session"
	"poise/msgs/poisemsgs"
	"poise/problem"
	"poise/robot"
)

// motionShare is how much of an identification its motion is, as progress counts.
const motionShare = 0.85

// ServoIdent identifies servos.
var ServoIdent = Translation[poisemsgs.ServoIdentGoal, poisemsgs.ServoIdentFeedback, poisemsgs.ServoIdentResult]{
	Goal: func(m *robot.Model, g *poisemsgs.ServoIdentGoal) (executive.Goal, error) {
		res, err := m.Resources()
		if err != nil {
			return nil, err
		}
		q := &session.Request{Names: g.Resources, Duration: g.Duration, Amplitude: g.Amplitude, Sweeps: g.Sweeps, Seed: uint64(g.Seed), Mounting: g.Mounting, Look: g.PreFlightOnly, Keep: g.KeepModels}
		for _, name := range g.Resources {
			set, ok := res.Find(name)
			if !ok {
				return nil, fmt.Errorf("resource %q is unknown%s", name, problem.Hint(name, res.Names()))
			}
			q.Set = q.Set.Union(set)
		}
		if q.Set.Empty() {
			return nil, fmt.Errorf("no resources are named: limbs or joints whose servos are to be identified")
		}
		return &executive.Experiment{Controller: "servo_ident", Request: q}, nil
	},
	Feedback: func(f *executive.Feedback) *poisemsgs.ServoIdentFeedback {
		out := &poisemsgs.ServoIdentFeedback{Stage: string(f.Phase), Time: f.Time, Duration: f.Duration, Resources: f.Resources}
		switch {
		case f.Phase == executive.Evaluating:
			out.Progress = motionShare + (1-motionShare)*f.Progress
		case f.Duration > 0:
			out.Progress = motionShare * min(1, f.Time/f.Duration)
		}
		return out
	},
	Result: func(m *robot.Model, r *executive.Result) poisemsgs.ServoIdentResult {
		out := poisemsgs.ServoIdentResult{Code: r.Code, Message: r.Text(), Joints: []poisemsgs.ServoIdentJoint{}, Checks: []poisemsgs.ServoIdentCheck{}, Plan: []poisemsgs.ServoIdentPlan{}, Notes: []string{}}
		if found, ok := r.Found.(*session.Outcome); ok && found != nil {
			identOutcome(&out, m, found)
		}
		return out
	},
}

func identOutcome(out *poisemsgs.ServoIdentResult, m *robot.Model, found *session.Outcome) {
	out.Log, out.Models, out.Version, out.Notes = found.Log, found.Models, uint32(found.Version), append(out.Notes, found.Notes...)
	for _, c := range found.Checks {
		out.Checks = append(out.Checks, poisemsgs.ServoIdentCheck(c))
	}
	for _, f := range found.Plan {
		out.Plan = append(out.Plan, poisemsgs.ServoIdentPlan{Joint: m.Joints()[f.Joint].Name, Condition: f.Condition, Way: f.Way, Quick: f.Quick, Velocity: f.Velocity,
			Acceleration: f.Acceleration, Effort: f.Effort})
	}
	accepted := 0
	for i := range found.Joints {
		out.Joints = append(out.Joints, identVerdict(&found.Joints[i]))
		if found.Joints[i].Accepted {
			accepted++
		}
	}
	if out.Message == "" && len(found.Joints) > 0 {
		out.Message = fmt.Sprintf("%d of %d models are accepted", accepted, len(found.Joints))
	}
}

func identVerdict(v *session.Verdict) poisemsgs.ServoIdentJoint {
	values := func(p *identify.Parameters) []float64 {
		return []float64{float64(p.A0), float64(p.A1), float64(p.A2), float64(p.A3), float64(p.A4), float64(p.A5), float64(p.Vs)}
	}
	out := poisemsgs.ServoIdentJoint{Joint: v.Joint, Accepted: v.Accepted, Reasons: v.Reasons, Details: v.Details, Parameters: values(&v.Parameters), Sigma: values(&v.Sigma),
		Delay: float64(v.Delay), DelaySigma: float64(v.DelaySigma), Condition: float64(v.Condition), Rmse: float64(v.RMSE), RmseTorque: float64(v.RMSETorque), RmseBefore: v.Before,
		Taken: v.Taken, Effects: []string{}, Voltage: float64(v.Voltage), Temperature: float64(v.Temperature), RmseFit: float64(v.TrainRMSE),
		Kp: float64(v.Kp), Gear: float64(v.Gear), Period: float64(v.Period), Duration: float64(v.Duration), Readings: uint32(v.Readings), Lost: uint32(v.Lost), Published: v.Published, Kept: v.Kept}
	for _, a := range v.Autocorrelation {
		out.Autocorrelation = append(out.Autocorrelation, float64(a))
	}
	for _, e := range v.Effects {
		out.Effects = append(out.Effects, e.Name+": "+e.Text)
	}
	t := &v.Traces
	every := max(1, int(math.Ceil(float64(len(t.Time))/curvePoints)))
	for i := 0; i < len(t.Time); i += every {
		out.Time, out.Goal, out.Position = append(out.Time, t.Time[i]), append(out.Goal, t.Goal[i]), append(out.Position, t.Measured[i])
		out.Residual = append(out.Residual, t.Measured[i]-t.Predicted[i])
	}
	return out
}

// curvePoints is how many points a curve has at most.
const curvePoints = 1500
