package server_test

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/server"
	"poise/server/config"
	"poise/spatial"
)

// heavy gives the first robot mass.
func heavy(t *testing.T, world string) func(c *config.Config) {
	return func(c *config.Config) {
		t.Helper()
		file := ""
		if world != "" {
			file = filepath.Join(t.TempDir(), "world.yaml")
			if err := os.WriteFile(file, []byte(world), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.UsePhysics(true, file); err != nil {
			t.Fatal(err)
		}
	}
}

// physicsNow returns a state of the body that comes after what was asked for before.
func (b *bed) physicsNow() poisemsgs.PhysicsState {
	b.t.Helper()
	s := b.subscribe("/physics/state")
	defer s.Close()
	next[poisemsgs.PhysicsState](b, s)
	return next[poisemsgs.PhysicsState](b, s)
}

// TestThePonyIsPushedOverAndPutBack: it stands in its weight, is pushed, falls over and is
// put back up, over the wire; its senses, its frame and its balance tell of it.
func TestThePonyIsPushedOverAndPutBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, heavy(t, ""))
		time.Sleep(time.Second)
		mass := next[poisemsgs.BalanceState](b, b.subscribe("/balance_state")).Mass
		p := b.physicsNow()
		load := 0.0
		for _, c := range p.Contacts {
			load += c.Force.Z
			if c.Other != "" || !strings.HasPrefix(c.Link, "bone") {
				t.Errorf("contact %+v", c)
			}
		}
		if p.Fallen || !p.Carried || math.Abs(load/(mass*9.81)-1) > 0.001 || math.Abs(p.Base.Position.Z-0.223) > 0.002 || p.Speed != 1 || p.Voltage < 11 {
			t.Fatalf("it stands: %+v", p)
		}
		imu := next[msgs.Imu](b, b.subscribe("/imu"))
		if imu.Header.FrameID != "base_link" || math.Abs(imu.LinearAcceleration.Z-9.81) > 0.02 || math.Abs(imu.Orientation.W-1) > 1e-3 {
			t.Errorf("%+v", imu)
		}
		feet := next[poisemsgs.SupportState](b, b.subscribe("/support_real"))
		share := 0.0
		for i, name := range feet.Name {
			if share += feet.Support[i]; feet.Support[i] < 0.1 || feet.Contact[i] != "hoof_flat" {
				t.Errorf("%s carries %g by %s", name, feet.Support[i], feet.Contact[i])
			}
		}
		if len(feet.Name) != 4 || math.Abs(share-1) > 1e-9 {
			t.Errorf("%+v", feet)
		}
		b.must("/physics/push", &poisemsgs.PhysicsPushRequest{Link: "base_link", Force: msgs.Vector3{Y: 25}, Duration: 0.2})
		if p = b.physicsNow(); len(p.Pushes) != 1 || p.Pushes[0].Link != "base_link" || p.Pushes[0].Force.Y != 25 {
			t.Errorf("pushes %+v", p.Pushes)
		}
		time.Sleep(2 * time.Second)
		if p = b.physicsNow(); !p.Fallen || math.Abs(p.Base.Orientation.W) > 0.95 {
			t.Fatalf("it did not fall: %+v", p)
		}
		var seen msgs.TransformStamped
		for _, x := range next[msgs.TFMessage](b, b.subscribe("/tf")).Transforms {
			if x.ChildFrameID == "base_link" {
				seen = x
			}
		}
		if at := p.Odometry; spatial.Vec3(at.Position).Sub(spatial.Vec3(seen.Transform.Translation)).Norm() > 0.001 || math.Abs(at.Orientation.X-seen.Transform.Rotation.X) > 0.001 {
			t.Errorf("tf has the base at %+v, odometry at %+v", seen.Transform, at)
		}
		// the inertial unit feels how it lies
		if math.Abs(p.Odometry.Orientation.X-p.Base.Orientation.X) > 0.01 || math.Abs(p.Odometry.Orientation.Y-p.Base.Orientation.Y) > 0.01 {
			t.Errorf("odometry has the base at %+v, it lies at %+v", p.Odometry, p.Base)
		}
		b.must("/physics/put_back", &poisemsgs.PhysicsPutBackRequest{})
		time.Sleep(time.Second)
		if p = b.physicsNow(); p.Fallen || math.Abs(p.Base.Position.Z-0.223) > 0.002 || math.Abs(p.Base.Position.Y) < 0.02 {
			t.Errorf("it was put back: %+v", p)
		}
		if s := b.state(); s.Power != "enabled" || s.Stopped || len(s.Faults) > 0 {
			t.Errorf("%+v", s)
		}
		u, _ := b.end(b.send("/go_to_pose", textType, &msgs.TextActionGoal{Command: msgs.TextCommand{Command: "crouched"}}))
		b.want(u, succeeded)
		if p = b.physicsNow(); p.Fallen || p.Base.Position.Z > 0.21 {
			t.Errorf("crouched: %+v", p)
		}
	})
}

