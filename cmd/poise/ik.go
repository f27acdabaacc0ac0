package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"poise/kinematics"
	"poise/kinematics/ik"
	"poise/problem"
	"poise/robot"
	"poise/spatial"
)

// inverse answers "which joints bring this link there". Solvers are kept: a
// stream usually asks about one link many times.
type inverse struct {
	m       *robot.Model
	solvers map[inverseKey]*ik.Solver
}

type inverseKey struct {
	frame robot.FrameID
	group string
}

type inverseAnswer struct {
	Q             []float64 `json:"q"`
	PositionError float64   `json:"position_error"`
	RotationError float64   `json:"rotation_error"`
}

// unreached is the answer to a pose that was not reached: why, and how near the
// best joint position found comes.
type unreached struct {
	why     string
	reached inverseAnswer
}

func (u *unreached) Error() string { return u.why }

func (u *unreached) refusal() any {
	return struct {
		Error   string        `json:"error"`
		Reached inverseAnswer `json:"reached"`
	}{u.why, u.reached}
}

// ik: {"frame","pose","seed"?,"group"?} → {"q","position_error","rotation_error"}.
func (k *inverse) answer(r *request) (any, error) {
	frame := r.frame("frame", k.m)
	pose := r.pose("pose")
	seed := make([]float64, k.m.NumQ())
	kinematics.NewSpace(k.m).NeutralTo(seed)
	if r.has("seed") {
		seed = r.configuration("seed", k.m)
	}
	group, joints := "", []robot.JointID(nil)
	if r.has("group") {
		group, joints = k.group(r)
	}
	if err := r.done(); err != nil {
		return nil, err
	}
	s, err := k.solver(inverseKey{frame, group}, joints)
	if err != nil {
		return nil, err
	}
	q := make([]float64, k.m.NumQ())
	res := s.PoseTo(q, pose, seed)
	got := inverseAnswer{q, res.PositionError, res.RotationError}
	if res.Status != ik.Solved {
		return nil, &unreached{k.explain(frame, res), got}
	}
	return got, nil
}

// group takes the name of a group and returns its joints, never nil: to a solver
// that would mean all that the link hangs on.
func (k *inverse) group(r *request) (name string, joints []robot.JointID) {
	name, ok := r.text("group")
	if !ok {
		return name, nil
	}
	id, ok := k.m.Group(name)
	if !ok {
		r.fail("group %q is unknown; %s", name, problem.Unknown("", "group", name, k.m.GroupNames()).Help)
		return name, nil
	}
	return name, append([]robot.JointID{}, k.m.Groups()[id].Joints...)
}

func (k *inverse) solver(key inverseKey, joints []robot.JointID) (*ik.Solver, error) {
	if s, ok := k.solvers[key]; ok {
		return s, nil
	}
	s, err := ik.New(k.m, ik.Options{}, joints, key.frame)
	if err != nil {
		return nil, err
	}
	if len(s.Joints()) == 0 {
		name := k.m.Frames()[key.frame].Name
		if key.group == "" {
			return nil, fmt.Errorf("no joint moves frame %q (a floating base and joints of several coordinates are held)", name)
		}
		return nil, fmt.Errorf("group %q does not move frame %q (a floating base and joints of several coordinates are held)", key.group, name)
	}
	k.solvers[key] = s
	return s, nil
}

func (k *inverse) explain(frame robot.FrameID, res ik.Result) string {
	why := fmt.Sprintf("frame %q does not reach the pose: %.4g m and %.4g rad are left", k.m.Frames()[frame].Name, res.PositionError, res.RotationError)
	if res.Status == ik.AtLimits {
		j := k.m.Joints()[res.Joint]
		why += fmt.Sprintf("; joint %q would have to go %.4g beyond its limits %s", j.Name, res.Excess, j.Limits.Range())
	}
	return why
}

// pose takes {"position":{x,y,z},"orientation":{x,y,z,w}}.
func (r *request) pose(key string) spatial.Pose {
	raw, ok := r.value(key)
	if !ok {
		return spatial.IdentityPose
	}
	parts := r.object(key, raw, "position", "orientation")
	p := r.components(key+".position", parts["position"], "x", "y", "z")
	o := r.components(key+".orientation", parts["orientation"], "x", "y", "z", "w")
	if p == nil || o == nil {
		return spatial.IdentityPose
	}
	q := spatial.Quat{X: o[0], Y: o[1], Z: o[2], W: o[3]}
	length := math.Hypot(math.Hypot(q.X, q.Y), math.Hypot(q.Z, q.W))
	if !(math.Abs(length-1) <= unitTolerance) {
		r.fail("%s.orientation has length %.4g, want 1", key, length)
		return spatial.IdentityPose
	}
	q, _ = q.Unit()
	return spatial.Pose{R: q.Matrix(), P: spatial.Vec3{X: p[0], Y: p[1], Z: p[2]}}
}

// object takes a value apart that must have exactly the given keys.
func (r *request) object(what string, raw json.RawMessage, keys ...string) map[string]json.RawMessage {
	var parts map[string]json.RawMessage
	if raw == nil || json.Unmarshal(raw, &parts) != nil || parts == nil {
		r.fail(`%s: an object {"%s":…} is wanted, not %s`, what, strings.Join(keys, `":…,"`), short(raw))
		return nil
	}
	for _, k := range keys {
		if parts[k] == nil {
			r.fail("%s.%s is missing", what, k)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(parts)) {
		if !slices.Contains(keys, k) {
			r.fail("%s: key %q is unknown: want %s%s", what, k, strings.Join(keys, ", "), problem.Hint(k, keys))
		}
	}
	return parts
}

// components takes the numbers of an object, in the order of keys; nil if one is
// missing or none.
func (r *request) components(what string, raw json.RawMessage, keys ...string) []float64 {
	if raw == nil {
		return nil // said already
	}
	before := len(r.errs)
	parts := r.object(what, raw, keys...)
	x := make([]float64, len(keys))
	for i, k := range keys {
		if parts[k] != nil {
			x[i] = r.number(what+"."+k, parts[k])
		}
	}
	if len(r.errs) > before {
		return nil
	}
	return x
}
