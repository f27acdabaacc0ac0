package smooth

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"poise/internal/approx"
	"poise/internal/randbot"
	"poise/planner"
	"poise/planner/path"
	"poise/spatial"
)

const shapeSeed = 9

// tolerance of positions: roundings of a few operations on metres
var tol = approx.Tol{Abs: 1e-12}

func at(x, y, z float64) spatial.Vec3 { return spatial.Vec3{X: x, Y: y, Z: z} }

func poseAt(p spatial.Vec3) spatial.Pose { return spatial.Pose{P: p, R: spatial.Identity3} }

func same(t *testing.T, what string, got, want spatial.Vec3) {
	t.Helper()
	approx.Equal(t, what, []float64{got.X, got.Y, got.Z}, []float64{want.X, want.Y, want.Z}, tol)
}

func vec(rng *rand.Rand) spatial.Vec3 {
	return at(2*rng.Float64()-1, 2*rng.Float64()-1, 2*rng.Float64()-1)
}

// An arc through three random points of a circle is that circle's, in the order of
// the points; a full one comes back.
func TestArcsThroughPointsAreTheCircle(t *testing.T) {
	rng := randbot.New(shapeSeed)
	for range 300 {
		centre := vec(rng)
		start := centre.Add(vec(rng))
		normal, ok := vec(rng).Cross(start.Sub(centre)).Unit()
		if !ok {
			continue
		}
		on := func(a float64) spatial.Vec3 {
			return centre.Add(spatial.AxisAngle(normal, a).MulVec(start.Sub(centre)))
		}
		angle := 0.2 + 5.8*rng.Float64()
		via := angle * (0.1 + 0.8*rng.Float64())
		task := &planner.Task{Command: planner.CIRC, ViaName: "interim", StartPose: poseAt(start), GoalPose: poseAt(on(angle)), Via: []spatial.Pose{poseAt(on(via))}}
		parts, refusal := toolPath(task)
		if refusal != nil {
			t.Fatalf("seed %d: %v", shapeSeed, refusal)
		}
		p := parts[0]
		r := start.Sub(centre).Norm()
		approx.Equal(t, "length", []float64{p.Length()}, []float64{r * angle}, approx.Tol{Rel: 1e-8})
		for _, s := range []float64{0.3, via, angle} {
			got, want := p.At(s*r).Pose.P, on(s)
			if got.Sub(want).Norm() > 1e-8 {
				t.Fatalf("seed %d: at %v, want %v", shapeSeed, got, want)
			}
		}
		full := &planner.Task{Command: planner.CIRC, ViaName: "circle", StartPose: poseAt(start), GoalPose: poseAt(start), Via: []spatial.Pose{poseAt(on(via)), poseAt(on(angle))}}
		parts, refusal = toolPath(full)
		if refusal != nil {
			t.Fatalf("seed %d: %v", shapeSeed, refusal)
		}
		if end := parts[0].At(parts[0].Length()).Pose.P; end.Sub(start).Norm() > 1e-9 {
			t.Fatalf("seed %d: a full circle ends at %v, not at %v", shapeSeed, end, start)
		}
	}
}

func TestPolylineIsContinuousAndSmoothAtEveryJoint(t *testing.T) {
	rng := randbot.New(shapeSeed)
	for n := range 200 {
		task := &planner.Task{Command: planner.POLYLINE, StartPose: poseAt(vec(rng)), GoalPose: spatial.Pose{P: vec(rng), R: spatial.ExpRotation(vec(rng)).Matrix()}, Smoothness: rng.Float64()}
		for range 2 + rng.IntN(4) {
			task.Via = append(task.Via, spatial.Pose{P: vec(rng), R: spatial.ExpRotation(vec(rng)).Matrix()})
			task.ViaRadius = append(task.ViaRadius, 0)
		}
		parts, refusal := toolPath(task)
		if refusal != nil {
			t.Fatalf("seed %d, polyline %d: %v", shapeSeed, n, refusal)
		}
		same(t, "start", parts[0].At(0).Pose.P, task.StartPose.P)
		last := parts[len(parts)-1]
		same(t, "end", last.At(last.Length()).Pose.P, task.GoalPose.P)
		for i := 1; i < len(parts); i++ {
			a, b := parts[i-1].At(parts[i-1].Length()), parts[i].At(0)
			same(t, "place", a.Pose.P, b.Pose.P)
			if d := a.D1.Linear.Sub(b.D1.Linear).Norm() + a.D1.Angular.Sub(b.D1.Angular).Norm() + a.D2.Linear.Sub(b.D2.Linear).Norm(); d > 1e-6 {
				t.Fatalf("seed %d, polyline %d: derivatives jump by %g at joint %d", shapeSeed, n, d, i)
			}
		}
	}
}

