package bench

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"

	"poise/servo/servotest"
)

// mover is a person who moves servos by a script: one entry each time that something is asked for.
type mover struct {
	*told
	t      *testing.T
	script []map[int]int32 // positions by id
	texts  []string
	err    error
}

func (m *mover) Do(text string) <-chan error {
	m.texts = append(m.texts, text)
	if len(m.script) > 0 {
		for id, at := range m.script[0] {
			m.at[id] = at
		}
		m.script = m.script[1:]
	}
	done := make(chan error, 1)
	done <- m.err
	if len(m.texts) == 20 {
		m.t.Fatal("it is asked without end")
	}
	return done
}

// calibrating is a calibration of two joints whose servos stand in their middle.
func calibrating(t *testing.T, steps []Step, script ...map[int]int32) (*Calibration, *mover) {
	t.Helper()
	m := &mover{t: t, told: newTold(1, 2), script: script}
	m.at[1], m.at[2] = 2048, 2048
	c := &Calibration{Client: m.client(), Model: servotest.Turntable(t, 2, "servos:\n  j1: {id: 1, type: sts3215, zero: 2048}\n  j2: {id: 9, type: sts3215, zero: 2048}\n"),
		Joints: []string{"j1", "j2"}, Steps: steps, Person: m}
	if err := c.Find(map[string]int{"j2": 2}); err != nil {
		t.Fatal(err)
	}
	return c, m
}

// TestCalibration finds directions, zeros in a pose that has an angle, and limits.
func TestCalibration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, m := calibrating(t, Steps,
			map[int]int32{1: 2058}, // too little to tell
			map[int]int32{1: 2148}, map[int]int32{2: 1948}, map[int]int32{1: 2000, 2: 2100}, map[int]int32{1: 1500, 2: 2600})
		c.Pose = map[string]float64{"j2": math.Pi / 2}
		all, err := c.Run()
		if err != nil {
			t.Fatal(err)
		}
		want := []Calibrated{{Joint: "j1", ID: 1, Type: "sts3215", Zero: 2000, Min: 1500, Max: 2000, Swept: true},
			{Joint: "j2", ID: 2, Type: "sts3215", Zero: 2100 + 1024, Reversed: true, Min: 2100, Max: 2600, Swept: true}}
		if fmt.Sprint(all) != fmt.Sprint(want) {
			t.Errorf("%+v, want %+v", all, want)
		}
		if len(m.texts) != 5 || !strings.HasPrefix(m.texts[1], "Servo 1 has moved by 10 steps, which is too little to tell.") {
			t.Errorf("%q", m.texts)
		}
		if m.count("write") != 0 {
			t.Errorf("something was written: %q", m.asked)
		}
		if table := Table(all); strings.Count(table, "\n") != 2 || !strings.Contains(table, "reversed") {
			t.Error(table)
		}
	})
}

