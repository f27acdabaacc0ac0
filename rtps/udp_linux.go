package rtps

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"

	"golang.org/x/sys/unix"
)

// listenGroup listens at the port that all participants of a machine share.
func listenGroup(port uint16) (*net.UDPConn, error) {
	l := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		return onSocket(c, func(fd int) error {
			return errors.Join(unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1), unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1))
		})
	}}
	c, err := l.ListenPacket(context.Background(), "udp4", fmt.Sprintf("%v:%d", Group, port))
	if err != nil {
		return nil, err
	}
	return c.(*net.UDPConn), nil
}

// joinGroup takes what comes to the group on an interface.
func joinGroup(c *net.UDPConn, index int) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	return onSocket(raw, func(fd int) error {
		return unix.SetsockoptIPMreqn(fd, unix.IPPROTO_IP, unix.IP_ADD_MEMBERSHIP, &unix.IPMreqn{Multiaddr: Group.As4(), Ifindex: int32(index)})
	})
}

// groupSender returns a socket that sends to the group on an interface from an address of it,
// to this machine's own participants, too.
func groupSender(index int, source netip.Addr, ttl int) (*net.UDPConn, error) {
	c, err := net.ListenUDP("udp4", nil)
	if err != nil {
		return nil, err
	}
	raw, err := c.SyscallConn()
	if err == nil {
		err = onSocket(raw, func(fd int) error {
			return errors.Join(
				unix.SetsockoptIPMreqn(fd, unix.IPPROTO_IP, unix.IP_MULTICAST_IF, &unix.IPMreqn{Address: source.As4(), Ifindex: int32(index)}),
				unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_MULTICAST_TTL, ttl),
				unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_MULTICAST_LOOP, 1))
		})
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func onSocket(c syscall.RawConn, f func(fd int) error) error {
	var failed error
	if err := c.Control(func(fd uintptr) { failed = f(int(fd)) }); err != nil {
		return err
	}
	return failed
}
