package robot

import (
	"errors"
	"strings"
	"testing"

	"poise/problem"
	"poise/urdf"
)

// given is a limit from the description.
func given(x float64) Limit { return Limit{x, true, "r.urdf:5"} }

// urdfLimits is what most cases merge into.
func urdfLimits() Limits {
	return Limits{Lower: given(-2), Upper: given(2), Velocity: given(3), Effort: given(40)}
}

func table(t *testing.T, text string) *LimitTable {
	t.Helper()
	tab, _, err := ReadLimits([]byte(text), "joint_limits.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

func TestMerge(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		override   bool
		want       problem.Code // "" if allowed
		words      string
		get        func(Limits) Limit
		value      float64 // of get, if allowed
		source     string
	}{
		{"tighter velocity", "has_velocity_limits: true, max_velocity: 2.5", false, "", "", func(l Limits) Limit { return l.Velocity }, 2.5, "joint_limits.yaml:2"},
		{"equal velocity", "has_velocity_limits: true, max_velocity: 3", false, "", "", func(l Limits) Limit { return l.Velocity }, 3, "joint_limits.yaml:2"},
		{"an integer is a number", "has_acceleration_limits: true, max_acceleration: 4", false, "", "", func(l Limits) Limit { return l.Acceleration }, 4, "joint_limits.yaml:2"},
		{"looser velocity", "has_velocity_limits: true, max_velocity: 3.5", false, LooserLimit,
			`joint "j": velocity limit 3.5 of joint_limits.yaml:2 is looser than 3 of r.urdf:5`, nil, 0, ""},
		{"looser velocity with override", "has_velocity_limits: true, max_velocity: 3.5", true, "", "", func(l Limits) Limit { return l.Velocity }, 3.5, "joint_limits.yaml:2"},
		{"zero velocity", "has_velocity_limits: true, max_velocity: 0", false, BadLimit, `velocity limit 0 of joint_limits.yaml:2 must be positive`, nil, 0, ""},
		{"negative velocity", "has_velocity_limits: true, max_velocity: -1", true, BadLimit, `must be positive`, nil, 0, ""},
		{"velocity turned off", "has_velocity_limits: false, max_velocity: 9", false, "", "", func(l Limits) Limit { return l.Velocity }, 3, "r.urdf:5"},
		{"velocity turned off with override", "has_velocity_limits: false", true, "", "", func(l Limits) Limit { return l.Velocity }, 0, ""},
		{"value without flag", "max_velocity: 1", false, "", "", func(l Limits) Limit { return l.Velocity }, 1, "joint_limits.yaml:2"},
		{"tighter range", "has_position_limits: true, min_position: -1, max_position: 1.5", false, "", "", func(l Limits) Limit { return l.Lower }, -1, "joint_limits.yaml:2"},
		{"lower below", "has_position_limits: true, min_position: -2.5, max_position: 2", false, LooserLimit, `lower limit -2.5`, nil, 0, ""},
		{"upper above", "has_position_limits: true, min_position: -2, max_position: 2.00001", false, LooserLimit, `upper limit 2.00001`, nil, 0, ""},
		{"inverted range", "has_position_limits: true, min_position: 1, max_position: 0", false, InvertedLimits, `lower limit 1 of joint_limits.yaml:2 is above the upper limit 0`, nil, 0, ""},
		{"inverted by one end", "has_position_limits: true, min_position: 3, max_position: 4", true, "", "", func(l Limits) Limit { return l.Upper }, 4, "joint_limits.yaml:2"},
		{"deceleration", "has_deceleration_limits: true, max_deceleration: -5", false, "", "", func(l Limits) Limit { return l.Deceleration }, -5, "joint_limits.yaml:2"},
		{"positive deceleration", "has_deceleration_limits: true, max_deceleration: 5", false, BadLimit, `deceleration limit 5 of joint_limits.yaml:2 must be negative`, nil, 0, ""},
		{"zero deceleration", "has_deceleration_limits: true, max_deceleration: 0", false, BadLimit, `must be negative`, nil, 0, ""},
		{"negative acceleration", "has_acceleration_limits: true, max_acceleration: -5", false, BadLimit, `acceleration limit -5`, nil, 0, ""},
		{"acceleration does not invent deceleration", "has_acceleration_limits: true, max_acceleration: 5", false, "", "", func(l Limits) Limit { return l.Deceleration }, 0, ""},
		{"jerk", "has_jerk_limits: true, max_jerk: 300", false, "", "", func(l Limits) Limit { return l.Jerk }, 300, "joint_limits.yaml:2"},
		{"tighter effort", "has_effort_limits: true, max_effort: 30", false, "", "", func(l Limits) Limit { return l.Effort }, 30, "joint_limits.yaml:2"},
		{"looser effort", "has_effort_limits: true, max_effort: 50", false, LooserLimit, `effort limit 50`, nil, 0, ""},
		{"keys of MoveIt that mean nothing here", "angle_wraparound: true, min_velocity: -1, has_soft_limits: true, k_position: 1, k_velocity: 2, soft_lower_limit: 0, soft_upper_limit: 1", false, "", "", func(l Limits) Limit { return l.Velocity }, 3, "r.urdf:5"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tab := table(t, "joint_limits:\n  j: {"+tc.text+"}\n")
			var r problem.Report
			l := urdfLimits()
			tab.merge(&l, tab.Joints[0], tc.override, &r)
			if tc.want != "" {
				if err := r.Err(); !errors.Is(err, tc.want) || !strings.Contains(err.Error(), tc.words) || !strings.Contains(err.Error(), "joint_limits.yaml:2: ") {
					t.Errorf("error %v, want rule %q with %q", err, tc.want, tc.words)
				}
				return
			}
			if err := r.Err(); err != nil {
				t.Fatal(err)
			}
			if got := tc.get(l); got.Value != tc.value || got.Source != tc.source || got.Has != (tc.source != "") {
				t.Errorf("limit %+v, want %g of %q", got, tc.value, tc.source)
			}
		})
	}
}

