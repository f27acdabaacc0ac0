package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"poise/control/follow"
	"poise/motion"
	"poise/robot"
	"poise/trajectory"
	"poise/trajectory/spline"
)

// score is a motion as its author thinks of it: tracks that run beside each other.
type score struct {
	name, description string
	tags              []string
	start             string // the named pose in which it begins
	loop              bool
	step              float64 // s, from row to row; 0 is the usual one
	tracks            tracks
	labels            map[float64]string
	events            []follow.Event
}

// tracks are what moves, by name, each with keys: time, value, time, value …
// A track is a joint, and its values are positions; or one of six axes of a limb,
// as "leg1 z" or "arm yaw", or of the "body". These are seen from where limb and
// body are at the start, in metres and radians, along the axes of the world.
type tracks map[string][]float64

// axisNames are the last words of tracks of limbs and of the body.
var axisNames = []string{"x", "y", "z", "roll", "pitch", "yaw"}

// Joints may be this far from what the tracks ask for between two rows; where they
// are farther, a row is put in. At the end of a leg it is less than two millimetres.
const (
	rowTolerance = 0.012 // rad
	rowGrid      = 0.05  // s, on which such rows lie
	rowStep      = 0.2   // s, from row to row unless a score has its own
	looks        = 8     // between two rows
	decimals     = 1e4   // of a position: a tenth of a milliradian
)

// stage is a robot on which scores are played.
type stage struct {
	m      *robot.Model
	joints []string
	limbs  []*limb
	ground *groundwork
}

// track is a channel of a score, ready to be asked.
type track struct {
	curve *spline.Spline
	keys  []float64
}

func (t *track) at(time float64) float64 {
	var x [1]float64
	t.curve.PositionTo(x[:], min(max(time, t.curve.Start()), t.curve.End()))
	return x[0]
}

// newTrack reads pairs of time and value. The track rests at its ends, on holds and
// where it turns round; elsewhere it passes a key with the weighted harmonic mean of
// the speeds on both sides (Fritsch and Butland 1984), so that it never overshoots.
func newTrack(pairs []float64) (*track, error) {
	if len(pairs) < 4 || len(pairs)%2 != 0 {
		return nil, fmt.Errorf("%d numbers, want at least two pairs of time and value", len(pairs))
	}
	t := &track{}
	var q, v [][]float64
	for i := 0; i < len(pairs); i += 2 {
		t.keys = append(t.keys, pairs[i])
		q, v = append(q, pairs[i+1:i+2]), append(v, []float64{0})
	}
	for i := 1; i < len(q)-1; i++ {
		h0, h1 := t.keys[i]-t.keys[i-1], t.keys[i+1]-t.keys[i]
		s0, s1 := (q[i][0]-q[i-1][0])/h0, (q[i+1][0]-q[i][0])/h1
		if s0*s1 > 0 {
			w0, w1 := 2*h1+h0, h1+2*h0
			v[i][0] = (w0 + w1) / (w0/s0 + w1/s1)
		}
	}
	var err error
	t.curve, err = spline.Hermite(t.keys, q, v)
	return t, err
}

// performance is a score on a stage: tracks that can be asked, and what the limbs
// do.
type performance struct {
	*stage
	score   *score
	tracks  map[string]*track
	rest    []float64 // of each joint, at the start
	solved  []*limb   // limbs whose joints follow from tracks
	anchors []anchor  // one per limb
}

// perform writes a score as a motion document.
func (s *stage) perform(sc *score) (*motion.Document, error) {
	p := &performance{stage: s, score: sc, tracks: map[string]*track{}, rest: s.restOf(sc.start)}
	end := 0.0
	for _, name := range sortedNames(sc.tracks) {
		t, err := newTrack(sc.tracks[name])
		if err != nil {
			return nil, fmt.Errorf("%s: track %q: %w", sc.name, name, err)
		}
		if !s.knows(name) {
			return nil, fmt.Errorf("%s: no joint, limb or axis for track %q", sc.name, name)
		}
		p.tracks[name] = t
		end = max(end, t.keys[len(t.keys)-1])
	}
	p.chooseLimbs()
	times, err := p.times(end)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", sc.name, err)
	}
	return p.document(times)
}

