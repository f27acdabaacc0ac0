//go:build linux || darwin

package telemetry

import (
	"math"
	"syscall"
)

// Free returns how much a user may still write on the disk of a folder.
func (realDisk) Free(name string) (bytes int64, known bool) {
	var at syscall.Statfs_t
	if err := syscall.Statfs(name, &at); err != nil {
		return 0, false
	}
	return int64(min(float64(at.Bavail)*float64(at.Bsize), math.MaxInt64/2)), true
}