// A looser deceleration can only be met where the URDF has one already.
func TestDecelerationIsTighterTheNearerToZero(t *testing.T) {
	for value, want := range map[string]bool{"-4": true, "-5": true, "-6": false} {
		tab := table(t, "joint_limits: {j: {has_deceleration_limits: true, max_deceleration: "+value+"}}")
		var r problem.Report
		l := Limits{Deceleration: given(-5)}
		tab.merge(&l, tab.Joints[0], false, &r)
		if (r.Err() == nil) != want {
			t.Errorf("deceleration %s under −5: %v", value, r.Err())
		}
	}
}

func TestReadForms(t *testing.T) {
	plain := "joint_limits:\n  j:\n    max_velocity: 1\n"
	indent := func(s, by string) string {
		return by + strings.ReplaceAll(strings.TrimSuffix(s, "\n"), "\n", "\n"+by) + "\n"
	}
	nested := "robot_description_planning:\n" + indent(plain, "  ")
	ros := "/**:\n  ros__parameters:\n" + indent(nested, "    ")
	for name, text := range map[string]string{"plain": plain, "nested": nested, "parameters of a ROS 2 node": ros,
		"with scaling factors": "default_velocity_scaling_factor: 0.1\ndefault_acceleration_scaling_factor: 1\n" + plain} {
		tab, cart, err := ReadLimits([]byte(text), "f")
		if err != nil || cart != nil || len(tab.Joints) != 1 || tab.Joints[0].Limits.Velocity.Value != 1 {
			t.Errorf("%s: %+v, %v, %v", name, tab, cart, err)
		}
	}
}

