package executive

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"poise/control"
	"poise/control/follow"
	"poise/motion"
	"poise/motion/library"
	"poise/problem"
	"poise/robot"
)

// Play plays a stored motion, or one that is being edited.
type Play struct {
	Name     string           // of a stored motion
	Document *motion.Document // the motion itself; Name is then only what it is called

	Part   motion.Part // what of it; the limits are checked at the speed of its Scale
	Speed  float64     // of its clock, as far as the limits allow; 0 is 1
	Loop   bool        // again and again until it is called off
	Return bool        // goes back to where the joints were

	Approach bool    // moves to its start pose and first row, if the robot is elsewhere
	Share    float64 // of the joints' limits, for the approach; 0 is the configured one
}

// ParsePlay reads a motion's name and the options of a text command: words such
// as "loop", "part", "backward", "approach", "return", "resume" and "speed=0.5",
// separated by blanks or commas. All that cannot be read is explained at once.
func ParsePlay(name, options string) (Goal, []Explanation) {
	p, resume := &Play{Name: name}, false
	flags := map[string]*bool{"loop": &p.Loop, "part": &p.Part.Marked, "backward": &p.Part.Backward, "approach": &p.Approach, "return": &p.Return, "resume": &resume}
	words := []string{"loop", "part", "backward", "approach", "return", "resume", "speed"}
	var reasons []Explanation
	for _, word := range strings.FieldsFunc(options, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' }) {
		key, value, has := strings.Cut(word, "=")
		flag, ok := flags[key]
		var err error
		switch {
		case key == "speed":
			if p.Speed, err = strconv.ParseFloat(value, 64); err == nil && p.Speed == 0 {
				// in a goal that would be the usual speed
				reasons = append(reasons, *problem.New("bad_option", "at speed 0 a motion would not move").With("pause it once it runs"))
			}
		case ok && !has:
			*flag = true
		case ok:
			*flag, err = strconv.ParseBool(value)
		default:
			reasons = append(reasons, *problem.Unknown("bad_option", "option", key, words))
		}
		if err != nil {
			reasons = append(reasons, *problem.New("bad_option", "option %q: %q is not its value", key, value))
		}
	}
	if resume {
		return Resumed{p}, reasons
	}
	return p, reasons
}

// Action returns the name of its action.
func (g *Play) Action() string { return "play" }

func (g *Play) prepare(v *view) (*work, []Explanation) {
	if reasons := checkRate(g.Speed); reasons != nil {
		return nil, reasons
	}
	d, reasons := g.document(v)
	if reasons != nil {
		return nil, reasons
	}
	goal, err := d.Goal(g.Part)
	if err != nil {
		return nil, motionProblems(err)
	}
	if g.Document != nil {
		v.keep("motion", goal)
	}
	goal.Loop = g.Loop
	if g.Approach {
		if goal.Approach = g.Share; g.Share == 0 {
			goal.Approach = v.cfg.Approach.Share
		}
	}
	if reasons = v.inStartPose(d, g, goal); len(reasons) > 0 {
		return nil, reasons
	}
	end := 0.0
	if g.Return && !g.Loop {
		end = goal.End()
		v.addReturn(goal)
	}
	w, reasons := v.compile(goal, false)
	if reasons != nil {
		return nil, reasons
	}
	w.rate, w.motion, w.to = g.Speed, g.Name, end
	return w, nil
}

// document returns the motion that is meant.
func (g *Play) document(v *view) (*motion.Document, []Explanation) {
	if g.Document != nil {
		return g.Document, nil
	}
	return v.stored(g.Name)
}

// stored finds a motion by name.
func (v *view) stored(name string) (*motion.Document, []Explanation) {
	if v.cfg.Library == nil {
		return nil, []Explanation{*problem.New("no_library", "there is no library of stored motions")}
	}
	m, err := v.cfg.Library.Get(name)
	switch {
	case err == nil:
		return m.Document, nil
	case errors.Is(err, library.ErrUnreadable):
		return nil, []Explanation{*problem.New("unreadable_motion", "%s", err.Error()).With("mend its file; it is read again when it changes")}
	case errors.Is(err, library.ErrUnknown):
		return nil, []Explanation{*problem.New("unknown_motion", "%s", err.Error())}
	}
	return nil, problem.All("library", err)
}

// motionProblems explains what is wrong with a stored motion.
func motionProblems(err error) (all []Explanation) {
	for _, p := range problem.All("bad_motion", err) {
		all = append(all, Explanation{Code: "bad_motion", Text: p.Error(), Joint: p.Joint, Value: p.Value, Limit: p.Limit})
	}
	return all
}

// startPoseTolerance is how far joints may be from the pose that a motion has to
// begin in, rad or m.
const startPoseTolerance = 0.174

// inStartPose explains which joints are not in the pose that a motion has to begin
// in. An approach brings the motion's own joints to their first row, and the others
// into the pose: these become part of the goal, and stay there.
func (v *view) inStartPose(d *motion.Document, g *Play, goal *follow.Goal) (reasons []Explanation) {
	if d.StartPose == "" || g.Part.Marked {
		return nil
	}
	named, ok := v.cfg.Model.Pose(d.StartPose)
	if !ok {
		return []Explanation{*problem.Unknown("unknown_pose", "pose", d.StartPose, v.poseNames())}
	}
	for i, id := range named.Joints {
		name := v.words.Joint(id)
		if len(named.Q[i]) != 1 || g.Approach && slices.Contains(goal.Joints, name) {
			continue
		}
		owner := v.stoodOn(id)
		if !slices.Contains(goal.Joints, name) && owner != "" {
			continue
		}
		want := named.Q[i][0]
		off := math.Abs(v.now.Command.Q[id] - want)
		switch {
		case off <= startPoseTolerance:
		case g.Approach:
			goal.Joints = append(goal.Joints, name)
			for p := range goal.Points {
				goal.Points[p].Position = append(goal.Points[p].Position, want)
			}
		default:
			x := v.words.Reason(control.Reason{Code: control.StartTooFar, Joint: id, Value: off, Max: startPoseTolerance}, "")
			x.Owner = owner
			unit := v.words.Unit(id)
			x.Text = fmt.Sprintf("motion %q begins in pose %q, and joint %s is %.4g %s away from it, %g %s is allowed", g.Name, d.StartPose, name, off, unit, startPoseTolerance, unit)
			if owner != "" { // no approach helps while it walks
				x.Text += fmt.Sprintf("; controller %q has it", owner)
				reasons = append(reasons, *x.With("stop %q or wait until it is over, then go to pose %q", owner, d.StartPose))
				continue
			}
			reasons = append(reasons, *x.With("go to pose %q first, or allow an approach", d.StartPose))
		}
	}
	return reasons
}

// stoodOn returns the name of the controller that has a joint and keeps the robot on its feet, whatever pose that
// is: it walks, and the head may yawn. There may be none.
func (v *view) stoodOn(joint robot.JointID) string {
	for i := range v.cfg.Controllers {
		c := &v.cfg.Controllers[i]
		if !c.KeepsBalance {
			continue
		}
		if id, ok := v.cfg.Loop.Controller(c.Name); ok && int(id) < len(v.now.Active) && v.now.Active[id].Active && v.now.Active[id].Own.Has(robot.LeafID(joint)) {
			return c.Name
		}
	}
	return ""
}

func (v *view) poseNames() (all []string) {
	for _, p := range v.cfg.Model.Poses() {
		all = append(all, p.Name)
	}
	return all
}
