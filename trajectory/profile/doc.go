// Package profile shapes the motion of one quantity from rest to rest: an axis, or
// the way along a path.
//
//	velocity      trapezoid              S-curve
//	               ______                 ______
//	              ╱      ╲              ╭╯      ╰╮
//	             ╱        ╲            ╭╯        ╰╮
//
// A Trapezoid has three phases of constant acceleration: accelerate, cruise,
// decelerate. Its acceleration and deceleration may differ; it is the profile of
// the Pilz industrial motion planner, to the last digit and with the same rules
// for given durations. An SCurve has seven phases of constant jerk.
//
// Profiles are values: they are made in one piece by the methods of Bounds, never
// change, copy by assignment and compare with ==. Evaluating one neither
// allocates nor fails; before its start it is at the start, after its end at the
// goal. Units are those of the caller, time is in seconds.
//
//	b, err := profile.NewBounds(2, 4, 4)
//	p, err := b.Fastest(0, 1.5)
//	for t := 0.0; t <= p.Duration(); t += 0.01 {
//		fmt.Println(p.Position(t), p.Velocity(t))
//	}
//
// Motions that begin or end while moving are the work of package move.
package profile