func TestReadCartesian(t *testing.T) {
	body := "cartesian_limits:\n  max_trans_vel: 1\n  max_trans_acc: 2.25\n  max_trans_dec: -5.0\n  max_rot_vel: 1.57\n"
	for name, text := range map[string]string{"plain": body, "nested": "robot_description_planning:\n  " + strings.ReplaceAll(body, "\n", "\n  ")} {
		tab, c, err := ReadLimits([]byte(text), "f")
		if err != nil || tab != nil {
			t.Fatalf("%s: %v, %v", name, tab, err)
		}
		if c.MaxTransVel.Value != 1 || c.MaxTransAcc.Value != 2.25 || c.MaxTransDec.Value != -5 || c.MaxRotVel.Value != 1.57 || !strings.HasPrefix(c.MaxRotVel.Source, "f:") {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"unknown key of a joint", "joint_limits:\n  j:\n    max_speed: 1\n", `f:3: joint_limits.j: unknown key "max_speed"`},
		{"unknown key at the top", "joint_limit: {}\n", `f:1: unknown key "joint_limit"`},
		{"unknown key beside the wrapped", "robot_description_planning:\n  joint_limits: {}\n  jont_limits: {}\n", `f:3: robot_description_planning: unknown key "jont_limits"`},
		{"flag without value", "joint_limits:\n  j:\n    has_velocity_limits: true\n", `f:3: joint_limits.j: has_velocity_limits is true, but max_velocity is missing`},
		{"flag that is no flag", "joint_limits: {j: {has_velocity_limits: 1, max_velocity: 1}}\n", `has_velocity_limits: "1" must be true or false`},
		{"text for a number", "joint_limits: {j: {max_velocity: fast}}\n", `"fast" must be a finite number`},
		{"infinite", "joint_limits: {j: {max_velocity: .inf}}\n", `must be a finite number`},
		{"joint twice", "joint_limits:\n  j: {}\n  j: {}\n", `f:3: joint_limits: key "j" comes twice`},
		{"Cartesian limit missing", "cartesian_limits:\n  max_trans_vel: 1\n  max_trans_acc: 1\n  max_trans_dec: -1\n", `f:2: cartesian_limits: max_rot_vel is missing`},
		{"positive Cartesian deceleration", "cartesian_limits:\n  max_trans_vel: 1\n  max_trans_acc: 1\n  max_trans_dec: 1\n  max_rot_vel: 1\n", `f:4: cartesian_limits: max_trans_dec 1 must be negative`},
		{"zero Cartesian velocity", "cartesian_limits: {max_trans_vel: 0, max_trans_acc: 1, max_trans_dec: -1, max_rot_vel: 1}\n", `max_trans_vel 0 must be positive`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, _, err := ReadLimits([]byte(tc.text), "f")
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %s", err, tc.want)
			}
		})
	}
}

