package pilz

import (
	"context"
	"math"

	"poise/kinematics"
	"poise/kinematics/ik"
	"poise/planner"
	"poise/planner/path"
	"poise/robot"
	"poise/spatial"
	"poise/trajectory"
)

// Constants of the original.
const (
	DefaultSampling = 0.1  // s
	shortest        = 1e-5 // s: intervals must be longer
	still           = 1e-9 // rad or m: less is no movement
)

// Planner plans like Pilz on one robot. It holds no state between calls and is
// safe for concurrent use.
type Planner struct {
	Model    *robot.Model
	Sampling float64 // s; 0 means DefaultSampling
}

func (p *Planner) sampling() float64 {
	if p.Sampling == 0 {
		return DefaultSampling
	}
	return p.Sampling
}

// Plan plans one request from where the robot is.
func (p *Planner) Plan(ctx context.Context, req *planner.Request, current []float64) (*planner.Motion, *planner.Refusal) {
	scene := planner.Scene{Model: p.Model, Current: current, AnySpeedLink: true}
	task, why := scene.Resolve(req)
	if why != nil {
		return nil, why
	}
	return p.plan(ctx, task)
}

func (p *Planner) plan(ctx context.Context, task *planner.Task) (*planner.Motion, *planner.Refusal) {
	m := &planner.Motion{Group: task.Group, Joints: task.Joints, Start: task.Start}
	var why *planner.Refusal
	if task.Command == planner.PTP {
		m.Trajectory, why = p.pointToPoint(task)
	} else {
		m.Trajectory, why = p.cartesian(ctx, task)
	}
	if why != nil {
		return nil, why
	}
	return m, nil
}

// cartesian moves the tool along a path.
func (p *Planner) cartesian(ctx context.Context, task *planner.Task) (*trajectory.Trajectory, *planner.Refusal) {
	limits := p.Model.CartesianLimits()
	if refusal := needCartesian(limits, task.Command); refusal != nil {
		return nil, refusal
	}
	speed := limits.MaxTransVel.Value
	if task.MaxSpeed > 0 {
		speed = task.MaxSpeed
	}
	toolPath, refusal := geometry(task, path.Coupling{Lever: speed / limits.MaxRotVel.Value})
	if refusal != nil {
		return nil, refusal
	}
	profile := newTrapezoid(toolPath.Length(), task.VelocityScaling*speed, task.AccelerationScaling*limits.MaxTransAcc.Value)
	w, refusal := p.walk(task, task.Link)
	if refusal != nil {
		return nil, refusal
	}
	times, refusal := p.times(profile.duration, shortest)
	if refusal != nil {
		return nil, refusal
	}
	return w.follow(ctx, times, func(t float64) spatial.Pose { return toolPath.At(profile.at(t)).Pose })
}

// needCartesian refuses a path command where a Cartesian limit is missing.
func needCartesian(l *robot.CartesianLimits, c planner.Command) *planner.Refusal {
	if l == nil {
		return planner.Refuse(planner.MissingLimit, "%s needs Cartesian limits, and the robot has none", c).
			With(planner.GiveCartesian)
	}
	for _, k := range []struct {
		name  string
		limit robot.Limit
	}{{"max_trans_vel", l.MaxTransVel}, {"max_trans_acc", l.MaxTransAcc}, {"max_rot_vel", l.MaxRotVel}} {
		if !k.limit.Has {
			return planner.Refuse(planner.MissingLimit, "%s needs the Cartesian limit %s, which is not given", c, k.name)
		}
	}
	return nil
}

// times returns the sample times of a motion: every period by a running sum, and
// the end, which a sample must not be nearer to than a while.
func (p *Planner) times(duration, while float64) ([]float64, *planner.Refusal) {
	period := p.sampling()
	if !(duration <= maxSamples*period) {
		why := planner.Refuse(planner.BadRequest, "the motion would last %.4g s and have more than %d samples every %g s", duration, maxSamples, period)
		why.Value, why.Limit = duration/period, maxSamples
		return nil, why.With("sample less finely, or raise the scaling factors")
	}
	var ts []float64
	for t := 0.0; t < duration-while; t += period {
		ts = append(ts, t)
	}
	return append(ts, duration), nil
}

// maxSamples bounds what one motion may need.
const maxSamples = 2_000_000

// walker follows poses with the joints of a group, sample by sample.
type walker struct {
	m       *robot.Model
	joints  []robot.JointID
	command planner.Command
	solver  *ik.Solver
	period  float64
	q       []float64 // whole configuration: the last solution
	last    trajectory.Point
}

func (p *Planner) walk(task *planner.Task, link robot.FrameID) (*walker, *planner.Refusal) {
	solver, err := ik.New(p.Model, ik.Options{}, task.Joints, link)
	if err != nil {
		return nil, planner.Refuse(planner.NoSolution, "%v", err)
	}
	w := &walker{m: p.Model, joints: task.Joints, command: task.Command, solver: solver, period: p.sampling(), q: append([]float64(nil), task.Start...)}
	return w, nil
}

