package loop

import (
	"poise/control"
	"poise/external"
	"poise/robot"
	servomodel "poise/servo/model"
	"poise/spatial"
)

// ExternalSettings are how a loop feels what touches its robot. It takes servo models: those of
// Settings.Inversion.
type ExternalSettings struct {
	On bool `json:"on,omitempty"`
	external.Options
	Impacts []control.Reaction `json:"impacts,omitempty"` // [chains] unless a motion says otherwise; nil is to ignore them
	Feeds   bool               `json:"feeds,omitempty"`   // odometry stands on the feet that are felt, where no touch sensors tell
}

// feeling is the stage that feels what touches the robot.
type feeling struct {
	sense  *external.Sense // nil if it does not
	sample external.Sample
	feeds  bool
	felt   []control.Support // [chains] that stand, by forces
	all    []bool            // [chains] all true
	feet   []robot.ChainID

	limbs     []robot.Set // joints of each chain
	reactions []control.Reaction
	soft      []float64 // [joints] s left of giving way
	share     []float64 // [joints] of its stiffness that it keeps
}

func (f *feeling) init(l *Loop) error {
	s := &l.cfg.External
	if !s.On {
		return nil
	}
	var err error
	if f.sense, err = external.New(external.Config{Model: l.cfg.Model, Servos: l.cfg.Inversion.Models, Options: s.Options}); err != nil {
		return err
	}
	n := len(l.cfg.Model.Chains())
	f.sample.Expected, f.feeds = make([]external.Expectation, n), s.Feeds
	f.limbs, f.reactions = make([]robot.Set, n), make([]control.Reaction, n)
	copy(f.reactions, s.Impacts)
	f.soft, f.share = make([]float64, l.dof), make([]float64, l.dof)
	for j := range f.share {
		f.share[j] = 1
	}
	for i, c := range l.cfg.Model.Chains() {
		path, _ := l.cfg.Model.Path(0, c.Tip)
		for _, j := range path {
			f.limbs[i] = f.limbs[i].With(robot.LeafID(j))
		}
	}
	f.felt, f.all = make([]control.Support, n), make([]bool, n)
	for i := range f.all {
		f.all[i] = true
		if l.cfg.Model.Chains()[i].Contact != robot.NoContact {
			f.feet = append(f.feet, robot.ChainID(i))
		}
	}
	return nil
}

// update feels the period that ended with the newest readings; its setpoints are those of the
// last tick.
func (f *feeling) update(l *Loop) {
	if f.sense == nil {
		return
	}
	sample := &f.sample
	sample.Time, sample.Dt, sample.Missed = l.now, l.tick.Dt, l.input.Missed > 0
	sample.Joints, sample.Setpoints, sample.Voltage = l.reading.Joints, l.setpoint, l.measured.Volt
	sample.Base, sample.Twist = spatial.IdentityPose, spatial.Twist{}
	if b := &l.measured.Base; b.Has {
		sample.Base, sample.Twist = b.Pose, b.Twist
	}
	sample.Unit = nil
	if len(l.reading.IMU) > 0 {
		sample.Unit = &l.reading.IMU[0]
	}
	sample.Reference = nil
	if l.cycles.runs {
		sample.Reference = l.cycles.stage.Tau
	}
	for i := range sample.Expected {
		s := &l.command.Support[i]
		sample.Expected[i] = external.Expectation{Carries: s.Weight > 0, Phase: -1}
		if s.Swing > 0 { // its owner knows how far it is on its way
			sample.Expected[i].Phase = s.Swing
		}
	}
	f.sense.Update(sample)
	copy(l.measured.Contacts, f.sense.Contacts())
	f.soften(sample.Dt)
	events := f.sense.Events()
	for i := range events {
		e := &events[i]
		reaction := f.react(l, e)
		if l.crowded() {
			continue
		}
		l.report(Report{Kind: Felt, Felt: *e, Reaction: reaction})
	}
}

// stands fills in which feet carry by what is felt; it is false if that is not known of every
// foot, or of none that it carries: then the robot is held up, or nothing is felt.
func (f *feeling) stands(l *Loop, full float64) bool {
	if f.sense == nil || !f.feeds {
		return false
	}
	some := false
	for _, c := range f.feet {
		k := f.sense.Contact(c)
		if !k.Known() {
			return false
		}
		s := &f.felt[c]
		*s = control.Support{Contact: l.command.Support[c].Contact}
		if k.Carries() {
			some = true
			s.Weight = min(max(k.Force/full, least), 1)
		}
	}
	return some
}

// setServo takes a newer model of a servo.
func (f *feeling) setServo(joint int, m *servomodel.Model) {
	if f.sense != nil {
		f.sense.SetServo(joint, m)
	}
}

// tell fills in a snapshot.
func (f *feeling) tell(s *Snapshot) {
	if f.sense == nil {
		return
	}
	s.Feels = true
	copy(s.External, f.sense.Joints())
	for i := range s.Limbs {
		s.Limbs[i] = *f.sense.Limb(robot.ChainID(i))
	}
	s.Outside = spatial.Wrench{}
	if l := &f.sample; l.Dt > 0 {
		s.Outside = f.sense.Base()
	}
}