func TestFromURDF(t *testing.T) {
	all := urdf.HasLower | urdf.HasUpper | urdf.HasEffort | urdf.HasVelocity
	at := problem.Pos{File: "r.urdf", Line: 7}
	t.Run("revolute", func(t *testing.T) {
		var r problem.Report
		l := limitsOf(urdf.Joint{Type: urdf.Revolute, Limit: &urdf.Limit{Lower: -1, Upper: 2, Velocity: 3, Effort: 4, Has: all, Pos: at}}, &r)
		want := Limits{Lower: Limit{-1, true, "r.urdf:7"}, Upper: Limit{2, true, "r.urdf:7"}, Velocity: Limit{3, true, "r.urdf:7"}, Effort: Limit{4, true, "r.urdf:7"}}
		if l != want || len(r.Warnings) > 0 {
			t.Errorf("limits %+v, warnings %v", l, r.Warnings)
		}
	})
	t.Run("continuous has no range", func(t *testing.T) {
		var r problem.Report
		l := limitsOf(urdf.Joint{Type: urdf.Continuous, Limit: &urdf.Limit{Lower: -1, Upper: 2, Velocity: 3, Has: all, Pos: at}}, &r)
		if l.Lower.Has || l.Upper.Has || l.Velocity.Value != 3 {
			t.Errorf("limits %+v", l)
		}
	})
	t.Run("no limit element", func(t *testing.T) {
		if l := limitsOf(urdf.Joint{Type: urdf.Continuous}, nil); l != (Limits{}) {
			t.Errorf("limits %+v", l)
		}
	})
	t.Run("zero velocity counts as absent, zero effort does not", func(t *testing.T) {
		var r problem.Report
		l := limitsOf(urdf.Joint{Name: "j", Type: urdf.Revolute, Limit: &urdf.Limit{Has: all, Pos: at}}, &r)
		if l.Velocity.Has || !l.Effort.Has || l.Effort.Value != 0 || len(r.Warnings) != 2 {
			t.Errorf("limits %+v, warnings %v", l, r.Warnings)
		}
	})
	t.Run("planar and floating", func(t *testing.T) {
		for _, kind := range []urdf.JointType{urdf.Planar, urdf.Floating} {
			var r problem.Report
			l := limitsOf(urdf.Joint{Name: "j", Type: kind, Limit: &urdf.Limit{Velocity: 3, Has: all, Pos: at}}, &r)
			if l != (Limits{}) || len(r.Warnings) != 1 || r.Warnings[0].Code != UnusedLimit {
				t.Errorf("limits %+v, warnings %v", l, r.Warnings)
			}
		}
	})
	t.Run("URDF 1.2", func(t *testing.T) {
		var r problem.Report
		l := limitsOf(urdf.Joint{Type: urdf.Revolute, Limit: &urdf.Limit{Acceleration: 5, Deceleration: 6, Jerk: 7, Pos: at}}, &r)
		if l.Acceleration.Value != 5 || l.Deceleration.Value != -6 || l.Jerk.Value != 7 {
			t.Errorf("limits %+v", l)
		}
	})
}

func TestCheckFollower(t *testing.T) {
	lead := Limits{Lower: given(0), Upper: given(1), Velocity: given(2), Acceleration: given(10)}
	for _, tc := range []struct {
		name          string
		own           Limits
		ratio, offset float64
		want          string // "" if fine
	}{
		{"same range", Limits{Lower: given(0), Upper: given(1), Velocity: given(2)}, 1, 0, ""},
		{"turned range", Limits{Lower: given(-1), Upper: given(0)}, -1, 0, ""},
		{"range not turned with its ratio", Limits{Lower: given(0), Upper: given(1)}, -1, 0, `follows "lead" to -1 … 0, past its own range 0 … 1`},
		{"too narrow", Limits{Lower: given(0), Upper: given(0.8)}, 1, 0, `follows "lead" to 0 … 1, past its own range 0 … 0.8`},
		{"offset", Limits{Lower: given(0.5), Upper: given(1.5)}, 1, 0.5, ""},
		{"rounding", Limits{Lower: given(0), Upper: given(0.3)}, 0.1 * 3, 0, ""},
		{"constant", Limits{Lower: given(0), Upper: given(1)}, 0, 2, `follows "lead" to 2 … 2`},
		{"too slow", Limits{Velocity: given(1)}, -1, 0, `follows "lead" to a velocity of 2, past its own limit 1`},
		{"geared down", Limits{Velocity: given(1)}, 0.5, 0, ""},
		{"too lazy", Limits{Acceleration: given(9)}, 1, 0, `to an acceleration of 10`},
		{"no limits", Limits{}, 1, 0, ""},
		{"effort is not followed", Limits{Effort: given(1)}, 1, 0, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var r problem.Report
			checkFollower("f", tc.own, "lead", lead, tc.ratio, tc.offset, problem.Pos{File: "r.urdf", Line: 3}, &r)
			if r.Err() != nil {
				t.Errorf("is an error: %v", r.Err())
			}
			switch {
			case tc.want == "" && len(r.Warnings) > 0:
				t.Errorf("warnings %v", r.Warnings)
			case tc.want != "" && (len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0].Error(), tc.want)):
				t.Errorf("warnings %v, want %s", r.Warnings, tc.want)
			}
		})
	}
	t.Run("boundless leader", func(t *testing.T) {
		var r problem.Report
		checkFollower("f", Limits{Lower: given(0), Upper: given(1)}, "lead", Limits{}, 1, 0, problem.Pos{}, &r)
		if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0].Error(), "−∞ … ∞") {
			t.Errorf("warnings %v", r.Warnings)
		}
	})
}

