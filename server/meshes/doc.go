// Package meshes shows the meshes of a robot to a page: under names that tell nothing of
// the machine's folders, and no other file.
package meshes
