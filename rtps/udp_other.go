//go:build !linux

package rtps

import (
	"errors"
	"net"
	"net/netip"
)

// errNoMulticast says what is not done on this system. Participants of the same machine find
// each other by unicast.
var errNoMulticast = errors.New("multicast is done on Linux alone")

func listenGroup(uint16) (*net.UDPConn, error) {
	return net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
}

func joinGroup(*net.UDPConn, int) error { return errNoMulticast }

func groupSender(int, netip.Addr, int) (*net.UDPConn, error) { return nil, errNoMulticast }
