// Package mujoco is MuJoCo behind the servo bus, for tests: a robot in an engine that is not
// ours, in lock step with the cycle.
//
//	d := mujoco.Open(t, model, urdf, mujoco.Config{Step: 0.001})
//	d.Exchange(tick, measurement, setpoints)
//
// A process (tools/oracle/mujoco_bus.py, which needs PyPI's mujoco) takes the setpoints of each
// tick and answers with joints, inertial unit and touch, as package servo/physics measures
// them. Servos are those of servo/physics: by their models or plain, in every mode. Unlike a
// Bus of the cycle it waits for its answers, and so tests alone use it.
package mujoco
