package shipped_test

import (
	"math"
	"slices"
	"testing"

	"poise/contact"
	"poise/control"
	"poise/control/follow"
	"poise/estimate"
	"poise/internal/rig"
	"poise/loop"
	"poise/motion"
	"poise/motion/library"
	"poise/motion/shipped"
	"poise/robot"
)

const (
	mostDrift    = 0.005 // m that a hoof which stands may move
	leastMargin  = 0.01  // m by which the centre of mass is inside the hooves that stand
	mostSpeed    = 0.9   // share of a velocity limit: room for a servo that has to catch up
	calmLegs     = 8     // rad/s² of legs and neck: what hand-overs assume
	calmLight    = 32    // of ears, mouth and tail, which may go twice as fast
	posePrecise  = 0.002 // rad by which a motion may miss the pose in which it ends
	servoPeriod  = 0.01  // s
	slackOfLight = 12    // light parts are not held to what legs may do
)

// endsElsewhere lists the motions that lead from one pose to another: all others end
// where they began.
var endsElsewhere = map[string]string{
	"pony crouch": "crouched", "pony stand_up": "stand", "arm6 fold": "folded", "arm6 unfold": "home", "so101 fold": "rest", "so101 unfold": "home",
}

// TestShippedMotionsPlayThrough plays each motion on the loop, in simulated time,
// from its start pose: it is taken as it is, succeeds, all its events leave, hooves
// that stand stay where they are and carry the centre of mass.
func TestShippedMotionsPlayThrough(t *testing.T) {
	for _, name := range []string{"pony", "arm6", "so101"} {
		m := rig.Model(t, name)
		for i, s := range motionsOf(t, name) {
			if testing.Short() && i%6 != 1 { // among them one that lifts a hoof
				continue
			}
			t.Run(name+"/"+s.Name, func(t *testing.T) { playThrough(t, m, s.Document) })
		}
	}
}

func playThrough(t *testing.T, m *robot.Model, d *motion.Document) {
	g, err := d.Goal(motion.Part{})
	if err != nil {
		t.Fatal(err)
	}
	r := rig.New(t, m, rig.Options{Period: servoPeriod, Pose: d.StartPose},
		loop.Registration{Name: "follow", Controller: follow.New(m)})
	r.Slack = slackOfLight
	p, err := follow.Compile(m, follow.Options{Transition: control.Transition{Acceleration: 8}}, nil, g)
	if err != nil {
		t.Fatal(err)
	}
	goal := r.Start("follow", p)
	feet := newHooves(t, m, d)
	for {
		feet.look(t, r.Now.Command.Q, r.Activity("follow").Time)
		if _, _, over := r.Ended(goal); over {
			break
		}
		if r.Seconds() > g.Duration()+2 {
			t.Fatalf("is not over after %g s", r.Seconds())
		}
		r.Run(1)
	}
	if status, why, _ := r.Ended(goal); status != control.Done {
		t.Errorf("ended with %v: %+v", status, why)
	}
	var left []follow.Event
	for _, rep := range r.Reports {
		if rep.Kind == loop.EventsLeft && rep.Goal == goal {
			for i := rep.From; i < rep.To; i++ {
				left = append(left, p.Event(i))
			}
		}
	}
	if !slices.Equal(left, d.Events) {
		t.Errorf("these events left: %v, want %v", left, d.Events)
	}
}

// hooves watches what stands while a motion is played.
type hooves struct {
	d       *motion.Document
	m       *robot.Model
	ground  *contact.Ground
	where   *estimate.Odometry
	balance contact.Balance
}

func newHooves(t *testing.T, m *robot.Model, d *motion.Document) *hooves {
	t.Helper()
	ground, err := contact.NewGround(m)
	if err != nil {
		t.Fatal(err)
	}
	where, err := estimate.NewOdometry(m)
	if err != nil {
		t.Fatal(err)
	}
	return &hooves{d: d, m: m, ground: ground, where: where}
}

