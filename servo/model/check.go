package model

import (
	"fmt"
	"math"
)

// Bounds of what a servo can be. What is outside of them is a slip of units or of digits.
const (
	minStiffness = 1e-3 // N·m/rad at full gain
	maxStiffness = 1e6  // also of what is asked for
	maxArmature  = 1e2  // a0/a3, kg·m²
	maxDamping   = 1e4  // a1/a3, N·m·s/rad
	maxFriction  = 1e3  // N·m
	maxLead      = 1.0  // s
	maxDeadZone  = 1.0  // rad/s
	minGear      = 1e-2
	maxGear      = 1e3
	minReach     = 1e-5  // rad off its goal at which a servo gives all it can
	minFactor    = 1e-12 // kp and a3, whose units are the servo's own
	maxFactor    = 1e12
)

// MaxVoltage is that of the strongest supply, V.
const MaxVoltage = 1e3

// Check lists what is wrong with a model, each with the value and its limit; nil if it can be
// used. The voltage may be unknown.
func (m *Model) Check() (wrong []error) {
	fail := func(format string, a ...any) { wrong = append(wrong, fmt.Errorf(format, a...)) }
	for _, x := range m.named() {
		if x.value-x.value != 0 {
			fail("%s is %g, not a finite number", x.name, x.value)
		}
	}
	if wrong != nil {
		return wrong
	}
	for _, x := range m.named() {
		switch {
		case x.needed && !(x.value > 0):
			fail("%s is %g, must be above 0", x.name, x.value)
		case x.value < 0 && !x.signed:
			fail("%s is %g, must not be negative", x.name, x.value)
		case x.most > 0 && x.value > x.most:
			fail("%s is %g, at most %g", x.name, x.value, x.most)
		}
	}
	if m.Gear != 0 && m.Gear < minGear && m.Gear > 0 {
		fail("gear is %g, at least %g turns of the servo for one of the joint", m.Gear, minGear)
	}
	if m.A[4] != 0 && m.Speed == 0 {
		fail("parameters.a4 is %g and needs vs, the speed at which it fades", m.A[4])
	}
	if wrong == nil {
		m.checkSizes(fail)
	}
	return wrong
}

// checkSizes judges what the parameters mean at the joint.
func (m *Model) checkSizes(fail func(string, ...any)) {
	for _, x := range []parameter{{name: "kp", value: m.Kp}, {name: "parameters.a3", value: m.A[3]}} {
		if x.value < minFactor || x.value > maxFactor {
			fail("%s is %g, want %g … %g", x.name, x.value, minFactor, maxFactor)
			return
		}
	}
	j := m.AtJoint()
	if f, v := j.leastFriction(); f < 0 {
		fail("parameters a1, a2, a4: friction at %.3g rad/s is %.3g N·m, must not drive the joint", v, f/j.A[3])
	}
	within := func(what, unit string, x, low, high float64) {
		if x < low || x > high {
			fail("%s is %.4g %s, want %g … %g", what, x, unit, low, high)
		}
	}
	within("rotor, a0/a3,", "kg·m²", j.A[0]/j.A[3], 0, maxArmature)
	within("damping, a1/a3,", "N·m·s/rad", j.A[1]/j.A[3], 0, maxDamping)
	within("dry friction", "N·m", math.Max(j.A[2], j.A[2]+j.A[4])/j.A[3], 0, maxFriction)
	within("offset, a5/a3,", "N·m", math.Abs(j.A[5])/j.A[3], 0, maxFriction)
	if m.Saturation > 0 {
		within("what saturates the servo, ks/kp,", "rad", j.Saturation/j.Kp, minReach, math.Inf(1))
	}
	if m.Effort > 0 && m.Voltage > 0 {
		within("what saturates the servo, effort·a3/(kp·voltage),", "rad", j.Effort*j.A[3]/(j.Kp*j.Voltage), minReach, math.Inf(1))
	}
	if m.Voltage > 0 {
		within("stiffness, kp·voltage/a3,", "N·m/rad", m.FullStiffness(m.Voltage), minStiffness, maxStiffness)
	} else { // that of no supply may be absurd
		within("stiffness of a volt, kp/a3,", "N·m/(rad·V)", m.FullStiffness(1), minStiffness/MaxVoltage, maxStiffness)
	}
}

// leastFriction returns the least of a1·v + a2 + a4·exp(−v/vs) for v ≥ 0, and where it is. The
// fit of a Stribeck curve may have a2 a little below zero, as those of NimbRo have.
func (m *Model) leastFriction() (least, at float64) {
	a1, a4, vs := m.A[1], m.A[4], m.Speed
	least = m.A[2] + a4 // at rest
	if a1 == 0 && m.A[2] < least {
		return m.A[2], math.Inf(1)
	}
	if a4 > a1*vs && vs > 0 && a1 > 0 {
		at = vs * math.Log(a4/(a1*vs))
		least = m.A[2] + a1*(at+vs)
	}
	return least, at
}

// parameter is a number of a model and what it may be.
type parameter struct {
	name           string
	value          float64
	most           float64 // 0 is no bound
	needed, signed bool
}

func (m *Model) named() []parameter {
	return []parameter{
		{name: "kp", value: m.Kp, needed: true}, {name: "voltage", value: m.Voltage, most: MaxVoltage}, {name: "gear", value: m.Gear, most: maxGear},
		{name: "ks", value: m.Saturation}, {name: "effort", value: m.Effort}, {name: "lead", value: m.Lead, most: maxLead},
		{name: "dead_zone", value: m.DeadZone, most: maxDeadZone}, {name: "stiffness", value: m.Stiffness, most: maxStiffness},
		{name: "backlash", value: m.Backlash}, {name: "resolution", value: m.Quantum},
		{name: "parameters.a0", value: m.A[0]}, {name: "parameters.a1", value: m.A[1]}, {name: "parameters.a2", value: m.A[2], signed: true},
		{name: "parameters.a3", value: m.A[3], needed: true}, {name: "parameters.a4", value: m.A[4], signed: true},
		{name: "parameters.a5", value: m.A[5], signed: true}, {name: "parameters.vs", value: m.Speed},
	}
}
