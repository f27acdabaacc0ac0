package graph

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"poise/msgs"
	"poise/msgs/registry"
)

func newGraph(t testing.TB) *Graph {
	g := New(Options{})
	t.Cleanup(g.Close)
	return g
}

func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestASlowSubscriberLosesTheOldestAndIsTold(t *testing.T) {
	g := newGraph(t)
	pub := must[Publisher[msgs.Int32]](t)(Topic[msgs.Int32](g, "n", TopicOptions{}))
	sub := must[Listener[msgs.Int32]](t)(Listen[msgs.Int32](g, "n", SubscribeOptions{QoS: QoS{Depth: 3}}))
	for i := range 10 {
		pub.Publish(&msgs.Int32{Data: int32(i)})
	}
	for i, want := range []struct {
		value int32
		lost  int
	}{{7, 7}, {8, 0}, {9, 0}} {
		v, lost, ok := sub.Poll()
		if !ok || v.Data != want.value || lost != want.lost {
			t.Fatalf("delivery %d: %v, %d lost, %v; want %+v", i, v, lost, ok, want)
		}
	}
	if _, _, ok := sub.Poll(); ok || sub.Lost() != 7 {
		t.Errorf("the queue is not empty, or %d lost in all", sub.Lost())
	}
}

// What comes out of a queue is what went in, in order, with the losses told.
func TestDeliveredAndLostAddUpForEveryQueueLength(t *testing.T) {
	for limit := 1; limit <= 9; limit++ {
		for burst := 1; burst <= 12; burst++ {
			g := New(Options{})
			pub := must[Publisher[msgs.Int32]](t)(Topic[msgs.Int32](g, "n", TopicOptions{}))
			sub := must[Listener[msgs.Int32]](t)(Listen[msgs.Int32](g, "n", SubscribeOptions{QoS: QoS{Depth: limit}}))
			next := int32(0)
			for round := range 5 {
				for i := range burst {
					pub.Publish(&msgs.Int32{Data: int32(round*burst + i)})
				}
				for {
					v, lost, ok := sub.Poll()
					if !ok {
						break
					}
					if next += int32(lost); v.Data != next {
						t.Fatalf("queue %d, burst %d: got %d, want %d", limit, burst, v.Data, next)
					}
					next++
				}
			}
			if int(next) != 5*burst {
				t.Errorf("queue %d, burst %d: %d told of %d", limit, burst, next, 5*burst)
			}
			g.Close()
		}
	}
}

func TestTopicTypesAreChecked(t *testing.T) {
	g := newGraph(t)
	pub := must[Publisher[msgs.JointState]](t)(Topic[msgs.JointState](g, "joint_states", TopicOptions{}))
	var wrong *TypeError
	if _, err := g.Subscribe("joint_states", SubscribeOptions{Type: "std_msgs/msg/String"}); !errors.As(err, &wrong) ||
		err.Error() != "topic /joint_states has type sensor_msgs/msg/JointState, not std_msgs/msg/String" {
		t.Errorf("subscription of another type: %v", err)
	}
	if _, err := g.Advertise("joint_states", "std_msgs/msg/String", TopicOptions{}); !errors.As(err, &wrong) {
		t.Errorf("publication of another type: %v", err)
	}
	if err := pub.Advertisement.Publish(&msgs.String{}); !errors.As(err, &wrong) {
		t.Errorf("a value of another type: %v", err)
	}
	if err := pub.Advertisement.Publish(msgs.JointState{}); !errors.As(err, &wrong) {
		t.Errorf("a value in place of a pointer: %v", err)
	}
	var unknown *registry.UnknownError
	if _, err := g.Advertise("x", "no_msgs/msg/No", TopicOptions{}); !errors.As(err, &unknown) {
		t.Errorf("an unknown type: %v", err)
	}
	// a refused registration leaves nothing behind
	if n := len(g.Topics()); n != 1 {
		t.Errorf("%d topics", n)
	}
}

