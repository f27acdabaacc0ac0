//go:build unix && !linux

package bus

// lowLatency does nothing: only Linux has it as a request.
func lowLatency(int) {}
