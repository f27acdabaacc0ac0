package main

import (
	"bytes"
	"math/bits"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"poise/rtps"
)

// readStates is a participant that reads joint_states, reliably.
func readStates(t *testing.T, domain int) (p *rtps.Participant, heard *atomic.Int64) {
	t.Helper()
	p, err := rtps.New(rtps.Config{Domain: domain, Name: "reader"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	heard = new(atomic.Int64)
	if _, err := p.NewReader(rtps.ReaderConfig{Topic: "rt/joint_states", Type: "sensor_msgs::msg::dds_::JointState_", QoS: rtps.QoS{Reliable: true, Depth: 1000},
		Receive: func(*rtps.Sample) { heard.Add(1) }}); err != nil {
		t.Fatal(err)
	}
	return p, heard
}

// TestROS2IsToldOfTheEnd: the program that gets SIGTERM has told ROS 2 within 2 s that it is gone,
// though a reliable reader on Fast DDS was killed before, has acknowledged nothing since, and is
// not known to be dead. A machine may be busy: two of a few tries must be in time.
func TestROS2IsToldOfTheEnd(t *testing.T) {
	needsProgram(t)
	if os.Getenv("POISE_ROS2") == "" {
		t.Skip("absent: POISE_ROS2 (make ros2)")
	}
	if !inOwnNetwork(t) {
		return
	}
	const within, tries, needed = 2 * time.Second, 8, 2
	var took time.Duration
	inTime := 0
	for range tries {
		r := serveIt(t, "--robot", "arm6", "--ros2", "--no-record")
		alive, heard := readStates(t, 0)
		dead := exec.Command(os.Getenv("POISE_ROS2_FASTDDS"))
		out, err := dead.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := dead.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Read(make([]byte, 1)); err != nil { // it has read a hundred states
			t.Fatal(err)
		}
		_ = dead.Process.Kill()
		_ = dead.Wait()
		before := heard.Load()
		r.until("states are written that the dead reader does not acknowledge", func() bool { return heard.Load() > before+50 })
		began := time.Now()
		_ = r.cmd.Process.Signal(syscall.SIGTERM)
		r.until("the program is gone for the reader that lives", func() bool {
			for _, o := range alive.Others() {
				if o.Vendor == rtps.VendorOwn {
					return false
				}
			}
			return true
		})
		took = time.Since(began)
		r.stop(syscall.SIGTERM)
		alive.Close()
		if took <= within {
			t.Logf("told after %v", took)
			if inTime++; inTime == needed {
				return
			}
		}
	}
	t.Errorf("told within %v in %d of %d tries, %d must be; the last took %v", within, inTime, tries, needed, took)
}

// TestROS2VariablesOfTheProgram: the running program is in the domain of ROS_DOMAIN_ID, and none of
// ROS's variables has it send anything over a cable: that does --ros2-open alone, which those that
// keep it on this machine forbid.
func TestROS2VariablesOfTheProgram(t *testing.T) {
	needsProgram(t)
	if os.Getenv("POISE_ROS2") == "" {
		t.Skip("absent: POISE_ROS2 (make ros2)")
	}
	if !inOwnNetwork(t) {
		return
	}
	for _, line := range []string{"ip link add cable0 type veth peer name cable1", "ip addr add 10.77.0.1/24 dev cable0", "ip link set cable0 up", "ip link set cable1 up"} {
		if out, err := exec.Command("sh", "-c", line).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", line, err, out)
		}
	}
	sent := sentOver(t, "cable0")
	t.Setenv("ROS_DOMAIN_ID", "7")
	t.Setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "SUBNET")
	t.Setenv("ROS_STATIC_PEERS", "10.77.0.2;127.0.0.1")
	t.Setenv("ROS_LOCALHOST_ONLY", "0")
	reader, heard := readStates(t, 7)
	r := serveIt(t, "--robot", "arm6", "--ros2", "--no-record")
	r.until("several announcements were made", func() bool { return heard.Load() >= 200 })
	r.stop(syscall.SIGTERM)
	reader.Close()
	if n := sent.Load(); n != 0 {
		t.Errorf("%d packets went over the cable without --ros2-open", n)
	}
	r = serveIt(t, "--robot", "arm6", "--ros2", "--ros2-open", "--no-record")
	r.until("something goes over the cable with --ros2-open, so that what is counted is what is sent", func() bool { return sent.Load() > 0 })
	r.stop(syscall.SIGTERM)
	for _, variable := range []string{"ROS_LOCALHOST_ONLY=1", "ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST", "ROS_AUTOMATIC_DISCOVERY_RANGE=OFF", "ROS_DOMAIN_ID=233"} {
		c := exec.Command(binary(t), "serve", "--robot", "arm6", "--ros2", "--ros2-open", "--no-record", "--listen", "127.0.0.1:0")
		c.Env = append(os.Environ(), variable)
		var said bytes.Buffer
		c.Stderr = &said
		name, _, _ := strings.Cut(variable, "=")
		if err := c.Run(); err == nil || !strings.Contains(said.String(), name) {
			t.Errorf("%s with --ros2-open: %v, %s", variable, err, &said)
		}
	}
}

// sentOver counts what this machine sends over an interface, but for the kernel's own membership
// of multicast groups.
func sentOver(t *testing.T, name string) *atomic.Int64 {
	t.Helper()
	i, err := net.InterfaceByName(name)
	if err != nil {
		t.Fatal(err)
	}
	const allProtocols, arp, ipv4, igmp = 0x0003, 0x0806, 0x0800, 2
	network := bits.ReverseBytes16 // machines that this runs on are little-endian
	s, err := syscall.Socket(syscall.AF_PACKET, syscall.SOCK_DGRAM, int(network(allProtocols)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Bind(s, &syscall.SockaddrLinklayer{Protocol: network(allProtocols), Ifindex: i.Index}); err != nil {
		t.Fatal(err)
	}
	count := new(atomic.Int64)
	go func() {
		b := make([]byte, 64<<10)
		for {
			n, from, err := syscall.Recvfrom(s, b, 0)
			link, ok := from.(*syscall.SockaddrLinklayer)
			switch {
			case err == syscall.EINTR:
				continue
			case err != nil:
				return
			case !ok || link.Pkttype != syscall.PACKET_OUTGOING:
			case link.Protocol == network(arp), link.Protocol == network(ipv4) && n > 9 && b[9] != igmp:
				count.Add(1)
			}
		}
	}()
	return count
}