func TestPublishedJSONIsReadStrictlyInEitherForm(t *testing.T) {
	g := newGraph(t)
	a := must[*Advertisement](t)(g.Advertise("joints_ref", "sensor_msgs/JointState", TopicOptions{Node: "client"}))
	sub := must[Listener[msgs.JointState]](t)(Listen[msgs.JointState](g, "joints_ref", SubscribeOptions{}))
	err := a.PublishJSON([]byte(`{"name":["a"],"pos":[1],"header":{"stmp":{}}}`))
	if err == nil || !strings.Contains(err.Error(), "pos: the message has no such field") || !strings.Contains(err.Error(), "header.stmp: the message has no such field") {
		t.Errorf("unknown fields: %v", err)
	}
	for _, in := range []string{
		`{"header":{"stamp":{"sec":1,"nanosec":2}},"name":["a"],"position":[null]}`,
		`{"header":{"seq":7,"stamp":{"secs":1,"nsecs":2}},"name":["a"],"position":[null]}`,
	} {
		if err := a.PublishJSON([]byte(in)); err != nil {
			t.Fatal(err)
		}
		v, _, ok := sub.Poll()
		if !ok || v.Header.Stamp != (msgs.Time{Sec: 1, Nanosec: 2}) || v.Position[0] == v.Position[0] || len(v.Velocity) != 0 {
			t.Errorf("%s came as %+v", in, v)
		}
	}
}

func TestTextIsMadeOnceForAllReadersOfAForm(t *testing.T) {
	g := newGraph(t)
	pub := must[Publisher[msgs.Header]](t)(Topic[msgs.Header](g, "h", TopicOptions{}))
	var subs []*Subscription
	for _, name := range []string{"", "std_msgs/msg/Header", "std_msgs/Header", "std_msgs/Header"} {
		subs = append(subs, must[*Subscription](t)(g.Subscribe("h", SubscribeOptions{Type: name})))
	}
	pub.Publish(&msgs.Header{Seq: 3, Stamp: msgs.Time{Sec: 1, Nanosec: 2}, FrameID: "base"})
	var texts [][]byte
	for _, s := range subs {
		m, _, _ := s.Poll()
		texts = append(texts, m.JSON(s.Form()))
	}
	if got := string(texts[0]); got != `{"stamp":{"sec":1,"nanosec":2},"frame_id":"base"}` {
		t.Errorf("ROS 2: %s", got)
	}
	if got := string(texts[2]); got != `{"seq":3,"stamp":{"secs":1,"nsecs":2},"frame_id":"base"}` {
		t.Errorf("ROS 1: %s", got)
	}
	if &texts[0][0] != &texts[1][0] || &texts[2][0] != &texts[3][0] {
		t.Error("readers of one form got texts of their own")
	}
}

func TestNothingIsEncodedWithoutSubscribers(t *testing.T) {
	g := newGraph(t)
	pub := must[Publisher[msgs.JointState]](t)(Topic[msgs.JointState](g, "joint_states", TopicOptions{}))
	made := 0
	build := func() *msgs.JointState { made++; return new(msgs.JointState) }
	if n := testing.AllocsPerRun(100, func() { pub.PublishFunc(build) }); n != 0 || made != 0 {
		t.Errorf("%g allocations and %d values without a subscriber", n, made)
	}
	sub := must[*Subscription](t)(g.Subscribe("joint_states", SubscribeOptions{}))
	pub.PublishFunc(build)
	sub.Close()
	pub.PublishFunc(build)
	if made != 1 {
		t.Errorf("%d values made, want 1", made)
	}
}

func TestASubscriberMayComeFirst(t *testing.T) {
	g := newGraph(t)
	early := must[*Subscription](t)(g.Subscribe("later", SubscribeOptions{}))
	if early.Type() != nil {
		t.Errorf("type %v before it was declared", early.Type())
	}
	pub := must[Publisher[msgs.Bool]](t)(Topic[msgs.Bool](g, "/later", TopicOptions{}))
	pub.Publish(&msgs.Bool{Data: true})
	if m, _, ok := early.Poll(); !ok || !m.Value.(*msgs.Bool).Data || early.Type().String() != "std_msgs/msg/Bool" {
		t.Error("the early subscriber got nothing")
	}
}

