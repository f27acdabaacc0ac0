package follow

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"poise/control"
	"poise/problem"
	"poise/servo"
	"poise/trajectory"
)

// reader makes numbers out of bytes; when they run out it says zero.
type reader struct{ b []byte }

func (r *reader) byte() (x byte) {
	if len(r.b) > 0 {
		x, r.b = r.b[0], r.b[1:]
	}
	return x
}

// number is mostly a small one, and sometimes anything.
func (r *reader) number(scale float64) float64 {
	k := r.byte()
	if k == 255 {
		var raw [8]byte
		for i := range raw {
			raw[i] = r.byte()
		}
		return math.Float64frombits(binary.LittleEndian.Uint64(raw[:]))
	}
	return scale * (float64(k) + float64(r.byte())/256 - 100) / 100
}

func (r *reader) row(n int, scale float64) (x []float64) {
	for range n {
		x = append(x, r.number(scale))
	}
	return x
}

var fuzzNames = []string{"joint11", "joint12", "joint21", "tail_joint1", "eyes_yaw", "mouth_joint", "support/leg1", "support/leg2", "support/nose", "support/", "unknown", ""}

// goalOf makes any goal out of bytes.
func goalOf(b []byte) *Goal {
	r := &reader{b}
	g := &Goal{Approach: float64(r.byte()%3) / 2, Loop: r.byte()%4 == 0, Commanded: r.byte()%3 == 1, Begin: int64(r.byte()%2) * int64(r.byte()) * 1e6}
	for range r.byte() % 6 {
		g.Joints = append(g.Joints, fuzzNames[int(r.byte())%len(fuzzNames)])
	}
	kind, at := r.byte(), 0.0
	for range r.byte() % 8 {
		n := len(g.Joints)
		if r.byte() == 250 {
			n = int(r.byte() % 8)
		}
		p := trajectory.Point{Time: at, Position: r.row(n, 1)}
		if kind%4 > 1 {
			p.Velocity = r.row(n, 0.2)
		}
		if kind%4 == 3 {
			p.Acceleration = r.row(n, 0.2)
		}
		g.Points = append(g.Points, p)
		at += r.number(1) + 0.8
	}
	for range r.byte() % 4 {
		t := Tolerance{Joint: fuzzNames[int(r.byte())%len(fuzzNames)], Tolerance: trajectory.Tolerance{Position: r.number(0.5), Velocity: r.number(1)}}
		if r.byte()%2 == 0 {
			g.Path = append(g.Path, t)
		} else {
			g.Final = append(g.Final, t)
		}
	}
	for range r.byte() % 4 {
		g.Events = append(g.Events, Event{Time: r.number(2), Type: "t", Command: "c"})
	}
	g.GoalTime = r.number(1)
	return g
}

// FuzzGoal: any goal is refused with problems, or its curve keeps all limits at
// every sample, survives the recorder, and plays without anything that is no number.
func FuzzGoal(f *testing.F) {
	f.Add([]byte{0, 1, 0, 0, 0, 2, 0, 3, 0, 3, 0, 100, 0, 100, 0, 150, 0, 0, 110, 0, 120, 0, 200, 0, 0, 100, 0, 100, 0})
	f.Add([]byte{1, 0, 1, 1, 40, 3, 1, 6, 2, 3, 4, 0, 120, 0, 130, 0, 100, 0, 200, 9, 0, 120, 0, 130, 0, 100, 0, 200, 9, 0, 20, 0, 130, 0, 100, 0, 200, 9})
	f.Add([]byte{2, 4, 0, 0, 0, 1, 0, 0, 2, 255, 1, 2, 3, 4, 5, 6, 240, 127})
	f.Add([]byte{2, 0, 0, 0, 0, 1, 4, 0, 1, 0, 140, 3, 100, 0, 0})
	m := model(f, "pony")
	joints, chains := len(m.Joints()), len(m.Chains())
	_, bounds, err := control.JointLimits(m, control.Transition{})
	if err != nil {
		f.Fatal(err)
	}
	c, out := New(m), control.NewReference(joints, chains, 1)
	f.Fuzz(func(t *testing.T, b []byte) {
		g := goalOf(b)
		cmd, meas := control.NewMotion(joints, chains, 1), control.NewMeasured(joints, 0, servo.Sensors{})
		p, err := Compile(m, Options{}, &cmd, g)
		if err != nil {
			if len(problem.In(err)) == 0 {
				t.Fatalf("an error without problems: %v", err)
			}
			return
		}
		n := p.Curve().Joints()
		q, v, a := make([]float64, n), make([]float64, n), make([]float64, n)
		step := max((p.Curve().End()-p.Curve().Start())/500, 1e-4)
		for at := p.Curve().Start(); at <= p.Curve().End(); at += step {
			p.Curve().StateTo(q, v, a, at)
			for k, j := range p.Record().Joints {
				l := bounds[j]
				if q[k] < min(l.Lower, 0)-1e-5 || q[k] > max(l.Upper, 0)+1e-5 || math.Abs(v[k]) > l.Velocity*(1+1e-5) {
					t.Fatalf("%s at %g s: %g with %g, limits %+v", p.Record().Names[k], at, q[k], v[k], l)
				}
			}
		}
		record, err := p.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		again, err := Decode(record)
		if err != nil {
			t.Fatal(err)
		}
		if twice, _ := again.(*Program).MarshalBinary(); !bytes.Equal(twice, record) || again.(*Program).ID() != p.ID() {
			t.Fatal("the record changes on its way")
		}
		input := &control.Input{Tick: servo.Tick{Dt: 0.01}, Cmd: &cmd, Meas: &meas, Rate: 1}
		if why := c.Start(input, again); why.Code != control.OK {
			return
		}
		for range 200 {
			input.Tick.N++
			input.Tick.Time += 1e7
			out.Reset()
			st, _ := c.Update(input, out)
			for _, j := range p.Record().Joints {
				if !finite(out.Q[j]) || !finite(out.V[j]) || !finite(out.A[j]) {
					t.Fatalf("joint %d: %g %g %g", j, out.Q[j], out.V[j], out.A[j])
				}
			}
			if st != control.Going {
				break
			}
			copy(cmd.Q, out.Q)
			copy(meas.Q, out.Q)
		}
	})
}