// Bends stay in their sphere and meet what they join.
func TestBendsStayInTheirSphere(t *testing.T) {
	rng := randbot.New(shapeSeed)
	for range 500 {
		centre, r := vec(rng), 0.01+0.3*rng.Float64()
		in, _ := vec(rng).Unit()
		out, _ := vec(rng).Unit()
		turn := func() path.Turn { return path.TurnBetween(spatial.Identity3, spatial.ExpRotation(vec(rng)).Matrix()) }
		a := path.NewLine(centre.Sub(in.Scale(1)), centre, turn(), path.Coupling{})
		b := path.NewLine(centre, centre.Add(out.Scale(1)), turn(), path.Coupling{})
		enter, ok := crossing(a, centre, r, true)
		leave, ok2 := crossing(b, centre, r, false)
		if !ok || !ok2 || math.Abs(enter-(1-r)) > 1e-9 || math.Abs(leave-r) > 1e-9 {
			t.Fatalf("seed %d: crosses at %g and %g, want %g and %g", shapeSeed, enter, leave, 1-r, r)
		}
		bend, ok := fitBend(a.At(enter), b.At(leave), centre, r)
		if !ok {
			t.Fatalf("seed %d: no bend from %v to %v", shapeSeed, in, out)
		}
		for k := range 200 {
			if d := bend.At(bend.Length() * float64(k) / 199).Pose.P.Sub(centre).Norm(); d > r*(1+1e-8) {
				t.Fatalf("seed %d: %g m from the centre of a sphere of %g", shapeSeed, d, r)
			}
		}
	}
}

func TestJoinBlamesTheLegWhoseRadiusIsTooLarge(t *testing.T) {
	leg := func(a, b spatial.Vec3, r float64) toolLeg {
		return toolLeg{Parts: []path.Path{path.NewLine(a, b, path.Turn{Start: spatial.Identity3, Axis: at(0, 0, 1)}, path.Coupling{})}, Tool: planner.FreeTool, Velocity: 1, Acceleration: 1, Radius: r}
	}
	legs := []toolLeg{leg(at(0, 0, 0), at(1, 0, 0), 0.2), leg(at(1, 0, 0), at(1, 1, 0), 0.9), leg(at(1, 1, 0), at(0.5, 1, 0), 0)}
	_, blame, refusal := joinTool(legs)
	if refusal == nil || refusal.Kind != planner.BlendFailed || blame != 1 {
		t.Errorf("%v, leg %d", refusal, blame)
	}
	legs[1].Radius = 0.4
	all, _, refusal := joinTool(legs)
	if refusal != nil {
		t.Fatal(refusal)
	}
	total := 0.0
	for i := 1; i < len(all); i++ {
		same(t, "border", all[i].Path.At(0).Pose.P, all[i-1].Path.At(all[i-1].Path.Length()).Pose.P)
		total += all[i].Path.Length()
	}
	if len(all) != 5 || !all[1].Bend || !all[3].Bend || total > 2.5 {
		t.Errorf("%d stretches", len(all))
	}
}

// TestRoundingsThatFillTheirSidesLeaveNoSlivers: corners that share a side to the last
// bit, or but for less than a micrometre, meet without a piece between them, and
// nothing jumps where they meet.
func TestRoundingsThatFillTheirSidesLeaveNoSlivers(t *testing.T) {
	const (
		least = 1e-6  // m: of a part
		gap   = 1e-12 // m: between one part and the next
	)
	at := func(x, y float64) spatial.Pose { return poseAt(at(x, y, 0)) }
	for _, spare := range []float64{0, 1e-17, 1e-16, 1e-15, 1e-12, 1e-9, 9e-7, 2e-6, -1e-16, -5e-10} {
		r := 0.05 - spare/2
		task := &planner.Task{Command: planner.POLYLINE, StartPose: at(0, 0), GoalPose: at(0.15, 0.15),
			Via:       []spatial.Pose{at(0.05, 0), at(0.05, 0.1), at(0.15, 0.1)},
			ViaRadius: []float64{0.05 - spare, r, 0.05 - spare}}
		parts, refusal := toolPath(task)
		if refusal != nil {
			t.Errorf("spare %g: %v", spare, refusal)
			continue
		}
		end := task.StartPose.P
		for i, p := range parts {
			if p.Length() < least {
				t.Errorf("spare %g: part %d is %g m long", spare, i, p.Length())
			}
			if d := p.At(0).Pose.P.Sub(end).Norm(); d > gap {
				t.Errorf("spare %g: part %d begins %g m away from where the last one ended", spare, i, d)
			}
			end = p.At(p.Length()).Pose.P
		}
		if d := end.Sub(task.GoalPose.P).Norm(); d > gap {
			t.Errorf("spare %g: ends %g m from the goal", spare, d)
		}
	}
}

// TestRefusedCornersNameWaypointsOfTheRequest, also where waypoints on top of each other
// are one.
func TestRefusedCornersNameWaypointsOfTheRequest(t *testing.T) {
	at := func(x, y float64) spatial.Pose { return poseAt(at(x, y, 0)) }
	for _, tc := range []struct {
		radii []float64
		want  string
	}{
		{[]float64{0, 0.05, 0.05, 0.06, 0.05}, "the corners at waypoints 1 and 3 of the polyline need 0.11 m of the way between them, which is 0.1 m long"},
		{[]float64{0, 0.06, 0.06, 0.03, 0}, "the radius of 0.06 m at waypoint 1 of the polyline is longer than the way of 0.05 m from waypoint 0"},
	} {
		task := &planner.Task{Command: planner.POLYLINE, StartPose: at(-0.05, 0), GoalPose: at(0.3, 0.1),
			Via:       []spatial.Pose{at(0, 0), at(0.05, 0), at(0.05, 1e-6), at(0.05, 0.1), at(0.2, 0.1)},
			ViaRadius: tc.radii}
		if _, refusal := toolPath(task); refusal == nil || !strings.Contains(refusal.Error(), tc.want) || refusal.Value <= refusal.Limit || refusal.Help == "" {
			t.Errorf("%v: %+v, want %q", tc.radii, refusal, tc.want)
		}
	}
}
