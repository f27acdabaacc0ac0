package profile_test

import (
	"fmt"

	"poise/trajectory/profile"
)

// Two axes in step: the quicker one takes the phases of the slower one.
func ExampleBounds_InPhases() {
	b, err := profile.NewBounds(1, 0.5, -1)
	if err != nil {
		fmt.Println(err)
		return
	}
	lead, err := b.Fastest(0, 3)
	if err != nil {
		fmt.Println(err)
		return
	}
	t := lead.Phases()
	other, err := b.InPhases(0.1, 1.6, t[0], t[1], t[2])
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.1f s: %.3f and %.3f at t = 2\n", lead.Duration(), lead.Position(2), other.Position(2))
	// Output:
	// 4.5 s: 1.000 and 0.600 at t = 2
}
