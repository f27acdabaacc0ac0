// Package rt holds what stands between the cycle and the rest of the world: rings
// and newest-value buffers that never make the cycle wait, the real-time thread,
// and sleeping to an absolute deadline.
//
// The cycle's side of every type is loop-safe: no lock, no allocation, no wait.
package rt
