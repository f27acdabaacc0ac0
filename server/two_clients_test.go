package server_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"poise/msgs"
	"poise/server/config"
	"poise/wire/rosbridge/client"
)

// TestAClientThatGoesDoesNotTouchTheMotionOfAnother: one client moves the head. Beside it
// another moves other joints, asks and listens, and is killed or falls silent at a random
// moment. What the head is told is the same as without the other, bit for bit.
func TestAClientThatGoesDoesNotTouchTheMotionOfAnother(t *testing.T) {
	t.Parallel()
	alone := headMotion(t, nil)
	if len(alone) < 250 || slices.Min(alone) == slices.Max(alone) {
		t.Fatalf("the head did not move: %d values", len(alone))
	}
	seeds := 3
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		for how, leave := range map[string]func(s *stranger, random *rand.Rand){
			"killed": func(s *stranger, random *rand.Rand) {
				time.Sleep(time.Duration(random.IntN(3000)) * time.Millisecond)
				s.Close()
			},
			"silent": func(s *stranger, random *rand.Rand) { // it reads nothing, answers no ping and stays
				_, _ = s.Write([]byte{textFrame, 0x80 | 126, 0x10}) // in the middle of a frame
			},
		} {
			beside := headMotion(t, func(b *bed, from map[string]float64) {
				random := rand.New(rand.NewPCG(uint64(seed), 7))
				s, err := b.stranger()
				if err != nil {
					t.Error(err)
					return
				}
				b.t.Cleanup(func() { s.Close() })
				joints := slices.Sorted(maps.Keys(from))
				for i := range 1 + random.IntN(10) {
					time.Sleep(time.Duration(random.IntN(100)) * time.Millisecond)
					joint := joints[random.IntN(5)] // of a leg
					goal := client.Text(sweep(from, 0.5+random.Float64(), map[string]float64{joint: 0.02}), msgs.ROS2)
					for _, text := range []string{
						fmt.Sprintf(`{"op":"send_action_goal","id":"g%d","action":"/follow_joint_trajectory","action_type":%q,"args":%s}`, i, followType, goal),
						`{"op":"subscribe","topic":"/joint_states"}`, `{"op":"call_service","service":"/get_state"}`,
					}[:1+random.IntN(3)] {
						if err := s.frame(textFrame, []byte(text)); err != nil {
							t.Error(err)
						}
					}
				}
				leave(s, random)
			})
			if !slices.EqualFunc(alone, beside, func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }) {
				t.Errorf("seed %d, %s: the motion of the head is another one (%d and %d values)", seed, how, len(alone), len(beside))
			}
		}
	}
}

// headMotion moves the head while something else happens, and returns what its joint was
// told in every cycle of five seconds.
func headMotion(t *testing.T, beside func(b *bed, from map[string]float64)) (told []float64) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, func(c *config.Config) { c.Loop.Period = 0.01 }) // every cycle is published
		from := b.joints("/joint_states")
		// between two ticks, so that it is the same tick that takes the goal
		began := time.Now().Truncate(time.Second).Add(2*time.Second + 5*time.Millisecond)
		done := make(chan struct{})
		go func() {
			defer close(done)
			if beside != nil {
				beside(b, from)
			}
		}()
		time.Sleep(time.Until(began) - time.Millisecond)
		states := b.subscribe("/joint_states")
		time.Sleep(time.Until(began))
		u, _ := b.end(b.send("/follow_joint_trajectory", followType, sweep(from, 3, map[string]float64{"joint52": 0.4})))
		b.want(u, succeeded)
		time.Sleep(time.Until(began.Add(5 * time.Second)))
		<-done
		for {
			ctx, cancel := context.WithTimeout(b.ctx, time.Microsecond)
			text, lost, err := states.Next(ctx)
			cancel()
			if err != nil {
				break
			}
			var m msgs.JointState
			if err := client.Read(text, &m); err != nil || lost > 0 {
				t.Fatalf("%v, %d lost", err, lost)
			}
			// the cycle before it may have been published before or after the subscription
			stamp := time.Unix(0, m.Header.Stamp.Nanos())
			if at := slices.Index(m.Name, "joint52"); at >= 0 && stamp.After(began) && !stamp.After(began.Add(5*time.Second)) {
				told = append(told, m.Position[at])
			}
		}
	})
	return told
}

// TestAStormOfTakeoversDoesNotTouchAMotion: while one client moves the head, controllers
// outside ask for everything, take over from each other, quit, fall silent, leave, and send
// values for the head, which is not theirs. What the head is told is the same as without
// them, bit for bit.
func TestAStormOfTakeoversDoesNotTouchAMotion(t *testing.T) {
	t.Parallel()
	alone := headMotion(t, nil)
	for seed := range 2 {
		rounds := 0
		beside := headMotion(t, func(b *bed, _ map[string]float64) { rounds = takeovers(b, uint64(seed)) })
		if rounds < 40 {
			t.Errorf("seed %d: only %d rounds", seed, rounds)
		}
		if !slices.EqualFunc(alone, beside, func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }) {
			t.Errorf("seed %d: the motion of the head is another one (%d and %d values)", seed, len(alone), len(beside))
		}
	}
}

// takeovers lets external controllers storm for six seconds, and returns how many rounds there
// were at least.
func takeovers(b *bed, seed uint64) int {
	all := []string{"tail", "mouth", "ears", "leg1"}
	var wg sync.WaitGroup
	began := time.Now()
	end := began.Add(6 * time.Second)
	for i := range 4 {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(i)))
			name := fmt.Sprint("storm", i)
			c, _ := b.another()
			defer c.Close()
			o := b.outside(c, name)
			for id := uint32(1); time.Now().Before(end); id++ {
				ask := msgs.ResourceRequest{RequesterName: name, RequestID: id, Resources: []string{all[random.IntN(4)], all[random.IntN(4)]}}
				if at := time.Since(began); at > 2500*time.Millisecond && at < 4500*time.Millisecond { // in vain: a goal of a higher rank has it
					ask.Resources = append(ask.Resources, "head")
				}
				for range ask.Resources {
					ask.PriPending, ask.PriOperational = append(ask.PriPending, float32(30+random.IntN(15))), append(ask.PriOperational, float32(30+random.IntN(15)))
				}
				o.request(string(client.Text(&ask, msgs.ROS2)))
				for range random.IntN(5) {
					time.Sleep(time.Duration(random.IntN(60)) * time.Millisecond)
					o.state(lives(name, int(id)-random.IntN(2), random.IntN(4) > 0))
					o.ref(fmt.Sprintf(`{"name":["joint52","tail_joint1"],"position":[-0.5,%g]}`, random.Float64()-0.5))
				}
			}
		})
	}
	wg.Wait()
	rounds := b.resources().Rounds
	return int(rounds[len(rounds)-1].Number)
}
