package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"poise/msgs"
	"poise/msgs/codec"
	"poise/msgs/registry"
	"poise/rtps"
)

// ros2 is how the names of attacks by DDS begin; their server has --ros2.
const ros2 = "ROS 2: "

// ros2Attacks are what participants of the DDS domain do to a server that is in it. They speak to it
// through a transport of their own, which changes datagrams or makes up more of them.
var ros2Attacks = []attack{
	{ros2 + "random datagrams", false, func(ctx context.Context, _ *process) {
		crowdOf(4, func(i int) {
			s := newSocket()
			defer s.Close()
			rnd := rand.New(rand.NewPCG(1, uint64(i)))
			b := make([]byte, 1400)
			for ctx.Err() == nil {
				copy(b, "RTPS\x02\x04\x01\x0f")
				for k := 8; k < len(b); k++ {
					b[k] = byte(rnd.Uint32())
				}
				for k := 20; k < len(b)-30; k += 24 { // submessages that there are
					copy(b[k:], []byte{[]byte{0x15, 0x16, 0x06, 0x07, 0x08, 0x12, 0x09, 0x0e}[rnd.IntN(8)], 1, 20, 0})
				}
				_ = s.Send(serverAt(i%2), b)
			}
		})
	}},
	{ros2 + "a flood of participants", false, func(ctx context.Context, _ *process) {
		crowdOf(4, func(i int) {
			s := newSocket()
			defer s.Close()
			hello, prefix := s.hello()
			for n := uint32(0); ctx.Err() == nil; n++ {
				other := prefix
				binary.LittleEndian.PutUint32(other[2:], n)
				other[6] = byte(i)
				_ = s.Send(serverAt(0), bytes.ReplaceAll(hello, prefix[:], other[:]))
			}
		})
	}},
	{ros2 + "4 × 4,000 writers out of turn, and gaps", false, func(ctx context.Context, _ *process) {
		crowdOf(4, func(i int) {
			rnd := rand.New(rand.NewPCG(2, uint64(i)))
			liar(ctx, func(p *rtps.Participant, s *socket) {
				s.change = outOfTurn(rnd)
				writers := manyWriters(ctx, p, 4000)
				for ctx.Err() == nil {
					for _, w := range writers {
						_, _ = w.Write(oneTrajectory, nil)
					}
				}
			})
		})
	}},
	{ros2 + "4 × 30 writers of fragments that never end", false, func(ctx context.Context, _ *process) {
		crowdOf(4, func(int) {
			liar(ctx, func(p *rtps.Participant, s *socket) {
				s.change = neverComplete
				writers := manyWriters(ctx, p, 30)
				long := make([]byte, 4<<20)
				for ctx.Err() == nil {
					for _, w := range writers {
						_, _ = w.Write(long, nil)
						time.Sleep(time.Millisecond)
					}
				}
			})
		})
	}},
	{ros2 + "4 × 500 readers that ask for everything", false, func(ctx context.Context, _ *process) {
		crowdOf(4, func(int) {
			liar(ctx, func(p *rtps.Participant, s *socket) {
				s.change = askForAll
				kinds := []struct{ topic, typ string }{{"rt/joint_states", "sensor_msgs::msg::dds_::JointState_"}, {"rt/tf", "tf2_msgs::msg::dds_::TFMessage_"},
					{"rt/robot_description", "std_msgs::msg::dds_::String_"}, {"rt/rosout", "rcl_interfaces::msg::dds_::Log_"}}
				for i := 0; i < 500 && ctx.Err() == nil; i++ {
					k := kinds[i%len(kinds)]
					_, _ = p.NewReader(rtps.ReaderConfig{Topic: k.topic, Type: k.typ, QoS: rtps.QoS{Reliable: true, Depth: 1000}, Receive: func(*rtps.Sample) {}})
				}
				<-ctx.Done()
			})
		})
	}},
	{ros2 + "4 writers of short messages", false, func(ctx context.Context, _ *process) {
		crowdOf(4, func(int) {
			liar(ctx, func(p *rtps.Participant, _ *socket) {
				w := manyWriters(ctx, p, 1)
				for ctx.Err() == nil {
					_, _ = w[0].Write(oneTrajectory, nil)
				}
			})
		})
	}},
	{ros2 + "4 writers of goals of 6 MB", false, func(ctx context.Context, _ *process) {
		long := trajectory2(6 << 20 / 60)
		crowdOf(4, func(int) {
			liar(ctx, func(p *rtps.Participant, _ *socket) {
				w := manyWriters(ctx, p, 1)
				for ctx.Err() == nil {
					_, _ = w[0].Write(long, nil)
					time.Sleep(150 * time.Millisecond) // as fast as they go
				}
			})
		})
	}},
	{ros2 + "8 callers", false, func(ctx context.Context, _ *process) {
		crowdOf(8, func(int) {
			liar(ctx, func(p *rtps.Participant, _ *socket) {
				_, _ = p.NewReader(rtps.ReaderConfig{Topic: "rr/robot_infoReply", Type: "poise_msgs::srv::dds_::RobotInfo_Response_", QoS: rtps.QoS{Reliable: true}, Receive: func(*rtps.Sample) {}})
				w, err := p.NewWriter(rtps.WriterConfig{Topic: "rq/robot_infoRequest", Type: "poise_msgs::srv::dds_::RobotInfo_Request_", QoS: rtps.QoS{Reliable: true, Depth: 100}})
				if err != nil || !matched(ctx, w) {
					return
				}
				for ctx.Err() == nil {
					_, _ = w.Write([]byte{0, 1, 0, 0, 0, 0, 0, 0}, nil)
					time.Sleep(200 * time.Microsecond)
				}
			})
		})
	}},
}

