// Package randbot makes random robots and random states of them, for tests and
// benchmarks. Everything follows from the generator given: the same seed makes
// the same robot.
package randbot

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"poise/robot"
	"poise/spatial"
	"poise/urdf"
)

// Config says what robots to make. The zero value of a field means its default.
type Config struct {
	Bodies   int              // joints that move, 10 by default
	Types    []urdf.JointType // which they are drawn from, all movable ones by default
	Fixed    int              // links welded on in addition
	Mimics   int              // how many of the joints follow another, where possible
	Serial   bool             // each joint hangs on the one before: a chain
	Floating bool             // free base
}

// New returns a seeded generator; print the seed when a test fails.
func New(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15)) }

// Document makes a random robot that obeys every rule: positive masses,
// inertias of real mass distributions, limits around zero.
func Document(rng *rand.Rand, cfg Config) *urdf.Document {
	if cfg.Bodies == 0 {
		cfg.Bodies = 10
	}
	if cfg.Types == nil {
		cfg.Types = []urdf.JointType{urdf.Revolute, urdf.Continuous, urdf.Prismatic, urdf.Planar, urdf.Floating}
	}
	doc := &urdf.Document{Name: "randbot"}
	doc.Links = append(doc.Links, randomLink(rng, 0))
	total := cfg.Bodies + cfg.Fixed
	for i := 1; i <= total; i++ {
		doc.Links = append(doc.Links, randomLink(rng, i))
		parent := rng.IntN(i)
		if cfg.Serial {
			parent = i - 1
		}
		doc.Joints = append(doc.Joints, randomJoint(rng, i, parent, cfg.Types))
	}
	for _, i := range rng.Perm(total)[:cfg.Fixed] {
		j := &doc.Joints[i]
		j.Type, j.Limit, j.Dynamics = urdf.Fixed, nil, nil
	}
	addMimics(rng, doc, cfg.Mimics)

	// the order of a file means nothing: links and joints come as they like
	rng.Shuffle(len(doc.Links), func(i, j int) { doc.Links[i], doc.Links[j] = doc.Links[j], doc.Links[i] })
	rng.Shuffle(len(doc.Joints), func(i, j int) { doc.Joints[i], doc.Joints[j] = doc.Joints[j], doc.Joints[i] })
	return doc
}

// Model makes a random robot and builds it.
func Model(tb testing.TB, rng *rand.Rand, cfg Config) *robot.Model {
	tb.Helper()
	opts := robot.Options{Base: robot.BaseFixed}
	if cfg.Floating {
		opts.Base = robot.BaseFloating
	}
	m, _, err := robot.Build(Document(rng, cfg), opts)
	if err != nil {
		tb.Fatalf("randbot made a robot that does not build: %v", err)
	}
	return m
}

// Position returns a random configuration: within the limits where there are
// any, unit quaternions, angles of continuous joints over several turns.
func Position(rng *rand.Rand, m *robot.Model) []float64 {
	q := make([]float64, m.NumQ())
	if m.Floating() {
		placeFree(rng, q)
	}
	for _, j := range m.Joints() {
		switch {
		case j.Kind == robot.Floating:
			placeFree(rng, q[j.Q:])
		case j.Kind == robot.Planar:
			q[j.Q], q[j.Q+1], q[j.Q+2] = rng.NormFloat64(), rng.NormFloat64(), angle(rng)
		case j.Limits.Lower.Has && j.Limits.Upper.Has:
			lower, upper := j.Limits.Lower.Value, j.Limits.Upper.Value
			q[j.Q] = lower + (upper-lower)*rng.Float64()
		default:
			q[j.Q] = 3 * angle(rng)
		}
	}
	return q
}

// Velocity returns a random vector of length NumV, components around one.
func Velocity(rng *rand.Rand, m *robot.Model) []float64 {
	v := make([]float64, m.NumV())
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	return v
}

func placeFree(rng *rand.Rand, q []float64) {
	r := Quat(rng)
	copy(q, []float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64(), r.X, r.Y, r.Z, r.W})
}

// Quat returns a rotation drawn uniformly.
func Quat(rng *rand.Rand) spatial.Quat {
	for {
		q, ok := spatial.Quat{W: rng.NormFloat64(), X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()}.Unit()
		if ok {
			return q
		}
	}
}