// knows tells whether a track's name means something on this robot.
func (s *stage) knows(name string) bool {
	if slices.Contains(s.joints, name) {
		return true
	}
	word, axis, ok := strings.Cut(name, " ")
	if !ok || !slices.Contains(axisNames, axis) {
		return false
	}
	return word == "body" || slices.ContainsFunc(s.limbs, func(l *limb) bool { return l.name == word })
}

// restOf returns the positions in which a motion begins: those of its start pose,
// else of the pose of the robot that has the most joints, else zero.
func (s *stage) restOf(start string) []float64 {
	q := make([]float64, len(s.joints))
	put := func(p *robot.NamedPose) {
		for i, j := range p.Joints {
			q[j] = p.Q[i][0]
		}
	}
	poses := s.m.Poses()
	fullest := &poses[0]
	for i := range poses {
		if len(poses[i].Joints) > len(fullest.Joints) {
			fullest = &poses[i]
		}
	}
	put(fullest)
	if p, ok := s.m.Pose(start); ok {
		put(p)
	}
	return q
}

// pose returns all joints at a time, as the tracks ask for them.
func (p *performance) pose(time float64) ([]float64, error) {
	q := slices.Clone(p.rest)
	for j, name := range p.joints {
		if t := p.tracks[name]; t != nil {
			q[j] = t.at(time)
		}
	}
	if err := p.reach(q, time); err != nil {
		return nil, err
	}
	for j := range q {
		q[j] = math.Round(q[j]*decimals) / decimals
		if q[j] == 0 {
			q[j] = 0 // never −0
		}
	}
	return q, nil
}

// times returns when rows are needed: on an even grid, since curves through even rows
// are the calmest, but not where nothing moves, and more often where the limbs would
// stray.
func (p *performance) times(end float64) (times []float64, err error) {
	step := p.score.step
	if step == 0 {
		step = rowStep
	}
	n := int(math.Round(end / step))
	var rows [][]float64
	for k := range n + 1 {
		t := math.Round(float64(k)*step*100) / 100
		q, err := p.pose(t)
		if err != nil {
			return nil, err
		}
		times, rows = append(times, t), append(rows, q)
	}
	for k := n - 1; k > 0; k-- { // the middle of a hold needs no row
		if slices.Equal(rows[k-1], rows[k]) && slices.Equal(rows[k], rows[k+1]) {
			times, rows = slices.Delete(times, k, k+1), slices.Delete(rows, k, k+1)
		}
	}
	for {
		more, err := p.strays(times)
		if err != nil || len(more) == 0 {
			return times, err
		}
		times = append(times, more...)
		slices.Sort(times)
		times = slices.Compact(times)
	}
}

// strays returns the middles of those times between rows in which the joints of
// limbs are too far from what the tracks ask for.
func (p *performance) strays(times []float64) (more []float64, err error) {
	g := follow.Goal{Joints: p.joints}
	for _, t := range times {
		q, err := p.pose(t)
		if err != nil {
			return nil, err
		}
		g.Points = append(g.Points, trajectory.Point{Time: t, Position: q})
	}
	curve, err := g.Curve(nil)
	if err != nil {
		return nil, err
	}
	now := make([]float64, len(p.joints))
	for i := range len(times) - 1 {
		from, to := times[i], times[i+1]
		middle := math.Round((from+to)/2/rowGrid) * rowGrid
		middle = math.Round(middle*100) / 100
		if middle <= from || middle >= to {
			continue
		}
		for k := 1; k < looks; k++ {
			t := from + (to-from)*float64(k)/looks
			want, err := p.pose(t)
			if err != nil {
				return nil, err
			}
			curve.PositionTo(now, t)
			if p.apart(now, want) > rowTolerance {
				more = append(more, middle)
				break
			}
		}
	}
	return more, nil
}

// apart returns how far the joints of solved limbs are apart, at most.
func (p *performance) apart(a, b []float64) (worst float64) {
	for _, l := range p.solved {
		for _, j := range l.joints {
			worst = max(worst, math.Abs(a[j]-b[j]))
		}
	}
	return worst
}

func sortedNames(t tracks) (names []string) {
	for name := range t {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