func TestProposalLoadsAndFillsWhatIsMissing(t *testing.T) {
	joints := []Joint{
		{Name: "bare", Limits: Limits{}},
		{Name: "slide", Kind: Prismatic, Limits: Limits{Lower: given(0), Upper: given(1)}},
		{Name: "full", Limits: Limits{Lower: given(-1), Upper: given(1), Velocity: given(1.23456789), Acceleration: given(5), Deceleration: given(-6), Jerk: given(70), Effort: given(8)}},
		{Name: "odd: name #1", Limits: Limits{Velocity: given(2), Effort: given(0)}},
	}
	var b strings.Builder
	if err := ProposeLimits(&b, "r", joints, nil); err != nil {
		t.Fatal(err)
	}
	tab, _, err := ReadLimits([]byte(b.String()), "proposal")
	if err != nil {
		t.Fatalf("%v in\n%s", err, b.String())
	}
	for i, j := range joints {
		var r problem.Report
		l := j.Limits
		tab.merge(&l, tab.Joints[i], false, &r)
		if r.Err() != nil || tab.Joints[i].Joint != j.Name {
			t.Errorf("%s: %v", j.Name, r.Err())
		}
		if !l.Velocity.Has || !l.Acceleration.Has || !l.Deceleration.Has || !l.Jerk.Has {
			t.Errorf("%s: still missing: %+v", j.Name, l)
		}
		for name, limit := range j.Limits.All {
			for n, now := range l.All {
				if n == name && limit.Has && now.Value != limit.Value {
					t.Errorf("%s: %s changed from %g to %g", j.Name, name, limit.Value, now.Value)
				}
			}
		}
	}
	for _, want := range []string{"A PROPOSAL, to be accepted by a person", "max_velocity: 1.0  # PROPOSED: a cautious rad/s", "max_velocity: 0.1  # PROPOSED: a cautious m/s", "full speed in 0.5 s", "# r.urdf:5"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the proposal lacks %q:\n%s", want, b.String())
		}
	}
	if n := strings.Count(b.String(), "PROPOSED:"); n != 4+4+0+3 {
		t.Errorf("%d lines are proposed, want 11", n)
	}
}

// TestProposedNumbersAreFloats for every reader of YAML: MoveIt refuses
// integers, and YAML 1.1 wants a point.
func TestProposedNumbersAreFloats(t *testing.T) {
	for x, want := range map[float64]string{1: "1.0", -2.5: "-2.5", 0: "0.0", 1e21: "1.0e+21", -1e-7: "-1.0e-07", 1.5e300: "1.5e+300"} {
		if got := number(x); got != want {
			t.Errorf("%g is written %s, want %s", x, got, want)
		}
	}
}

func TestProposalForNoJointLoads(t *testing.T) {
	var b strings.Builder
	if err := ProposeLimits(&b, "r", nil, nil); err != nil {
		t.Fatal(err)
	}
	if tab, _, err := ReadLimits([]byte(b.String()), "proposal"); err != nil || tab == nil || len(tab.Joints) != 0 {
		t.Errorf("%+v, %v of\n%s", tab, err, b.String())
	}
}

