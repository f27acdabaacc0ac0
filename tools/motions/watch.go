package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"

	"poise/contact"
	"poise/estimate"
	"poise/motion"
	"poise/motion/lint"
	"poise/robot"
	"poise/spatial"
	"poise/trajectory/spline"
)

// moment is a robot in the middle of a motion.
type moment struct {
	time   float64
	joints []float64
	base   spatial.Pose
	slip   float64 // of a standing foot since it stands, m
	margin float64 // of the centre of mass inside the supports, m; −∞ if nothing stands
}

// lookPeriod is how often a motion is looked at, s.
const lookPeriod = 0.01

// play runs through a motion as the follow controller would, in steps that divide
// its duration evenly, and shows every moment. The base goes where the feet that
// stand leave it.
func (w *written) play(steps int, show func(k int, m *moment)) error {
	g, err := w.document.Goal(motion.Part{})
	if err != nil {
		return err
	}
	curve, err := g.Curve(w.model)
	if err != nil {
		return err
	}
	ground, err := contact.NewGround(w.model)
	if err != nil {
		return err
	}
	var tracks *spline.Steps
	if len(w.document.Chains) > 0 {
		var times []float64
		var rows [][]float64
		for _, p := range w.document.Points { // all of them are enabled
			times, rows = append(times, p.Time), append(rows, p.Supports)
		}
		if tracks, err = spline.NewSteps(times, rows); err != nil {
			return err
		}
	}
	column := make([]int, len(w.model.Joints()))
	for j := range column {
		column[j] = -1
	}
	for i, name := range g.Moved() {
		id, _ := w.model.Joint(name)
		column[id] = i
	}
	odometry, err := estimate.NewOdometry(w.model)
	if err != nil {
		return err
	}
	moving := make([]float64, curve.Joints())
	now := &moment{joints: make([]float64, len(column))}
	var feet []contact.Foot
	var b contact.Balance
	for k := range steps + 1 {
		now.time = curve.Start() + (curve.End()-curve.Start())*float64(k)/float64(steps)
		curve.PositionTo(moving, now.time)
		for j, c := range column {
			if now.joints[j] = w.document.Points[0].Positions[j]; c >= 0 {
				now.joints[j] = moving[c]
			}
		}
		feet = feet[:0]
		for _, f := range ground.DefaultFeetTo(nil) {
			if i := w.track(f); i < 0 || tracks.At(now.time)[i] > 0 {
				feet = append(feet, f)
			}
		}
		now.base = odometry.Update(&estimate.Input{Time: now.time, Q: now.joints, Feet: estimate.Alike(feet)}).Pose
		now.slip, now.margin = odometry.Slip(), math.Inf(-1)
		if len(feet) > 0 {
			level, _ := ground.Settle(now.joints, feet)
			ground.BalanceTo(&b, now.joints, feet, level)
			now.margin = b.Margin
		}
		show(k, now)
	}
	return nil
}

// track returns the support track of a foot, −1 if it has none.
func (w *written) track(f contact.Foot) int {
	for i, c := range w.document.Chains {
		if id, ok := w.model.Chain(c); ok && id == f.Chain {
			return i
		}
	}
	return -1
}

// frame is a pose to be drawn.
type frame struct {
	Time   float64            `json:"time"`
	Joints map[string]float64 `json:"joints"`
	Place  [3]float64         `json:"place"` // of the base, m
	Turn   [4]float64         `json:"turn"`  // x y z w
}

// strip is a motion to be drawn.
type strip struct {
	Robot  string  `json:"robot"`
	Name   string  `json:"name"`
	Frames []frame `json:"frames"`
}

// printFrames prints poses at even times, the first and the last included.
func printFrames(out io.Writer, all []written, frames int) error {
	var strips []strip
	for i := range all {
		w := &all[i]
		s := strip{Robot: w.robot, Name: w.name}
		every := int(math.Ceil(w.document.Duration() / lookPeriod / float64(max(frames-1, 1))))
		err := w.play(every*(frames-1), func(k int, m *moment) {
			if k%every != 0 {
				return
			}
			r := m.base.R.Quat()
			f := frame{Time: m.time, Joints: map[string]float64{}, Place: [3]float64{m.base.P.X, m.base.P.Y, m.base.P.Z}, Turn: [4]float64{r.X, r.Y, r.Z, r.W}}
			for j, q := range m.joints {
				f.Joints[w.model.Joints()[j].Name] = q
			}
			s.Frames = append(s.Frames, f)
		})
		if err != nil {
			return err
		}
		strips = append(strips, s)
	}
	return json.NewEncoder(out).Encode(strips)
}

// printReport tells how near each motion comes to what it may do.
func printReport(out io.Writer, all []written) error {
	for i := range all {
		w := &all[i]
		fast, hard, err := w.worst()
		if err != nil {
			return err
		}
		slip, margin := 0.0, math.Inf(1)
		steps := int(w.document.Duration() / lookPeriod)
		if err := w.play(steps, func(_ int, m *moment) { slip, margin = max(slip, m.slip), min(margin, m.margin) }); err != nil {
			return err
		}
		fmt.Fprintf(out, "%-16s %5.2f s %3d rows  speed %v, acceleration %v, slip %.2f mm, margin %.1f mm\n",
			w.name, w.document.Duration(), len(w.document.Points), fast, hard, 1000*slip, 1000*margin)
		for _, f := range lint.Check(w.document, w.model, lint.Options{}) {
			fmt.Fprintln(out, "  ", f)
		}
	}
	return nil
}

// share is how much of its limit a joint uses, at most.
type share struct {
	joint string
	of    float64
}

func (s share) String() string { return fmt.Sprintf("%3.0f %% (%s)", 100*s.of, s.joint) }

// worst returns the joints that come nearest to their limits of velocity and
// acceleration.
func (w *written) worst() (fast, hard share, err error) {
	g, err := w.document.Goal(motion.Part{})
	if err != nil {
		return fast, hard, err
	}
	peaks, err := motion.Peaks(g, w.model)
	if err != nil {
		return fast, hard, err
	}
	for _, p := range peaks {
		if of := math.Abs(p.Velocity) / p.Limits.Velocity.Value; of > fast.of {
			fast = share{p.Joint, of}
		}
		if of := math.Abs(p.Acceleration) / mostAcceleration(p.Limits); of > hard.of {
			hard = share{p.Joint, of}
		}
	}
	return fast, hard, nil
}

// mostAcceleration is what a joint is asked for at most. The pony has no limits of
// its own: legs and neck keep to what its hand-overs assume; servos of light parts,
// which may go twice as fast, get there in the same way, and what is only drawn is
// as quick as an eye.
func mostAcceleration(l robot.Limits) float64 {
	const legs, light, drawn = 8, 32, 100 // rad/s²
	switch {
	case l.Acceleration.Has:
		return l.Acceleration.Value
	case l.Velocity.Value > 6:
		return drawn
	case l.Velocity.Value > 3:
		return light
	}
	return legs
}
