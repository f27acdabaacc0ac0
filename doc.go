// Package poise is the root of a robot motion-control system: a robot
// description goes in, a moving robot comes out.
//
//	goal ──▶ plan ──▶ timed reference ──▶ joint command ──▶ servo setpoint ──▶ robot
//	 ▲                                                                           │
//	 └──────────────────────── measured state, reports ◀─────────────────────────┘
//
// The root holds no code, only the tests that keep the tree in order: see
// ARCHITECTURE.md for the map and layers_test.go for the import order.
package poise
