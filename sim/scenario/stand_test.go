package scenario

import (
	"math"
	"testing"

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