// position returns the group's part of the last solution.
func (w *walker) position() []float64 {
	x := make([]float64, len(w.joints))
	for i, j := range w.joints {
		x[i] = w.q[w.m.Joints()[j].Q]
	}
	return x
}

// follow solves every sample and checks the joints' limits from one to the next.
// The first and the last point are at rest.
func (w *walker) follow(ctx context.Context, times []float64, pose func(t float64) spatial.Pose) (*trajectory.Trajectory, *planner.Refusal) {
	out := &trajectory.Trajectory{Points: make([]trajectory.Point, 0, len(times))}
	for i, t := range times {
		if why := cancelled(ctx, i); why != nil {
			return nil, why
		}
		X := pose(t)
		if res := w.solver.PoseTo(w.q, X, w.q); res.Status != ik.Solved {
			return nil, at(planner.Unreachable(w.m, "the path", X, res), i, t)
		}
		point := trajectory.Point{Time: t, Position: w.position(), Velocity: make([]float64, len(w.joints)), Acceleration: make([]float64, len(w.joints))}
		if i > 0 {
			if why := w.differ(&point, t-w.last.Time, w.period); why != nil {
				return nil, at(why, i, t)
			}
		}
		w.last = point
		out.Points = append(out.Points, point)
	}
	rest(&out.Points[len(out.Points)-1])
	return out, nil
}

func rest(p *trajectory.Point) {
	p.Velocity, p.Acceleration = make([]float64, len(p.Position)), make([]float64, len(p.Position))
}

// cancelled looks at the context now and then.
func cancelled(ctx context.Context, i int) *planner.Refusal {
	if i%64 != 0 {
		return nil
	}
	return planner.Stopped(ctx)
}

func at(why *planner.Refusal, sample int, t float64) *planner.Refusal {
	why.Sample, why.At = sample, t
	return why
}

// differ fills in velocity and acceleration by backward differences from the last
// point, dt later, and refuses what a joint cannot do.
func (w *walker) differ(p *trajectory.Point, dt, before float64) *planner.Refusal {
	if dt <= shortest {
		return planner.Refuse(planner.LimitExceeded, "two samples are %.3g s apart, and must be more than %g s", dt, shortest)
	}
	for i, j := range w.joints {
		joint := &w.m.Joints()[j]
		v := (p.Position[i] - w.last.Position[i]) / dt
		if math.Abs(v)*dt > still && !joint.Limits.Acceleration.Has {
			return planner.NeedsLimits(joint, w.command)
		}
		if joint.Kind == robot.Continuous {
			v = math.Remainder(p.Position[i]-w.last.Position[i], 2*math.Pi) / dt
		}
		a := 2 * (v - w.last.Velocity[i]) / (dt + before)
		p.Velocity[i], p.Acceleration[i] = v, a
		if l := joint.Limits.Velocity; l.Has && math.Abs(v) > l.Value {
			return exceeded(joint, "velocity", math.Abs(v), l.Value, "lower max_velocity_scaling_factor")
		}
		quantity, l := "acceleration", joint.Limits.Acceleration
		if math.Abs(w.last.Velocity[i]) > math.Abs(v) {
			quantity, l = "deceleration", deceleration(joint)
		}
		if l.Has && math.Abs(a) > math.Abs(l.Value) {
			return exceeded(joint, quantity, math.Abs(a), math.Abs(l.Value), "lower max_acceleration_scaling_factor or max_velocity_scaling_factor")
		}
	}
	return nil
}

// deceleration is the joint's own limit, or its acceleration limit negated.
func deceleration(j *robot.Joint) robot.Limit {
	if l := j.Limits.Deceleration; l.Has {
		return l
	}
	l := j.Limits.Acceleration
	l.Value = -l.Value
	return l
}

func exceeded(j *robot.Joint, quantity string, value, limit float64, help string) *planner.Refusal {
	why := planner.Refuse(planner.LimitExceeded, "joint %q would need %s %.4g, and its limit is %.4g", j.Name, quantity, value, limit)
	why.Joint, why.Value, why.Limit = j.Name, value, limit
	return why.With("%s, or plan without --compat: the motion is then slowed down where it must be", help)
}

// tips returns where a link is at the points of a motion.
func tips(m *robot.Model, mo *planner.Motion, link robot.FrameID) []spatial.Pose {
	d := kinematics.NewData(m)
	q := append([]float64(nil), mo.Start...)
	out := make([]spatial.Pose, len(mo.Trajectory.Points))
	for i, p := range mo.Trajectory.Points {
		for k, j := range mo.Joints {
			q[m.Joints()[j].Q] = p.Position[k]
		}
		d.UpdatePosition(q)
		out[i] = d.Pose(d.At(link))
	}
	return out
}
