package server_test

import (
	"math"
	"testing"
	"testing/synctest"

	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/server/config"
)

// TestServoModelsByTopic: models that clients publish, of several servos or the one of the seed's message, are taken
// over as those of the service are; what is wrong is refused as a whole, and the log says why.
func TestServoModelsByTopic(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, func(c *config.Config) {
			c.Loop.Period, c.Loop.Inversion = 0.01, config.InvertModel
			c.Robots = []config.Robot{{Name: "heavy", Driver: "physics"}}
		})
		state := b.subscribe("/servo_models_state")
		first := next[poisemsgs.ServoModels](b, state)
		several := b.publish("/servo_models", "poise_msgs/msg/ServoModels")
		one := b.publish("/servo_model", "sweetie_bot_servo_model_msg/msg/ServoModel")
		four := func(name string, a2 float64) poisemsgs.ServoModel {
			return poisemsgs.ServoModel{Name: name, Kp: 230, Kgear: 1, Alpha: []float64{2.1095, 53.9546, a2, 234.9008}}
		}
		friction := func(v poisemsgs.ServoModels, name string) float64 {
			for _, m := range v.Models {
				if m.Name == name {
					return m.Alpha[2]
				}
			}
			return math.NaN()
		}
		several(poisemsgs.ServoModels{Models: []poisemsgs.ServoModel{four("joint11", 9), four("joint53", 7)}})
		second := next[poisemsgs.ServoModels](b, state)
		if second.Version != first.Version+1 || friction(second, "joint11") != 9 || friction(second, "joint53") != 7 || friction(second, "joint12") != friction(first, "joint12") {
			t.Errorf("of several: version %d after %d, %+v", second.Version, first.Version, second.Models)
		}
		one(msgs.ServoModel{Name: "joint12", Kp: 230, Kgear: 1, Alpha: [4]float64{2.1095, 53.9546, 6, 234.9008}})
		third := next[poisemsgs.ServoModels](b, state)
		if third.Version != second.Version+1 || friction(third, "joint12") != 6 || friction(third, "joint11") != 9 {
			t.Errorf("of one: version %d after %d, %+v", third.Version, second.Version, third.Models)
		}
		// the good half of a bad message is not taken either
		several(poisemsgs.ServoModels{Models: []poisemsgs.ServoModel{four("joint12", 1), four("joint111", 1)}})
		one(msgs.ServoModel{Name: "joint11", Kp: -1, Kgear: 1, Alpha: [4]float64{2.1095, 53.9546, 6, 234.9008}})
		several(poisemsgs.ServoModels{Models: []poisemsgs.ServoModel{four("joint11", 3)}})
		fourth := next[poisemsgs.ServoModels](b, state)
		if fourth.Version != third.Version+1 || friction(fourth, "joint11") != 3 || friction(fourth, "joint12") != 6 {
			t.Errorf("after bad ones: version %d after %d, %+v", fourth.Version, third.Version, fourth.Models)
		}
		b.until("the bad ones are in the log", func() bool {
			return len(b.log.lines("servo models are refused", "joint111")) == 1 && len(b.log.lines("servo models are refused", "joint11", "kp is -1")) == 1
		})
	})
}