// oneTrajectory is a short message that the server reads.
var oneTrajectory = trajectory2(1)

// trajectory2 is a trajectory of many points of the pony's neck, as ROS 2 serialises it.
func trajectory2(points int) []byte {
	t := &msgs.JointTrajectory{JointNames: []string{"joint52"}}
	for i := range points {
		t.Points = append(t.Points, msgs.JointTrajectoryPoint{Positions: []float64{float64(i%1000) * 1e-6}, TimeFromStart: msgs.DurationFromSeconds(float64(i + 1))})
	}
	typ, _ := registry.For[msgs.JointTrajectory]()
	return codec.For(typ, msgs.Jazzy).Append(nil, t)
}

// crowdOf runs attackers until all of them end.
func crowdOf(n int, do func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { do(i) })
	}
	all.Wait()
}

// serverAt is where the server takes discovery, 0, or samples, 1.
func serverAt(i int) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), rtps.MetaPort(0, 0)+uint16(i))
}

// liar runs a participant whose datagrams go through a socket that may change them.
func liar(ctx context.Context, do func(p *rtps.Participant, s *socket)) {
	s := newSocket()
	p, err := rtps.New(rtps.Config{Dial: func() rtps.Transport { return s }, Announce: 200 * time.Millisecond})
	if err != nil {
		panic(err)
	}
	defer p.Close()
	for len(p.Others()) == 0 && ctx.Err() == nil {
		time.Sleep(5 * time.Millisecond)
	}
	do(p, s)
}

// manyWriters makes writers of a topic that the server reads, and waits until it knows them.
func manyWriters(ctx context.Context, p *rtps.Participant, n int) (all []*rtps.Writer) {
	for len(all) < n && ctx.Err() == nil {
		w, err := p.NewWriter(rtps.WriterConfig{Topic: "rt/joint_trajectory", Type: "trajectory_msgs::msg::dds_::JointTrajectory_", QoS: rtps.QoS{Reliable: true, Depth: 10}})
		if err != nil {
			panic(err)
		}
		all = append(all, w)
	}
	matched(ctx, all[0])
	return all
}

func matched(ctx context.Context, w *rtps.Writer) bool {
	for w.Readers() == 0 {
		if ctx.Err() != nil {
			return false
		}
		time.Sleep(5 * time.Millisecond)
	}
	return true
}

// socket carries the datagrams of an attacker to the server.
type socket struct {
	c      *net.UDPConn
	change func(b []byte, send func([]byte)) // nil changes nothing
}

func newSocket() *socket {
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		panic(err)
	}
	return &socket{c: c}
}

func (s *socket) Send(to netip.AddrPort, b []byte) error {
	if s.change == nil {
		_, err := s.c.WriteToUDPAddrPort(b, to)
		return err
	}
	s.change(b, func(b []byte) { _, _ = s.c.WriteToUDPAddrPort(b, to) })
	return nil
}

func (s *socket) Announce(b []byte) error { return s.Send(serverAt(0), b) }
func (s *socket) Own(a netip.Addr) bool   { return a.IsLoopback() }
func (s *socket) Close()                  { _ = s.c.Close() }

func (s *socket) Addresses() (meta, data []netip.AddrPort) {
	at := []netip.AddrPort{s.c.LocalAddr().(*net.UDPAddr).AddrPort()}
	return at, at
}

func (s *socket) Receive(handle func(b []byte, from netip.AddrPort)) {
	b := make([]byte, 1<<16)
	for {
		n, from, err := s.c.ReadFromUDPAddrPort(b)
		if err != nil {
			return
		}
		handle(b[:n], netip.AddrPortFrom(from.Addr().Unmap(), from.Port()))
	}
}

