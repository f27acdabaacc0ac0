package explain

import (
	"slices"
	"strings"
	"testing"

	"poise/arbiter"
	"poise/control"
	"poise/loop"
	"poise/robot"
	"poise/robot/load"
)

func words(t testing.TB) *Words {
	t.Helper()
	bot, err := load.Robot("pony", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := New(bot.Model, func(id arbiter.ClientID) string { return []string{"gait", "gaze"}[id%2] })
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestEveryCodeHasASentence: whatever the cycle says, people get a sentence, and
// one of their own.
func TestEveryCodeHasASentence(t *testing.T) {
	w := words(t)
	seen := map[string]control.Code{}
	for c := control.OK + 1; c.String() != control.Code(65535).String(); c++ {
		r := control.Reason{Code: c, Joint: 3, Who: 1, At: 1.5, Value: 0.25, Max: 0.125}
		x := w.Reason(r, "stepper")
		if _, ok := sentences[c]; !ok || x.Text == "" || string(x.Code) != strings.ReplaceAll(c.String(), " ", "_") {
			t.Errorf("code %d (%v): %+v", c, c, x)
		}
		if other, twice := seen[x.Text]; twice {
			t.Errorf("%v and %v read the same: %q", other, c, x.Text)
		}
		seen[x.Text] = c
		if x.Joint != "joint14" || x.Resource != "leg1" && c != control.NonFinite || x.Owner != "gaze" || x.Value != 0.25 || x.Limit != 0.125 || x.At != 1.5 {
			t.Errorf("%v: %+v", c, x)
		}
		if none := w.Reason(control.Because(c), ""); strings.Contains(none.Text, "%!") || none.Joint != "" || none.Owner != "" {
			t.Errorf("%v about nothing: %+v", c, none)
		}
	}
	if len(seen) < 18 {
		t.Errorf("only %d codes", len(seen))
	}
}

// TestReasonsSayWhoWhatAndHow asks a few in full.
func TestReasonsSayWhoWhatAndHow(t *testing.T) {
	w := words(t)
	for _, c := range []struct {
		r    control.Reason
		want string
	}{
		{control.Reason{Code: control.StartTooFar, Joint: 3, Who: arbiter.NoClient, Value: 0.75, Max: 0.5},
			"joint joint14 is 0.75 rad away from where the motion starts, 0.5 is allowed; allow an approach move, go to the start pose first, or widen the tolerance of the joint"},
		{control.Reason{Code: control.NotGranted, Joint: 3, Who: 0, Value: 2, Max: 9},
			`controller "follow" does not get joint joint14 of leg1: "gait" has it (priority 2 against 9); stop "gait" or wait until it gives joint joint14 of leg1 back`},
		{control.Reason{Code: control.ToleranceBroken, Joint: 3, Who: arbiter.NoClient, At: 1.25, Value: 0.2, Max: 0.1},
			"joint joint14 was 0.2 rad off at 1.25 s, 0.1 is allowed; widen the tolerance of the joint, or slow the motion down"},
		{control.NotStanding.At(robot.NoJoint, 0.4, 0.15),
			"the robot does not stand: its body is 0.4 m or rad away from a level stand, 0.15 is allowed; go to a pose in which it stands on all its feet first, such as stand; one that lies has to get up (get_up)"},
		{control.Reason{Code: control.ResourceLost, Joint: 3, Who: 1},
			`controller "follow" needs joint joint14 of leg1 and lost it to "gaze"; start it again when "gaze" is done`},
	} {
		if got := w.Reason(c.r, "follow").Error(); got != c.want {
			t.Errorf("%v:\n%s\nwant\n%s", c.r.Code, got, c.want)
		}
	}
}

// TestEveryFaultHasWords and says what helps.
func TestEveryFaultHasWords(t *testing.T) {
	w := words(t)
	for k := loop.TrackingError; k < loop.NumFaultKinds; k++ {
		x := w.Fault(k, loop.SeverityHold, control.Reason{Joint: 3, Who: arbiter.NoClient, Value: 1, Max: 0.5})
		if x.Text == "" || x.Help == "" || !strings.HasPrefix(string(x.Code), "fault_") || x.Joint != "joint14" || !strings.Contains(x.Text, "hold") {
			t.Errorf("%v: %+v", k, x)
		}
	}
}

// TestFaultsAreMeasuredInUnits: a number alone says nothing.
func TestFaultsAreMeasuredInUnits(t *testing.T) {
	w := words(t)
	for _, c := range []struct {
		k    loop.FaultKind
		r    control.Reason
		want string
	}{
		{loop.Overrun, control.Reason{Joint: robot.NoJoint, Value: 5.02, Max: 5}, "overrun: the cycle missed 6 periods in about its last hundred turns, 5 are allowed"},
		{loop.Overrun, control.Reason{Joint: robot.NoJoint, Value: 1353, Max: 5}, "overrun: the cycle missed 1353 periods in about its last hundred turns, 5 are allowed"},
		{loop.TrackingError, control.Reason{Joint: 3, Value: 0.5, Max: 0.35}, "tracking error of joint joint14: 0.5 rad from its command, 0.35 rad is allowed"},
		{loop.StaleReading, control.Reason{Joint: 3, Value: 0.3, Max: 0.2}, "stale reading of joint joint14: 0.3 s without an answer, 0.2 s is allowed"},
		{loop.Overheat, control.Reason{Joint: 3, Value: 80, Max: 75}, "hot of joint joint14: 80 °C measured, 75 °C is allowed"},
		{loop.LowVoltage, control.Reason{Joint: robot.NoJoint, Value: 6.2, Max: 6.5}, "low voltage: 6.2 V measured, 6.5 V is needed"},
		{loop.StandstillMoved, control.Reason{Joint: 3, Value: 0.2, Max: 0.1}, "moved at standstill of joint joint14: 0.2 rad from where it stopped, 0.1 rad is allowed"},
	} {
		if got := w.Fault(c.k, loop.SeverityWarn, c.r).Text; got != c.want {
			t.Errorf("%v: %q, want %q", c.k, got, c.want)
		}
	}
}

// TestNamesOfSets goes from names to leaves and back.
func TestNamesOfSets(t *testing.T) {
	w := words(t)
	for _, names := range [][]string{{"head"}, {"leg1", "tail"}, {"leg2", "joint51"}, nil} {
		set, unknown := w.Set(names)
		if len(unknown) > 0 || !slices.Equal(w.Names(set), names) {
			t.Errorf("%v: %v, %v", names, w.Names(set), unknown)
		}
	}
	_, unknown := w.Set([]string{"hed", "wing", "tail"})
	if len(unknown) != 2 || unknown[0].Resource != "hed" || !strings.Contains(unknown[0].Help, `"head"`) {
		t.Errorf("%+v", unknown)
	}
	if w.Unit(robot.NoJoint) != "rad" || w.Resource(robot.LeafID(24)) != "head" {
		t.Error(w.Resource(24))
	}
}

// TestMissingServosAreNotAdvisedToGetTorque: who lacks torque because no servo is there is told so, the others are told
// how they get it.
func TestMissingServosAreNotAdvisedToGetTorque(t *testing.T) {
	w := words(t).WithMissing(robot.Set{}.With(3))
	all := robot.Set{}.With(3).With(4)
	got := w.Unpowered(all, all)
	if len(got) != 2 || got[0].Code != "servo_missing" || got[0].Joint != "joint14" || !strings.Contains(got[0].Text, "its servo was missing") || got[1].Code != "power_off" || got[1].Help == "" {
		t.Errorf("%+v", got)
	}
	if got := w.Unpowered(all, robot.Set{}.With(3)); len(got) != 1 || strings.Contains(got[0].Help, "set_torque") {
		t.Errorf("%+v", got)
	}
}
