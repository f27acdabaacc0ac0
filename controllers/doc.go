// Package controllers is the one table of controllers: a row declares everything that
// Poise has to know of one, from its place in the cycle to its goals on the graph.
//
// Adding a controller takes its package (control/NAME), its messages (msgs, edge) and
// one row of Table. The cycle, the recorder and the replay, the graph, check_goal, the
// configuration, the documentation and the page find it there. docs/adding-a-controller.md
// walks through it.
package controllers
