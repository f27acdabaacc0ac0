package follow

import (
	"strings"
	"testing"

	"poise/control"
)

func TestEventsThatAreTriggers(t *testing.T) {
	limbs := []string{"leg1", "leg2", "head"}
	for _, c := range []struct {
		e    Event
		want control.Trigger
		is   bool
		bad  string
	}{
		{Event{Type: "voice/say", Command: "hello"}, control.Trigger{}, false, ""},
		{Event{Type: WaitEvent, Command: "touch_down", Options: "leg1 leg2 timeout=2"}, control.Trigger{Waits: true, Timeout: 2, Limbs: 3}, true, ""},
		{Event{Type: WaitEvent, Command: "lift_off", Options: "leg2"}, control.Trigger{Waits: true, Swing: true, Timeout: waitTimeout, Limbs: 2}, true, ""},
		{Event{Type: ImpactEvent, Command: "retreat", Options: "head"}, control.Trigger{Reaction: control.Retreat, Limbs: 4}, true, ""},
		{Event{Type: ImpactEvent, Command: "hold"}, control.Trigger{Reaction: control.Hold, Limbs: ^control.LimbSet(0)}, true, ""},
		{Event{Type: WaitEvent, Command: "touchdown", Options: "leg1"}, control.Trigger{}, true, "touch_down"},
		{Event{Type: WaitEvent, Command: "touch_down"}, control.Trigger{}, true, "no limb"},
		{Event{Type: WaitEvent, Command: "touch_down", Options: "leg9"}, control.Trigger{}, true, "leg9"},
		{Event{Type: WaitEvent, Command: "touch_down", Options: "leg1 timeout=-1"}, control.Trigger{}, true, "timeout"},
		{Event{Type: ImpactEvent, Command: "run"}, control.Trigger{}, true, "ignore, hold, soften, retreat"},
	} {
		got, is, err := parseTrigger(&c.e, limbs)
		switch {
		case is != c.is || (err != nil) != (c.bad != ""):
			t.Errorf("%+v: %v, %v", c.e, is, err)
		case err != nil && !strings.Contains(err.Error(), c.bad):
			t.Errorf("%+v: %v", c.e, err)
		case err == nil && got != c.want:
			t.Errorf("%+v is %+v", c.e, got)
		}
	}
}
