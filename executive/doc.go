// Package executive is the part of one robot's control outside the cycle: it takes
// goals and commands from all clients, and is the only sender of orders to the cycle.
//
//	Submit ─▶ check, compile ─▶ (plan) ─▶ order ─▶ ┃ loop ┃
//	   ▲                                           ┃      ┃
//	   └── Watch: states, feedback, result ◀─ Pump ◀ reports, snapshots
//
// The life of a goal is a state machine (package action). It ends exactly once, whatever
// happens: refused, done, cancelled, replaced, ended by the loss of a resource, by a stop,
// a fault or a panic, or because the cycle stopped reporting. Every end has
// a cause and explanations (package executive/explain): which client, which joint, when,
// by how much, what would make it pass.
//
// An Executive has no goroutine and no clock of its own. Pump takes the reports of the
// cycle, advances all goals and returns; tests step the loop and pump by hand, in
// simulated time. Run pumps for a server, every few milliseconds while goals or commands
// are under way. All methods may be called from any goroutine; callbacks come one at a
// time, in order, without a lock held, so they may call back.
//
//	e, err := executive.New(executive.Config{Model: m, Loop: l, Controllers: …})
//	go e.Run(ctx)
//	id, err := e.Submit("page", "", 0, &executive.Play{Name: "nod"}, executive.Watch{Changed: …})
//	answer := e.Stop("page", 2)
//	<-answer.Done()
//
// Goals are Follow, Play, Pose, Step, Perform, Operational, Execute, Move and Experiment. Those
// that become trajectories share the seats of kind "follow", the instances of that
// controller: a goal replaces the one that moves its joints while that is running, goals
// for different joints run side by side.
//
// # Files
//
//	goal.go, follow.go, play.go …   kinds of goals, and how each is prepared
//	goals.go, job.go                the lives of goals, by action
//	prepare.go, plan.go             preparation and planning, in goroutines of their own
//	command.go, orders.go           commands and their answers, the only sender of orders
//	switch.go, torque.go            switching controllers; torque of single limbs
//	outside.go                      external controllers
//	robot.go, state.go, feedback.go the known state of the robot, and the state that is published
//	pump.go, tell.go                reports of the cycle, and callbacks
package executive
