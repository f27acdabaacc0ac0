package server_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/server/config"
	"poise/wire/rosbridge/client"
	"poise/wire/rosbridge/requester"
)

// TestWholeReferencesFromOutside: a sine of 1 Hz, 50 values a second, with velocity,
// acceleration and effort, from a client: the command is at most 25 ms late, without a
// staircase; the effort is in it. When the values stop, the joint ramps to rest, and
// controllers_state says so under the client's name.
func TestWholeReferencesFromOutside(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, func(c *config.Config) { c.Loop.Period = 0.001; c.Rates.JointStates = 200 })
		m := b.member(requester.Config{Name: "wag", Needed: []string{"tail"}}, nil)
		if err := m.Request(b.ctx); err != nil {
			t.Fatal(err)
		}
		const A, w = 0.1, 2 * math.Pi
		done := make(chan struct{})
		go func() {
			defer close(done)
			for i := range 250 {
				s, c := math.Sincos(w * float64(time.Now().UnixNano()%1e9) * 1e-9)
				up := math.Min(1, float64(i)/50) // it begins slowly
				_ = m.Send(&poisemsgs.JointStateAccel{Name: []string{"tail_joint1"}, Position: []float64{up * A * s}, Velocity: []float64{up * A * w * c}, Acceleration: []float64{-up * A * w * w * s}, Effort: []float64{0.02}})
				time.Sleep(20 * time.Millisecond)
			}
		}()
		time.Sleep(2 * time.Second)
		states := b.subscribe("/joint_states")
		var inPhase, late, last, lastV, lastAt, steepest float64
		for i := range 400 { // two whole periods
			s := next[msgs.JointState](b, states)
			at := slices.Index(s.Name, "tail_joint1")
			sin, cos := math.Sincos(w * float64(s.Header.Stamp.Nanos()%1e9) * 1e-9)
			q := s.Position[at]
			inPhase, late = inPhase+q*sin, late-q*cos
			now := float64(s.Header.Stamp.Nanos()%1e15) * 1e-9
			v := (q - last) / (now - lastAt)
			if i > 1 {
				steepest = max(steepest, math.Abs(v-lastV)/(now-lastAt))
			}
			lastV, lastAt = v, now
			last = q
			if s.Effort[at] != 0.02 {
				t.Fatalf("effort %g", s.Effort[at])
			}
		}
		states.Close()
		delay := math.Atan2(late, inPhase) / w
		t.Logf("%.1f ms late, at most %.2f rad/s²", delay*1e3, steepest)
		if delay < -0.001 || delay > 0.025 {
			t.Errorf("the command is %g s late", delay)
		}
		if most := 4 * A * w * w; steepest > most { // a staircase of 20 ms would have a hundred times that
			t.Errorf("acceleration up to %g rad/s², the sine has %g", steepest, A*w*w)
		}
		<-done
		b.until("it says that nothing is heard any more", func() bool {
			for _, c := range latest[poisemsgs.ControllersState](b, "/controllers_state").Controllers {
				if c.Client == "wag" && len(c.Waits) == 1 {
					return c.Waits[0].Code == "stale" && strings.Contains(c.Waits[0].Text, "nothing was heard for")
				}
			}
			return false
		})
		rest := b.tail()
		time.Sleep(time.Second)
		if q := b.tail(); q != rest || !b.owns("wag", "tail") {
			t.Errorf("it went on from %g to %g, or lost the tail", rest, q)
		}
	})
}

// TestTheBodyFromOutside: an external controller leads the base over its feet, says what carries,
// and what the eyes show.
func TestTheBodyFromOutside(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		m := b.member(requester.Config{Name: "body", Needed: []string{"leg1", "leg2", "leg3", "leg4", "base", "eyes"}}, nil)
		if err := m.Request(b.ctx); err != nil {
			t.Fatal(err)
		}
		where := func() (base msgs.Pose, hoof msgs.Point) {
			s := latest[poisemsgs.RigidBodyState](b, "/limbs_cartesian")
			return s.Frame[0], s.Frame[slices.Index(s.Name, "leg3")].Position
		}
		from, hoof := where()
		for i := range 60 { // 6 mm down in 1.2 s
			to := from
			to.Position.Z -= 0.0001 * float64(i+1)
			if err := errors.Join(m.Send(&poisemsgs.RigidBodyState{Name: []string{"base_link"}, Frame: []msgs.Pose{to}}),
				m.SendEyes(&msgs.JointState{Name: []string{"eye_screens"}, Position: []float64{3}})); err != nil {
				t.Fatal(err)
			}
			time.Sleep(20 * time.Millisecond)
		}
		time.Sleep(300 * time.Millisecond)
		now, after := where()
		if d := from.Position.Z - now.Position.Z; math.Abs(d-0.006) > 2e-4 {
			t.Errorf("the base sank by %g m, not by 0.006", d)
		}
		if slip := math.Hypot(after.X-hoof.X, math.Hypot(after.Y-hoof.Y, after.Z-hoof.Z)); slip > 2e-4 {
			t.Errorf("a hoof slipped %g m", slip)
		}
		if o := latest[poisemsgs.TypedOutput](b, "/eye_screens"); o.Value != 3 {
			t.Errorf("the screens show %g", o.Value)
		}
	})
}