// TestCalibrationsThatEnd say why: a seam, no range, a servo that falls silent, a person who goes.
func TestCalibrationsThatEnd(t *testing.T) {
	for _, c := range []struct {
		steps  []Step
		script []map[int]int32
		err    error
		silent bool
		want   []string
	}{
		{[]Step{Direction}, []map[int]int32{{1: 4099}}, nil, false, []string{`direction: joint "j1": servo 1 passes the seam`}},
		{[]Step{Limits}, []map[int]int32{{1: 4090, 2: 2060}}, nil, false, []string{`limits: joint "j2": servo 2 was moved by 1.1°, which is no range`}},
		{[]Step{Limits}, []map[int]int32{{1: 4099, 2: 2060}}, nil, false, []string{`limits: joint "j1": servo 1 passes the seam`, `joint "j2": servo 2 was moved by 1.1°, which is no range`}},
		{[]Step{Zero}, nil, errGone, false, []string{"zero: gone home"}},
		{Steps, nil, nil, true, []string{"servo 1 does not answer any more"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			calibration, m := calibrating(t, c.steps, c.script...)
			m.err = c.err
			if c.silent {
				delete(m.kinds, 1)
			}
			_, err := calibration.Run()
			for _, want := range c.want {
				says(t, fmt.Sprint(c.steps), err, want)
			}
			if c.err != nil && !errors.Is(err, c.err) {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestAnAnswerThatIsLostIsAskedForAgain, of that servo alone.
func TestAnAnswerThatIsLostIsAskedForAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, m := calibrating(t, []Step{Zero}, nil)
		m.asked, m.deaf = nil, 1
		if _, err := c.Run(); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(m.asked[:3]); got != "[state 1 state 2 state 1]" {
			t.Error(got)
		}
	})
}

// TestServosOfACalibration have to be there, known and limp.
func TestServosOfACalibration(t *testing.T) {
	m := &mover{t: t, told: newTold(1)}
	m.holds["torque"] = 1
	c := &Calibration{Client: m.client(), Model: servotest.Turntable(t, 2, "servos:\n  j1: {id: 1, type: sts3215, zero: 2048}\nvirtual_joints: [j2]\n"),
		Joints: []string{"j1", "j2", "j3"}, Person: m}
	err := c.Find(nil)
	for _, want := range []string{`joint "j1": servo 1 has torque: let it go first`, `joint "j2" has no servo in robot.yaml`, `has no joint "j3"`} {
		says(t, "find", err, want)
	}
	says(t, "find", c.Find(map[string]int{"j2": 7}), `joint "j2": servo 7 at 1000000 baud: no answer`)
}

// TestCalibrationsOfLeRobot that cannot be, each with its joint.
func TestCalibrationsOfLeRobot(t *testing.T) {
	const whole = `{"id":1,"drive_mode":0,"homing_offset":0,"range_min":1000,"range_max":3000}`
	for text, want := range map[string]string{
		`{"j1":` + whole + `}`:                                 "",
		`{"j1":` + whole + `,"j2":` + whole + `}`:              `joint "j2": id 1 is that of joint "j1" already`,
		`{"j1":{"id":254,"range_min":1,"range_max":2}}`:        `joint "j1": id 254, range 1 … 2: not a servo's`,
		`{"j1":{"id":1,"range_min":2,"range_max":2}}`:          `joint "j1": id 1, range 2 … 2: not a servo's`,
		`{"j1":{"id":1,"range_min":1,"range_max":2,"zero":3}}`: "no calibration of LeRobot",
		`{}`: "it names no joint",
		`[]`: "no calibration of LeRobot",
		``:   "no calibration of LeRobot",
	} {
		_, err := ReadLeRobot([]byte(text))
		says(t, text, err, want)
	}
}

// TestAdoption: the middle of a range is the middle of the joint's limits, if the servo has the offset of the file.
func TestAdoption(t *testing.T) {
	for _, c := range []struct {
		offset   int64
		file     LeRobot
		zero     float64
		reversed bool
		want     string
	}{
		{-30, LeRobot{ID: 2, HomingOffset: -30, RangeMin: 1000, RangeMax: 3001}, 2000.5, false, ""},
		{0, LeRobot{ID: 2, DriveMode: 1, RangeMin: 1000, RangeMax: 3000}, 2000, true, ""},
		{5, LeRobot{ID: 2, RangeMin: 1000, RangeMax: 3000}, 2000, false, `joint "j2": servo 2: its homing offset is 5, that of the file 0: poise bus write PORT 2 homing_offset 0`},
		{0, LeRobot{ID: 2, RangeMin: 1000, RangeMax: 5000}, 3000, false, `joint "j2": servo 2: range_max 5000: a sts3215 reads 0 … 4095`},
	} {
		m := &mover{t: t, told: newTold(2)}
		m.holds["homing_offset"] = c.offset
		calibration := &Calibration{Client: m.client(), Model: servotest.Turntable(t, 2, ""), Joints: []string{"j2"}, Person: m}
		all, err := calibration.Adopt(map[string]LeRobot{"j2": c.file})
		says(t, fmt.Sprintf("%+v", c.file), err, c.want)
		if len(all) != 1 || all[0].Zero != c.zero || all[0].Reversed != c.reversed || all[0].Min != c.file.RangeMin || all[0].Max != c.file.RangeMax || !all[0].Swept {
			t.Errorf("%+v: %+v", c.file, all)
		}
		if m.count("write") != 0 {
			t.Errorf("something was written: %q", m.asked)
		}
	}
}
