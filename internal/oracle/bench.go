package oracle

import (
	"testing"

	"poise/internal/randbot"
	"poise/robot"
	"poise/urdf"
)

// Bench is a robot to measure with, and a frame at the end of one of its limbs.
type Bench struct {
	Name string
	Base robot.Base
	Tip  string
}

// Benches lists the robots of the speed table: 7, 18 and 36 velocities, and the
// usual suspects.
var Benches = []Bench{
	{"panda7", robot.BaseFixed, "panda_link8"},
	{"ur5e", robot.BaseFixed, "tool0"},
	{"go2", robot.BaseFloating, "FL_foot"},
	{"atlas", robot.BaseFloating, "l_hand"},
	{"arm6", robot.BaseFixed, "tool0"},
	{"pony", robot.BaseFloating, "bone15"},
}

// Pool is how many different states a benchmark goes through.
const Pool = 256

// States is a pool of random states of one robot.
type States struct {
	Q, V, A [][]float64
}

// NewStates draws joints within ±1.5, velocities and accelerations within ±1.
func NewStates(m *robot.Model) States {
	rng := randbot.New(1)
	uniform := func(n int, size float64) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = size * (2*rng.Float64() - 1)
		}
		return x
	}
	var s States
	for range Pool {
		q := uniform(m.NumQ(), 1.5)
		for _, b := range m.Bodies()[1:] {
			if b.Kind == robot.Floating {
				r := randbot.Quat(rng)
				copy(q[b.Q+3:], []float64{r.X, r.Y, r.Z, r.W})
			}
		}
		s.Q = append(s.Q, q)
		s.V = append(s.V, uniform(m.NumV(), 1))
		s.A = append(s.A, uniform(m.NumV(), 1))
	}
	return s
}

// Chain makes a chain of n revolute joints.
func Chain(tb testing.TB, n int) *robot.Model {
	return randbot.Model(tb, randbot.New(uint64(n)), randbot.Config{Bodies: n, Serial: true, Types: []urdf.JointType{urdf.Revolute}})
}