// TestEveryActionCanBeChecked: check_goal knows every action of the graph, and every
// set_operational, by its full name.
func TestEveryActionCanBeChecked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		var all struct {
			ActionServers []string `json:"action_servers"`
		}
		b.rosapi("action_servers", "{}", &all)
		if len(all.ActionServers) < 15 {
			t.Fatalf("%v", all.ActionServers)
		}
		before := b.joints("/joint_states")
		for _, name := range all.ActionServers {
			var a poisemsgs.CheckGoalResponse
			b.call("/check_goal", &poisemsgs.CheckGoalRequest{Controller: name, GoalJSON: "{}"}, &a)
			if strings.Contains(a.Message, "no controller") || strings.Contains(a.Message, "unknown") || !a.Success && len(a.Explanations) == 0 {
				t.Errorf("%s: %q", name, a.Message)
			}
		}
		b.unmoved(before, b.joints("/joint_states"))
		if s := b.state(); len(s.Goals) > 0 {
			t.Errorf("checks left goals: %+v", s.Goals)
		}
		if len(b.resources().Rounds) > 0 {
			t.Error("checks made rounds")
		}
		// all reasons, not the first alone
		pri := []float32{60}
		for i, name := range []string{"head", "eyes"} {
			m := b.member(requester.Config{Name: fmt.Sprint("holder", i), Needed: []string{name}, Pending: pri, Operational: pri}, nil)
			if err := m.Request(b.ctx); err != nil {
				t.Fatal(err)
			}
		}
		b.refused("/check_goal", &poisemsgs.CheckGoalRequest{Controller: "follow_joint_trajectory",
			GoalJSON: string(client.Text(sweep(before, 1, map[string]float64{"joint52": 0.1, "eyes_yaw": 0.1}), msgs.ROS2))}, "holder0", "holder1")
	})
}

// TestRoundsLeasesAndSeatsAreConfiguration: the timeout of rounds with external controllers, the
// lease, the number of seats and their priorities are those of the configuration.
func TestRoundsLeasesAndSeatsAreConfiguration(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, func(c *config.Config) {
			c.Loop.RemoteTimeout, c.Loop.Lease = 0.3, 0.5
			for i := range c.Controllers {
				if r := &c.Controllers[i]; r.Name == "remote" {
					r.Seats, r.Pending, r.Operational = 1, 15, 15
				}
			}
		})
		o := b.outside(b.c, "mute")
		o.request(asks("mute", 1, "tail"))
		b.until("the silent one is denied", func() bool {
			return slices.ContainsFunc(b.resources().Rounds, func(r poisemsgs.ResourceRound) bool { return r.Outcome == "denied" })
		})
		if r := b.resources().Rounds[0]; r.Ended-r.Began < 0.29 || r.Ended-r.Began > 0.33 {
			t.Errorf("a timeout of 0.3 s took %g s", r.Ended-r.Began)
		}
		o.request(asks("mute", 2, "tail"))
		b.confirmed(o, "mute", 2, "tail")
		began := time.Now()
		other := b.member(requester.Config{Name: "other", Needed: []string{"head"}}, nil)
		ctx, cancel := context.WithTimeout(b.ctx, 400*time.Millisecond)
		err := other.Request(ctx)
		cancel()
		if !errors.Is(err, requester.ErrDenied) {
			t.Errorf("a second one found a seat: %v", err)
		}
		b.until("the lease has ended", func() bool { return !b.owns("mute", "tail") })
		if took := time.Since(began); took < 450*time.Millisecond || took > 600*time.Millisecond {
			t.Errorf("a lease of 0.5 s took %v", took)
		}
		b.must("/switch_controllers", &poisemsgs.SwitchControllersRequest{Start: []string{"look_at"}}) // ranks 20
		if err := other.Request(b.ctx); !errors.Is(err, requester.ErrDenied) {
			t.Errorf("a rank of 15 took the head from one of 20: %v", err)
		}
	})
}

