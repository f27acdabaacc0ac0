// Package spatial holds the small values of rigid-body geometry: vectors,
// rotations, poses, twists, wrenches and inertias.
//
// Everything is a value, passed and returned by copy; nothing allocates. A pose
// X_AB is frame B seen from frame A, so letters cancel in a product:
//
//	X_AC = X_AB · X_BC,   p_AQ = X_AB · p_BQ
//
// Quaternions are unit, Hamilton and have named fields, and so have twists and
// wrenches: the order of components matters only where six numbers become an
// array, and there the function says which order it uses. Units are SI.
package spatial
