// Package offer is how a robot's topics, services and actions get into the graph: under
// the names of its instance, commands answered by the executive, goals living as the
// executive's do.
package offer
