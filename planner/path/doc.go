// Package path holds the curves that a tool follows: lines, arcs, polylines with
// rounded corners, each with a rotation about one fixed axis.
//
// A path is geometry: it has a length in which it is measured and no time. At a
// length s it gives the pose and its first two derivatives by s, exactly, which
// is what a timing needs:
//
//	p(s), p′(s), p″(s);   R(s), ω(s) = rotation per length, ω′(s)
//
// Derivatives are in world axes.
package path
