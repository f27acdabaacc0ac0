// Package simulated makes the machines of robots without hardware: the ideal one of the
// virtual robot, and one that behaves as real servos do.
package simulated
