// Package floatingbase computes the joint torques of a robot that stands, walks or flies:
// inverse dynamics with contacts.
//
//	M(q)·a + h(q, v) = Sᵀ·τ + Σ Jₖᵀ·wₖ + r                               (1)
//
//	inv, err := floatingbase.NewInverse(m)
//	err = inv.Solve(&answer, q, v, a, supports, friction)
//
// The wanted acceleration is first made consistent with the contacts: points that stand
// do not accelerate, J·a + J̇·v = 0, and the change is the least in the mass metric
// (Gauss's principle). Then the wrenches wₖ at the feet are those of least weighted norm
// that hold the base; if one of them would leave its limits, a quadratic program keeps
// all of them inside. What of the base's six equations is left over is the residual r: a
// wrench on the base that no contact supplies, the least that the limits allow. It is zero
// up to rounding where the feet can do what is asked, and the whole weight in flight. Where it is
// not zero, some 1e-5 of the weight are given up for wrenches that do not jump.
//
// # Contacts
//
// A support is a chain with one of its contact sets and a coefficient s from 0 (in the
// air) to 1 (stands). The declared points are held; how they lie says what a set with a sole
// transmits at the first of them, in world axes and with the ground's normal along z:
//
//   - one point (centre): a force;
//   - points on a line (flat): a force and two moments, about x and y;
//   - points on no line (fixed): a force and all three moments.
//
// The force keeps to |tangential| ≤ friction·fz, the moment to |m| ≤ sole·fz, its part
// about z to |mz| ≤ 0.6·friction·sole·fz besides (0.6 where friction is more than 1): the
// torsion of a disc with even pressure is ⅔·friction·radius·fz. Circles are polygons of 64
// sides inside of them, turned with the robot's heading, and arcs of spheres three chords.
//
// Points without a sole transmit a force at the first of them, unless three or more on its level span an area.
// Those transmit a force and all three moments at their middle. A moment about an edge of the area presses the
// foot down, and that about the sole's normal is at most 0.6·friction·fn times the distance of the middle from
// the nearest edge.
//
// Contacts may depend on each other and contradict each other: then what is left of the points'
// accelerations is the least. How dependent they are is never decided, so nothing jumps.
//
// As s fades, the support fades out of everything: the acceleration of its points is
// held by a spring in place of a rod, its wrench costs 1/s of its square, and the whole
// force is at most s/(1−s) of the robot's weight. With s = 0 it is as if absent.
//
// Inverse is loop-safe after NewInverse. It serves one goroutine.
//
// # References
//
//   - [RBDA] R. Featherstone, Rigid Body Dynamics Algorithms, 2008, §8.5: the factor
//     M = Lᵀ·L keeps the zeros of the tree.
//   - M. Mistry, J. Buchli, S. Schaal, Inverse dynamics control of floating base systems
//     using orthogonal decomposition, 2010.
//   - F. Udwadia, R. Kalaba, A new perspective on constrained motion, 1992: the least
//     change of acceleration.
package floatingbase
