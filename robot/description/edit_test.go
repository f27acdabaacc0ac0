package description

import (
	"strings"
	"testing"
)

const edited = `# a robot
name: arm   # its name
servos:
  # the base
  pan: {id: 1, type: sts3215, zero: 2048}   # swapped in May
  lift:
    id: 2
    type: sts3215
    registers: {position_p: 16}

  elbow: {id: 3,
    type: sts3215}
poses: # of the arm
  home: {pan: 0}
`

// TestSetServoKeepsWhatIsThere: comments, order and other keys.
func TestSetServoKeepsWhatIsThere(t *testing.T) {
	keys := [][]Key{{{"zero", "2011"}, {"reversed", "true"}}, {{"zero", "1000"}, {"min", "800"}}, {{"max", "3000"}}, {{"id", "4"}, {"type", "sts3215"}}}
	out, err := SetServos([]byte(edited), "robot.yaml", []string{"pan", "lift", "elbow", "roll"}, keys)
	if err != nil {
		t.Fatal(err)
	}
	want := `# a robot
name: arm   # its name
servos:
  # the base
  pan: {id: 1, type: sts3215, zero: 2011, reversed: true} # swapped in May
  lift: {id: 2, type: sts3215, registers: {position_p: 16}, zero: 1000, min: 800}

  elbow: {id: 3, type: sts3215, max: 3000}
  roll: {id: 4, type: sts3215}
poses: # of the arm
  home: {pan: 0}
`
	if string(out) != want {
		t.Errorf("got\n%s", out)
	}
	again, err := SetServos(out, "robot.yaml", []string{"pan"}, [][]Key{{{"zero", "2011"}, {"reversed", ""}}})
	if err != nil || strings.Contains(string(again), "reversed") {
		t.Errorf("%v\n%s", err, again)
	}
	if d, err := Read(out, "robot.yaml"); err != nil || len(d.Servos) != 4 || !d.Servos[0].Reversed || *d.Servos[1].Min != 800 || d.Servos[1].Registers[0].Value != 16 {
		t.Errorf("%v, %+v", err, d.Servos)
	}
}

func TestSetServoBeginsTheSection(t *testing.T) {
	out, err := SetServos([]byte("name: arm\n"), "robot.yaml", []string{"pan", "lift"}, [][]Key{{{"id", "1"}}, {{"id", "2"}}})
	if want := "name: arm\n\nservos:\n  pan: {id: 1}\n  lift: {id: 2}\n"; err != nil || string(out) != want {
		t.Errorf("%v\n%s", err, out)
	}
	for _, bad := range []string{"servos: {pan: {id: 1}}\n", "servos: 3\n", "servos:\n", "servos:\n  pan: 3\n", "a: [\n"} {
		if out, err := SetServos([]byte(bad), "robot.yaml", []string{"pan"}, [][]Key{{{"zero", "1"}}}); err == nil {
			t.Errorf("%q became %q", bad, out)
		}
	}
}
