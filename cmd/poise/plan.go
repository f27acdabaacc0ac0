package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"poise/edge"
	"poise/kinematics"
	"poise/msgs"
	"poise/msgs/rosjson"
	"poise/planner"
	"poise/planner/pipeline"
	"poise/problem"
	"poise/robot"
)

// planSource is the name under which the planner signs its answers.
const planSource = "poise plan"

// planGarbage is how much garbage there may be beside what a plan needs, in percent: a long
// sequence is given back while it is planned.
const planGarbage = 50

// planCommand answers one MotionPlanRequest or MotionSequenceRequest.
func planCommand(e *env, fs *pflag.FlagSet) func(args []string) error {
	f := new(planFlags)
	f.register(fs)
	fs.StringVar(&f.compat, "compat", "", "plan as another planner does: `pilz`")
	fs.Float64Var(&f.sampling, "sampling", 0, "time between points, `s`")
	fs.StringVar(&f.current, "current", "", "where the robot is: `JSON` array, object of joints, or JointState")
	fs.StringVar(&f.output, "o", "", "write the answer to `file` (.json), or its points (.csv), and print what it is in a line")
	fs.StringVar(&f.plot, "plot", "", "draw positions, velocities, accelerations and tool speed to `file` (.png or .svg)")
	execute := fs.Bool("execute", false, "let the robot of a server plan and perform REQUEST, from where it is; no ROBOT is named")
	r := newRemote(e, fs)
	return func(args []string) error {
		if *execute {
			if err := onlyFlags(fs, "--execute takes no %s", "execute", "compat", "server", "robot", "json"); err != nil {
				return err
			}
			return r.execute(args, f.compat)
		}
		for _, name := range []string{"server", "robot"} {
			if fs.Changed(name) {
				return usagef("--%s is for --execute, which a server does", name)
			}
		}
		return f.plan(e, args)
	}
}

// onlyFlags refuses flags other than those that are named.
func onlyFlags(fs *pflag.FlagSet, why string, names ...string) (err error) {
	fs.Visit(func(f *pflag.Flag) {
		if err == nil && !slices.Contains(names, f.Name) {
			err = usagef(why, dashed(f.Name))
		}
	})
	return err
}

// planFlags are those of poise plan.
type planFlags struct {
	robotFlags
	compat, current, output, plot string
	sampling                      float64
}

// check refuses values that no plan can have.
func (f *planFlags) check() error {
	switch {
	case f.compat != "" && f.compat != "pilz":
		return usagef("--compat %q is unknown: only pilz is%s", f.compat, problem.Hint(f.compat, []string{"pilz"}))
	case f.sampling < 0 || math.IsNaN(f.sampling) || math.IsInf(f.sampling, 0):
		return usagef("--sampling %g s is no time between points", f.sampling)
	case !hasSuffix(f.output, ".json", ".csv"):
		return usagef("-o %q: the name must end in .json or .csv", f.output)
	case !hasSuffix(f.plot, ".png", ".svg"):
		return usagef("--plot %q: the name must end in .png or .svg", f.plot)
	}
	return nil
}

// plan plans the request that is named after the robot.
func (f *planFlags) plan(e *env, args []string) error {
	if err := f.check(); err != nil {
		return err
	}
	job := planJob{pilz: f.compat == "pilz"}
	bot, rest, err := f.load(args)
	if err != nil {
		return err
	}
	if len(rest) != 1 {
		return usagef("want one REQUEST, a file or - for standard input, got %d", len(rest))
	}
	job.m, job.plans = bot.Model, pipeline.Standard(bot.Model, pipeline.Sampling{Own: f.sampling, Pilz: f.sampling, Coarser: f.sampling == 0})
	if job.current, job.moving, err = parseCurrent(job.m, f.current); err != nil {
		return err
	}
	text, err := readRequest(e, rest[0])
	if err != nil {
		return err
	}
	debug.SetGCPercent(planGarbage)
	end := progress(e.err, "planning")
	answer := job.answer(text)
	end()
	short := !e.json && (f.output != "" || isTerminal(e.out)) // an answer may have a megabyte
	if err := answer.tell(e, short); err != nil {
		return err
	}
	if err := answer.save(job.m, f.output, f.plot); err != nil {
		return err
	}
	if answer.code != msgs.ErrorSuccess {
		return &toldError{errors.New(answer.refusal())}
	}
	return nil
}

// hasSuffix reports whether a file name is not given, or ends as it must.
func hasSuffix(name string, endings ...string) bool {
	for _, end := range endings {
		if name == "" || filepath.Ext(name) == end {
			return true
		}
	}
	return false
}

func readRequest(e *env, name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(e.in)
	}
	return os.ReadFile(name)
}

// planJob is one question to the planners.
type planJob struct {
	m       *robot.Model
	plans   pipeline.Set
	pilz    bool // whatever the request says
	current []float64
	moving  planner.StartState // the current state, if it has velocities
}