func TestATopicIsGoneWithItsLastUser(t *testing.T) {
	g := newGraph(t)
	a := must[*Advertisement](t)(g.Advertise("x", "std_msgs/msg/Bool", TopicOptions{QoS: QoS{Latched: true}}))
	s := must[*Subscription](t)(g.Subscribe("x", SubscribeOptions{}))
	_ = a.Publish(&msgs.Bool{})
	a.Close()
	a.Close()
	s.Close()
	s.Close()
	if n := len(g.Topics()); n != 0 {
		t.Errorf("%d topics are left", n)
	}
	// the name is free for another type now, and what was latched is gone
	s = must[*Subscription](t)(g.Subscribe("x", SubscribeOptions{Type: "std_msgs/msg/String"}))
	if s.Len() != 0 {
		t.Error("a message of the old topic came")
	}
}

func TestNextEndsWithItsContextOrItsSubscription(t *testing.T) {
	g := New(Options{})
	s := must[*Subscription](t)(g.Subscribe("x", SubscribeOptions{}))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := s.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	done := make(chan error)
	go func() {
		_, _, err := s.Next(context.Background())
		done <- err
	}()
	g.Close()
	if err := <-done; !errors.Is(err, ErrClosed) {
		t.Errorf("closed: %v", err)
	}
	if _, err := g.Subscribe("x", SubscribeOptions{}); !errors.Is(err, ErrClosed) {
		t.Errorf("a closed graph: %v", err)
	}
}

func TestWakeIsCalledWhenAQueueFills(t *testing.T) {
	g := newGraph(t)
	woken := 0
	pub := must[Publisher[msgs.Int32]](t)(Topic[msgs.Int32](g, "n", TopicOptions{}))
	sub := must[*Subscription](t)(g.Subscribe("n", SubscribeOptions{QoS: QoS{Depth: 2}, Wake: func() { woken++ }}))
	for range 5 {
		pub.Publish(new(msgs.Int32))
	}
	if woken != 1 {
		t.Errorf("woken %d times for one filling", woken)
	}
	sub.Poll()
	sub.Poll()
	pub.Publish(new(msgs.Int32))
	if woken != 2 {
		t.Errorf("woken %d times", woken)
	}
}

func TestNamesAreCheckedAndHaveSecondNames(t *testing.T) {
	g := newGraph(t)
	for _, bad := range []string{"", "/", "a//b", "a/", "a b", "ä", "a-b", strings.Repeat("x", 300)} {
		var name *NameError
		if _, err := g.Subscribe(bad, SubscribeOptions{}); !errors.As(err, &name) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if err := g.Alias("virtual/joint_states", "joint_states"); err != nil {
		t.Fatal(err)
	}
	pub := must[Publisher[msgs.JointState]](t)(Topic[msgs.JointState](g, "joint_states", TopicOptions{}))
	sub := must[*Subscription](t)(g.Subscribe("/virtual/joint_states", SubscribeOptions{}))
	pub.Publish(new(msgs.JointState))
	if sub.Len() != 1 {
		t.Error("nothing came under the second name")
	}
	var names []string
	for _, i := range g.Topics() {
		names = append(names, i.Name+" "+i.Type.String())
	}
	if got := fmt.Sprint(names); got != "[/joint_states sensor_msgs/msg/JointState /virtual/joint_states sensor_msgs/msg/JointState]" {
		t.Error(got)
	}
	if err := g.Alias("virtual/joint_states", "other"); err == nil {
		t.Error("a second name was given twice")
	}
}

func TestManyPublishAndManyRead(t *testing.T) {
	g := newGraph(t)
	const publishers, readers, each = 4, 8, 200
	pub := must[Publisher[msgs.Int32]](t)(Topic[msgs.Int32](g, "n", TopicOptions{}))
	var reading, writing sync.WaitGroup
	totals := make([]int, readers)
	for r := range readers {
		queue := 1 + r*200 // some lose, some do not
		sub := must[*Subscription](t)(g.Subscribe("n", SubscribeOptions{QoS: QoS{Depth: queue}}))
		reading.Add(1)
		go func() {
			defer reading.Done()
			for totals[r] < publishers*each {
				m, lost, err := sub.Next(context.Background())
				if err != nil {
					t.Error(err)
					return
				}
				_ = m.JSON(msgs.ROS2)
				totals[r] += 1 + lost
			}
		}()
	}
	for range publishers {
		writing.Add(1)
		go func() {
			defer writing.Done()
			for i := range each {
				pub.Publish(&msgs.Int32{Data: int32(i)})
			}
		}()
	}
	writing.Wait()
	reading.Wait()
	for r, n := range totals {
		if n != publishers*each {
			t.Errorf("reader %d was told of %d messages, want %d", r, n, publishers*each)
		}
	}
}

// All readers see the messages of several publishers in one order.
func TestOneOrderForAllReaders(t *testing.T) {
	g := newGraph(t)
	pub := must[Publisher[msgs.Int32]](t)(Topic[msgs.Int32](g, "n", TopicOptions{}))
	a := must[*Subscription](t)(g.Subscribe("n", SubscribeOptions{QoS: QoS{Depth: 1000}}))
	b := must[*Subscription](t)(g.Subscribe("n", SubscribeOptions{QoS: QoS{Depth: 1000}}))
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range 100 {
				pub.Publish(&msgs.Int32{Data: int32(w*100 + i)})
			}
		}()
	}
	wg.Wait()
	for i := range 400 {
		x, _, _ := a.Poll()
		y, _, _ := b.Poll()
		if x != y {
			t.Fatalf("message %d differs", i)
		}
	}
}

