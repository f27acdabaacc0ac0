package rtps_test

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"poise/internal/golden"
	"poise/internal/netns"
	"poise/rtps"
)

const stringType = "std_msgs::msg::dds_::String_"

// encode is a std_msgs/String as CDR.
func encode(s string) []byte {
	b := append([]byte{0, 1, 0, 0}, binary.LittleEndian.AppendUint32(nil, uint32(len(s)+1))...)
	return append(append(b, s...), 0)
}

func decode(b []byte) string {
	if len(b) < 9 {
		return ""
	}
	n := int(binary.LittleEndian.Uint32(b[4:]))
	return string(b[8 : 8+min(n, len(b)-8)-1])
}

// cyclone is a program of tools/peers/ros2 in Python with Cyclone DDS. It ends with its input.
type cyclone struct {
	stop  func()
	in    io.Writer
	lines *bufio.Scanner
}

// peer starts such a program, by another one if one is given.
func peer(t *testing.T, through []string, script string, args ...string) *cyclone {
	t.Helper()
	python := golden.Python(t)
	if out, err := exec.Command(python, "-c", "import cyclonedds").CombinedOutput(); err != nil {
		golden.Missing(t, "absent: cyclonedds in POISE_PYTHON (tools/oracle/requirements.txt): %s", out)
	}
	line := append(append([]string(nil), through...), python, filepath.Join(golden.Root(t), "tools/peers/ros2", script))
	line = append(line, args...)
	c := exec.Command(line[0], line[1:]...)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	c.Stderr = &said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	stop := func() {
		once.Do(func() {
			in.Close()
			_, _ = io.Copy(io.Discard, out)
			if err := c.Wait(); err != nil {
				t.Errorf("%s: %v\n%s", script, err, said.String())
			}
		})
	}
	t.Cleanup(stop)
	lines := bufio.NewScanner(out)
	if !lines.Scan() || lines.Text() != "ready" {
		t.Errorf("%s says %q", script, lines.Text())
		stop()
		t.FailNow()
	}
	return &cyclone{stop, in, lines}
}

// others returns how many participants the program knows beside itself.
func (c *cyclone) others(t *testing.T) string {
	t.Helper()
	if _, err := io.WriteString(c.in, "?\n"); err != nil || !c.lines.Scan() {
		t.Fatalf("no answer: %v", err)
	}
	return c.lines.Text()
}

// eventually waits for a peer, whose pace is its own.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("not within 2 min: ", what)
		}
	}
}

// TestCyclone exchanges texts with Cyclone DDS on its default settings, small ones and such as
// go in fragments, in both directions; then each side sees the other leave.
func TestCyclone(t *testing.T) {
	if !netns.Inside(t) {
		return
	}
	p, err := rtps.New(rtps.Config{Name: "poise"})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	qos := rtps.QoS{Reliable: true, TransientLocal: true, Depth: 1000}
	w, err := p.NewWriter(rtps.WriterConfig{Topic: "rt/asked", Type: stringType, QoS: qos, UserData: []byte("typehash=RIHS01_0;")})
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var got []string
	r, err := p.NewReader(rtps.ReaderConfig{Topic: "rt/answered", Type: stringType, QoS: qos, Receive: func(s *rtps.Sample) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, decode(s.Payload))
	}})
	if err != nil {
		t.Fatal(err)
	}
	early := "written before there was a reader"
	_, _ = w.Write(encode(early), nil)
	other := peer(t, nil, "echo.py", "rt/asked", "rt/answered", "transient")
	eventually(t, "both matches", func() bool { return w.Matched() == 1 && r.Matched() == 1 })
	want := []string{early}
	for i := range 300 {
		s := fmt.Sprint("text ", i)
		if i%50 == 49 {
			s += strings.Repeat("x", 150000)
		}
		want = append(want, s)
		if _, err := w.Write(encode(s), nil); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
	eventually(t, "all answers", func() bool { mu.Lock(); defer mu.Unlock(); return len(got) >= len(want) })
	mu.Lock()
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("answer %d is %.30q (%d), not %.30q (%d)", i, got[i], len(got[i]), want[i], len(want[i]))
		}
	}
	mu.Unlock()
	others := p.Others()
	if len(others) != 1 || others[0].Vendor != rtps.VendorCyclone || len(others[0].Readers) == 0 {
		t.Errorf("others: %+v", others)
	}
	other.stop()
	eventually(t, "Cyclone to leave", func() bool { return len(p.Others()) == 0 })
	t.Logf("%+v", p.Stats())
}

// TestTwoMachines: Cyclone DDS on its default settings, on another machine. A closed
// participant is not seen by it and drops what it says; an open one exchanges samples with
// it, loses it when the cable is pulled and finds it again.
func TestTwoMachines(t *testing.T) {
	if os.Getenv("POISE_ROS2") == "" {
		t.Skip("absent: POISE_ROS2 (make ros2)")
	}
	if !netns.Inside(t) {
		return
	}
	through := netns.SecondMachine(t)
	closed, err := rtps.New(rtps.Config{Name: "closed"})
	if err != nil {
		t.Fatal(err)
	}
	defer closed.Close()
	other := peer(t, through, "echo.py", "rt/asked", "rt/answered")
	eventually(t, "announcements from elsewhere to be dropped", func() bool { return closed.Stats().Foreign >= 2 })
	if n := len(closed.Others()); n != 0 {
		t.Errorf("a closed participant knows %d others", n)
	}
	if n := other.others(t); n != "0" {
		t.Errorf("another machine sees %s participants of a closed one", n)
	}
	closed.Close()

	p, err := rtps.New(rtps.Config{Name: "open", Open: true})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	qos := rtps.QoS{Reliable: true, Depth: 100}
	w, err := p.NewWriter(rtps.WriterConfig{Topic: "rt/asked", Type: stringType, QoS: qos})
	if err != nil {
		t.Fatal(err)
	}
	answers := make(chan string, 1000)
	r, err := p.NewReader(rtps.ReaderConfig{Topic: "rt/answered", Type: stringType, QoS: qos, Receive: func(s *rtps.Sample) { answers <- decode(s.Payload) }})
	if err != nil {
		t.Fatal(err)
	}
	exchange := func(text string) {
		t.Helper()
		eventually(t, "matches", func() bool { return w.Matched() == 1 && r.Matched() == 1 })
		if _, err := w.Write(encode(text), nil); err != nil {
			t.Fatal(err)
		}
		select {
		case got := <-answers:
			if got != text {
				t.Errorf("%.30q, not %.30q", got, text)
			}
		case <-time.After(2 * time.Minute):
			t.Fatal("no answer from the other machine")
		}
	}
	exchange("hello")
	exchange(strings.Repeat("long ", 20000))
	netns.Cable(t, "down")
	eventually(t, "the other to be lost", func() bool { return w.Matched() == 0 && len(p.Others()) == 0 })
	netns.Cable(t, "up")
	exchange("again")
}
