package identify

import (
	"math"
	"runtime"
	"strings"
	"sync"

	"poise/dynamics"
	"poise/kinematics"
	"poise/problem"
	"poise/robot"
)

// All fits every joint of a log. Where the log has no torque, that of the robot is computed: with its
// base held as it stands in its description, and joints that the log does not have at zero, or as near
// to it as they can be. The
// positions are differentiated first by local smoothing, then by the models themselves. m may be nil;
// options are asked for each joint.
func All(log, holdout *Log, m *robot.Model, options func(joint string) Options) []*Result {
	results := make([]*Result, len(log.Joints))
	if log.Torque || m == nil {
		each(len(results), func(i int) { results[i] = judged(&log.Joints[i], holdout, m, options, nil, nil) })
		return results
	}
	l, held := newLoad(m, log, options), (*load)(nil)
	if holdout != nil && !holdout.Torque {
		held = newLoad(m, holdout, options)
	}
	for pass := range modelPasses {
		l.update()
		if held != nil {
			held.update()
		}
		each(len(results), func(i int) {
			j := &log.Joints[i]
			results[i] = judged(j, holdout, m, func(joint string) Options {
				o := options(joint)
				o.hasty = pass+1 < modelPasses
				return o
			}, l.of(j.Name), held.of(j.Name))
		})
		for i := range log.Joints {
			if pass+1 < modelPasses {
				l.follow(&log.Joints[i], results[i])
			}
		}
	}
	for _, r := range results {
		r.Effects = append(r.Effects, l.assumed(r.Joint)...)
	}
	return results
}

// each does n independent jobs on the processors that there are.
func each(n int, job func(i int)) {
	var wg sync.WaitGroup
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i := range n {
		free <- struct{}{}
		wg.Go(func() {
			job(i)
			<-free
		})
	}
	wg.Wait()
}

// modelPasses: torques of smoothed positions, then of those that the models give.
const modelPasses = 3

// judged fits a joint, or refuses one that the robot does not have.
func judged(j *Joint, holdout *Log, m *robot.Model, options func(string) Options, load, heldLoad *loading) *Result {
	if m != nil {
		if _, ok := m.Joint(j.Name); !ok {
			r := newResult(j.Name)
			r.Reasons = append(r.Reasons, AnotherRobot)
			r.Details = append(r.Details, "the robot "+m.Name()+" has no joint of that name"+problem.Hint(j.Name, m.JointNames()))
			return r
		}
	}
	var held *Joint
	if holdout != nil {
		held = &Joint{Name: j.Name}
		for i := range holdout.Joints {
			if holdout.Joints[i].Name == j.Name {
				held = &holdout.Joints[i]
			}
		}
		if len(held.Rows) < 2 {
			r := newResult(j.Name)
			r.Reasons = append(r.Reasons, HoldOut)
			r.Details = append(r.Details, "the log to judge by does not have this joint")
			return r
		}
	}
	return fit(j, held, options(j.Name), load, heldLoad)
}

// load computes the torques of a robot that moves as a log says.
type load struct {
	m          *robot.Model
	d          *dynamics.Data
	paths      map[string]*path
	begin, end float64
	parts      map[string]*loading
}

// path is a joint on an even grid of times.
type path struct {
	id      robot.JointID
	q, v, a []float64
}

// Torques are computed at every fifth step of the grid.
const (
	loadEvery = 5
	loadStep  = loadEvery * gridStep // s
)

func newLoad(m *robot.Model, log *Log, options func(string) Options) *load {
	l := &load{m: m, d: dynamics.NewData(m), paths: map[string]*path{}, begin: math.Inf(1), end: math.Inf(-1)}
	all := map[string]*series{}
	for _, j := range log.Joints {
		if _, ok := m.Joint(j.Name); !ok || len(j.Rows) < 2 {
			continue
		}
		o := options(j.Name)
		s := newSeries(j.Rows, o.gain(j.Rows), new(loading))
		if len(s.readings) < 8 {
			continue
		}
		all[j.Name] = s
		l.begin, l.end = math.Min(l.begin, s.begin), math.Max(l.end, s.end)
	}
	for name, s := range all {
		id, _ := m.Joint(name)
		l.paths[name] = l.smoothed(id, s)
	}
	return l
}