func TestTopicsAreBounded(t *testing.T) {
	g := New(Options{MaxNames: 3})
	defer g.Close()
	var full *FullError
	for i := range 5 {
		_, err := g.Subscribe(fmt.Sprintf("t%d", i), SubscribeOptions{})
		if (err != nil) != (i >= 3) || err != nil && !errors.As(err, &full) {
			t.Errorf("topic %d: %v", i, err)
		}
	}
}

// TestWhatNoSubscriberWantsYetIsNotMade: of a sampled topic only the messages are made that a
// subscriber wants by then; one that did not say so wants all.
func TestWhatNoSubscriberWantsYetIsNotMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(Options{})
		defer g.Close()
		pub := must[Publisher[msgs.Int32]](t)(Topic[msgs.Int32](g, "n", TopicOptions{}))
		pub.Sampled()
		made := 0
		tell := func() { pub.PublishFunc(func() *msgs.Int32 { made++; return &msgs.Int32{} }) }
		second := func() int {
			made = 0
			for range 100 {
				tell()
				time.Sleep(10 * time.Millisecond)
			}
			return made
		}
		if n := second(); n != 0 {
			t.Errorf("without subscribers %d messages are made", n)
		}
		slow := must[Listener[msgs.Int32]](t)(Listen[msgs.Int32](g, "n", SubscribeOptions{}))
		slow.NotBefore(time.Now().Add(500*time.Millisecond), 0)
		if n := second(); n < 50 || n > 51 {
			t.Errorf("who wants nothing for half a second makes for %d of 100 messages", n)
		}
		slow.NotBefore(time.Now(), 20*time.Millisecond)
		if n := second(); n != 50 {
			t.Errorf("who wants one every 20 ms makes for %d of 100 messages", n)
		}
		slow.NotBefore(time.Now().Add(time.Hour), 0)
		quick := must[Listener[msgs.Int32]](t)(Listen[msgs.Int32](g, "n", SubscribeOptions{}))
		if n := second(); n != 100 {
			t.Errorf("beside one that wants all %d of 100 messages are made", n)
		}
		quick.Close()
		if n := second(); n != 0 {
			t.Errorf("without it %d messages are made", n)
		}
		slow.NotBefore(time.Time{}, 0)
		if n := second(); n != 100 {
			t.Errorf("who takes it back gets %d of 100 messages", n)
		}
	})
}
