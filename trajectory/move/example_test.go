package move_test

import (
	"fmt"

	"poise/trajectory/move"
)

func Example() {
	m, err := move.New([]move.Limits{
		move.Symmetric(1, 2, 10),
		{VelMin: -0.5, VelMax: 1, AccMin: -2, AccMax: 1, Jerk: 10},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	// the first axis is moving already
	from := []move.State{{P: 0, V: 0.3}, {P: 0}}
	to := []move.State{{P: 0.8}, {P: 1.5}}
	if err := m.Reach(from, to, move.Options{}); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.4f s\n", m.Duration())
	states := make([]move.State, 2)
	m.StatesTo(states, m.Duration()/2)
	fmt.Printf("half-way in time: %.3f and %.3f\n", states[0].P, states[1].P)
	fmt.Printf("at the end: %v\n", m.Axis(1).At(m.Duration()))
	// Output:
	// 2.4000 s
	// half-way in time: 0.432 and 0.650
	// at the end: {1.5 0 0}
}

// A stop takes the shortest way to rest, and says where that is.
func ExampleMotion_Stop() {
	m, err := move.New([]move.Limits{move.Symmetric(1, 2, 10)})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := m.Stop([]move.State{{P: 0.2, V: 0.6}}); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("rest after %.2f s at %.2f\n", m.Duration(), m.Axis(0).Target().P)
	// Output:
	// rest after 0.50 s at 0.35
}

// A hand-over: the difference between the command so far and a new reference fades
// to zero, for all axes in the same time.
func ExampleMotion_Reach() {
	bridge, err := move.New([]move.Limits{move.Symmetric(1, 4, 50), move.Symmetric(1, 4, 50)})
	if err != nil {
		fmt.Println(err)
		return
	}
	command := []move.State{{P: 0.30, V: 0.2}, {P: -0.10}}
	reference := []move.State{{P: 0.25}, {P: -0.10, V: 0.1}}
	offset := make([]move.State, 2)
	for i, c := range command {
		r := reference[i]
		offset[i] = move.State{P: c.P - r.P, V: c.V - r.V, A: c.A - r.A}
	}
	if err := bridge.Reach(offset, make([]move.State, 2), move.Options{}); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.3f s\n", bridge.Duration())
	for i := range 2 {
		fmt.Printf("%.3f %v\n", bridge.Axis(i).At(0).P, bridge.Axis(i).At(bridge.Duration()))
	}
	// Output:
	// 0.393 s
	// 0.050 {0 0 0}
	// 0.000 {0 0 0}
}
