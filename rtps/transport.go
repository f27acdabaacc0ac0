package rtps

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// Transport carries the datagrams of one participant.
type Transport interface {
	// Send sends a datagram to one address.
	Send(to netip.AddrPort, b []byte) error
	// Announce sends a datagram to the domain's multicast group, on every interface.
	Announce(b []byte) error
	// Receive calls handle with every datagram that comes, from several goroutines perhaps,
	// until Close. The bytes are handle's until it returns.
	Receive(handle func(b []byte, from netip.AddrPort))
	// Addresses returns where the participant is reached: by discovery, and by samples.
	Addresses() (meta, data []netip.AddrPort)
	// Own reports whether an address is one of this machine.
	Own(a netip.Addr) bool
	Close()
}

// Ports of a domain: RTPS 2.5, section 9.6.2.
const (
	portBase   = 7400
	portDomain = 250
)

// Group is the multicast group of every domain.
var Group = netip.AddrFrom4([4]byte{239, 255, 0, 1})

// groupPort returns the port of a domain's announcements.
func groupPort(domain int) uint16 { return uint16(portBase + portDomain*domain) }

// MetaPort returns the port at which participant number i of a machine takes announcements.
func MetaPort(domain, i int) uint16 { return groupPort(domain) + 10 + 2*uint16(i) }

// dataPort returns the port at which participant number i of a machine takes samples.
func dataPort(domain, i int) uint16 { return MetaPort(domain, i) + 1 }

// maxParticipants is how many have ports of their own on a machine.
const maxParticipants = 120

// maxDomain is the last domain whose ports there are.
const maxDomain = 232

// DomainOf reads the address of a domain, such as dds://0.
func DomainOf(address string) (int, error) {
	text, ok := strings.CutPrefix(address, "dds://")
	domain, err := strconv.Atoi(text)
	if !ok || err != nil || domain < 0 || domain > maxDomain {
		return 0, fmt.Errorf("%q is no DDS domain such as dds://0, up to dds://%d", address, maxDomain)
	}
	return domain, nil
}
