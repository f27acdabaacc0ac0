package graph

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"poise/action"
	"poise/msgs"
)

// TestActionlibsRules holds the five topics to what actionlib does, in stepped time: status at
// 5 Hz and on every change besides, a goal that waits is recalled, a cancel that comes before
// its goal, cancels at and before a time, goals without an id and with one that is taken.
func TestActionlibsRules(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(Options{})
		defer g.Close()
		k := &keeper{}
		k.serve(t, g)
		status := must[Listener[msgs.GoalStatusArray]](t)(Listen[msgs.GoalStatusArray](g, "play_motion/status", SubscribeOptions{QoS: QoS{Depth: 1000}}))
		results := must[Listener[msgs.ActionResult[msgs.TextActionResult]]](t)(Listen[msgs.ActionResult[msgs.TextActionResult]](g, "play_motion/result", SubscribeOptions{QoS: QoS{Depth: 1000}}))
		goal := must[*Advertisement](t)(g.Advertise("play_motion/goal", "text_msgs/TextActionActionGoal", TopicOptions{Node: "client"}))
		cancel := must[*Advertisement](t)(g.Advertise("play_motion/cancel", "actionlib_msgs/GoalID", TopicOptions{Node: "client"}))
		// told returns the lists that were published since, each as id:status id:status
		told := func() (all []string) {
			synctest.Wait()
			for {
				m, _, ok := status.Poll()
				if !ok {
					return all
				}
				var words []string
				for _, s := range m.StatusList {
					words = append(words, fmt.Sprintf("%s:%d", s.GoalID.ID, s.Status))
				}
				all = append(all, strings.Join(words, " "))
			}
		}
		ended := func(id string) (states []uint8) {
			synctest.Wait()
			for {
				m, _, ok := results.Poll()
				if !ok {
					return states
				}
				if m.Status.GoalID.ID == id {
					states = append(states, m.Status.Status)
				}
			}
		}
		send := func(id string, stamp int32) {
			if err := goal.Publish(&msgs.ActionGoal[msgs.TextActionGoal]{GoalID: msgs.GoalID{ID: id, Stamp: msgs.Time{Sec: stamp}}}); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		callOff := func(id string, stamp int32) {
			if err := cancel.Publish(&msgs.GoalID{ID: id, Stamp: msgs.Time{Sec: stamp}}); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		withdraw := func() {
			for _, h := range k.canceled {
				h.Withdraw(action.ClientCancel, msgs.TextActionResult{}, "called off")
			}
			k.canceled = nil
		}

		time.Sleep(10*time.Second + 100*time.Millisecond)
		if n := len(told()); n != 50 {
			t.Errorf("%d messages of status in 10 s without a goal, want 50", n)
		}
		// every change is told at once, with no time passing
		send("a", 10)
		k.goals[0].Accept()
		k.goals[0].Succeed(msgs.TextActionResult{}, "")
		if got := told(); len(got) != 3 || got[0] != "a:0" || got[1] != "a:1" || got[2] != "a:3" {
			t.Errorf("the life of a goal is told as %q", got)
		}
		time.Sleep(4 * time.Second)
		if got := told(); len(got) != 20 || got[19] != "a:3" {
			t.Errorf("within 5 s of its end it is told as %q", got)
		}
		time.Sleep(2 * time.Second)
		if got := told(); len(got) != 10 || got[9] != "" {
			t.Errorf("after 5 s it is told as %q", got)
		}
		ended("a")

		// a goal that waits is recalled, one that runs is preempted
		send("waits", 20)
		callOff("waits", 0)
		withdraw()
		if got := strings.Join(told(), ","); got != "waits:0,waits:7,waits:8" {
			t.Errorf("a goal that waits is called off as %q", got)
		}
		send("runs", 21)
		k.goals[len(k.goals)-1].Accept()
		callOff("runs", 0)
		withdraw()
		if got := told(); got[len(got)-1] != "waits:8 runs:2" {
			t.Errorf("a goal that runs is called off as %q", got)
		}
		// a cancel before its goal
		callOff("early", 0)
		send("early", 30)
		withdraw()
		if got := ended("early"); len(got) != 1 || got[0] != msgs.GoalRecalled {
			t.Errorf("a goal that was called off before it came ended as %v", got)
		}
		// at and before a time: the goal of that very time, the older one, not the newer
		for id, stamp := range map[string]int32{"older": 40, "equal": 50, "newer": 51} {
			send(id, stamp)
			k.goals[len(k.goals)-1].Accept()
		}
		callOff("", 50)
		withdraw()
		told()
		send("nudge", 60)
		last := told()
		for _, want := range []string{"older:2", "equal:2", "newer:1"} {
			if !strings.Contains(last[len(last)-1], want) {
				t.Errorf("after a cancel up to a time %q, want %s", last[len(last)-1], want)
			}
		}
		// without an id, and with one that is taken
		count := len(k.goals)
		send("", 61)
		if id := k.goals[count].ID(); id == "" {
			t.Error("a goal without an id gets none")
		}
		send("newer", 62)
		if len(k.goals) != count+1 {
			t.Error("an id is used twice")
		}
		callOff("", 0)
		withdraw()
		if got := ended("newer"); len(got) != 1 || got[0] != msgs.GoalPreempted {
			t.Errorf("the goal whose id was sent again ended as %v", got)
		}
	})
}
