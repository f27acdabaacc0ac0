package server_test

import (
	"testing"
	"testing/synctest"
	"time"

	"poise/msgs"
	"poise/msgs/poisemsgs"
)

// feeling puts a motion of the pony's head into the library that asks something of what is felt.
func (b *bed) feeling(name string, events ...poisemsgs.MotionEvent) {
	b.t.Helper()
	b.must("/motions/put", &poisemsgs.MotionsPutRequest{Motion: nodding(name, events)})
}

// nodding is a slow motion of the head with events.
func nodding(name string, events []poisemsgs.MotionEvent) poisemsgs.Motion {
	m := poisemsgs.Motion{Name: name, Columns: []string{"joint52"}, Joints: []poisemsgs.MotionJoint{{Name: "joint52", Enabled: true}}, Events: events}
	for i, q := range []float64{0, 0.1, 0} {
		m.Points = append(m.Points, poisemsgs.MotionPoint{Time: float64(i), Enabled: true, Positions: []float64{q}})
	}
	return m
}

// TestMotionsFeelContacts over the wire, in physics: one waits for a foot that stands and goes on, one for a foot that does not lift and
// fails, one holds at an impact until it is resumed; what is misspelled is named.
func TestMotionsFeelContacts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, heavy(t, ""))
		time.Sleep(2 * time.Second)
		b.must("/switch_cycle", &poisemsgs.SwitchCycleRequest{Cycle: 1})
		time.Sleep(2 * time.Second)
		b.feeling("waits", poisemsgs.MotionEvent{Time: 0.5, Type: "contact/wait", Command: "touch_down", Options: "leg1 leg2"})
		b.feeling("hangs", poisemsgs.MotionEvent{Time: 0.5, Type: "contact/wait", Command: "lift_off", Options: "leg1 timeout=0.5"})
		b.feeling("holds", poisemsgs.MotionEvent{Time: 0.2, Type: "contact/impact", Command: "hold", Options: "head"})

		feet := next[poisemsgs.ContactStates](b, b.subscribe("/contacts_real"))
		for i, name := range feet.Name {
			if !feet.Stands[i] {
				t.Errorf("%s of a pony that stands is %s", name, feet.State[i])
			}
		}
		u, _ := b.end(b.send("/play_motion", textType, play("waits", "approach")))
		b.want(u, succeeded)
		if u, _ = b.end(b.send("/play_motion", textType, play("hangs", "approach"))); u.Status != aborted {
			t.Errorf("a foot that does not lift is waited for until %d %s", u.Status, u.Text)
		}

		felt := b.subscribe("/contact_events")
		g := b.send("/play_motion", textType, play("holds", "approach"))
		time.Sleep(700 * time.Millisecond)
		b.must("/physics/push", &poisemsgs.PhysicsPushRequest{Link: "bone54", Force: msgs.Vector3{Z: -15}, Duration: 0.15})
		for e := (poisemsgs.ContactEvent{}); e.Limb != "head"; {
			if e = next[poisemsgs.ContactEvent](b, felt); e.Limb == "head" && (e.Kind != "impact" || e.Reaction != "hold") {
				t.Errorf("a push on the head is told as %+v", e)
			}
		}
		pushed := time.Now()
		time.Sleep(3 * time.Second)
		b.must("/resume", &poisemsgs.ResumeRequest{})
		u, _ = b.end(g)
		b.want(u, succeeded)
		if held := time.Since(pushed); held < 3*time.Second {
			t.Errorf("it was over %v after the impact at which it was to hold", held)
		}

		for name, wrong := range map[string]struct {
			options string
			words   []string
		}{"misspelled": {"leg9", []string{"leg9", "leg1"}}, "nothing": {"", []string{"no limb"}}, "never": {"leg1 timeout=-1", []string{"timeout", "-1"}}, "footless": {"head", []string{"head", "no contact"}}} {
			b.feeling(name, poisemsgs.MotionEvent{Time: 0.5, Type: "contact/wait", Command: "touch_down", Options: wrong.options})
			u, _ := b.end(b.send("/play_motion", textType, play(name, "approach")))
			b.rejected(u, wrong.words...)
		}
	})
}
