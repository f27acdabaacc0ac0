package server

import (
	"strings"
	"testing"

	"poise/feedforward"
	"poise/robot"
	"poise/robot/load"
)

// TestDynamicsHealth: what the torques of cycle 1 lack is a warning that names it.
func TestDynamicsHealth(t *testing.T) {
	bot, err := load.Robot("pony", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	leg, _ := bot.Model.Chain("leg3")
	none := feedforward.Recent{Chain: robot.NoChain}
	for _, c := range []struct {
		state    feedforward.State
		supports int
		level    uint8
		want     string
	}{
		{feedforward.State{Recent: none}, 4, levelOK, "torques that the motion needs are used"},
		{feedforward.State{Lacks: true, Recent: feedforward.Recent{Lacked: 1, Missing: 27}}, 0, levelWarn, "no foot stands: nothing carries the weight of 27.7 N"},
		{feedforward.State{Recent: feedforward.Recent{Lacked: 0.3, Missing: 12.34}}, 2, levelWarn, "the feet that stand cannot give 12.3 N of the force that the motion needs; the robot weighs 27.7 N"},
		{feedforward.State{Recent: feedforward.Recent{Contradicted: 0.3, Chain: leg, Speed: 0.05}}, 4, levelWarn, "leg3 is said to stand and moves by 0.05 m/s"},
		{feedforward.State{Recent: feedforward.Recent{Contradicted: 0.3, Chain: leg, Way: 0.006}}, 4, levelWarn, "leg3 is said to stand and has moved by 0.006 m"},
		{feedforward.State{Lacks: true, Recent: feedforward.Recent{Contradicted: 0.3, Chain: leg, Aloft: true, Lacked: 1, Missing: 27}}, 0, levelWarn, "leg3 is said to stand and does not touch the ground"},
		{feedforward.State{Recent: feedforward.Recent{Contradicted: 0.3, Chain: leg, Correction: 12}}, 4, levelWarn, "contacts, leg3 before all, change its acceleration by 12"},
		{feedforward.State{Limited: true, Recent: none}, 4, levelWarn, "beyond friction or soles"},
	} {
		if level, message := dynamicsHealth(bot.Model, &c.state, c.supports); level != c.level || !strings.Contains(message, c.want) {
			t.Errorf("%+v: %d, %q, want %d, %q", c.state, level, message, c.level, c.want)
		}
	}
}
