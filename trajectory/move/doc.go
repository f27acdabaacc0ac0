// Package move plans motions from state to state: as fast as limits of velocity,
// acceleration and jerk allow, for one axis or for many that arrive together.
//
//	(p, v, a)  ──Reach──▶  (p, v, a)      a position, usually at rest
//	(v, a)     ──Stop───▶  (0, 0)         a velocity, usually zero
//
// A Motion is made once for its axes and planned again as often as wanted; neither
// planning nor sampling allocates. Units are those of the caller, time in seconds.
//
//	m, err := move.New(limits)
//	err = m.Reach(from, to, move.Options{})
//	for t := 0.0; t < m.Duration(); t += period {
//		m.StatesTo(states, t)
//	}
//
// # How it works
//
// Fix a duration T. The motions of one axis that last T, keep the limits and join
// the two states form a convex set: a mix of two of them is one of them. So the
// displacements that can be had in T fill an interval [least(T), greatest(T)].
//
// The greatest displacement belongs to a motion that climbs from both ends, as
// steeply as jerk and acceleration allow, to a common top velocity u, and stays
// there only if u is the velocity limit. No other motion of that duration is faster
// at any instant: the difference δ of their velocities begins and ends with δ = 0
// and δ' = 0; on the first and on the last ramp δ" ≥ 0, while the acceleration is
// held δ' ≥ 0 on the way up and δ' ≤ 0 on the way down, so δ ≥ 0 on both; in between
// δ" ≤ 0, or the velocity is at its limit, so δ ≥ 0 there too. These motions are a
// family with one parameter (type hill). The least displacement is the same with
// all signs turned.
//
// The fastest motion over a displacement D has the smallest T for which
// least(T) ≤ D ≤ greatest(T): D is then an end of the interval, and the motion is a
// member of one of the two families. Along a family the displacement is smooth
// and, for a target at rest, rising, so one safeguarded Newton iteration finds
// it. For a target that moves it may rise, fall and rise again; the places where
// it turns have a closed form or are simple zeros, and between them D may leave
// the interval for a while: durations that cannot be had.
//
// A motion for a given longer T, which is what synchronising axes takes, is a mix
// of two motions that last T and travel less and more than D. Both come in closed
// form. Mixing keeps all limits, and it makes accelerations and jerks smaller
// instead of using them to the full.
//
// # Proof
//
// The tests compare durations with Ruckig's, with an exhaustive search over all
// sequences of jerk on a lattice, and with the remaining time when a motion is
// planned again from one of its own samples; limits and end states are checked by
// exact extremes on random tasks by the million.
//
// # Accuracy
//
// What is asked for is reached bit for bit at the end. On the way there, with r the
// duration in units of the shortest ramp of acceleration (to a limit, or to what is
// reached, over jerk):
//
//	positions and velocities meet within    1e-11 + 1e-14·r
//	accelerations                           1e-11 + 5e-13·r
//	limits of velocity, acceleration, jerk  1e-11 + 1e-14·r
//
// each relative to the largest of its kind in the motion. For a machine r is below
// a million. A displacement that differs by rounding (2e-13 relative) from that of a
// simpler motion is taken as the same. Numbers above 1e15, and limits below 1e-15,
// are refused.
//
// # References
//
//   - L. Berscheid, T. Kröger: Jerk-limited Real-time Trajectory Generation with
//     Arbitrary Target States, RSS 2021: the task, and the way back into the limits.
package move