// catching is a transport that keeps the first announcement.
type catching struct {
	*socket
	first chan []byte
}

func (c catching) Announce(b []byte) error {
	select {
	case c.first <- bytes.Clone(b):
	default:
	}
	return nil
}

func (c catching) Send(netip.AddrPort, []byte) error { return nil }

// hello returns an announcement of a participant at the socket, and the participant's name in it.
func (s *socket) hello() ([]byte, rtps.Prefix) {
	c := catching{newSocket(), make(chan []byte, 1)}
	p, err := rtps.New(rtps.Config{Dial: func() rtps.Transport { return c }})
	if err != nil {
		panic(err)
	}
	defer p.Close()
	return <-c.first, p.GUID().Prefix
}

// Kinds of submessages that are changed.
const (
	kindAckNack  = 0x06
	kindGap      = 0x08
	kindData     = 0x15
	kindFragment = 0x16
)

// submessages calls f with each submessage of a user's endpoint, at its header.
func submessages(b []byte, f func(kind byte, sub []byte)) {
	for at := 20; at+4 <= len(b); {
		n := int(binary.LittleEndian.Uint16(b[at+2:]))
		if end := at + 4 + n; end <= len(b) {
			f(b[at], b[at:end])
		}
		at += 4 + n
	}
}

// outOfTurn gives samples of users numbers that are not theirs, and tells gaps far ahead.
func outOfTurn(rnd *rand.Rand) func(b []byte, send func([]byte)) {
	var gap []byte
	return func(b []byte, send func([]byte)) {
		submessages(b, func(kind byte, sub []byte) {
			if kind != kindData || len(sub) < 24 || sub[15] != 0x03 { // no writer of a user
				return
			}
			writer := [4]byte(sub[12:16])
			binary.LittleEndian.PutUint32(sub[20:], 5+rnd.Uint32N(2000))
			if rnd.IntN(4) == 0 {
				gap = append(append(gap[:0], b[:20]...), kindGap, 1, 28+32, 0, 0, 0, 0, 0)
				gap = append(gap, writer[:]...)
				from := 5000 + rnd.Uint32N(500)
				for _, x := range []uint32{0, from, 0, from, 256} {
					gap = binary.LittleEndian.AppendUint32(gap, x)
				}
				gap = append(gap, bytes.Repeat([]byte{0xff}, 32)...)
				send(gap)
			}
		})
		send(b)
	}
}

// neverComplete leaves out every 50th datagram that has a fragment, and gives samples numbers of their own.
func neverComplete(b []byte, send func([]byte)) {
	drop := false
	submessages(b, func(kind byte, sub []byte) {
		drop = drop || kind == kindFragment && len(sub) > 28 && binary.LittleEndian.Uint32(sub[24:])%50 == 7
	})
	if !drop {
		send(b)
	}
}

// askForAll has each acknowledgement ask for 256 samples from the first on, and ask ten times.
func askForAll(b []byte, send func([]byte)) {
	send(b)
	submessages(b, func(kind byte, sub []byte) {
		if kind != kindAckNack || len(sub) < 28 || sub[7] != 0x04 { // no reader of a user
			return
		}
		head, ids := bytes.Clone(b[:20]), bytes.Clone(sub[4:12])
		for k := range uint32(10) {
			all := append(append(head[:20:20], kindAckNack, 1, 24+32, 0), ids...)
			for _, x := range []uint32{0, 1, 256} {
				all = binary.LittleEndian.AppendUint32(all, x)
			}
			all = append(all, bytes.Repeat([]byte{0xff}, 32)...)
			send(binary.LittleEndian.AppendUint32(all, 1<<20+k+uint32(time.Now().UnixMicro())))
		}
	})
}

// inside is set in a process that is in a network namespace of its own.
const inside = "POISE_NETWORK_NAMESPACE"

// goInside runs the program again in a network namespace of its own, so that nothing of DDS leaves it. It
// returns false if that cannot be.
func goInside() bool {
	const setup = `ip link set lo up && ip link set lo multicast on && ip route add 224.0.0.0/4 dev lo && exec "$@"`
	words := []string{"unshare", "-n"}
	if os.Getuid() != 0 {
		words = []string{"unshare", "-r", "-n"}
	}
	words = append(words, "--", "sh", "-c", setup, "sh")
	try := append(append([]string(nil), words...), "true")
	if out, err := exec.Command(try[0], try[1:]...).CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "attack: no network namespace, the attacks of ROS 2 are left out: %v %s\n", err, strings.TrimSpace(string(out)))
		return false
	}
	words = append(words, os.Args...)
	c := exec.Command(words[0], words[1:]...)
	c.Env = append(os.Environ(), inside+"=1")
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	if err := c.Run(); err != nil {
		os.Exit(1)
	}
	return true
}
