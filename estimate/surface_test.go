package estimate

import (
	"math"
	"testing"

	"poise/spatial"
)

// treads is a pony that goes ahead in a trot of its hips: the pair of hooves that stands is led back, the other one forward, and in between
// no hoof stands for a few updates. It is parallel to the ground, whose slope is that of the orientation it is told; heights of hooves err.
// It returns how far it came, and lets it stand on its hooves, or none, for some updates more and tells where it is then.
func treads(t *testing.T, tilt float64, steps int) (way spatial.Vec3, then func(stands bool, updates int) spatial.Vec3) {
	t.Helper()
	m := model(t, "pony")
	o, all := odometry(t, m), Alike(legs(t, m))
	o.Measure()
	hips := make([]int, len(all))
	for i, name := range []string{"joint12", "joint22", "joint32", "joint42"} {
		j, ok := m.Joint(name)
		if !ok {
			t.Fatalf("no joint %s", name)
		}
		hips[i] = int(j)
	}
	pairs := [2][]Foot{{all[0], all[2]}, {all[1], all[3]}}
	q, now := crouched(t, m), 0.0
	rest := append([]float64(nil), q...)
	update := func(feet []Foot) spatial.Pose {
		now += 0.01
		return o.Update(&Input{Time: now, Q: q, Feet: feet, Orientation: Orientation{Has: true, R: spatial.ExpRotation(spatial.Vec3{Y: tilt}).Matrix()}}).Pose
	}
	var X spatial.Pose
	for range 200 {
		X = update(all)
	}
	from := X.P
	const ticks, reach, high = 30, 0.15, 0.003
	knee := func(i int) int { return hips[i] + 1 }
	for n := range steps {
		stands := pairs[n%2]
		for k := range ticks {
			s := reach * (2*float64(k)/(ticks-1) - 1)
			for i := range hips {
				by := s // backwards is where it carries the body ahead
				if all[i].Chain != stands[0].Chain && all[i].Chain != stands[1].Chain {
					by = -s
				}
				q[hips[i]] = rest[hips[i]] + by
				q[knee(i)] = rest[knee(i)]
				if by == s && k < 3 { // it is felt before it is down
					q[knee(i)] += high * 10
				}
			}
			X = update(stands)
		}
		for range 3 {
			X = update(nil)
		}
	}
	return X.P.Sub(from), func(stands bool, updates int) spatial.Vec3 {
		var feet []Foot
		if stands {
			feet = all
		}
		for range updates {
			X = update(feet)
		}
		return X.P.Sub(from)
	}
}

// TestSlopesAreClimbed: the base goes up and down with the ground that feet find, though all of them are off the ground between two steps; on
// level ground it keeps its height, though hooves are felt before they are down.
func TestSlopesAreClimbed(t *testing.T) {
	for _, degrees := range []float64{0, -5, 5, -8} {
		tilt := degrees * math.Pi / 180
		d, _ := treads(t, tilt, 60)
		way, height := d.X, d.Z
		want := -way * math.Tan(tilt)
		t.Logf("%g°: %.3f m ahead, %.1f mm up, the slope has %.1f mm", -degrees, way, 1e3*height, 1e3*want)
		if math.Abs(way) < 1 || math.Abs(height-want) > 0.01+0.01*math.Abs(way) {
			t.Errorf("%g°: %g m ahead and %g m up", -degrees, way, height)
		}
	}
}

// TestFeetThatLeaveTheGroundTogether: a robot that stands on a slope for seconds, and of which no foot is felt for a moment, stands there afterwards; one that is lifted for longer
// may be put down anywhere, and stands on the ground of the start.
func TestFeetThatLeaveTheGroundTogether(t *testing.T) {
	for _, c := range []struct {
		updates int // of 10 ms
		stays   bool
	}{{1, true}, {40, true}, {60, false}} {
		_, then := treads(t, -0.0873, 40)
		was := then(true, 300)
		then(false, c.updates)
		now := then(true, 300)
		t.Logf("no foot for %d updates: from a height of %.4f m to %.4f m", c.updates, was.Z, now.Z)
		if was.Z < 0.05 || (math.Abs(now.Z-was.Z) < 0.003) != c.stays {
			t.Errorf("no foot for %d updates: from a height of %g m to %g m", c.updates, was.Z, now.Z)
		}
	}
}
