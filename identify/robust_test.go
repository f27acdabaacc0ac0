package identify

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"poise/internal/servoplant"
	"poise/robot"
	"poise/urdf"
)

// TestAChatteringGearKeepsA3: the torque of a gear with play jumps from sample to sample; taken as it is logged it made a3 of
// these servos 7 % too small. The jumps are no load.
func TestAChatteringGearKeepsA3(t *testing.T) {
	for _, seed := range []uint64{18, 19} {
		p, r := bench(seed)
		p.Play = 0.004 + 0.006*r.Float64()
		log := logOf(t, p.Run(r, servoplant.Excitation(r, 1), 40))
		x := Fit(&log.Joints[0], nil, unknownDelay)
		if e := errorsOf(x, p.Truth); !x.Accepted || math.Abs(e[3]) > 0.03 || !within(e, rough) {
			t.Errorf("seed %d: accepted %v %v, errors %+.1f %%", seed, x.Accepted, x.Reasons, percent(e))
		}
	}
}

// TestOutliersWeighLittle: one reading of eighty is off by 3°, as by a packet that was garbled.
func TestOutliersWeighLittle(t *testing.T) {
	for _, quantum := range []float64{0.325 * math.Pi / 180, 0} {
		p, r := bench(4)
		p.Quantum = quantum
		rows := p.Run(r, servoplant.Excitation(r, 1), 40)
		off := 3 * math.Pi / 180
		if quantum > 0 {
			off = quantum * math.Round(off/quantum)
		}
		for i := 40; i < len(rows); i += 80 {
			rows[i].Position += off // all to one side: a mean would follow them
		}
		log := logOf(t, rows)
		x := Fit(&log.Joints[0], nil, unknownDelay)
		if e := errorsOf(x, p.Truth); !x.Accepted || !within(e, exact) {
			t.Errorf("steps of %.4f rad: accepted %v %v, errors %+.1f %%", quantum, x.Accepted, x.Details, percent(e))
		}
	}
}

// TestParametersAreNotNegative: a servo that a motor of another one drives on has no damping; it is refused, with no value below zero.
func TestParametersAreNotNegative(t *testing.T) {
	p, r := bench(2)
	p.A1 = -12
	log := logOf(t, p.Run(r, servoplant.Excitation(r, 1), 40))
	x := Fit(&log.Joints[0], nil, unknownDelay)
	if a := x.Parameters; x.Accepted || !slices.Contains(x.Reasons, Negative) || a.A0 < 0 || a.A1 < 0 || a.A2 < 0 || a.A3 < 0 {
		t.Errorf("accepted %v, %v, %+v", x.Accepted, x.Reasons, a)
	}
}

// TestColumnsOfGainAndLimit: a gain of the log counts in place of that of the options, and readings at the servo's limit refuse it.
func TestColumnsOfGainAndLimit(t *testing.T) {
	p, r := bench(6)
	p.Kp = 60
	log := logOf(t, p.Run(r, servoplant.Excitation(r, 1), 40))
	rows := log.Joints[0].Rows
	if x := Fit(&log.Joints[0], nil, unknownDelay); math.Abs(errorsOf(x, p.Truth)[1]-2.0/3) > 0.05 {
		t.Errorf("a gain of 100 where it is 60: errors %+.1f %%", percent(errorsOf(x, p.Truth)))
	}
	for i := range rows {
		rows[i].Kp = 60
	}
	if x := Fit(&log.Joints[0], nil, unknownDelay); !x.Accepted || !within(errorsOf(x, p.Truth), exact) || x.Kp != 60 {
		t.Errorf("accepted %v %v with kp %g, errors %+.1f %%", x.Accepted, x.Details, x.Kp, percent(errorsOf(x, p.Truth)))
	}
	for i := range rows {
		rows[i].PWM = 0.5
		if i%30 == 0 {
			rows[i].PWM = -1
		}
	}
	if x := Fit(&log.Joints[0], nil, unknownDelay); x.Accepted || !slices.Equal(x.Reasons, []string{Saturated}) {
		t.Errorf("3 %% of the readings at the limit: accepted %v, %v", x.Accepted, x.Reasons)
	}
}

// TestTorqueOfAnotherRobot: the torque is computed for a robot whose load hangs at another angle; the fit comes near, with a
// servo that pushes all the time.
func TestTorqueOfAnotherRobot(t *testing.T) {
	for _, seed := range []uint64{40, 43, 44} {
		p, r := bench(seed)
		lean := p.Lean + 0.25
		const mass, g = 0.4, 9.81
		long := p.Weight / (mass * g)
		doc, _, err := urdf.Parse(fmt.Appendf(nil, pendulum, -long*math.Sin(lean), -long*math.Cos(lean), mass, 1e-4), "pendulum.urdf")
		if err != nil {
			t.Fatal(err)
		}
		m, _, err := robot.Build(doc, robot.Options{})
		if err != nil {
			t.Fatal(err)
		}
		log := logOf(t, p.Run(r, servoplant.Excitation(r, 1), 40))
		log.Torque = false
		x := All(log, nil, m, func(string) Options { return unknownDelay })[0]
		if x.Accepted || !slices.Equal(x.Reasons, []string{AnotherRobot}) {
			t.Errorf("seed %d: accepted %v %v, errors %+.1f %%, a5 %.1f, autocorrelation %.2f, %v", seed, x.Accepted, x.Reasons, percent(errorsOf(x, p.Truth)), x.Parameters.A5, x.Autocorrelation, x.Effects)
		}
	}
}

// TestUnitsAreGuessed: a log in other units is refused, and says so.
func TestUnitsAreGuessed(t *testing.T) {
	p, r := bench(8)
	log := logOf(t, p.Run(r, servoplant.Excitation(r, 1), 20))
	rows := slices.Clone(log.Joints[0].Rows)
	for i := range rows {
		rows[i].Time, rows[i].MeasuredAt, rows[i].PlayTime = 1e3*rows[i].Time, 1e3*rows[i].MeasuredAt, 1e3*rows[i].PlayTime
	}
	says := func(rows []Row, word string) {
		t.Helper()
		x := Fit(&Joint{Name: "joint", Rows: rows}, nil, unknownDelay)
		if x.Accepted || !slices.ContainsFunc(x.Details, func(d string) bool { return len(d) > len(word) && d[len(d)-len(word):] == word }) {
			t.Errorf("accepted %v, %q", x.Accepted, x.Details)
		}
	}
	says(rows, "are these milliseconds?")
	rows = slices.Clone(log.Joints[0].Rows)
	for i := range rows {
		rows[i].Goal, rows[i].Position = rows[i].Goal*180/math.Pi, rows[i].Position*180/math.Pi
	}
	says(rows, "are these degrees?")
}
