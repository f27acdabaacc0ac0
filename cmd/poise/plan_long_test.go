package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"
)

// longSequence asks for blended motions that go round and round, of planners in turn.
func longSequence(n int, planners ...string) string {
	var b strings.Builder
	b.WriteString(`{"items":[`)
	for i := range n {
		a, radius := float64(i)*math.Pi/2*1.02, 0.01
		if i == n-1 {
			radius = 0
		}
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"blend_radius":%g,"req":{"planner_id":%q,"group_name":"manipulator","max_velocity_scaling_factor":1,"max_acceleration_scaling_factor":1,
"goal_constraints":[{"position_constraints":[{"link_name":"tool0","constraint_region":{"primitive_poses":[{"position":{"x":%g,"y":%g,"z":%g},"orientation":{"w":1}}]}}],
"orientation_constraints":[{"link_name":"tool0","orientation":{"x":1,"y":0,"z":0,"w":0}}]}]}}`,
			radius, planners[i%len(planners)], 0.45+0.06*math.Cos(a), -0.2+0.06*math.Sin(a), 0.45+0.03*math.Sin(float64(i)/40))
	}
	b.WriteString(`]}`)
	return b.String()
}

// TestTwoThousandBlendedItemsTake200Megabytes: reading them, planning them and writing
// the answer, by the largest memory that the process had; lines, and lines and point-to-point
// motions in turn. (How long that takes is in
// docs/benchmarks.md, that it grows linearly in TestLongSequencesGrowLinearly.)
func TestTwoThousandBlendedItemsTake200Megabytes(t *testing.T) {
	t.Parallel()
	if testing.Short() || runtime.GOOS != "linux" {
		t.Skip("absent: time (-short), or figures of memory by /proc (not Linux)")
	}
	for _, planners := range [][]string{{"LIN"}, {"PTP", "LIN"}} {
		t.Run(strings.Join(planners, "-"), func(t *testing.T) { takes200Megabytes(t, longSequence(2000, planners...)) })
	}
}

// takes200Megabytes looks up to six times, after ever longer pauses: a busy machine keeps the garbage collector from its work, and a process
// from 145 MB.
func takes200Megabytes(t *testing.T, request string) {
	t.Helper()
	const most = 200 << 10 // kB
	used := 0
	for look := range 6 {
		used = 0
		time.Sleep(time.Duration(2*look) * time.Second)
		cmd := exec.Command(binary(t), "plan", "arm6", "-", "--current", `{"joint_1":-0.4,"joint_2":0.3,"joint_3":0.9,"joint_5":-0.5}`)
		cmd.Stdin = strings.NewReader(request)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		size := 0
		for chunk := make([]byte, 1<<16); err == nil; {
			var n int
			n, err = out.Read(chunk)
			size += n
			used = max(used, mostMemory(cmd.Process.Pid))
		}
		if err := cmd.Wait(); err != nil {
			t.Fatalf("%v: %s", err, stderr.String())
		}
		t.Logf("%d MB of memory for an answer of %d MB", used>>10, size>>20)
		if size == 0 || used == 0 {
			t.Fatal("there is nothing to measure")
		}
		if used <= most {
			return
		}
	}
	t.Errorf("the process had %d MB, at most %d are allowed", used>>10, most>>10)
}

// mostMemory returns the most memory that a process has had, kB. What wait4 tells of a process includes that of its parent, in whose memory
// it began (vfork).
func mostMemory(pid int) (most int) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err == nil {
		if _, after, ok := bytes.Cut(status, []byte("VmHWM:")); ok {
			_, _ = fmt.Sscan(string(after), &most)
		}
	}
	return most
}
