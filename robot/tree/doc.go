// Package tree puts a URDF document together: which link hangs on which, in
// what order, who follows whom. It checks all that the document alone can tell:
// the structure must be a tree, the masses must be possible, the joints must
// have axes and limits, followers must have leaders.
//
// Package robot makes a Model of a sound tree.
package tree
