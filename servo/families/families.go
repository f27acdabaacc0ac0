// Package families is the table of the families of servos that Poise speaks with. Package bus drives them and knows none.
package families

import (
	"poise/servo/bus"
	"poise/servo/dynamixel"
	"poise/servo/feetech"
	"poise/servo/herkulex"
)

// All are the families.
var All = []bus.Family{herkulex.Family{}, dynamixel.Family{}, dynamixel.Old{}, feetech.Family{}}

// Named finds those of a name, the newest protocol first.
func Named(name string) (all []bus.Family) {
	for _, f := range All {
		if f.Name() == name {
			all = append(all, f)
		}
	}
	return all
}