// planAnswer is what was answered.
type planAnswer struct {
	what    string // was asked for
	message any    // the response, to be written as JSON
	code    int32
	why     string // it is refused, or slower than was asked for
	motions []*planner.Motion
}

// answer reads the request and plans it. Whatever is wrong, even with the text,
// becomes a response.
func (j *planJob) answer(text []byte) planAnswer {
	sequence, err := rosjson.HasKey(text, "items")
	if err == nil && sequence {
		var msg msgs.MotionSequenceRequest
		if err := rosjson.Unmarshal(text, &msg); err != nil {
			return j.sequence(pipeline.Question{Refusal: unreadable(err)})
		}
		return j.sequence(edge.SequenceQuestion(&msg))
	}
	var msg msgs.MotionPlanRequest
	if err == nil {
		err = rosjson.Unmarshal(text, &msg)
	}
	if err != nil {
		return j.single("", pipeline.Question{Refusal: unreadable(err)})
	}
	return j.single(msg.GroupName, edge.Question(&msg))
}

// ask plans. A request that says nothing about its start begins where the robot is,
// and as fast as it is there; of a sequence, the first of each group.
func (j *planJob) ask(q *pipeline.Question) pipeline.Answer {
	if j.pilz {
		q.Pipeline = pipeline.Pilz
	}
	seen := map[string]bool{}
	for i := range q.Items {
		if r := &q.Items[i].Request; !seen[r.Group] {
			if r.Start.Empty() {
				r.Start = j.moving
			}
			seen[r.Group] = true
		}
	}
	ctx, stop := q.Bounded(context.Background())
	defer stop()
	return j.plans.Ask(ctx, q, j.current)
}

// unreadable refuses a text that is no request.
func unreadable(err error) *planner.Refusal {
	return planner.Refuse(planner.BadRequest, "the request cannot be read: %s", join(err))
}

// join puts all problems of an error on one line.
func join(err error) string {
	var b bytes.Buffer
	for i, one := range flatten(err) {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(one.Error())
	}
	return b.String()
}

func (j *planJob) single(group string, q pipeline.Question) planAnswer {
	a := j.ask(&q)
	code := edge.PlanCode(&a, planSource)
	what := ""
	if len(q.Items) > 0 {
		what = q.Items[0].Request.CommandName
	}
	return planAnswer{what: what, code: code.Val, why: code.Message, motions: a.Motions, message: edge.PlanResponse(j.m, &a, group, code)}
}

func (j *planJob) sequence(q pipeline.Question) planAnswer {
	a := j.ask(&q)
	code := edge.PlanCode(&a, planSource)
	what := fmt.Sprintf("sequence of %d", len(q.Items))
	return planAnswer{what: what, code: code.Val, why: code.Message, motions: a.Motions, message: edge.SequenceResponse(j.m, &a, code)}
}

