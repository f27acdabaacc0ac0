package budget

import (
	"io"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// nowhere is where thrown away bytes would go; TCP does not write them (MSG_TRUNC, tcp(7)).
var nowhere [discardAtOnce]byte

// discard throws away up to n bytes that have come, once there are some, and returns how many.
// They are not copied.
func discard(c net.Conn, n uint64) (thrown int, err error) {
	socket, ok := c.(syscall.Conn)
	if !ok {
		return readAway(c, n)
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return readAway(c, n)
	}
	var failed error
	err = raw.Read(func(fd uintptr) bool {
		for {
			thrown, _, failed = unix.Recvfrom(int(fd), nowhere[:n], unix.MSG_TRUNC|unix.MSG_DONTWAIT)
			if failed != unix.EINTR {
				return failed != unix.EAGAIN
			}
		}
	})
	switch {
	case err != nil:
		return 0, err
	case failed != nil:
		return 0, failed
	case thrown == 0:
		return 0, io.EOF
	}
	return thrown, nil
}
