package arbiter_test

import (
	"fmt"

	"poise/arbiter"
	"poise/robot"
)

// A yawn takes the head from the look-at and gives it back.
func Example() {
	const head, eyes = robot.LeafID(0), robot.LeafID(1)
	d := arbiter.NewDirect(arbiter.Config{Policy: arbiter.PolicyLast})
	look, _ := d.Register(0, "look_at", nil)
	yawn, _ := d.Register(0, "yawn", nil)

	d.Request(1, look, &arbiter.Claim{Need: robot.Leaf(eyes), Want: robot.Leaf(head)})
	d.Request(2, yawn, &arbiter.Claim{Need: robot.Leaf(head)})
	fmt.Println("head:", d.Name(d.Owner(head)), "look_at:", d.Phase(look))

	d.Quit(3, yawn)
	at, why := d.Since(head)
	fmt.Println("head:", d.Name(d.Owner(head)), "since", at, "because", why)
	// Output:
	// head: yawn look_at: operational
	// head: look_at since 3 because returned
}

// Check explains what is in the way, and takes nothing.
func ExampleDirect_Check() {
	d := arbiter.NewDirect(arbiter.Config{Policy: arbiter.PolicyPriority})
	walk, _ := d.Register(0, "walk", nil)
	wave, _ := d.Register(0, "wave", nil)
	legs := arbiter.Claim{Need: robot.Leaf(0)}
	legs.SetPriority(10, 5)
	d.Request(0, walk, &legs)

	low := arbiter.Claim{Need: robot.Leaf(0)}
	low.SetPriority(3, 3)
	_, reason, _ := d.Check(wave, &low)
	leaf := func(robot.LeafID) string { return "leg1" }
	fmt.Println(reason.Text(leaf, d.Name))
	// Output:
	// leg1 is held by walk (priority 3 against 5; among equals the later request wins)
}
