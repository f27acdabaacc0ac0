// Package lint checks stored motions: what would be refused when played, and where a
// robot on its feet would slip or fall.
//
//	for _, f := range lint.Check(doc, model, lint.Options{}) {
//		fmt.Println(f) // what, which joint, where, by how much
//	}
//
// Limits are checked at every instant of the curve that is played, not at samples.
// Whether feet slip and whether the centre of mass stays above them is looked at in
// steps of time, at rest: speeds do not count. Joints that a motion does not move are
// where its first row captured them, else as in its start pose, else as in the first of
// the robot's poses that has them; a robot without such a pose is not judged. Torques, the
// zero-moment point and what feet carry come from the motion as it is played (motion/forces).
//
// Rules lists everything that is looked for.
package lint
