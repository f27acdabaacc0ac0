// Package executive is the outside half of control of one robot: it takes goals
// and commands from many, gives the cycle its orders, and is the only one who does.
//
//	Submit ─▶ check, compile ─▶ (plan) ─▶ order ─▶ ┃ loop ┃
//	   ▲                                           ┃      ┃
//	   └── Watch: states, feedback, result ◀─ Pump ◀ reports, snapshots
//
// A goal has a life of its own (package action) and ends exactly once, whatever
// happens: refused, done, cancelled, replaced, robbed of a resource, stopped, hit
// by a fault or a panic, or orphaned because the cycle fell silent. Every end has
// a cause and explanations (package executive/explain): who, which joint, when, by
// how much, what would make it pass.
//
// The core has no goroutine and no clock. Pump takes what the cycle told, moves
// all goals on and returns; tests step the loop and pump by hand, in simulated
// time. Run pumps for a server, every few milliseconds while something goes on. All
// methods may be called from any goroutine; callbacks come one at a time, in order,
// with nothing locked, so they may call back.
//
//	e, err := executive.New(executive.Config{Model: m, Loop: l, Controllers: …})
//	go e.Run(ctx)
//	id, err := e.Submit("page", "", 0, &executive.Play{Name: "nod"}, executive.Watch{Changed: …})
//	answer := e.Stop("page", 2)
//	<-answer.Done()
//
// Goals are Follow, Play, Pose, Step, Perform, Operational, Execute, Move and Study. Those
// that are trajectories in the end share the seats of kind "follow": a goal whose
// joints another one moves replaces it in flight, goals for different joints run
// side by side.
//
// # Rooms
//
//	goal.go, follow.go, play.go …   what can be asked for, and how it is prepared
//	goals.go, job.go                the lives of goals, by action
//	prepare.go, plan.go             work that takes its time, beside the callers
//	command.go, orders.go           commands and their answers, the only sender of orders
//	switch.go, torque.go            sets of controllers; torque of single limbs
//	outside.go                      controllers outside the process
//	robot.go, state.go, feedback.go what is known of the robot, and what is told of it
//	pump.go, tell.go                what the cycle told, and calls to the outside
package executive
