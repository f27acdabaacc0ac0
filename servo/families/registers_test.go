package families

import (
	"strings"
	"testing"
)

// TestRegistersThatMoveAreMarked: by poise bus write nothing moves a servo without --torque, of any family. What a goal or
// torque is made of moves it; what a position means, or where it may be, shifts it once it has torque.
func TestRegistersThatMoveAreMarked(t *testing.T) {
	moves := []string{"goal_", "torque"}
	shifts := []string{"mode", "homing_offset", "min_position", "max_position", "phase", "drive_mode", "calibration_difference"}
	harmless := map[string]bool{"torque_limit": true, "max_torque": true, "torque_policy": true}
	kinds := 0
	for _, f := range All {
		models := f.Models()
		for i := range models {
			m := &models[i]
			kinds++
			marked := 0
			for k := range m.Registers {
				r := &m.Registers[k]
				if r.ReadOnly || harmless[r.Name] {
					continue
				}
				for _, word := range moves {
					if strings.HasPrefix(r.Name, word) && !r.Moves {
						t.Errorf("%s %s: register %s moves it, and is not marked so", f.Name(), m.Name, r.Name)
					}
				}
				for _, word := range shifts {
					if r.Name == word && !r.Shifts && !r.Moves {
						t.Errorf("%s %s: register %s shifts it, and is not marked so", f.Name(), m.Name, r.Name)
					}
				}
				if r.Moves || r.Shifts {
					marked++
				}
			}
			if marked < 3 {
				t.Errorf("%s %s: %d registers are marked", f.Name(), m.Name, marked)
			}
		}
	}
	if kinds < 10 {
		t.Errorf("%d kinds of servos", kinds)
	}
}
