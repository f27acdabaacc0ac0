package scenario

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"poise/floatingbase"
	"poise/kinematics"
	"poise/robot"
	"poise/robot/load"
	"poise/sim"
	"poise/spatial"
)

// TestTheStandIsEven: the pony stands and crouches with its centre of mass over the middle
// of its hooves, and each of them carries about a quarter of its weight, with plain servos
// and with its own. Not exactly a quarter: elastic legs whose knees are behind the hooves
// press flat soles down at the heels, and the front takes up what that turns.
func TestTheStandIsEven(t *testing.T) {
	for _, pose := range []string{"stand", "crouched"} {
		for name, servos := range map[string]string{"plain": "servos: {all: {kp: 20, kd: 0.4}}", "own": "model: {}"} {
			p := prepare(t, loaded(t, "pony", load.Options{}), "duration: 3\nstart: {pose: "+pose+"}\n"+servos)
			var last *Frame
			if _, err := p.Run(1, Watch{Frame: func(f *Frame) { last = f }}); err != nil {
				t.Fatal(err)
			}
			carries, weight := map[string]float64{}, 0.0
			for _, c := range last.Contacts {
				carries[c.Link] += c.Force[2]
				weight += c.Force[2]
			}
			middle, n := spatial.Vec3{}, 0.0
			k := kinematics.NewData(p.m)
			k.UpdatePosition(append(append(last.Base.Position[:], last.Base.Orientation[:]...), last.Q...))
			for _, c := range p.m.Chains() {
				if c.Contact == robot.NoContact {
					continue
				}
				middle, n = middle.Add(k.Pose(k.At(c.Tip)).Apply(sim.SoleMiddle(&p.m.Contacts()[c.Contact]))), n+1
				link := p.m.Frames()[c.Tip].Name
				if share := carries[link] / weight; share < 0.18 || share > 0.32 {
					t.Errorf("%s, %s: %s carries %.1f %%", pose, name, link, 100*share)
				}
			}
			if off := math.Hypot(last.Com[0]-middle.X/n, last.Com[1]-middle.Y/n); off > 0.006 {
				t.Errorf("%s, %s: the centre of mass is %.1f mm off the middle of the hooves", pose, name, 1e3*off)
			} else {
				t.Logf("%s, %s: %.1f mm off the middle, %v of %.2f N", pose, name, 1e3*off, carries, weight)
			}
		}
	}
}

// TestTheStandIsEvenWhereServosDoNotSag: forces that balance the pony in its pose are a quarter
// of its weight on each hoof, and so are those of physics where targets lead by what servos
// give way under them, as feed-forward does.
func TestTheStandIsEvenWhereServosDoNotSag(t *testing.T) {
	bot := loaded(t, "pony", load.Options{})
	m := bot.Model
	inverse, err := floatingbase.NewInverse(m)
	if err != nil {
		t.Fatal(err)
	}
	q := make([]float64, m.NumQ())
	kinematics.NewSpace(m).NeutralTo(q)
	pose, _ := m.Pose("stand")
	for k, id := range pose.Joints {
		copy(q[m.Joints()[id].Q:], pose.Q[k])
	}
	var supports []floatingbase.Support
	for i, c := range m.Chains() {
		if c.Contact != robot.NoContact {
			supports = append(supports, floatingbase.Support{Chain: robot.ChainID(i), Contact: c.Contact, Coefficient: 1})
		}
	}
	var a floatingbase.Answer
	zero := make([]float64, m.NumV())
	if err := inverse.Solve(&a, q, zero, zero, supports, 0.8); err != nil {
		t.Fatal(err)
	}
	weight := m.Mass() * m.Gravity().Norm()
	for _, c := range a.Contacts {
		if share := c.Force.Z / weight; math.Abs(share-0.25) > 0.015 {
			t.Errorf("statics: %s carries %.1f %%", m.Chains()[c.Chain].Name, 100*share)
		}
	}
	const kp = 20
	var targets []string
	for _, j := range m.Joints() {
		if !j.Virtual {
			targets = append(targets, fmt.Sprintf("%s: %.6f", j.Name, q[j.Q]+a.Torque[j.V-6]/kp))
		}
	}
	p := prepare(t, bot, fmt.Sprintf("duration: 3\nstart: {pose: stand}\nservos: {all: {kp: %d, kd: 0.4}}\ndo: [{at: 0, in: 0.2, joints: {%s}}]", kp, strings.Join(targets, ", ")))
	var last *Frame
	if _, err := p.Run(1, Watch{Frame: func(f *Frame) { last = f }}); err != nil {
		t.Fatal(err)
	}
	carries := map[string]float64{}
	for _, c := range last.Contacts {
		carries[c.Link] += c.Force[2] / weight
	}
	for link, share := range carries {
		if math.Abs(share-0.25) > 0.03 {
			t.Errorf("physics: %s carries %.1f %%", link, 100*share)
		}
	}
	t.Logf("%v", carries)
}
