package gait

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestFeetKeepFromEdges: over random boxes no foothold is nearer to an edge than its room, where boxes are apart; feet stand as high as the box
// under them, swings clear both ends, and the height of the body moves with a continuous acceleration.
func TestFeetKeepFromEdges(t *testing.T) {
	const room, height, deep = 0.028, 0.01, 0.13
	p, err := New(Config{Legs: corners(), Height: 0.19})
	if err != nil {
		t.Fatal(err)
	}
	g := Gait{Name: "crawl", Period: 1.2, Duty: 0.85, Lift: 0.02, Phase: []float64{0.25, 0, 0.5, 0.75}}
	if err := p.SetGait(&g); err != nil {
		t.Fatal(err)
	}
	var boxes []Box
	for k := range 5 {
		boxes = append(boxes, Box{At: Point{X: 0.3 + deep*float64(k)}, Length: deep, Width: 1, Height: height * float64(min(k+1, 5-k))})
	}
	feet := make([]Point, 4)
	for i := range feet {
		feet[i] = p.feet[i].nominal
	}
	p.Place(Point{}, 0, feet, Point{})
	p.Terrain(boxes, room)
	rng := rand.New(rand.NewPCG(7, 1))
	p.Command(Velocity{X: 0.05})
	highest, was := 0.0, p.Com(0)
	const dt = 0.001
	for n := range 22000 {
		if n%500 == 0 { // the ground of the odometry slips away
			p.SetTerrainFrame(Point{X: 0.002 * rng.Float64()}, 0)
		}
		p.Advance(dt)
		now := p.Com(0)
		if jerk := (now.A.Z - was.A.Z) / dt; math.Abs(jerk) > levelRate*levelRate*levelRate*4*height {
			t.Fatalf("%g s: the height of the body jerks by %g m/s³", float64(n)*dt, jerk)
		}
		was, highest = now, max(highest, now.P.Z)
		for i := range p.feet {
			m, _, _, _ := p.Foot(i, 0)
			s := &p.feet[i].swing
			if s.land > s.lift && p.t < s.land {
				if m.P.Z < min(p.feet[i].z, s.height)-1e-9 {
					t.Fatalf("%g s: foot %d is %g m high between %g and %g", float64(n)*dt, i, m.P.Z, p.feet[i].z, s.height)
				}
				continue
			}
			for _, b := range boxes {
				if off := math.Abs(math.Abs(m.P.X-b.At.X) - b.Length/2); off < room-0.0045 {
					t.Fatalf("%g s: foot %d stands %g m from an edge, %g is its room", float64(n)*dt, i, off, room)
				}
			}
		}
	}
	if highest < 0.02 || math.Abs(p.Com(0).P.Z) > 1e-3 {
		t.Errorf("the body was %g m up, and is %g m behind the stairs", highest, p.Com(0).P.Z)
	}
	if n := testing.AllocsPerRun(20, func() { p.Terrain(boxes, room); p.SetTerrainFrame(Point{}, 0); p.Advance(0.0224) }); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

// TestFeetPassOverBars: a bar between two footholds is stepped over, also where the way is not across its middle; one beside the way changes nothing.
func TestFeetPassOverBars(t *testing.T) {
	const room, sole, high, at = 0.0275, 0.0215, 0.015, 0.2
	for _, bar := range []Box{
		{At: Point{X: at}, Length: 0.004, Width: 1, Height: high},
		{At: Point{X: at, Y: 0.05}, Yaw: 0.4, Length: 0.004, Width: 0.05, Height: high},
		{At: Point{X: at, Y: 0.12}, Length: 0.004, Width: 0.05, Height: high},
	} {
		p, err := New(Config{Legs: corners(), Height: 0.19})
		if err != nil {
			t.Fatal(err)
		}
		g := Gait{Name: "crawl", Period: 1.2, Duty: 0.85, Lift: 0.01, Phase: []float64{0.25, 0, 0.5, 0.75}, Rise: 0.4, Over: 0.72}
		if err := p.SetGait(&g); err != nil {
			t.Fatal(err)
		}
		p.Place(Point{}, 0, corners(), Point{})
		p.Terrain([]Box{bar}, room)
		p.Command(Velocity{X: 0.06})
		beside := bar.At.Y > 0.1
		top, deep := 0.0, 0.0
		for p.Com(0).P.X < 0.45 {
			p.Advance(0.001)
			for i := range p.feet {
				m, _, _, _ := p.Foot(i, 0)
				top = max(top, m.P.Z)
				u := p.terrain.local(&bar, Point{X: m.P.X, Y: m.P.Y})
				if math.Abs(u.X) < bar.Length/2+sole/2 && math.Abs(u.Y) < bar.Width/2+0.75*room {
					deep = max(deep, high-m.P.Z)
				}
			}
		}
		if deep > 0.002 || beside != (top < high) {
			t.Errorf("%+v: the middle of a sole is %g m below its top, feet are lifted by %g m", bar, deep, top)
		}
	}
}

// TestFlatGroundIsAsBefore: without boxes feet and body stay at zero, exactly.
func TestFlatGroundIsAsBefore(t *testing.T) {
	p, err := New(Config{Legs: corners(), Height: 0.19})
	if err != nil {
		t.Fatal(err)
	}
	p.Terrain(nil, 0.028)
	if at := p.terrain.clear(Point{X: 0.3, Y: 0.1}); at != (Point{X: 0.3, Y: 0.1}) || p.GroundAt(at) != 0 || p.Com(0).P.Z != 0 {
		t.Errorf("%v, %g, %g", at, p.GroundAt(at), p.Com(0).P.Z)
	}
}

func corners() []Point {
	return []Point{{X: 0.08, Y: 0.05}, {X: -0.08, Y: 0.05}, {X: -0.08, Y: -0.05}, {X: 0.08, Y: -0.05}}
}
