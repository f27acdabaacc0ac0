package server_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"poise/msgs"
	"poise/server/config"
)

// headMotion plays the motion of the head and returns every value of its joint that the
// robot was told, from the first to the last that is another than the one before.
func (b *bed) headMotion() (values []float64) {
	b.t.Helper()
	states := b.subscribe("/joint_states")
	defer states.Close()
	next[msgs.JointState](b, states)
	g := b.send("/play_motion", textType, play("twitch", ""))
	const rest = 100 // samples without a change after which it is over
	for still := 0; still < rest || len(values) < 2*rest; still++ {
		m := next[msgs.JointState](b, states)
		q := m.Position[slices.Index(m.Name, "joint52")]
		if n := len(values); n > 0 && values[n-1] != q {
			still = 0
		}
		values = append(values, q)
	}
	u, _ := b.end(g)
	b.want(u, succeeded)
	first := slices.IndexFunc(values, func(q float64) bool { return q != values[0] })
	last := len(values) - 1
	for values[last] == values[last-1] {
		last--
	}
	return values[first : last+1]
}

// neighbour moves the tail in one of several ways, until it is killed in the middle of a
// message or falls silent at a random instant.
func (b *bed) neighbour(random *rand.Rand) {
	s, err := b.stranger()
	if err != nil {
		b.t.Error(err)
		return
	}
	defer s.Close()
	say := func(text string) {
		_ = s.frame(textFrame, []byte(text)) // it may be cut off
	}
	publish := func(topic, msg string) {
		say(fmt.Sprintf(`{"op":"publish","topic":%q,"msg":%s}`, topic, msg))
	}
	way, name := random.IntN(3), fmt.Sprintf("gait_%d", random.IntN(100))
	switch way {
	case 0: // an external controller
		publish("/resource_request", asks(name, 1, "tail"))
	case 1: // a stream
		say(`{"op":"send_action_goal","id":"g","action":"/controllers/joint_state/set_operational","action_type":"` + switchType + `","args":{"operational":true,"resources":["tail"]}}`)
	case 2: // a trajectory
		say(`{"op":"send_action_goal","id":"g","action":"/follow_joint_trajectory","action_type":"` + followType + `","args":{"trajectory":{"joint_names":["tail_joint1"],
			"points":[{"positions":[0.1],"time_from_start":{"sec":1}},{"positions":[0.2],"time_from_start":{"sec":2}}]}}}`)
	}
	end := time.Duration(random.IntN(1200)) * time.Millisecond
	for at := time.Duration(0); at < end; at += 10 * time.Millisecond {
		q := tailAt(0.3 * random.Float64())
		switch way {
		case 0:
			publish("/resource_requester_state", lives(name, 1, true))
			publish("/controllers/"+name+"/ref_joints", q)
		case 1:
			publish("/joints_ref", q)
		}
		time.Sleep(10 * time.Millisecond)
	}
	if random.IntN(2) == 0 { // killed, half of a message sent
		_, _ = s.Write([]byte{textFrame, 0x80 | 100, 0, 0, 0, 0, '{', '"'})
		return
	}
	time.Sleep(2 * time.Second) // silent, and there
}

// TestTheMotionOfOneClientDoesNotDependOnAnother: one is killed or falls silent at random
// instants of whatever it does, and the motion of the other is the same, bit for bit.
func TestTheMotionOfOneClientDoesNotDependOnAnother(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, func(c *config.Config) { c.Rates.JointStates = 200 }).stock() // every cycle
		alone := b.headMotion()
		if len(alone) < 150 || slices.Max(alone) < 0.19 {
			t.Fatalf("%d values up to %g", len(alone), slices.Max(alone))
		}
		moved := 0
		for seed := range uint64(24) {
			random := rand.New(rand.NewPCG(seed, 15)) // the neighbour's alone, once it runs
			lead := time.Duration(random.IntN(300)) * time.Millisecond
			done := make(chan struct{})
			before := b.tail()
			go func() {
				defer close(done)
				b.neighbour(random)
			}()
			time.Sleep(lead)
			beside := b.headMotion()
			if b.tail() != before {
				moved++
			}
			if !slices.Equal(alone, beside) {
				at := 0
				for at < min(len(alone), len(beside)) && alone[at] == beside[at] {
					at++
				}
				t.Fatalf("seed %d: %d values and %d alone; the first that differs is number %d", seed, len(beside), len(alone), at)
			}
			<-done
			b.send("/controllers/joint_state/set_operational", switchType, &msgs.SetOperationalGoal{})
			b.until("the tail is free", func() bool {
				return !b.owns("remote", "tail") && !b.owns("joint_state", "tail") && !b.owns("follow", "tail")
			})
		}
		if moved < 8 {
			t.Errorf("the tail moved in %d of 24 runs only: the neighbour did nothing", moved)
		}
	})
}
