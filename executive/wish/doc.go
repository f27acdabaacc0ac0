// Package wish turns what people ask for into work for the cycle.
//
//	Goal ──Prepare(View)──▶ Work: a checked program, and who could perform it
//	                  └───▶ explanations, all of them at once
//
// A Goal is plain data: play a trajectory, a stored motion, go to a pose, switch a
// controller on, perform a plan, plan first. Preparing one reads files, compiles and
// checks; it takes nothing from anybody and moves nothing, so it may run anywhere and
// take its time. What is made of the work is the business of package executive.
package wish
