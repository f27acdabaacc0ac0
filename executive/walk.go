package executive

import (
	"fmt"
	"math"
	"slices"

	"poise/contact"
	"poise/control/walk"
	"poise/gait"
	"poise/problem"
	"poise/robot"
	"poise/spatial"
)

// WalkTo walks to a place, or by footsteps that are given one by one, and stands there.
type WalkTo struct {
	To     spatial.Pose // of the base; height and tilt do not count
	InBase bool         // it, and footsteps, are seen from where the base is, rather than on the ground of the odometry
	Steps  []Footstep   // none walks to To

	Gait          string  // empty chooses by speed
	Speed         float64 // m/s at most; 0 is what the gait can do
	Near, NearYaw float64 // m and rad that count as there; 0 is 0.02 and 0.05
}

// Footstep is where the sole of a limb is put down.
type Footstep struct {
	Limb      string
	X, Y, Yaw float64
}

// Action returns the name of its action.
func (g *WalkTo) Action() string { return "walk_to" }

// What counts as there, m and rad, and the least that a walk can be asked for.
const (
	nearPlace, nearYaw   = 0.02, 0.05
	leastPlace, leastYaw = 0.005, 0.01
	leastSpeed           = 0.001 // m/s: slower ones count as standing, and it never arrived
	mostAsked            = 1e3
)

// check returns what counts as there, and why the numbers of the goal cannot be walked by.
func (g *WalkTo) check() (near, yaw float64, reasons []Explanation) {
	refuse := func(name string, value, limit float64, text string) {
		x := *problem.New("bad_value", "%s is %g: %s", name, value, text)
		x.Value, x.Limit = value, limit
		reasons = append(reasons, x)
	}
	orElse := func(x *float64, absent, least float64, name string) {
		if *x == 0 {
			*x = absent
		}
		if !(*x >= least) {
			refuse(name, *x, least, fmt.Sprintf("a tolerance is at least %g", least))
		} else if *x > mostAsked {
			refuse(name, *x, mostAsked, fmt.Sprintf("a tolerance is at most %g", mostAsked))
		}
	}
	near, yaw = g.Near, g.NearYaw
	orElse(&near, nearPlace, leastPlace, "position_tolerance")
	orElse(&yaw, nearYaw, leastYaw, "orientation_tolerance")
	switch {
	case g.Speed == 0:
	case !(g.Speed >= leastSpeed):
		refuse("speed", g.Speed, leastSpeed, fmt.Sprintf("a speed is at least %g m/s, and 0 is what the gait can do", leastSpeed))
	case g.Speed > mostAsked:
		refuse("speed", g.Speed, mostAsked, fmt.Sprintf("a speed is at most %g m/s", mostAsked))
	}
	if g.Gait != "" && !slices.Contains(gait.Names, g.Gait) {
		reasons = append(reasons, *problem.Unknown("unknown_gait", "gait", g.Gait, gait.Names))
	}
	if len(g.Steps) > gait.MostFootsteps {
		refuse("footsteps", float64(len(g.Steps)), gait.MostFootsteps, "give the rest when these are done")
	}
	return near, yaw, reasons
}

func (g *WalkTo) prepare(v *view) (*work, []Explanation) {
	near, yaw, reasons := g.check()
	p, err := walk.Walk(v.cfg.Model)
	if err != nil {
		return nil, append(reasons, problem.All("no_controller", err)...)
	}
	from := spatial.Pose{R: spatial.Identity3}
	if g.InBase {
		from = contact.Level(v.now.Measured.Base.Pose)
	}
	p.Gait = g.Gait
	for _, s := range g.Steps {
		id, ok := v.cfg.Model.Chain(s.Limb)
		if !ok || !slices.ContainsFunc(p.Feet, func(f contact.Foot) bool { return f.Chain == id }) {
			reasons = append(reasons, *problem.Unknown("unknown_limb", "leg", s.Limb, legs(v.cfg.Model, p)))
			continue
		}
		X := from.Mul(flat(s.X, s.Y, s.Yaw))
		p.Steps = append(p.Steps, walk.Step{Chain: id, At: gait.Point{X: X.P.X, Y: X.P.Y}, Yaw: math.Atan2(X.R[3], X.R[0])})
	}
	if len(reasons) > 0 {
		return nil, reasons
	}
	w := newWork(v.cfg.pool(walk.Kind.Name), p)
	if len(w.pool) == 0 {
		return nil, []Explanation{*problem.New("no_controller", "no controller walks")}
	}
	if len(p.Steps) == 0 {
		X := from.Mul(contact.Level(g.To))
		p.To = &walk.Target{At: gait.Point{X: X.P.X, Y: X.P.Y}, Yaw: math.Atan2(X.R[3], X.R[0]), Speed: g.Speed, Near: near, NearYaw: yaw}
		w.goal = p.To
	}
	return w, nil
}

// flat is a place on the ground with a heading.
func flat(x, y, yaw float64) spatial.Pose {
	return spatial.Pose{R: spatial.TurnZ(yaw), P: spatial.Vec3{X: x, Y: y}}
}

// legs names the chains that a walk stands on.
func legs(m *robot.Model, p *walk.Program) (names []string) {
	for _, f := range p.Feet {
		names = append(names, m.Chains()[f.Chain].Name)
	}
	return names
}
