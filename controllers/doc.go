// Package controllers is the one table of controllers: a row declares everything that
// Poise has to know of one, from its place in the cycle to its goals on the graph.
//
// Adding a controller takes its package (control/NAME), its messages (msgs, edge) and
// one row of Table. The cycle, the recorder and the replay, the graph, check_goal, the
// configuration, the documentation and the page find it there. docs/adding-a-controller.md
// walks through it.
//
// Actions that plan first (move_action, sequence_move_group) belong to no controller:
// what they plan is then performed by the controllers of trajectories. The server
// registers them with its planners.
package controllers
