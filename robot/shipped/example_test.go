package shipped_test

import (
	"fmt"
	"log"

	"poise/robot/load"
)

func Example() {
	pony, err := load.Robot("pony", load.Options{})
	if err != nil {
		log.Fatal(err) // every problem at once, each with file and line
	}
	m := pony.Model
	fmt.Printf("%s: %d joints, %.1f kg\n", m.Name(), len(m.Joints()), m.Mass())

	knee, _ := m.Joint("joint13")
	fmt.Printf("a knee bends to %g rad\n", m.Joints()[knee].Limits.Upper.Value)
	// Output:
	// pony: 38 joints, 2.8 kg
	// a knee bends to 1.9 rad
}
