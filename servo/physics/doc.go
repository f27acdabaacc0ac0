// Package physics is a robot with mass behind a servo bus: package sim moves it, and
// each joint is driven by a model of its servo.
//
//	b, err := physics.New(physics.Config{Model: m, Motors: motors, Ground: sim.Level()})
//	b.Exchange(tick, measurement, setpoints)
//
// A Bus obeys every mode, ramps over play time, delays, loses and quantises as real lines
// do, lets the supply sag, and measures: joints, an inertial unit on a floating base, a
// touch switch under each foot. The cycle does not learn that the robot is simulated.
package physics
