package graph

import (
	"strings"
	"testing"

	"poise/msgs"
)

// TestAnOfferMeetsWhatAsksForNoMore goes through all pairs, by the table of DDS.
func TestAnOfferMeetsWhatAsksForNoMore(t *testing.T) {
	for _, offer := range []QoS{{}, {Latched: true}, {Reliability: BestEffort}, {Reliability: BestEffort, Latched: true}, {Reliability: Reliable}} {
		for _, ask := range []QoS{{}, {Latched: true}, {Reliability: BestEffort}, {Reliability: Reliable}, {Reliability: Reliable, Latched: true, Depth: 50}} {
			reliable := ask.Reliability != Reliable || offer.Reliability != BestEffort
			latched := !ask.Latched || offer.Latched
			o, a := offer.offered(), ask.asked()
			if why := offer.Unmet(ask); (why == "") != (reliable && latched) || o.meets(&a) != (why == "") {
				t.Errorf("offered %v, asked %v: %q", o, a, why)
			}
		}
	}
	if why := (QoS{Reliability: BestEffort}).Unmet(QoS{Reliability: Reliable}); why != "the subscriber asks for reliable delivery, the publisher offers best effort" {
		t.Error(why)
	}
}

func TestNothingGoesBetweenAnUnmatchedPair(t *testing.T) {
	g := newGraph(t)
	lossy := must[Publisher[msgs.Int32]](t)(Topic[msgs.Int32](g, "n", TopicOptions{QoS: QoS{Reliability: BestEffort, Latched: true}, Node: "/lossy"}))
	lossy.Publish(&msgs.Int32{Data: 1})
	sure := must[Publisher[msgs.Int32]](t)(Topic[msgs.Int32](g, "n", TopicOptions{Node: "/sure"}))
	strict := must[Listener[msgs.Int32]](t)(Listen[msgs.Int32](g, "n", SubscribeOptions{QoS: QoS{Reliability: Reliable}, Node: "/strict"}))
	any := must[Listener[msgs.Int32]](t)(Listen[msgs.Int32](g, "n", SubscribeOptions{Node: "/any"}))
	lossy.Publish(&msgs.Int32{Data: 2})
	sure.Publish(&msgs.Int32{Data: 3})
	for name, tc := range map[string]struct {
		sub  Listener[msgs.Int32]
		want []int32
	}{"strict": {strict, []int32{3}}, "any": {any, []int32{1, 2, 3}}} {
		for _, want := range tc.want {
			if v, lost, ok := tc.sub.Poll(); !ok || v.Data != want || lost != 0 {
				t.Errorf("%s: %v, %v, want %d", name, v, ok, want)
			}
		}
		if tc.sub.Len() != 0 {
			t.Errorf("%s hears more", name)
		}
	}
	i, ok := g.TopicInfo("n")
	if !ok || len(i.Unmatched) != 1 || i.Unmatched[0].Publisher != "/lossy" || i.Unmatched[0].Subscriber != "/strict" || !strings.Contains(i.Unmatched[0].Reason, "best effort") {
		t.Errorf("%+v", i)
	}
	if i.QoS.String() != "best effort, 10, latched" {
		t.Errorf("the topic as a whole: %v", i.QoS)
	}
}

func TestALatchedPublisherKeepsItsDepth(t *testing.T) {
	g := newGraph(t)
	pub := must[Publisher[msgs.Int32]](t)(Topic[msgs.Int32](g, "n", TopicOptions{QoS: QoS{Latched: true, Depth: 3}}))
	for i := range 5 {
		pub.Publish(&msgs.Int32{Data: int32(i)})
	}
	sub := must[Listener[msgs.Int32]](t)(Listen[msgs.Int32](g, "n", SubscribeOptions{}))
	for want := int32(2); want < 5; want++ {
		if v, _, ok := sub.Poll(); !ok || v.Data != want {
			t.Errorf("%v, %v, want %d", v, ok, want)
		}
	}
	if _, _, ok := sub.Poll(); ok {
		t.Error("more than the depth was kept")
	}
}

// TestQueuesFollowTheDepthOfPublishers, in whichever order they came, unless the subscriber says
// how much it keeps.
func TestQueuesFollowTheDepthOfPublishers(t *testing.T) {
	g := newGraph(t)
	early := must[*Subscription](t)(g.Subscribe("n", SubscribeOptions{}))
	own := must[*Subscription](t)(g.Subscribe("n", SubscribeOptions{QoS: QoS{Depth: 3}}))
	if early.QoS().Depth != defaultDepth {
		t.Errorf("%v at the beginning", early.QoS())
	}
	pub := must[Publisher[msgs.Int32]](t)(Topic[msgs.Int32](g, "n", TopicOptions{QoS: QoS{Depth: 100}}))
	late := must[*Subscription](t)(g.Subscribe("n", SubscribeOptions{}))
	for range 150 {
		pub.Publish(new(msgs.Int32))
	}
	for name, tc := range map[string]struct {
		sub  *Subscription
		want int
	}{"early": {early, 100}, "late": {late, 100}, "own": {own, 3}} {
		if n := tc.sub.Len(); n != tc.want || tc.sub.QoS().Depth != tc.want {
			t.Errorf("%s: %d wait, %v", name, n, tc.sub.QoS())
		}
	}
	if q := must[*Subscription](t)(g.Subscribe("n", SubscribeOptions{QoS: QoS{Depth: 1 << 30}})).QoS(); q.Depth != MaxDepth {
		t.Errorf("depth %d, want the bound %d", q.Depth, MaxDepth)
	}
}
