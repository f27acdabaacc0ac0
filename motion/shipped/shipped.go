// Package shipped holds the motions that come with the robots of Poise: a folder for
// each robot, a file for each motion, as docs/motions.md describes them. docs/library.md
// shows them, and tools/motions writes them.
package shipped

import (
	"embed"
	"io/fs"
)

//go:embed pony/*.motion.yaml arm6/*.motion.yaml so101/*.motion.yaml
var files embed.FS

// Of returns the motions of a robot, nil if none come with it.
func Of(robot string) fs.FS {
	if !fs.ValidPath(robot) {
		return nil
	}
	if info, err := fs.Stat(files, robot); err != nil || !info.IsDir() || robot == "." {
		return nil
	}
	sub, err := fs.Sub(files, robot)
	if err != nil {
		panic(err) // the path has been checked
	}
	return sub
}
