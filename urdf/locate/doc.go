// Package locate finds the files that a robot description refers to: by a name
// relative to the file that refers, by package:// and $(find …) through a search
// path of packages, by file://.
//
// It sees the world through an fs.FS, so that a description inside the binary,
// one in a test and one on disk are the same to it, and so that the caller
// decides what may be read at all.
package locate
