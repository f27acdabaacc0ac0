package executive

import "testing"

// BenchmarkPump is one look at the cycle with three motions running: what a server
// pays every two milliseconds.
func BenchmarkPump(b *testing.B) {
	r := newRig(b, parts{})
	for _, j := range []string{r.headJoint(), "tail_joint1", "ear_l_joint"} {
		g := r.nod(j, -0.1)
		g.Points[2].Time = 3000
		r.active(r.submit(&Follow{Goal: g}))
	}
	r.checks = false
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		r.step()
		b.StartTimer()
		r.e.Pump(r.time())
	}
}

// BenchmarkSubmit is a trajectory of 50 points and 6 joints, from the message to
// the order, with its cancel.
func BenchmarkSubmit(b *testing.B) {
	r := newRig(b, parts{robot: "arm6"})
	g := r.nod("joint_1", 0.1)
	g.Joints = []string{"joint_1", "joint_2", "joint_3", "joint_4", "joint_5", "joint_6"}
	g.Points = nil
	for i := range 50 {
		p := g.Points[:i:i]
		q := make([]float64, 6)
		for k := range q {
			q[k] = 0.01 * float64((i*(k+1))%7)
		}
		g.Points = append(p, point(0.3*float64(i), q))
	}
	r.checks = false
	b.ReportAllocs()
	for b.Loop() {
		x := r.submit(&Follow{Goal: g})
		b.StopTimer()
		r.run(2)
		r.e.CancelAll("bench")
		r.until(3, "the end", x.over)
		r.seconds(0.5)
		b.StartTimer()
	}
}
