// Package explain puts refusals, losses and faults into words: who, which joint or
// resource, when, by how much, and what would make it pass.
//
// Inside the cycle a reason is a handful of numbers (control.Reason). Here it becomes
// a problem.Problem, as those of the planner, of files and of goals are already: wires
// carry it whole, and pages show it as it is.
package explain
