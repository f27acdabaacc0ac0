//go:build !linux && !darwin

package telemetry

// Free is not known here.
func (realDisk) Free(string) (bytes int64, known bool) { return 0, false }