// TestWithPhysicsTFIsOdometry: tf, odom, base_pose and both balances have the base where odometry has
// it, also when that is told to be elsewhere; where it is in truth is in physics/state.
func TestWithPhysicsTFIsOdometry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, heavy(t, "")).stock()
		away := func(what string, a, b msgs.Vector3, most float64) {
			t.Helper()
			if d := math.Hypot(math.Hypot(a.X-b.X, a.Y-b.Y), a.Z-b.Z); d > most {
				t.Errorf("%s: %+v and %+v are %g m apart", what, a, b, d)
			}
		}
		agree := func(want msgs.Vector3, most float64) {
			t.Helper()
			tf := next[msgs.TFMessage](b, b.subscribe("/tf")).Transforms[0]
			if tf.Header.FrameID != "world" || tf.ChildFrameID != "base_link" {
				t.Fatalf("%+v", tf)
			}
			odom := next[msgs.Odometry](b, b.subscribe("/odom")).Pose.Pose
			away("tf and odom", tf.Transform.Translation, msgs.Vector3(odom.Position), 2e-4)
			away("base_pose and odom", msgs.Vector3(next[msgs.PoseStamped](b, b.subscribe("/base_pose")).Pose.Position), msgs.Vector3(odom.Position), 4e-4)
			away("odom", msgs.Vector3(odom.Position), want, most)
			measured := next[poisemsgs.BalanceState](b, b.subscribe("/balance_state"))
			commanded := next[poisemsgs.BalanceState](b, b.subscribe("/balance_state_reference"))
			away("centres of mass, measured and commanded", measured.CoM, commanded.CoM, 0.003)
			away("zero-moment points, measured and commanded", measured.ZMP, commanded.ZMP, 0.005)
		}
		time.Sleep(time.Second)
		stood := b.physicsNow()
		at := msgs.Vector3(stood.Base.Position)
		agree(at, 0.002)
		away("odometry in physics/state", msgs.Vector3(stood.Odometry.Position), at, 0.002)
		moved := stood.Odometry
		moved.Position.X, moved.Position.Y = 1, 2
		b.must("/set_odometry", &poisemsgs.SetOdometryRequest{Pose: moved})
		time.Sleep(time.Second)
		agree(msgs.Vector3{X: 1, Y: 2, Z: at.Z}, 0.002)
		now := b.physicsNow()
		away("the robot stays", msgs.Vector3(now.Base.Position), at, 0.001)
		away("odometry in physics/state", msgs.Vector3(now.Odometry.Position), msgs.Vector3{X: 1, Y: 2, Z: at.Z}, 0.002)
	})
}

