package bag_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"poise/internal/golden"
	"poise/wire/ros1/bag"
)

// text is the connection of messages of std_msgs/String.
var text = bag.Connection{Topic: "/words", Type: "std_msgs/String", MD5: "992ce8a1687cec8c8bd883ec73ca41d1", Definition: "string data\n", Caller: "/test"}

// number is that of std_msgs/UInt32.
var number = bag.Connection{Topic: "/numbers", Type: "std_msgs/UInt32", MD5: "304a39449588c7f8ce2df6e8001c5fce", Definition: "uint32 data\n", Latching: true}

// line is a message as tools/peers/ros1/bags.py prints it.
func line(c *bag.Connection, at bag.Time, data []byte) string {
	return fmt.Sprintf("%s %s %s %d %s", c.Topic, c.Type, c.MD5, at.Nanoseconds(), hex.EncodeToString(data))
}

// lines reads all messages of a bag.
func lines(t *testing.T, b *bag.Bag) (all []string) {
	t.Helper()
	for m, err := range b.Messages(nil) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, line(m.Connection, m.Time, m.Data))
	}
	return all
}

// write writes a bag in many chunks and returns the lines of its messages in order of time.
func write(t *testing.T, path string, o bag.Options, end bool) (want []string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	o.ChunkBytes = 2000
	w, err := bag.NewWriter(f, o)
	if err != nil {
		t.Fatal(err)
	}
	words, err := w.Connect(text)
	if err != nil {
		t.Fatal(err)
	}
	numbers, err := w.Connect(number)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Connect(bag.Connection{Topic: "/silent", Type: "std_msgs/Empty", MD5: "d41d8cd98f00b204e9800998ecf8427e"}); err != nil {
		t.Fatal(err)
	}
	for i := range 200 {
		at := bag.FromNanoseconds(1_700_000_000_999_000_000 + int64(i)*1_000_000)
		data := fmt.Appendf([]byte{byte(10), 0, 0, 0}, "message%03d", i)
		if err := w.Write(words, at, data); err != nil {
			t.Fatal(err)
		}
		want = append(want, line(&text, at, data))
		data = []byte{byte(i), 1, 2, 3}
		if err := w.Write(numbers, at, data); err != nil {
			t.Fatal(err)
		}
		want = append(want, line(&number, at, data))
	}
	if end {
		err = w.Close()
	} else {
		err = w.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	return want
}

func open(t *testing.T, path string) (*bytes.Reader, int64) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.NewReader(data), int64(len(data))
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	for _, compression := range []string{bag.None, bag.LZ4} {
		path := filepath.Join(t.TempDir(), "x.bag")
		want := write(t, path, bag.Options{Compression: compression}, true)
		b, err := bag.Open(open(t, path))
		if err != nil {
			t.Fatal(err)
		}
		if got := lines(t, b); !slices.Equal(got, want) {
			t.Errorf("%s: %d messages, want %d:\n%s", compression, len(got), len(want), got[0])
		}
		if len(b.Chunks) < 5 {
			t.Errorf("%d chunks", len(b.Chunks))
		}
		topics := b.Topics()
		if len(topics) != 2 || topics[0].Name != "/numbers" || topics[0].Messages != 200 || topics[1].Messages != 200 {
			t.Errorf("topics %+v", topics)
		}
		start, end, ok := b.Span()
		if !ok || start.Nanoseconds() != 1_700_000_000_999_000_000 || end.Nanoseconds() != 1_700_000_001_198_000_000 {
			t.Errorf("from %v to %v, %v", start, end, ok)
		}
		if c := *b.Connections[0]; c != text {
			t.Errorf("connection %+v, want %+v", c, text)
		}
	}
	if _, err := bag.NewWriter(nil, bag.Options{Compression: bag.BZ2}); err == nil || !strings.Contains(err.Error(), "none or lz4") {
		t.Errorf("bz2 is written: %v", err)
	}
}

// TestABagWithoutAnIndexIsRecovered cuts a bag whose recorder did not come to the end.
func TestABagWithoutAnIndexIsRecovered(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.bag")
	want := write(t, path, bag.Options{Compression: bag.LZ4}, false)
	f, size := open(t, path)
	if _, err := bag.Open(f, size); !errors.Is(err, bag.ErrUnindexed) {
		t.Fatalf("opened: %v", err)
	}
	b, loss, err := bag.Recover(f, size, bag.Limits{})
	if err != nil || loss.Bytes != 0 {
		t.Fatal(err, loss)
	}
	if got := lines(t, b); !slices.Equal(got, want) {
		t.Errorf("%d messages, want %d", len(got), len(want))
	}
	b, loss, err = bag.Recover(f, size*2/3, bag.Limits{})
	if err != nil || loss.Bytes == 0 || loss.Why == "" {
		t.Fatal(err, loss)
	}
	if got := lines(t, b); len(got) < len(want)/2 || !slices.Equal(got, want[:len(got)]) {
		t.Errorf("of a part %d messages, the whole has %d", len(got), len(want))
	}
}

// TestACutIndexIsNoWholeBag cuts a bag at the border of two records of its index.
func TestACutIndexIsNoWholeBag(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.bag")
	write(t, path, bag.Options{}, true)
	f, size := open(t, path)
	refused := 0
	for cut := int64(1); cut < 400; cut++ {
		if _, err := bag.Open(f, size-cut); err != nil {
			refused++
		}
	}
	if refused != 399 {
		t.Errorf("of 399 cut bags %d are refused", refused)
	}
}