// assumed tells which joints bear on the torque of another, those that carry it and those that it
// carries, and are not in the log: where they were is not known.
func (l *load) assumed(name string) []Effect {
	id, ok := l.m.Joint(name)
	if !ok {
		return nil
	}
	var absent []string
	for _, j := range l.m.Joints() {
		if l.paths[j.Name] == nil && j.Name != name && (l.carries(j.Body, l.m.Joints()[id].Body) || l.carries(l.m.Joints()[id].Body, j.Body)) {
			absent = append(absent, j.Name)
		}
	}
	if len(absent) == 0 {
		return nil
	}
	return []Effect{{Name: "assumed", Value: Number(len(absent)), Unit: "joints",
		Text: "torques are computed with joints that the log does not have at zero: " + strings.Join(absent, ", ")}}
}

// carries says whether a body hangs on another.
func (l *load) carries(lower, upper robot.BodyID) bool {
	for upper != lower && upper != robot.World {
		upper = l.m.Bodies()[upper].Parent
	}
	return upper == lower
}

func (l *load) points() int { return int((l.end-l.begin)/loadStep) + 1 }

// smoothed is the path by local cubics.
func (l *load) smoothed(id robot.JointID, s *series) *path {
	n := l.points()
	p := &path{id: id, q: make([]float64, n), v: make([]float64, n), a: make([]float64, n)}
	points := make([]knot, len(s.readings))
	for i, r := range s.readings {
		points[i] = knot{r.t, r.q}
	}
	half := math.Max(smoothing, 3.2*s.period)
	first, last := 0, 0
	for i := range n {
		t := l.begin + float64(i)*loadStep
		for first+1 < len(points) && points[first].t < t-half {
			first++
		}
		for last < len(points) && points[last].t <= t+half {
			last++
		}
		if c, ok := localCubic(points[first:last], t, half); ok {
			p.q[i], p.v[i], p.a[i] = c[0], c[1], 2*c[2]
		} else if i > 0 {
			p.q[i] = p.q[i-1]
		}
	}
	return p
}

// follow takes the path that a fitted model gives, where it is near what was measured.
func (l *load) follow(j *Joint, r *Result) {
	p, ok := l.paths[j.Name]
	if !ok || r.motion == nil || !(float64(r.TrainRMSE) < 2*maxRMSE) {
		return
	}
	r.motion(func(t, q, v, a float64) {
		if i := int(math.Round((t - l.begin) / loadStep)); i >= 0 && i < len(p.q) {
			p.q[i], p.v[i], p.a[i] = q, v, a
		}
	}, l.begin)
}

// update computes the torques of all paths.
func (l *load) update() {
	nv := l.m.NumV()
	q, v, a := make([]float64, l.m.NumQ()), make([]float64, nv), make([]float64, nv)
	kinematics.NewSpace(l.m).NeutralTo(q)
	tau, mass := make([]float64, nv), make([]float64, nv*nv)
	l.parts = map[string]*loading{}
	if len(l.paths) == 0 {
		return
	}
	for name := range l.paths {
		l.parts[name] = new(loading)
	}
	for i := range l.points() {
		for _, p := range l.paths {
			j := &l.m.Joints()[p.id]
			q[j.Q], v[j.V], a[j.V] = p.q[i], p.v[i], p.a[i]
		}
		l.d.InverseTo(tau, q, v, a, dynamics.Load{})
		l.d.MassMatrixTo(mass, q, dynamics.Load{})
		t := l.begin + float64(i)*loadStep
		for name, p := range l.paths {
			k, x := l.m.Joints()[p.id].V, l.parts[name]
			own := mass[k*nv+k]
			x.torque = append(x.torque, knot{t, tau[k]})
			x.rest, x.inertia = append(x.rest, knot{t, tau[k] - own*a[k]}), append(x.inertia, knot{t, own})
		}
	}
}

// of returns the load of a joint, nil without any.
func (l *load) of(name string) *loading {
	if l == nil {
		return nil
	}
	return l.parts[name]
}
