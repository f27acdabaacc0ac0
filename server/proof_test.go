package server_test

import (
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/server/config"
	"poise/wire/rosbridge/client"
)

// TestAGoalOutlivesItsClient: switching a controller on is an order to the robot, not a
// lease of the connection; a client that comes later sees it and can end it.
func TestAGoalOutlivesItsClient(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		gone := b.dial()
		g, err := gone.SendGoal(b.ctx, "/controllers/hold/set_operational", switchType, client.Text(&msgs.SetOperationalGoal{Operational: true, Resources: []string{"head"}}, msgs.ROS2))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := g.Next(b.ctx); err != nil {
			t.Fatal(err)
		}
		gone.Close()
		b.until("its client is gone", func() bool {
			_, text := b.get("/metrics", nil)
			return strings.Contains(text, "poise_clients 1\n")
		})
		if !b.owns("hold", "head") {
			t.Fatal("the controller ended with the client")
		}
		u, _ := b.end(b.send("/controllers/hold/set_operational", switchType, &msgs.SetOperationalGoal{Operational: false}))
		b.want(u, succeeded)
		if b.owns("hold", "head") {
			t.Error("another client cannot switch it off")
		}
	})
}

// fullDisk is the variable by which a test runs itself again where no file can grow.
const fullDisk = "POISE_TEST_FULL_DISK"

// TestAFullDisk saves where there is no room: what was saved before is untouched, and
// the refusal says why. The limit of file sizes stands for the end of the disk; it needs
// no rights, but holds for a whole process, so the test runs again in one of its own.
func TestAFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if os.Getenv(fullDisk) == "" {
			cmd := exec.Command(os.Args[0], "-test.run=^TestAFullDisk$", "-test.v")
			cmd.Env = append(os.Environ(), fullDisk+"=1")
			if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: TestAFullDisk") {
				t.Errorf("%v\n%s", err, out)
			}
			return
		}
		folder := t.TempDir()
		b := start(t, func(c *config.Config) { c.Motions = folder })
		m := get(b, "nod").Motion
		m.Name = "kept"
		first := b.must("/motions/put", &poisemsgs.MotionsPutRequest{Motion: m})
		before, err := os.ReadFile(filepath.Join(folder, "kept.motion.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		signal.Ignore(syscall.SIGXFSZ) // then writing fails instead
		var room syscall.Rlimit
		if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &room); err != nil {
			t.Fatal(err)
		}
		full := syscall.Rlimit{Cur: 100, Max: room.Max}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &full); err != nil {
			t.Fatal(err)
		}
		m.Name = "another"
		b.refused("/motions/put", &poisemsgs.MotionsPutRequest{Motion: m}, "another", "could not be saved", "file too large")
		m.Name, m.Description = "kept", strings.Repeat("longer ", 100)
		b.refused("/motions/put", &poisemsgs.MotionsPutRequest{Motion: m, Version: first.Version}, "kept", "could not be saved")
		after, err := os.ReadFile(filepath.Join(folder, "kept.motion.yaml"))
		if err != nil || string(after) != string(before) {
			t.Errorf("what was saved before is not what it was: %v", err)
		}
		if names, err := filepath.Glob(filepath.Join(folder, "*")); err != nil || len(names) != 1 {
			t.Errorf("besides what was saved there is %v", names)
		}
		u, _ := b.end(b.send("/play_motion", textType, play("kept", "speed=2")))
		b.want(u, succeeded)
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &room); err != nil {
			t.Fatal(err)
		}
		b.must("/motions/put", &poisemsgs.MotionsPutRequest{Motion: m, Version: first.Version})
	})
}