// TestSimulatedTimeOnTheGraph: clock, pause, steps, n times and as fast as possible; what
// was begun goes on where it was, by the time of its own.
func TestSimulatedTimeOnTheGraph(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, heavy(t, "")).stock()
		clock := b.subscribe("/clock")
		at := func() float64 {
			s := b.subscribe("/clock")
			defer s.Close()
			c := next[msgs.Clock](b, s).Clock
			return float64(c.Sec) + float64(c.Nanosec)*1e-9
		}
		rate := func(want float64) {
			t.Helper()
			began, wall := at(), time.Now()
			time.Sleep(2 * time.Second)
			if got := (at() - began) / time.Since(wall).Seconds(); math.Abs(got/want-1) > 0.05 {
				t.Errorf("time goes at %g, want %g", got, want)
			}
		}
		rate(1)
		for _, speed := range []float64{3, 0.5} {
			b.must("/physics/set_speed", &poisemsgs.PhysicsSetSpeedRequest{Speed: speed})
			rate(speed)
		}
		b.must("/physics/set_speed", &poisemsgs.PhysicsSetSpeedRequest{Speed: 1})
		for _, bad := range []float64{-1, 1e-3, 1e5, math.NaN()} {
			b.refused("/physics/set_speed", &poisemsgs.PhysicsSetSpeedRequest{Speed: bad}, "not within")
		}
		b.refused("/physics/step", &poisemsgs.PhysicsStepRequest{Steps: 1}, "physics/pause")
		g := b.send("/go_to_pose", textType, &msgs.TextActionGoal{Command: msgs.TextCommand{Command: "crouched"}})
		b.begun(g)
		b.must("/physics/pause", &poisemsgs.PhysicsPauseRequest{})
		before := b.physicsPaused()
		time.Sleep(30 * time.Second) // far longer than a silent cycle is waited for
		for n := range 3 {
			b.must("/physics/step", &poisemsgs.PhysicsStepRequest{Steps: 7})
			p := b.physicsPaused()
			if d := seconds(p.Header.Stamp) - seconds(before.Header.Stamp) - 0.035*float64(n+1); math.Abs(d) > 1e-9 {
				t.Errorf("after %d times 7 steps it is %g s too late", n+1, d)
			}
			for seconds(next[msgs.Clock](b, clock).Clock) < seconds(p.Header.Stamp)-1e-9 {
				// clock hears of the last step too
			}
		}
		b.refused("/physics/step", &poisemsgs.PhysicsStepRequest{}, "0 steps")
		if s := b.state(); len(s.Goals) != 1 || len(s.Faults) != 0 {
			t.Errorf("while time stands still: %+v", s)
		}
		if status, text := b.get("/healthz", nil); status != 200 {
			t.Errorf("healthz: %d %s", status, text)
		}
		b.must("/physics/resume", &poisemsgs.PhysicsResumeRequest{})
		u, _ := b.end(g)
		b.want(u, succeeded)
		last := -1.0
		for range 100 {
			c := seconds(next[msgs.Clock](b, clock).Clock)
			if c <= last {
				t.Fatalf("clock goes from %g to %g", last, c)
			}
			last = c
		}
		b.must("/physics/pause", &poisemsgs.PhysicsPauseRequest{})
		b.must("/physics/put_back", &poisemsgs.PhysicsPutBackRequest{}) // time goes on for it
		if p := b.physicsPaused(); p.Fallen {
			t.Errorf("%+v", p)
		}
		// and the server ends though time stands still
	})
}

func seconds(t msgs.Time) float64 { return float64(t.Sec) + float64(t.Nanosec)*1e-9 }

// physicsPaused returns the state of the body while time stands still.
func (b *bed) physicsPaused() poisemsgs.PhysicsState {
	b.t.Helper()
	s := b.subscribe("/physics/state")
	defer s.Close()
	p := next[poisemsgs.PhysicsState](b, s)
	if !p.Paused {
		b.t.Errorf("time does not stand still: %+v", p)
	}
	return p
}

