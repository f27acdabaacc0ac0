package control

import "poise/servo"

// oldestInertial is for how many ticks what an inertial unit has said counts.
const oldestInertial = 20

// HeardLately reports whether one of some inertial units has told of itself lately. Loop-safe.
func HeardLately(units []servo.Inertial) bool {
	for i := range units {
		if units[i].Age <= oldestInertial {
			return true
		}
	}
	return false
}
