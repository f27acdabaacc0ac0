// Program bench times package rtps beside Cyclone DDS and Fast DDS, each with its own kind and rtps with
// each, turn by turn in one run, in the network namespace that bench.sh makes. The peers are programs
// with the same three uses as this one.
//
//	bench NAME=COMMAND ...   measure rtps and these
//	bench ping WRITE READ    time rtps with an echo
//	bench echo READ WRITE    be the echo of rtps
//	bench hold COUNT         have so many endpoints, and print the memory of the process
//
// It prints a table of medians: how long until a first sample has come back (one is sent each millisecond), the time of a round trip of 200
// bytes (p50, p99 of 2000), samples per second of a burst of 5000 through the echo with 100 under way,
// and the memory of a process with 300 endpoints less that of one without.
package main

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"poise/rtps"
)

const typ = "std_msgs::msg::dds_::String_"

func main() {
	var err error
	switch args := os.Args[1:]; {
	case len(args) == 3 && args[0] == "ping":
		err = ping(args[1], args[2])
	case len(args) == 3 && args[0] == "echo":
		err = echo(args[1], args[2])
	case len(args) == 2 && args[0] == "hold":
		err = hold(args[1])
	default:
		err = measure(args)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func text(i int) []byte {
	s := fmt.Sprintf("%08d%s", i, strings.Repeat("x", 187))
	n := uint32(len(s) + 1)
	return append([]byte{0, 1, 0, 0, byte(n), byte(n >> 8), 0, 0}, s+"\x00"...)
}

var (
	qos  = rtps.QoS{Reliable: true, Depth: 100}
	deep = rtps.QoS{Reliable: true, Depth: 10000}
)

// echo answers every sample on one topic by the same on another, until its input ends.
func echo(read, write string) error {
	p, err := rtps.New(rtps.Config{Name: "echo"})
	if err != nil {
		return err
	}
	defer p.Close()
	w, err := p.NewWriter(rtps.WriterConfig{Topic: write, Type: typ, QoS: deep})
	if err == nil {
		_, err = p.NewReader(rtps.ReaderConfig{Topic: read, Type: typ, QoS: qos, Receive: func(s *rtps.Sample) { _, _ = w.Write(s.Payload, nil) }})
	}
	if err != nil {
		return err
	}
	fmt.Println("ready")
	_, _ = bufio.NewReader(os.Stdin).ReadString(0)
	return nil
}

// hold makes endpoints, half of them readers, and prints the memory of the process, kB.
func hold(count string) error {
	n, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	p, err := rtps.New(rtps.Config{Name: "hold"})
	if err != nil {
		return err
	}
	defer p.Close()
	for i := range n / 2 {
		if _, err = p.NewWriter(rtps.WriterConfig{Topic: fmt.Sprintf("rt/out_%d", i), Type: typ, QoS: qos}); err == nil {
			_, err = p.NewReader(rtps.ReaderConfig{Topic: fmt.Sprintf("rt/in_%d", i), Type: typ, QoS: qos, Receive: func(*rtps.Sample) {}})
		}
		if err != nil {
			return err
		}
	}
	time.Sleep(2 * time.Second)
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	for _, line := range strings.Split(string(status), "\n") {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "VmRSS:" {
			fmt.Println(fields[1])
		}
	}
	return nil
}

// ping times an echo, and prints the seconds until it is found, those of a round trip (p50, p99), and
// the samples per second of a burst.
func ping(write, read string) error {
	began := time.Now()
	p, err := rtps.New(rtps.Config{Name: "ping"})
	if err != nil {
		return err
	}
	defer p.Close()
	got := make(chan time.Time, 100000)
	w, err := p.NewWriter(rtps.WriterConfig{Topic: write, Type: typ, QoS: deep})
	if err != nil {
		return err
	}
	_, err = p.NewReader(rtps.ReaderConfig{Topic: read, Type: typ, QoS: qos, Receive: func(*rtps.Sample) { got <- time.Now() }})
	if err != nil {
		return err
	}
	for came := false; !came; _, came = within(got, time.Millisecond) {
		if time.Since(began) > time.Minute {
			return fmt.Errorf("no echo within a minute")
		}
		if _, err := w.Write(text(0), nil); err != nil {
			return err
		}
	}
	found := time.Since(began)
	for more := true; more; _, more = within(got, 300*time.Millisecond) {
	}
	took := make([]time.Duration, 0, 2000)
	for i := range cap(took) {
		sent := time.Now()
		if _, err := w.Write(text(i), nil); err != nil {
			return err
		}
		at, err := next(got)
		if err != nil {
			return err
		}
		took = append(took, at.Sub(sent))
	}
	slices.Sort(took)
	const burst, underWay = 5000, 100
	began = time.Now()
	for i := range burst + underWay {
		if i < burst {
			if _, err := w.Write(text(i), nil); err != nil {
				return err
			}
		}
		if i >= underWay {
			if _, err := next(got); err != nil {
				return err
			}
		}
	}
	rate := burst / time.Since(began).Seconds()
	fmt.Println(found.Seconds(), took[len(took)/2].Seconds(), took[len(took)*99/100].Seconds(), rate)
	return nil
}

func next(got chan time.Time) (time.Time, error) {
	at, came := within(got, time.Minute)
	if !came {
		return at, fmt.Errorf("a sample does not come back")
	}
	return at, nil
}

func within(got chan time.Time, limit time.Duration) (at time.Time, came bool) {
	select {
	case at = <-got:
		return at, true
	case <-time.After(limit):
		return at, false
	}
}