// TestTheWorldIsChangedByServices: ground, supply, payload, grab and drop, and what is
// refused says why.
func TestTheWorldIsChangedByServices(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, heavy(t, "friction: 0.5\nslope: {pitch: 0.05}\nboxes: [{size: [0.2, 0.2, 0.02], at: [1, 0, 0.01]}]\n"))
		p := b.physicsNow()
		if p.Friction != 0.5 || p.Pitch != 0.05 || p.Fallen {
			t.Errorf("the world of the file: %+v", p)
		}
		if mass := next[poisemsgs.BalanceState](b, b.subscribe("/balance_state")).Mass; math.Abs(p.Mass-mass) > 1e-9 {
			t.Errorf("its mass is %g kg, not %g kg", p.Mass, mass)
		}
		stays := next[poisemsgs.PhysicsWorld](b, b.subscribe("/physics/world"))
		if len(stays.Boxes) != 1 || stays.Boxes[0].Size != (msgs.Vector3{X: 0.2, Y: 0.2, Z: 0.02}) || stays.Boxes[0].Pose.Position.X != 1 || len(stays.Heights) != 0 {
			t.Errorf("what stays of it: %+v", stays)
		}
		b.must("/physics/friction", &poisemsgs.PhysicsFrictionRequest{Friction: 0.9})
		b.must("/physics/slope", &poisemsgs.PhysicsSlopeRequest{Roll: 0.02})
		b.must("/physics/voltage", &poisemsgs.PhysicsVoltageRequest{Voltage: 10})
		b.must("/physics/payload", &poisemsgs.PhysicsPayloadRequest{Link: "base_link", Mass: 0.2})
		b.must("/physics/put_back", &poisemsgs.PhysicsPutBackRequest{})
		b.must("/physics/grab", &poisemsgs.PhysicsGrabRequest{Link: "base_link", Target: msgs.Point{Z: 0.4}})
		time.Sleep(time.Second)
		p = b.physicsNow()
		if p.Friction != 0.9 || p.Roll != 0.02 || p.Pitch != 0 || p.Payload != 0.2 || !p.Grabbed || p.Carried || math.Abs(p.Voltage-10) > 0.2 || len(p.Pushes) != 1 {
			t.Errorf("the world as it was changed: %+v", p)
		}
		b.must("/physics/release", &poisemsgs.PhysicsReleaseRequest{})
		b.must("/physics/drop", &poisemsgs.PhysicsDropRequest{Height: 0.05})
		b.must("/physics/loss", &poisemsgs.PhysicsLossRequest{Loss: 0.01})
		time.Sleep(time.Second)
		if p = b.physicsNow(); p.Grabbed || !p.Carried {
			t.Errorf("released and dropped: %+v", p)
		}
		b.refused("/physics/push", &poisemsgs.PhysicsPushRequest{Link: "base_lonk", Duration: 1}, "base_lonk", "base_link")
		b.refused("/physics/push", &poisemsgs.PhysicsPushRequest{Link: "base_link"}, "0 s")
		b.refused("/physics/payload", &poisemsgs.PhysicsPayloadRequest{Link: "base_link", Mass: -1}, "-1 kg")
		b.refused("/physics/drop", &poisemsgs.PhysicsDropRequest{Height: -1}, "-1 m")
		b.refused("/physics/friction", &poisemsgs.PhysicsFrictionRequest{Friction: -1}, "-1")
		b.refused("/physics/slope", &poisemsgs.PhysicsSlopeRequest{Roll: 3}, "3")
		b.refused("/physics/voltage", &poisemsgs.PhysicsVoltageRequest{Voltage: -3}, "-3 V")
		b.refused("/physics/loss", &poisemsgs.PhysicsLossRequest{Loss: 2}, "2")
		if len(b.log.lines("physics push", "base_lonk")) != 1 {
			t.Error("the log does not tell who pushed")
		}
	})
}

// TestAnInvalidWorldIsRefused: with file, line and reason, before anything runs.
func TestAnInvalidWorldIsRefused(t *testing.T) {
	for text, words := range map[string][]string{
		"friction: 1\nslop: {roll: 1}\n":          {"world.yaml:2", "slop"},
		"friction: -1\n":                          {"friction", "-1", "world.yaml:1"},
		"boxes:\n  - {size: [1, 1], at: [0,0]}\n": {"world.yaml:2", "boxes.size"},
		"touch: [{a: base_link, b: hoof}]\n":      {"world.yaml:1", "hoof"},
		"bumps: {height: 3, count: 1}\n":          {"bumps", "0.5"},
	} {
		c := config.Default()
		heavy(t, text)(&c)
		c.Listen, c.Motions = "127.0.0.1:0", t.TempDir()
		s, err := server.New(t.Context(), c, server.Options{})
		if err == nil {
			s.Close()
			t.Errorf("%q is accepted", text)
			continue
		}
		for _, w := range words {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%q: %v does not say %q", text, err, w)
			}
		}
	}
	c := config.Default()
	if err := c.UsePhysics(false, "x.yaml"); err == nil || !strings.Contains(err.Error(), "--physics") {
		t.Errorf("a world without physics: %v", err)
	}
	if err := c.UsePhysics(true, filepath.Join(t.TempDir(), "none.yaml")); err != nil {
		t.Fatal(err)
	}
	c.Listen, c.Motions = "127.0.0.1:0", t.TempDir()
	if _, err := server.New(t.Context(), c, server.Options{}); err == nil || !strings.Contains(err.Error(), "none.yaml") {
		t.Errorf("a file that is not there: %v", err)
	}
}
