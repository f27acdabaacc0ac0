package bus

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// serialStruct is struct serial_struct of linux/serial.h up to its flags.
type serialStruct struct {
	Type, Line int32
	Port       uint32
	IRQ, Flags int32
	rest       [64]byte
}

// asyncLowLatency is ASYNC_LOW_LATENCY: an FTDI adapter then passes bytes on after 1 ms and
// not after 16.
const asyncLowLatency = 1 << 13

// lowLatency asks an adapter not to wait for more bytes. Those that know nothing of it, and
// pseudo-terminals, refuse; then they work as they do.
func lowLatency(fd int) {
	var s serialStruct
	if _, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.TIOCGSERIAL, uintptr(unsafe.Pointer(&s))); e != 0 {
		return
	}
	s.Flags |= asyncLowLatency
	_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.TIOCSSERIAL, uintptr(unsafe.Pointer(&s)))
}