// TestWhatWasGivenUpIsNotTakenTwice: one that is asked for the head quits, and at once asks for
// the ears and the tail alone. The round that it quit in ends without touching that, and the
// part that it lost is asked for once.
func TestWhatWasGivenUpIsNotTakenTwice(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		c, _ := b.another()
		told, err := c.Subscribe("/resource_assignment", "", client.SubscribeOptions{Queue: 100})
		if err != nil {
			t.Fatal(err)
		}
		o := b.outside(c, "victim")
		hears := func(id uint32) msgs.ResourceAssignment {
			for {
				if a := next[msgs.ResourceAssignment](b, told); slices.Contains(a.RequestIds, id) {
					return a
				}
			}
		}
		claim := func(id int, resources string) {
			o.request(fmt.Sprintf(`{"requester_name":"victim","request_id":%d,"resources":%s}`, id, resources))
			hears(uint32(id))
			o.state(lives("victim", id, true))
			hears(uint32(id))
		}
		claim(1, `["head","ears","tail"]`)
		alive := make(chan struct{})
		go func() {
			for id := 1; ; id = 2 {
				select {
				case <-alive:
					return
				case <-time.After(50 * time.Millisecond):
					if id == 2 {
						o.state(lives("victim", id, true))
					}
				}
			}
		}()
		defer close(alive)
		pri := []float32{60, 60}
		yawn := b.member(requester.Config{Name: "yawn", Needed: []string{"head"}, Pending: pri[:1], Operational: pri[:1]}, nil)
		granted := make(chan error, 1)
		go func() { granted <- yawn.Request(b.ctx) }()
		hears(1)                           // that the head is to go
		o.state(lives("victim", 1, false)) // it quits, gives up all,
		claim(2, `["ears","tail"]`)        // and wants less
		if err := <-granted; err != nil {
			t.Fatal(err)
		}
		time.Sleep(500 * time.Millisecond)
		if !b.owns("yawn", "head") || !b.owns("victim", "ears") || !b.owns("victim", "tail") {
			t.Errorf("owners: %+v\n%+v", b.state().Owners, b.resources().Rounds)
		}
		ctx, cancel := context.WithTimeout(b.ctx, 2*time.Second)
		defer cancel()
		for {
			text, _, err := told.Next(ctx)
			if err != nil {
				break
			}
			var a msgs.ResourceAssignment
			if err := client.Read(text, &a); err != nil {
				t.Fatal(err)
			}
			if len(a.RequestIds) > 0 && slices.Contains(a.RequestIds, 1) {
				continue // the end of what it quit
			}
			if len(a.RequestIds) > 0 {
				t.Errorf("it was asked again: %+v", a)
			}
		}
	})
}

// TestAskingAgainWhileOperational: one that runs asks for the same, for less and for more; each
// request is offered, confirmed and granted, and what it does not ask for any more is free.
func TestAskingAgainWhileOperational(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		c, _ := b.another()
		told, err := c.Subscribe("/resource_assignment", "", client.SubscribeOptions{Queue: 100})
		if err != nil {
			t.Fatal(err)
		}
		o := b.outside(c, "again")
		for i, resources := range []string{`["tail","ears"]`, `["tail","ears"]`, `["tail"]`, `["tail","ears","mouth"]`} {
			id := i + 1
			o.request(fmt.Sprintf(`{"requester_name":"again","request_id":%d,"resources":%s}`, id, resources))
			for n := 0; n < 2; { // an offer, and a grant
				if a := next[msgs.ResourceAssignment](b, told); slices.Contains(a.RequestIds, uint32(id)) {
					n++
					o.state(lives("again", id, true))
				}
			}
			for _, r := range []string{"tail", "ears", "mouth"} {
				if want := strings.Contains(resources, r); b.owns("again", r) != want {
					t.Errorf("request %d for %s: it has the %s: %v", id, resources, r, !want)
				}
			}
		}
	})
}