// TestWhatCannotBeReadIsToldOnce: a value of the wrong kind is neither missing
// nor zero.
func TestWhatCannotBeReadIsToldOnce(t *testing.T) {
	for _, text := range []string{
		"joint_limits: {j: {has_velocity_limits: true, max_velocity: fast}}",
		"joint_limits: {j: {max_deceleration: .nan}}",
		"cartesian_limits: {max_trans_vel: fast, max_trans_acc: 1, max_trans_dec: -1, max_rot_vel: 1}",
	} {
		tab, _, err := ReadLimits([]byte(text), "f")
		if err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", text, err)
		}
		if tab == nil {
			continue
		}
		var r problem.Report
		l := urdfLimits()
		if tab.merge(&l, tab.Joints[0], false, &r); r.Err() != nil {
			t.Errorf("%s: again as %v", text, r.Err())
		}
	}
}

func TestProposalOfNothing(t *testing.T) {
	var b strings.Builder
	err := ProposeLimits(&b, "r", []Joint{{Name: "j", Limits: Limits{Velocity: given(1), Acceleration: given(1), Deceleration: given(-1), Jerk: given(1)}}}, nil)
	if err != nil || !strings.Contains(b.String(), "Nothing was missing") {
		t.Errorf("%v\n%s", err, b.String())
	}
}

func FuzzReadLimits(f *testing.F) {
	for _, s := range []string{
		"joint_limits:\n  j: {has_velocity_limits: true, max_velocity: 1}\n",
		"robot_description_planning:\n  joint_limits:\n    j: {max_deceleration: -1, has_position_limits: false}\n",
		"/**: {ros__parameters: {robot_description_planning: {cartesian_limits: {max_trans_vel: 1, max_trans_acc: 2, max_trans_dec: -1, max_rot_vel: 3}}}}\n",
		"joint_limits: &a {j: {max_jerk: 1e300}}\ncartesian_limits: *a\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		tab, cart, err := ReadLimits(data, "f")
		if err != nil {
			return
		}
		if cart != nil && (cart.MaxTransVel.Value <= 0 || cart.MaxTransDec.Value >= 0) {
			t.Errorf("Cartesian limits %+v were let through", cart)
		}
		if tab == nil {
			return
		}
		// what was let through merges, or is refused with a reason; it never loosens
		for _, e := range tab.Joints {
			var r problem.Report
			l := urdfLimits()
			tab.merge(&l, e, false, &r)
			if l.Velocity.Value > 3 || l.Lower.Value < -2 || l.Upper.Value > 2 || l.Effort.Value > 40 {
				t.Errorf("%+v loosened the limits to %+v", e, l)
			}
		}
	})
}

// TestProposedTransitions: they are as slow as the slowest joint of a leg, of which the fastest stops as it steps; joints whose accelerations are
// given, sliding ones and those of arms do not count.
func TestProposedTransitions(t *testing.T) {
	given := func(v float64) Limit { return Limit{Value: v, Has: true} }
	joints := []Joint{
		{Name: "hip", Kind: Revolute, Limits: Limits{Velocity: given(30)}},
		{Name: "knee", Kind: Revolute, Limits: Limits{Velocity: given(2)}},
		{Name: "ankle", Kind: Revolute},
		{Name: "toe", Kind: Prismatic, Limits: Limits{Velocity: given(0.1)}},
		{Name: "known", Kind: Revolute, Limits: Limits{Velocity: given(0.3), Acceleration: given(5)}},
		{Name: "elbow", Kind: Revolute, Limits: Limits{Velocity: given(0.2)}},
	}
	legs := []string{"hip", "knee", "ankle", "toe", "known"}
	for _, c := range []struct {
		legs []string
		want GentleTransition
		ok   bool
	}{
		{legs, GentleTransition{Acceleration: 2, Velocity: 1, Fast: 600}, true}, // the ankle, at a cautious 1 rad/s
		{legs[:2], GentleTransition{Acceleration: 4, Velocity: 2, Fast: 600}, true},
		{legs[3:], GentleTransition{}, false},
		{nil, GentleTransition{}, false},
	} {
		if got, ok := ProposeTransition(joints, c.legs); ok != c.ok || ok && got != c.want {
			t.Errorf("%v: %+v, %v, want %+v", c.legs, got, ok, c.want)
		}
	}
}
