// Package rt connects the cycle with the rest of the program: rings and
// newest-value buffers that never make the cycle wait, the real-time thread,
// and sleeping to an absolute deadline.
//
// The cycle's side of every type is loop-safe: no lock, no allocation, no wait.
package rt

import "runtime"

// Cores returns how many cores the process may use, whatever its runtime was told since.
func Cores() int { return cores }

var cores = runtime.GOMAXPROCS(0)
