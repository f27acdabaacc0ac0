package main

import (
	"errors"

	"github.com/spf13/pflag"

	"poise/dynamics"
	"poise/floatingbase"
	"poise/kinematics"
	"poise/robot"
	"poise/wholebody"
)

// dynCommand answers questions about forces and masses, line by line. Rigid bodies
// only: no damping, friction or rotor inertia.
func dynCommand(e *env, fs *pflag.FlagSet) func(args []string) error {
	return runLines(e, fs, func(m *robot.Model) []operation {
		d := &dyn{m: m, k: kinematics.NewData(m), d: dynamics.NewData(m)}
		return []operation{
			{"rnea", d.weighed(d.rnea)},
			{"crba", d.weighed(d.crba)},
			{"aba", d.aba},
			{"gravity", d.weighed(d.gravity)},
			{"com", d.com},
			{"centroidal", d.centroidal},
			{"contact", d.contact},
			{"wholebody", d.wholebody},
		}
	})
}

type dyn struct {
	m *robot.Model
	k *kinematics.Data
	d *dynamics.Data

	inverse *floatingbase.Inverse // made when it is first asked for
	whole   *wholebody.Solver     // likewise
}

var bare dynamics.Load

// weighed is an operation that without masses would answer with nothing but zeros.
func (d *dyn) weighed(answer func(r *request) (any, error)) func(r *request) (any, error) {
	if d.m.Mass() > 0 {
		return answer
	}
	return func(*request) (any, error) { return nil, errNoForces }
}

// rnea: {"q","v","a"} → {"tau"}.
func (d *dyn) rnea(r *request) (any, error) {
	q, v, a := r.configuration("q", d.m), r.numbers("v", d.m.NumV()), r.numbers("a", d.m.NumV())
	if err := r.done(); err != nil {
		return nil, err
	}
	tau := make([]float64, d.m.NumV())
	d.d.InverseTo(tau, q, v, a, bare)
	return forces{tau}, nil
}

// crba: {"q"} → {"M"}, the whole matrix.
func (d *dyn) crba(r *request) (any, error) {
	q := r.configuration("q", d.m)
	if err := r.done(); err != nil {
		return nil, err
	}
	n := d.m.NumV()
	M := make([]float64, n*n)
	d.d.MassMatrixTo(M, q, bare)
	return struct {
		M [][]float64 `json:"M"`
	}{rows(M, n)}, nil
}

// aba: {"q","v","tau"} → {"a"}.
func (d *dyn) aba(r *request) (any, error) {
	q, v, tau := r.configuration("q", d.m), r.numbers("v", d.m.NumV()), r.numbers("tau", d.m.NumV())
	if err := r.done(); err != nil {
		return nil, err
	}
	a := make([]float64, d.m.NumV())
	if err := d.d.ForwardTo(a, q, v, tau, bare); err != nil {
		return nil, err
	}
	return struct {
		A []float64 `json:"a"`
	}{a}, nil
}

// gravity: {"q"} → {"tau"}.
func (d *dyn) gravity(r *request) (any, error) {
	q := r.configuration("q", d.m)
	if err := r.done(); err != nil {
		return nil, err
	}
	tau := make([]float64, d.m.NumV())
	d.d.GravityTo(tau, q)
	return forces{tau}, nil
}

// com: {"q","v"} → {"mass","com","vcom"} of the whole robot, every link.
func (d *dyn) com(r *request) (any, error) {
	q, v := r.configuration("q", d.m), r.numbers("v", d.m.NumV())
	if err := r.done(); err != nil {
		return nil, err
	}
	d.k.UpdatePosition(q)
	d.k.UpdateVelocity(v)
	c, ok := d.k.Com()
	if !ok {
		return nil, errNoMass
	}
	u, _ := d.k.ComVelocity()
	return struct {
		Mass float64    `json:"mass"`
		Com  [3]float64 `json:"com"`
		VCom [3]float64 `json:"vcom"`
	}{d.m.Mass(), [3]float64{c.X, c.Y, c.Z}, [3]float64{u.X, u.Y, u.Z}}, nil
}

// centroidal: {"q","v"} → {"h"}, linear then angular, about the centre of mass of
// the whole robot, world axes.
func (d *dyn) centroidal(r *request) (any, error) {
	q, v := r.configuration("q", d.m), r.numbers("v", d.m.NumV())
	if err := r.done(); err != nil {
		return nil, err
	}
	h, ok := d.d.Momentum(q, v)
	if !ok {
		return nil, errNoMass
	}
	return struct {
		H [6]float64 `json:"h"`
	}{[6]float64{h.Linear.X, h.Linear.Y, h.Linear.Z, h.Angular.X, h.Angular.Y, h.Angular.Z}}, nil
}

type forces struct {
	Tau []float64 `json:"tau"`
}

var errFixedBase = errors.New("the base of the robot is fixed: contacts carry only a free one (--floating)")

var errNoForces = errors.New("no link of the robot has a mass, so nothing takes a force: every link needs an <inertial>")

var errNoMass = errors.New("no link of the robot has a mass, so it has no centre of mass")