// Inertia returns the inertia of a random cloud of mass: three positive second
// moments along random axes give principal moments that keep the triangle
// inequality, λ₁ = s₂ + s₃ and so on.
func Inertia(rng *rand.Rand) spatial.Inertia {
	mass := math.Exp(rng.NormFloat64())
	s := [3]float64{}
	for i := range s {
		s[i] = mass * 0.01 * (0.05 + rng.Float64())
	}
	R := Quat(rng).Matrix()
	λ := spatial.Mat3{s[1] + s[2], 0, 0, 0, s[0] + s[2], 0, 0, 0, s[0] + s[1]}
	I := R.Mul(λ).Mul(R.Transpose())
	// exactly symmetric
	I[3], I[6], I[7] = I[1], I[2], I[5]
	return spatial.Inertia{Mass: mass, Com: vector(rng, 0.1), I: I}
}

func randomLink(rng *rand.Rand, i int) urdf.Link {
	M := Inertia(rng)
	return urdf.Link{
		Name: fmt.Sprintf("link%d", i),
		Inertial: &urdf.Inertial{
			Origin: urdf.Origin{XYZ: M.Com, RPY: spatial.Vec3{X: angle(rng), Y: angle(rng) / 2, Z: angle(rng)}},
			Mass:   M.Mass,
			I:      urdf.InertiaTensor{XX: M.I[0], XY: M.I[1], XZ: M.I[2], YY: M.I[4], YZ: M.I[5], ZZ: M.I[8]},
		},
	}
}

func randomJoint(rng *rand.Rand, i, parent int, types []urdf.JointType) urdf.Joint {
	j := urdf.Joint{
		Name:   fmt.Sprintf("joint%d", i),
		Type:   types[rng.IntN(len(types))],
		Parent: fmt.Sprintf("link%d", parent),
		Child:  fmt.Sprintf("link%d", i),
		Origin: urdf.Origin{XYZ: vector(rng, 0.3), RPY: spatial.Vec3{X: angle(rng), Y: angle(rng) / 2, Z: angle(rng)}},
		Axis:   vector(rng, 1),
		Limit: &urdf.Limit{
			Lower: -0.2 - 2*rng.Float64(), Upper: 0.2 + 2*rng.Float64(), Velocity: 1 + rng.Float64(), Effort: 10 + 90*rng.Float64(),
			Has: urdf.HasLower | urdf.HasUpper | urdf.HasVelocity | urdf.HasEffort,
		},
		Dynamics: &urdf.Dynamics{Damping: rng.Float64(), Friction: rng.Float64()},
	}
	if rng.IntN(3) == 0 {
		// many real axes lie along a coordinate axis
		j.Axis = [...]spatial.Vec3{{X: 1}, {Y: 1}, {Z: 1}, {X: -1}, {Y: -1}, {Z: -1}}[rng.IntN(6)]
	}
	switch j.Type {
	case urdf.Continuous:
		j.Limit.Lower, j.Limit.Upper, j.Limit.Has = 0, 0, urdf.HasVelocity|urdf.HasEffort
	case urdf.Planar, urdf.Floating:
		j.Limit = nil
	}
	return j
}

// addMimics lets joints follow joints earlier in the list, so that chains of
// mimics occur and rings do not.
func addMimics(rng *rand.Rand, doc *urdf.Document, count int) {
	var able []int
	for i, j := range doc.Joints {
		switch j.Type {
		case urdf.Revolute, urdf.Continuous, urdf.Prismatic:
			able = append(able, i)
		}
	}
	for n := len(able) - 1; n > 0 && count > 0; n, count = n-1, count-1 {
		leader := doc.Joints[able[rng.IntN(n)]]
		doc.Joints[able[n]].Mimic = &urdf.Mimic{
			Joint: leader.Name, Multiplier: []float64{-1, 1}[rng.IntN(2)] * (0.5 + rng.Float64()), Offset: 0.2 * rng.NormFloat64(),
		}
	}
}

func vector(rng *rand.Rand, size float64) spatial.Vec3 {
	return spatial.Vec3{X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()}.Scale(size)
}

func angle(rng *rand.Rand) float64 { return math.Pi * (2*rng.Float64() - 1) }
