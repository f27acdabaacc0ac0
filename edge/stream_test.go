package edge

import (
	"strings"
	"testing"

	"poise/control"
	"poise/control/stream"
	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/robot/load"
	"poise/servo"
)

// TestReferencesBecomeSamples: limbs, base, supports and typed outputs by their names, with the
// time of their stamps.
func TestReferencesBecomeSamples(t *testing.T) {
	bot, err := load.Robot("pony", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m, now := bot.Model, servo.Tick{N: 5, Time: 5e9, Stamp: 105e9}
	header := msgs.Header{Stamp: msgs.Time{Sec: 104}}
	level := msgs.Pose{Position: msgs.Point{X: 0.1}, Orientation: msgs.Quaternion{W: 2}}
	read := func(p control.Program, err error) *stream.Sample {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return p.(*stream.Sample)
	}
	s := read(LimbSample(m, now, &poisemsgs.RigidBodyState{Header: header, Name: []string{"leg2", "base"}, Frame: []msgs.Pose{level, level},
		Twist: []msgs.Twist{{Linear: msgs.Vector3{Z: 1}}, {}}}))
	leg2, _ := m.Chain("leg2")
	if s.At != 4e9 || s.Lane() != stream.Limbs || s.InBase || len(s.Limbs) != 1 || s.Limbs[0].Chain != leg2 || !s.Limbs[0].Moves || s.Limbs[0].Twist.Linear.Z != 1 || s.Base == nil || s.Base.P.X != 0.1 || s.Base.R[0] != 1 {
		t.Errorf("%+v", s)
	}
	s = read(SupportSample(m, now, &poisemsgs.SupportState{Name: []string{"leg2"}, Contact: []string{"hoof_flat"}, Support: []float64{0.5}}))
	if s.At != 5e9 || s.Lane() != stream.Supports || len(s.Support) != 1 || s.Support[0].Weight != 0.5 || *s.Support[0].Contact != m.Chains()[leg2].Contact {
		t.Errorf("%+v", s)
	}
	s = read(EyesSample(m, now, &msgs.JointState{Name: []string{"eye_screens", "eyes_yaw"}, Position: []float64{2, 0.1}, Velocity: []float64{0, 0.3}}))
	yaw, _ := m.Joint("eyes_yaw")
	if s.Lane() != stream.Outputs || len(s.Output) != 1 || s.Output[0].Value != 2 || s.Q[yaw] != 0.1 || s.V[yaw] != 0.3 {
		t.Errorf("%+v", s)
	}
}

// TestReferencesAreRefusedByName.
func TestReferencesAreRefusedByName(t *testing.T) {
	bot, err := load.Robot("pony", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	arm, err := load.Robot("arm6", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var now servo.Tick
	level := msgs.Pose{Orientation: msgs.Quaternion{W: 1}}
	limbs := func(v poisemsgs.RigidBodyState) error {
		for range v.Name {
			if len(v.Frame) < len(v.Name) {
				v.Frame = append(v.Frame, level)
			}
		}
		_, err := LimbSample(bot.Model, now, &v)
		return err
	}
	support := func(v poisemsgs.SupportState) error { _, err := SupportSample(bot.Model, now, &v); return err }
	eyes := func(v msgs.JointState) error { _, err := EyesSample(bot.Model, now, &v); return err }
	_, fixed := LimbSample(arm.Model, now, &poisemsgs.RigidBodyState{Name: []string{"base"}, Frame: []msgs.Pose{level}})
	for want, err := range map[string]error{
		`the base of arm6 is fixed`:           fixed,
		`limb "leg9" is unknown`:              limbs(poisemsgs.RigidBodyState{Name: []string{"leg9"}}),
		`limbs "head" and "nose" share joint`: limbs(poisemsgs.RigidBodyState{Name: []string{"head", "nose"}}),
		`not from itself`:                     limbs(poisemsgs.RigidBodyState{Header: msgs.Header{FrameID: "base_link"}, Name: []string{"base"}}),
		`frame "moon"`:                        limbs(poisemsgs.RigidBodyState{Header: msgs.Header{FrameID: "moon"}, Name: []string{"leg1"}}),
		`2 twists`:                            limbs(poisemsgs.RigidBodyState{Name: []string{"leg1"}, Twist: make([]msgs.Twist, 2)}),
		`1 wrenches`:                          limbs(poisemsgs.RigidBodyState{Name: []string{"leg1"}, Wrench: make([]msgs.Wrench, 1)}),
		`no limb is named`:                    limbs(poisemsgs.RigidBodyState{}),
		`has no length`:                       limbs(poisemsgs.RigidBodyState{Name: []string{"leg1"}, Frame: make([]msgs.Pose, 1)}),
		`"leg7" is unknown`:                   support(poisemsgs.SupportState{Name: []string{"leg7"}, Support: []float64{1}}),
		`"head" has nothing to stand on`:      support(poisemsgs.SupportState{Name: []string{"head"}, Support: []float64{1}}),
		`is 1.5, must be 0 … 1`:               support(poisemsgs.SupportState{Name: []string{"leg1"}, Support: []float64{1.5}}),
		`contact "toe" is unknown`:            support(poisemsgs.SupportState{Name: []string{"leg1"}, Support: []float64{1}, Contact: []string{"toe"}}),
		`0 shares of support`:                 support(poisemsgs.SupportState{Name: []string{"leg1"}}),
		`joint "eye_screen" is unknown`:       eyes(msgs.JointState{Name: []string{"eye_screen"}, Position: []float64{1}}),
		`output "eye_screens" is named twice`: eyes(msgs.JointState{Name: []string{"eye_screens", "eye_screens"}, Position: []float64{1, 2}}),
		`joint "eyes_yaw" is named twice`:     eyes(msgs.JointState{Name: []string{"eyes_yaw", "eyes_yaw"}, Position: []float64{0, 0}}),
		`limb "leg1" is named twice`:          support(poisemsgs.SupportState{Name: []string{"leg1", "leg1"}, Support: []float64{1, 1}}),
		`limb "leg2" is named twice`:          limbs(poisemsgs.RigidBodyState{Name: []string{"leg2", "leg2"}}),
		`the base is named twice`:             limbs(poisemsgs.RigidBodyState{Name: []string{"base", "base_link"}}),
		`0 positions`:                         eyes(msgs.JointState{Name: []string{"eye_screens"}}),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
