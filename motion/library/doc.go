// Package library keeps stored motions in a folder, a file for each, on top of those
// that come with a robot.
//
// Files are read once and again when they change; every question looks first. A file
// that cannot be read stays listed with the reason. Other files are passed over, as are
// pipes and devices. The disk is asked by one goroutine at a time and left behind when it
// takes too long: a folder that hangs makes no caller wait for it for long.
//
// Writing is atomic: a crash at any instant leaves the old file or the new one, whole.
// Each content has a version, a hash of its bytes; a change names the version that it
// replaces, and is refused if another came in between. Writers of several
// processes take turns by a lock on the folder.
//
//	lib := library.Open("motions", shipped.Of("pony"))
//	m, err := lib.Get("nod")          // an unknown name suggests near ones
//	version, err := lib.Put("nod", doc, m.Version)
package library
