// Package clock slows, pauses, resumes and speeds up a running motion along its
// own path, within the limits of its joints.
//
// A motion q(σ) was planned over its own time σ. The clock decides how that time
// runs, σ(t): at rate σ̇ = 1 the motion is as planned, at 0 it stands. The joints
// then move with
//
//	q̇ = q′·σ̇,     q̈ = q″·σ̇² + q′·σ̈                                       (1)
//
// so that with x = σ̇² and u = σ̈ their limits are linear in (u, x), as in package
// retime. A rate that is allowed here may be too much a moment later: at 200 % a
// bend that is still ahead has to be slowed down for in time. Compile therefore
// goes through the motion backwards and finds the largest rate at each instant
// from which the limits can be kept until the end (the viable set), and Step
// never leaves it.
//
// The motion is cut into short cells. On a cell q′ and q″ are polynomials, and
// those of (1), with x linear in σ, are given by their Bernstein coefficients:
//
//	gₖ = αₖ·u + βₖ·x,   αₖ = Aₖ + 2k(Aₖ − Aₖ₋₁),   βₖ = [(d−k)(Aₖ₊₁−Aₖ) + k(Aₖ−Aₖ₋₁)]/h   (2)
//
// where Aₖ are those of q′, of degree d, on a cell of length h, and x is taken at
// its entry. If all gₖ are within the limits so is the joint at every instant of
// the cell: nothing is sampled. Where this bound is too careful a second one
// helps: a motion within limits at rate 1 is so at every lower constant rate.
//
// A Track is compiled outside the cycle and never changes; any number of clocks
// may run on it. Step is loop-safe, deterministic, and exact: a stop is a stop, and
// a wanted rate is met bit for bit.
//
//	track, err := clock.Compile(motion, &limits, clock.Options{})
//	var c clock.Clock
//	c.Start(track, motion.Start(), 0)
//	now := c.Step(0.001, 1.5) // every millisecond; 1.5 is wanted, now.Rate is had
//	c.StateTo(q, v, a)
package clock
