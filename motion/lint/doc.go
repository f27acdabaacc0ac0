// Package lint judges stored motions: what would be refused when played, and what a
// robot on its feet would not survive.
//
//	for _, f := range lint.Check(doc, model, lint.Options{}) {
//		fmt.Println(f) // what, which joint, where, by how much
//	}
//
// Limits are checked at every instant of the curve that is played, not at samples.
// Whether feet slip and whether the centre of mass stays above them is looked at in
// steps of time, at rest: speeds do not count. A robot whose standing pose the motion
// does not tell (no start pose, legs not captured) is not judged by that.
//
// Rules lists everything that is looked for.
package lint
