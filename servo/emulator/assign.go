package emulator

import (
	"poise/robot"
	"poise/servo/bus"
)

// Spoken returns the family, of several with one name, that the servos of a robot are of; the first if
// they are of none.
func Spoken(m *robot.Model, families []bus.Family) bus.Family {
	for i := range m.Joints() {
		if f, _, ok := bus.ModelNamed(families, m.Servo(robot.JointID(i)).Type); ok {
			return f
		}
	}
	return families[0]
}

// AssignFamily returns servos of a family for every joint that can have one: those of
// robot.yaml where they are of it, else its first model with the id of robot.yaml, or ids from
// 1 on, its middle at the joint's zero.
func AssignFamily(m *robot.Model, f bus.Family) func(joint int) robot.Servo {
	next := 0
	all := make([]robot.Servo, len(m.Joints()))
	for i, j := range m.Joints() {
		a := m.Servo(robot.JointID(i))
		if j.Virtual || j.Kind.NumQ() != 1 {
			continue
		}
		own := false
		for _, x := range f.Models() {
			own = own || a.Assigned && x.Name == a.Type
		}
		if !own {
			next++
			if !a.Assigned {
				a = robot.Servo{Assigned: true, ID: next, Gear: 1}
			}
			a.Type, a.Zero, a.Reversed = f.Models()[0].Name, float64(f.Models()[0].Centre), false
		}
		all[i] = a
	}
	return func(joint int) robot.Servo { return all[joint] }
}
