package main

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"poise/internal/golden"
	"poise/wire/ros1/bag"
	"poise/wire/rosbridge/client"
)

// writeWords writes a bag of a few texts.
func writeWords(t *testing.T, path string, whole bool, words ...string) {
	t.Helper()
	writeTexts(t, path, whole, []string{"/words"}, words...)
}

// writeTexts writes a bag of the same texts on some topics.
func writeTexts(t *testing.T, path string, whole bool, topics []string, words ...string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, err := bag.NewWriter(f, bag.Options{Compression: bag.LZ4})
	if err != nil {
		t.Fatal(err)
	}
	for _, topic := range topics {
		id, err := w.Connect(bag.Connection{Topic: topic, Type: "std_msgs/String", MD5: "992ce8a1687cec8c8bd883ec73ca41d1", Definition: "string data\n"})
		if err != nil {
			t.Fatal(err)
		}
		for i, word := range words {
			if err := w.Write(id, bag.Time{Sec: 1_700_000_000, Nsec: uint32(i) * 1e7}, append([]byte{byte(len(word)), 0, 0, 0}, word...)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if whole {
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestBagInfoTellsWhatIsInABag(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.bag")
	writeWords(t, path, true, "one", "two", "three")
	out, errs, code := poise("", "bag", "info", path)
	for _, want := range []string{"duration:     0.020 s", "2023-11-14 22:13:20.000 UTC (1700000000.00)", "messages:     3", "lz4 [1/1 chunks]", "/words  3 msgs  std_msgs/String"} {
		if code != 0 || errs != "" || !strings.Contains(out, want) {
			t.Errorf("exit %d, %q is missing: %s%s", code, want, out, errs)
		}
	}
	out, _, code = poise("", "bag", "info", path, "--json")
	var info bagInfo
	if err := json.Unmarshal([]byte(out), &info); err != nil || code != 0 || info.Messages != 3 || info.Topics[0].Topic != "/words" {
		t.Errorf("exit %d, %v: %s", code, err, out)
	}
	writeWords(t, path, false, "one", "two", "three")
	out, errs, code = poise("", "bag", "info", path)
	if code != 0 || !strings.Contains(out, "messages:     3") || !strings.Contains(errs, "has no index") || !strings.Contains(errs, "1 whole chunks") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
}

func TestBagRefuses(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("ROS_MASTER_URI", "http://192.0.2.1:11311")
	text := filepath.Join(dir, "text")
	old := filepath.Join(dir, "old.bag")
	words := filepath.Join(dir, "words.bag")
	writeWords(t, words, true, "one")
	for path, content := range map[string]string{text: "hello\n", old: "#ROSBAG V1.2\n"} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"", 2, "want one of info, record, play"},
		{"inof " + words, 2, `there is no poise bag inof: want one of info, record, play; did you mean "info"?`},
		{"info", 2, "FILE is missing"},
		{"info " + dir + "/none.bag", 1, "no such file"},
		{"info " + dir, 1, "is not a file"},
		{"info " + text, 1, "not a bag file"},
		{"info " + old, 1, "format \"1.2\""},
		{"info " + words + " --rate 2", 2, "info takes no --rate"},
		{"record /words", 2, "record needs -O FILE"},
		{"record -O " + dir + "/new.bag", 2, "which topics?"},
		{"record -O " + dir + "/new.bag /words", 1, "192.0.2.1, another machine"},
		{"play " + words, 1, "192.0.2.1, another machine"},
		{"play " + words + " /wards", 1, "/wards is not in the bag, which has /words"},
		{"play " + words + " --rate 0", 2, "more than 0"},
		{"play " + words + " --server 127.0.0.1:1", 1, "no Poise server"},
	} {
		out, errs, code := poise("", append([]string{"bag"}, strings.Fields(c.args)...)...)
		if code != c.code || !strings.Contains(errs, c.says) {
			t.Errorf("bag %s: exit %d, want %d and %q: %s%s", c.args, code, c.code, c.says, out, errs)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "new*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// bagsOf runs tools/peers/ros1/bags.py, and returns by topic what is in a bag, times apart.
func bagsOf(t *testing.T, args ...string) map[string][]string {
	t.Helper()
	cmd := exec.Command("/usr/bin/python3", append([]string{filepath.Join(golden.Root(t), "tools/peers/ros1/bags.py")}, args...)...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, errs.String())
	}
	all := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		word := strings.Fields(line) // topic, type, md5, time, data
		all[word[0]] = append(all[word[0]], word[1]+" "+word[2]+" "+word[4])
	}
	return all
}

// TestBagsGoThroughROS1 plays by rosbag what the program records, and by the program what
// rosbag records, with roscore.
func TestBagsGoThroughROS1(t *testing.T) {
	t.Parallel()
	ros := needsROS1(t)
	ros.start()
	ros.says("/rosout", "rostopic", "list")
	dir := t.TempDir()
	source := filepath.Join(dir, "source.bag")
	want := bagsOf(t, "write", source, "bz2")

	ours := filepath.Join(dir, "ours.bag")
	recorded := make(chan string, 1)
	go func() {
		out, _ := ros.poise("bag", "record", "-O", ours, "--lz4", "--limit", "330", "/joint_states", "late")
		recorded <- out
	}()
	if out, err := ros.command("rosbag", "play", "--wait-for-subscribers", "--queue", "1000", source).CombinedOutput(); err != nil {
		t.Fatalf("rosbag play: %v\n%s", err, out)
	}
	select {
	case out := <-recorded:
		if !strings.Contains(out, "330 messages") {
			t.Fatal(out)
		}
	case <-time.After(hang):
		t.Fatal("the recorder does not end")
	}
	if got := bagsOf(t, "read", ours); !maps.EqualFunc(got, want, slices.Equal) {
		t.Errorf("recorded %d and %d messages, or others", len(got["/joint_states"]), len(got["/late"]))
	}

	theirs := filepath.Join(dir, "theirs.bag")
	recorder := ros.command("rosbag", "record", "-O", theirs, "-l", "30", "/joint_states", "/late")
	var said lockedBuffer
	recorder.Stdout, recorder.Stderr = &said, &said
	if err := recorder.Start(); err != nil {
		t.Fatal(err)
	}
	if out, err := ros.poise("bag", "play", ours, "--wait-for-subscribers", "--rate", "2"); err != nil || !strings.Contains(out, "330 messages") {
		t.Errorf("%v: %s", err, out)
	}
	done := make(chan error, 1)
	go func() { done <- recorder.Wait() }()
	select {
	case err := <-done:
		if err != nil {
			t.Fatalf("rosbag record: %v: %s", err, said.String())
		}
	case <-time.After(20 * time.Second):
		// it counts to its limit in ten threads without a lock, and may miss it
		_ = recorder.Process.Signal(os.Interrupt)
		select {
		case <-done:
		case <-time.After(hang):
			_ = recorder.Process.Kill()
			t.Fatalf("rosbag record does not end: %s", said.String())
		}
	}
	got := bagsOf(t, "read", theirs)
	for topic := range want {
		if n := min(len(got[topic]), 30); n < 30 || !slices.Equal(got[topic][:n], want[topic][:n]) {
			t.Errorf("%s: rosbag has recorded %d messages, or others than were played", topic, len(got[topic]))
		}
	}
	ros.gone("poise_bag", "rosnode", "list")
}

// TestBagsOfAServer records a server and plays to it, without ROS 1.
func TestBagsOfAServer(t *testing.T) {
	t.Parallel()
	s := serveIt(t, "--robot", "arm6")
	dir := t.TempDir()
	path := filepath.Join(dir, "x.bag")
	if out, errs, code := poise("", "bag", "record", "-O", path, "--limit", "5", "--server", s.address, "joint_states"); code != 0 || !strings.Contains(out, "5 messages") {
		t.Fatalf("exit %d: %s%s", code, out, errs)
	}
	out, errs, code := poise("", "bag", "info", path)
	if code != 0 || !strings.Contains(out, "sensor_msgs/JointState  3066dcd76a6cfaef579bd0f34173e9fd") {
		t.Fatalf("exit %d: %s%s", code, out, errs)
	}
	if _, errs, code := poise("", "bag", "record", "-O", filepath.Join(dir, "none.bag"), "--server", s.address, "/nothing"); code != 1 || !strings.Contains(errs, "no such topic") {
		t.Errorf("exit %d: %s", code, errs)
	}

	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	c, err := client.Dial(ctx, rosbridgeURL(s.address), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	sub, err := c.Subscribe("/words", "std_msgs/msg/String", client.SubscribeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Call(ctx, "/rosapi/topics", nil); err != nil { // the subscription stands
		t.Fatal(err)
	}
	words, own := filepath.Join(dir, "words.bag"), filepath.Join(dir, "own.bag")
	writeTexts(t, words, true, []string{"/robot_description", "/words"}, "one", "two", "three")
	writeTexts(t, own, true, []string{"/robot_description"}, "one")
	if out, errs, code := poise("", "bag", "play", words, "--server", s.address); code != 0 || !strings.Contains(out, "3 messages") || strings.Count(errs, "left out") != 1 ||
		!strings.Contains(errs, "/robot_description is left out: ") || !strings.Contains(errs, "is for /poise alone to publish on") {
		t.Fatalf("exit %d: %s%s", code, out, errs)
	}
	for says, args := range map[string][]string{"no topic is left to play": {own}, "is for /poise alone to publish on": {words, "/words", "/robot_description"}} {
		if out, errs, code := poise("", append([]string{"bag", "play", "--server", s.address}, args...)...); code != 1 || !strings.Contains(errs, says) {
			t.Errorf("%q: exit %d: %s%s", args, code, out, errs)
		}
	}
	for _, want := range []string{"one", "two", "three"} {
		if text, _, err := sub.Next(ctx); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s, want %s: %v", text, want, err)
		}
	}
}

// TestARecorderThatIsEndedLeavesAWholeBag interrupts one, and kills another.
func TestARecorderThatIsEndedLeavesAWholeBag(t *testing.T) {
	t.Parallel()
	s := serveIt(t, "--robot", "arm6")
	dir := t.TempDir()
	for _, how := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
		path := filepath.Join(dir, how.String()+".bag")
		cmd := exec.Command(binary(t), "bag", "record", "-O", path, "--server", s.address, "/joint_states")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		grown := false
		for end := time.Now().Add(hang); time.Now().Before(end) && !grown; time.Sleep(20 * time.Millisecond) {
			info, err := os.Stat(path + ".active")
			grown = err == nil && info.Size() > 5000 // more than the first record
		}
		_ = cmd.Process.Signal(how)
		err := cmd.Wait()
		if how == syscall.SIGKILL {
			out, errs, code := poise("", "bag", "info", path+".active")
			if code != 0 || !strings.Contains(errs, "has no index") || !strings.Contains(out, "/joint_states") {
				t.Errorf("killed: exit %d: %s%s", code, out, errs)
			}
			continue
		}
		if err != nil {
			t.Errorf("interrupted: %v", err)
		}
		if out, errs, code := poise("", "bag", "info", path); code != 0 || errs != "" || !strings.Contains(out, "/joint_states") {
			t.Errorf("interrupted: exit %d: %s%s", code, out, errs)
		}
	}
}
