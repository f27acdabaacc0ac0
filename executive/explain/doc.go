// Package explain puts refusals, losses and faults into words: who, which joint or
// resource, when, by how much, and what would make it pass.
//
// Inside the cycle a reason is a handful of numbers (control.Reason), the planner
// has its Refusal, files and goals have errors. Here all of them become one
// structure, the Explanation, which wires carry whole and pages show as it is.
package explain
