// Package model describes a position servo by one equation, and solves it both ways.
//
//	y = kp·U·(goal − q*)          what the servo makes of its error, |y| ≤ ks·U
//	y = a0·q̈ + a1·q̇ + (a2 + a4·exp(−|q̇|/vs))·sg(q̇) + a3·τ + a5
//
// U is the voltage of the supply, τ the torque that the servo gives to the joint, sg the sign
// of a velocity, softened below the dead zone. q* = q + q̇·L + q̈·L²/2 is where the joint is when
// a goal takes effect, a lead L later.
//
// All of that is at the shaft of the servo, as is what identification finds. Behind a gear the
// servo makes k turns for one of the joint: it moves by k·q and gives τ/k. Seen from the joint
// a2, a4 and a5 are then divided by k, and a3 by k²; see AtJoint.
//
// The rotor is a0·q̈: τ is the torque of the rigid bodies without it.
//
// The equation is that of the 4-parameter model of the Sweetie Bot project with the Stribeck
// curve of Schwarz and Behnke, "Compliant Robot Behavior using Servo Actuator Models Identified
// by Iterative Learning Control" (2013), and an offset.
package model