func rosbag(t *testing.T, args ...string) []string {
	t.Helper()
	if out, err := exec.Command("/usr/bin/python3", "-c", "import rosbag, sensor_msgs.msg, std_msgs.msg").CombinedOutput(); err != nil {
		golden.Missing(t, "Debian's rosbag is missing; tools/setup.sh installs it: %s", out)
	}
	cmd := exec.Command("/usr/bin/python3", append([]string{filepath.Join(golden.Root(t), "tools/peers/ros1/bags.py")}, args...)...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, errs.String())
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

func TestBagsOfRosbagAreRead(t *testing.T) {
	for _, compression := range []string{bag.None, bag.BZ2, bag.LZ4} {
		path := filepath.Join(t.TempDir(), "x.bag")
		want := rosbag(t, "write", path, compression)
		b, err := bag.Open(open(t, path))
		if err != nil {
			t.Fatal(err)
		}
		if got := lines(t, b); len(want) != 330 || !slices.Equal(got, want) {
			t.Errorf("%s: %d messages, rosbag has %d", compression, len(got), len(want))
		}
		if c := b.Chunks[0].Compression; c != compression {
			t.Errorf("compression %q, want %q", c, compression)
		}
	}
}

func TestRosbagReadsWhatIsWritten(t *testing.T) {
	for _, compression := range []string{bag.None, bag.LZ4} {
		path := filepath.Join(t.TempDir(), "x.bag")
		want := write(t, path, bag.Options{Compression: compression}, true)
		if got := rosbag(t, "read", path); !slices.Equal(got, want) {
			t.Errorf("%s: rosbag reads %d messages, %d were written", compression, len(got), len(want))
		}
		want = write(t, path, bag.Options{Compression: compression}, false)
		if got := rosbag(t, "reindex", path); !slices.Equal(got, want) {
			t.Errorf("%s: rosbag reindexes %d messages, %d were written", compression, len(got), len(want))
		}
	}
}

// byRosbags reads a bag with PyPI's rosbags, and prints what tools/peers/ros1/bags.py does.
const byRosbags = `
import sys
from rosbags.rosbag1 import Reader
with Reader(sys.argv[1]) as bag:
    for c, t, data in bag.messages():
        print(c.topic, c.msgtype.replace("/msg/", "/"), c.digest, t, bytes(data).hex())
`

func TestRosbagsOfPyPIReadsWhatIsWritten(t *testing.T) {
	python := golden.Python(t)
	if out, err := exec.Command(python, "-c", "import rosbags").CombinedOutput(); err != nil {
		golden.Missing(t, "POISE_PYTHON has no rosbags (tools/oracle/requirements.txt): %s", out)
	}
	for _, compression := range []string{bag.None, bag.LZ4} {
		path := filepath.Join(t.TempDir(), "x.bag")
		want := write(t, path, bag.Options{Compression: compression}, true)
		out, err := exec.Command(python, "-c", byRosbags, path).CombinedOutput()
		if got := strings.Split(strings.TrimSpace(string(out)), "\n"); err != nil || !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))) {
			t.Errorf("%s: %v: rosbags reads %d messages, %d were written: %.300s", compression, err, len(got), len(want), out)
		}
	}
}

// TestABombIsBounded reads a small file that says it unpacks to much.
func TestABombIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.bag")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, err := bag.NewWriter(f, bag.Options{Compression: bag.LZ4})
	if err != nil {
		t.Fatal(err)
	}
	id, _ := w.Connect(text)
	if err := w.Write(id, bag.Time{}, make([]byte, 8<<20)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	in, size := open(t, path)
	if size > 100_000 {
		t.Fatalf("%d bytes", size)
	}
	b, err := bag.Open(in, size)
	if err != nil {
		t.Fatal(err)
	}
	b.Limits.ChunkBytes = 1 << 20
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, err = range b.Messages(nil) {
	}
	runtime.ReadMemStats(&after)
	if err == nil || !strings.Contains(err.Error(), "the limit is 1048576") {
		t.Errorf("unpacked: %v", err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 4<<20 {
		t.Errorf("%d bytes of memory", took)
	}
}

// FuzzRead: no panic whatever the file is, and memory in proportion to limits and file.
func FuzzRead(f *testing.F) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, seed := range seeds(f) {
		f.Add(seed)
		for range 8 { // damaged ones, so that the plain test tries them too
			bad := slices.Clone(seed)
			for range 4 {
				bad[random.IntN(len(bad))] = byte(random.Uint32())
			}
			f.Add(bad)
			f.Add(bad[:random.IntN(len(bad))])
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		in, size := bytes.NewReader(data), int64(len(data))
		limits := bag.Limits{ChunkBytes: 1 << 20, OpenBytes: 2 << 20}
		if b, err := bag.Open(in, size); err == nil {
			b.Limits = limits
			use(b)
		}
		if b, _, err := bag.Recover(in, size, limits); err == nil {
			use(b)
		}
	})
}

func use(b *bag.Bag) {
	b.Topics()
	b.Span()
	n := 0
	for m, err := range b.Messages(nil) {
		if n++; err != nil || n > 10_000 {
			return
		}
		_ = m.Connection.Topic
	}
}

// seeds are small whole bags.
func seeds(f *testing.F) (all [][]byte) {
	for _, compression := range []string{bag.None, bag.LZ4} {
		path := filepath.Join(f.TempDir(), compression)
		file, err := os.Create(path)
		if err != nil {
			f.Fatal(err)
		}
		w, err := bag.NewWriter(file, bag.Options{Compression: compression, ChunkBytes: 100})
		if err != nil {
			f.Fatal(err)
		}
		for i := range 6 {
			id, _ := w.Connect(text)
			if err := w.Write(id, bag.Time{Sec: uint32(10 - i)}, []byte("\x03\x00\x00\x00abc")); err != nil {
				f.Fatal(err)
			}
		}
		if err := errors.Join(w.Close(), file.Close()); err != nil {
			f.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		all = append(all, data)
	}
	return all
}