// TestAHostileStreamIsRefusedByName: values that are not finite, of joints and limbs that are not there
// or named twice, are refused by name on controllers_state, under the name of their client; an
// effort beyond the limit is cut, and leaves nothing behind when it is taken back.
func TestAHostileStreamIsRefusedByName(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		m := b.member(requester.Config{Name: "hostile", Needed: []string{"tail", "leg1"}}, nil)
		if err := m.Request(b.ctx); err != nil {
			t.Fatal(err)
		}
		tail, level := []string{"tail_joint1"}, msgs.Pose{Orientation: msgs.Quaternion{W: 1}}
		for _, x := range []struct {
			value any
			why   string
		}{
			{&msgs.JointState{Name: []string{"tail_joint1", "tail_joint1"}, Position: []float64{0.1, 0.2}}, `joint "tail_joint1" is named twice`},
			{&msgs.JointState{Name: []string{"tial_joint1"}, Position: []float64{0.1}}, `joint "tial_joint1" is unknown`},
			{&msgs.JointState{Name: tail}, "1 joints and 0 positions"},
			{&msgs.JointState{Name: tail, Position: []float64{1e308}}, "joint tail_joint1 would come to 1e+308"},
			{&msgs.JointState{Name: tail, Position: []float64{math.NaN()}}, "not finite"},
			{&poisemsgs.RigidBodyState{Name: []string{"leg1"}, Frame: []msgs.Pose{{}}}, "the orientation has no length"},
			{&poisemsgs.RigidBodyState{Name: []string{"leg9"}, Frame: []msgs.Pose{{Orientation: msgs.Quaternion{W: 1}}}}, `"leg9"`},
			{&poisemsgs.SupportState{Name: []string{"leg1"}, Support: []float64{2}}, `support of limb "leg1" is 2`},
			{&poisemsgs.SupportState{Name: []string{"leg1", "leg1"}, Support: []float64{1, 0}}, `limb "leg1" is named twice`},
			{&poisemsgs.RigidBodyState{Name: []string{"leg1", "leg1"}, Frame: []msgs.Pose{level, level}}, `limb "leg1" is named twice`},
			{&poisemsgs.RigidBodyState{Name: []string{"base", "base_link"}, Frame: []msgs.Pose{level, level}}, "the base is named twice"},
			{&msgs.JointState{Name: tail, Position: []float64{0.1}, Velocity: []float64{1e308}}, "a velocity of 1e+308 rad/s exceeds the limit of joint tail_joint1: at most "},
			{&msgs.JointState{Name: tail, Position: []float64{0.1}, Velocity: []float64{-1e308}}, "a velocity of -1e+308 rad/s exceeds the limit of joint tail_joint1: at most "},
			{&poisemsgs.JointStateAccel{Name: tail, Position: []float64{0.1}, Velocity: []float64{0}, Acceleration: []float64{1e308}}, "an acceleration of 1e+308 rad/s² exceeds the limit of joint tail_joint1: at most "},
			{&poisemsgs.RigidBodyState{Name: []string{"leg1"}, Frame: []msgs.Pose{level}, Twist: []msgs.Twist{{Linear: msgs.Vector3{X: 1e308, Y: 1e308}}}}, "a velocity of 1e+308 m/s or rad/s exceeds the limit of limb leg1: at most 100 is"},
		} {
			if err := m.Send(x.value); err != nil {
				t.Fatal(err)
			}
			b.until("it is refused: "+x.why, func() bool {
				for _, c := range latest[poisemsgs.ControllersState](b, "/controllers_state").Controllers {
					if c.Client == "hostile" && len(c.Refused) == 1 && strings.Contains(c.Refused[0].Text, x.why) {
						return true
					}
				}
				return false
			})
		}
		if q := b.tail(); q != 0 {
			t.Errorf("the tail was moved to %g", q)
		}
		states := b.subscribe("/joint_states")
		defer states.Close()
		lowest, highest := 0.0, 0.0
		for i := range 100 {
			v := &msgs.JointState{Name: tail, Position: []float64{0}}
			if v.Effort = []float64{0}; i < 50 {
				v.Effort[0] = 1e9
			}
			if err := m.Send(v); err != nil {
				t.Fatal(err)
			}
			s := next[msgs.JointState](b, states)
			tau := s.Effort[slices.Index(s.Name, "tail_joint1")]
			lowest, highest = min(lowest, tau), max(highest, tau)
			time.Sleep(20 * time.Millisecond)
		}
		if lowest < 0 || highest == 0 || highest > 2 {
			t.Errorf("an effort of 1e9 N·m, taken back, was told as %g … %g", lowest, highest)
		}
	})
}

// TestALeaseOfARequestIsKeptAlive: signs of life at a steady rate keep a lease that is shorter than
// the configured one.
func TestALeaseOfARequestIsKeptAlive(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, func(c *config.Config) { c.Loop.Lease = 30 })
		o := b.outside(b.c, "brief")
		claim := b.publish("/resource_claim", "poise_msgs/msg/ResourceRequest")
		for id, lease := range []float64{1, 0.05} {
			id++
			claim(poisemsgs.ResourceRequest{RequesterName: "brief", RequestID: uint32(id), Needed: []string{"tail"}, Lease: lease})
			b.confirmed(o, "brief", id, "tail")
			for range 40 {
				time.Sleep(time.Duration(lease / 5 * float64(time.Second)))
				o.state(lives("brief", id, true))
				if !b.owns("brief", "tail") {
					t.Fatalf("a lease of %g s has ended though it lives", lease)
				}
			}
			began := time.Now()
			b.until("the lease has ended", func() bool { return !b.owns("brief", "tail") })
			if took := time.Since(began).Seconds(); took > lease+0.1 {
				t.Errorf("a lease of %g s ended after %g s", lease, took)
			}
		}
	})
}