// standing returns the feet that the motion says stand at a time.
func (h *hooves) standing(time float64) (feet []contact.Foot) {
	row := 0
	for row+1 < len(h.d.Points) && h.d.Points[row+1].Time <= time {
		row++
	}
	for _, f := range h.ground.DefaultFeetTo(nil) {
		track := slices.Index(h.d.Chains, h.m.Chains()[f.Chain].Name)
		if track < 0 || h.d.Points[row].Supports[track] > 0 {
			feet = append(feet, f)
		}
	}
	return feet
}

func (h *hooves) look(t *testing.T, joints []float64, time float64) {
	t.Helper()
	feet := h.standing(time)
	if len(feet) == 0 {
		return // an arm
	}
	base := h.where.Update(&estimate.Input{Time: time, Q: joints, Feet: estimate.Alike(feet)}).Pose
	if h.where.Slip() > mostDrift {
		t.Fatalf("at %.2f s a hoof that stands has moved by %.4f m", time, h.where.Slip())
	}
	h.ground.BalanceTo(&h.balance, joints, feet, base)
	if h.balance.Margin < leastMargin {
		t.Fatalf("at %.2f s the centre of mass is only %.4f m inside %d hooves", time, h.balance.Margin, len(feet))
	}
}

// TestShippedMotionsAreCalm: within the limits with room to spare, and what is heavy
// is never jerked.
func TestShippedMotionsAreCalm(t *testing.T) {
	eachMotion(t, func(name string, m *robot.Model, d *motion.Document) {
		g, err := d.Goal(motion.Part{})
		if err != nil {
			t.Fatal(err)
		}
		peaks, err := motion.Peaks(g, m)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range peaks {
			if v, most := math.Abs(p.Velocity), mostSpeed*p.Limits.Velocity.Value; v > most {
				t.Errorf("%s: velocity of %s is %.3f, want at most %.3f", name, p.Joint, v, most)
			}
			most := math.Inf(1) // what is only drawn
			switch l := p.Limits; {
			case l.Acceleration.Has:
				most = mostSpeed * l.Acceleration.Value
			case l.Velocity.Value < 3:
				most = calmLegs
			case l.Velocity.Value < 6:
				most = calmLight
			}
			if a := math.Abs(p.Acceleration); a > most {
				t.Errorf("%s: acceleration of %s is %.2f, want at most %.2f", name, p.Joint, a, most)
			}
		}
	})
}

// TestShippedMotionsCanBeChained: each ends in a named pose from which others start,
// in that from which it started unless it leads elsewhere by design.
func TestShippedMotionsCanBeChained(t *testing.T) {
	eachMotion(t, func(name string, m *robot.Model, d *motion.Document) {
		end, ok := endsElsewhere[name]
		if !ok {
			end = d.StartPose
			first, last := d.Points[0], d.Points[len(d.Points)-1]
			if !slices.Equal(first.Positions, last.Positions) {
				t.Errorf("%s does not end where it began", name)
			}
		}
		for row, pose := range map[int]string{0: d.StartPose, len(d.Points) - 1: end} {
			named, ok := m.Pose(pose)
			if !ok {
				t.Fatalf("%s: no pose %q", name, pose)
			}
			for i, j := range named.Joints {
				joint := m.Joints()[j].Name
				q, _ := d.Captured(row, joint)
				if off := math.Abs(q - named.Q[i][0]); off > posePrecise {
					t.Errorf("%s: row %d is not in the pose %s: %s is off by %.4f", name, row+1, pose, joint, off)
				}
			}
		}
	})
}

func eachMotion(t *testing.T, do func(name string, m *robot.Model, d *motion.Document)) {
	t.Helper()
	for _, name := range []string{"pony", "arm6", "so101"} {
		m, all := rig.Model(t, name), motionsOf(t, name)
		for _, s := range all {
			do(name+" "+s.Name, m, s.Document)
		}
	}
}

// libraries keeps what was read, for all tests.
var libraries = map[string][]*library.Motion{}

func motionsOf(t *testing.T, robot string) []*library.Motion {
	t.Helper()
	if libraries[robot] == nil {
		all, err := library.Open("", shipped.Of(robot)).List()
		if err != nil || len(all) == 0 {
			t.Fatalf("%s: %d motions (%v)", robot, len(all), err)
		}
		for _, s := range all {
			if s.Err != nil {
				t.Fatal(s.Err)
			}
		}
		libraries[robot] = all
	}
	return libraries[robot]
}