// write writes the response on one line. It may be long, and is never in memory as a
// whole.
func (a *planAnswer) write(w io.Writer) error {
	if err := rosjson.Write(w, a.message, msgs.ROS2); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// refusal says in one line why nothing is planned.
func (a *planAnswer) refusal() string {
	return fmt.Sprintf("%s (%d)", strings.ReplaceAll(a.why, "\n", "; "), a.code)
}

// summary says in one line what is planned, and what slows it down.
func (a *planAnswer) summary() string {
	var b strings.Builder
	b.WriteString(a.what)
	for _, mo := range a.motions {
		points := mo.Trajectory.Points
		fmt.Fprintf(&b, ", %s %.3g s, %d points", mo.Group.Name, points[len(points)-1].Time, len(points))
	}
	if a.why != "" {
		b.WriteString("; " + a.why)
	}
	return b.String()
}

// tell prints the response, or what it is in a line; for programs it begins as every answer does.
func (a *planAnswer) tell(e *env, short bool) error {
	switch {
	case short && a.code != msgs.ErrorSuccess:
		return nil // why is told on standard error in any case
	case short:
		_, err := fmt.Fprintln(e.out, a.summary())
		return err
	case !e.json:
		return a.write(e.out)
	}
	head := answered{true, fmt.Sprintf("%d motions are planned", len(a.motions))}
	if a.code != msgs.ErrorSuccess {
		head = answered{false, a.refusal()}
	}
	text, err := json.Marshal(head)
	if err != nil {
		return err
	}
	return a.write(&joined{to: e.out, head: text})
}

// joined writes a JSON object behind another one, as one object.
type joined struct {
	to   io.Writer
	head []byte // of the first object; nil once it is written
}

func (j *joined) Write(p []byte) (int, error) {
	if len(p) == 0 || j.head == nil {
		return j.to.Write(p)
	}
	j.head[len(j.head)-1] = ',' // the end of the first is the begin of the second
	_, err := j.to.Write(append(j.head, p[1:]...))
	j.head = nil
	return len(p), err
}

func (a *planAnswer) writeFile(name string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(a.write(f), f.Close())
}

// save writes the answer and the picture, each if it is asked for.
func (a *planAnswer) save(m *robot.Model, output, plot string) error {
	var errs []error
	switch filepath.Ext(output) {
	case ".json":
		errs = append(errs, a.writeFile(output))
	case ".csv":
		errs = append(errs, os.WriteFile(output, a.csv(m), 0o644))
	}
	if plot != "" && len(a.motions) > 0 {
		errs = append(errs, drawPlan(m, a.motions, plot))
	}
	return errors.Join(errs...)
}

// csv writes the points as a table: time, then position, velocity and
// acceleration of each joint. Motions of other groups follow with their own head.
func (a *planAnswer) csv(m *robot.Model) []byte {
	var b bytes.Buffer
	for _, mo := range a.motions {
		b.WriteString("time")
		for _, quantity := range []string{"position", "velocity", "acceleration"} {
			for _, j := range mo.Joints {
				fmt.Fprintf(&b, ",%s %s", m.Joints()[j].Name, quantity)
			}
		}
		b.WriteByte('\n')
		for _, p := range mo.Trajectory.Points {
			b.WriteString(strconv.FormatFloat(p.Time, 'g', -1, 64))
			for _, column := range [][]float64{p.Position, p.Velocity, p.Acceleration} {
				for _, x := range column {
					b.WriteByte(',')
					b.WriteString(strconv.FormatFloat(x, 'g', -1, 64))
				}
			}
			b.WriteByte('\n')
		}
	}
	return b.Bytes()
}

// parseCurrent reads where the robot is: an array of all joints, an object of
// joints by name, or a JointState, which may have velocities. Nothing means zero.
func parseCurrent(m *robot.Model, text string) (q []float64, moving planner.StartState, err error) {
	q = make([]float64, m.NumQ())
	for _, b := range m.Bodies() {
		if b.Kind == robot.Floating {
			q[b.Q+6] = 1 // upright
		}
	}
	if text == "" {
		return q, moving, nil
	}
	if text[0] == '[' {
		var all []float64
		if err := json.Unmarshal([]byte(text), &all); err != nil {
			return nil, moving, fmt.Errorf("--current: %w", err)
		}
		if len(all) != len(q) {
			return nil, moving, fmt.Errorf("--current has %d numbers, the robot %d", len(all), len(q))
		}
		return all, moving, nil
	}
	var state msgs.JointState
	if err := rosjson.Unmarshal([]byte(text), &state); err != nil {
		var byName map[string]float64
		if json.Unmarshal([]byte(text), &byName) != nil {
			return nil, moving, fmt.Errorf("--current: want an array, an object of joints or a JointState: %w", err)
		}
		for _, j := range m.Joints() { // in order, so that complaints are
			if _, ok := byName[j.Name]; ok {
				state.Name, state.Position = append(state.Name, j.Name), append(state.Position, byName[j.Name])
				delete(byName, j.Name)
			}
		}
		for name := range byName {
			return nil, moving, fmt.Errorf("--current: joint %q is unknown%s", name, problem.Hint(name, m.JointNames()))
		}
	}
	if len(state.Name) != len(state.Position) {
		return nil, moving, fmt.Errorf("--current names %d joints and gives %d positions", len(state.Name), len(state.Position))
	}
	for i, name := range state.Name {
		id, ok := m.Joint(name)
		if !ok || m.Joints()[id].Kind.NumQ() != 1 {
			return nil, moving, fmt.Errorf("--current: joint %q is unknown%s", name, problem.Hint(name, m.JointNames()))
		}
		q[m.Joints()[id].Q] = state.Position[i]
	}
	switch {
	case len(state.Velocity) == 0:
	case len(state.Velocity) != len(state.Name):
		return nil, moving, fmt.Errorf("--current names %d joints and gives %d velocities", len(state.Name), len(state.Velocity))
	default:
		moving = planner.StartState{Names: state.Name, Position: state.Position, Velocity: state.Velocity}
	}
	return q, moving, nil
}

// toolSpeed returns the speed of a link along a motion, m/s.
func toolSpeed(m *robot.Model, mo *planner.Motion, link robot.FrameID) []float64 {
	d := kinematics.NewData(m)
	q := append([]float64(nil), mo.Start...)
	v := make([]float64, m.NumV())
	speeds := make([]float64, len(mo.Trajectory.Points))
	for i, p := range mo.Trajectory.Points {
		for k, id := range mo.Joints {
			j := &m.Joints()[id]
			q[j.Q], v[j.V] = p.Position[k], p.Velocity[k]
		}
		d.UpdatePosition(q)
		d.UpdateVelocity(v)
		speeds[i] = d.Twist(d.At(link)).Linear.Norm()
	}
	return speeds
}
