package bench

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"poise/problem"
	"poise/robot"
	"poise/servo/bus"
)

// Calibrated is what was found out about the servo of a joint.
type Calibrated struct {
	Joint    string  `json:"joint"`
	ID       int     `json:"id"`
	Type     string  `json:"type"`
	Zero     float64 `json:"zero"` // reading at the joint's zero, steps
	Reversed bool    `json:"reversed"`
	Min      int32   `json:"min"` // steps
	Max      int32   `json:"max"`
	Swept    bool    `json:"swept"` // Min and Max were found by moving it
}

// Step is a part of a calibration.
type Step string

// The steps, in their order: a zero of a pose other than all zeros needs the direction.
const (
	Direction Step = "direction"
	Zero      Step = "zero"
	Limits    Step = "limits"
)

// Steps are all of them.
var Steps = []Step{Direction, Zero, Limits}

// Person does what a calibration asks for.
type Person interface {
	// Do says what is to be done; the channel tells when it is done, and what was in the way.
	Do(text string) <-chan error
}

// Calibration finds zeros, directions and limits of limp servos while a person moves the
// robot. It writes nothing to them.
type Calibration struct {
	Client *Client
	Model  *robot.Model
	Joints []string           // that are calibrated
	Pose   map[string]float64 // of joints at the zero step; others are at 0
	Steps  []Step
	Person Person

	servos []*calibrated
}

type calibrated struct {
	Calibrated
	gear      float64
	servo     *bus.Servo
	low, high int32
	seam      bool // a reading jumped from one end of its turn to the other
}

// Find identifies the servos of the joints and wants them to be limp. Joints without a servo
// in robot.yaml are to be among ids.
func (c *Calibration) Find(ids map[string]int) error {
	var errs []error
	for _, name := range c.Joints {
		j, ok := c.Model.Joint(name)
		if !ok {
			errs = append(errs, fmt.Errorf("robot %q has no joint %q%s", c.Model.Name(), name, problem.Hint(name, c.Model.JointNames())))
			continue
		}
		a := c.Model.Servo(j)
		id, has := ids[name]
		if !has {
			id = a.ID
		}
		if !a.Assigned && !has {
			errs = append(errs, fmt.Errorf("joint %q has no servo in robot.yaml", name))
			continue
		}
		m, _, err := c.Client.Model(id)
		if err != nil {
			errs = append(errs, fmt.Errorf("joint %q: %w", name, err))
			continue
		}
		s := &calibrated{Calibrated: Calibrated{Joint: name, ID: id, Type: m.Name, Zero: a.Zero, Reversed: a.Reversed, Min: m.Low, Max: m.High}, gear: 1,
			servo: &bus.Servo{ID: id, Model: m}}
		if a.Assigned {
			s.gear = a.Gear
		} else {
			s.Zero = float64(m.Centre)
		}
		if err := c.Client.Talk.Slow(s.servo); err != nil {
			errs = append(errs, fmt.Errorf("joint %q: servo %d: %w", name, id, err))
		} else if s.servo.State.Torque != bus.TorqueOff {
			errs = append(errs, fmt.Errorf("joint %q: servo %d has torque: let it go first (poise bus write PORT %d torque 0)", name, id, id))
		}
		c.servos = append(c.servos, s)
	}
	return errors.Join(errs...)
}

// How far a person has to move a joint, rad of the servo, for its direction and for its range
// to count, and how many readings that fail are put up with.
const (
	wiggle   = 3 * degree
	sweep    = 10 * degree
	patient  = 100
	sampling = 5 * time.Millisecond
)

// Run goes through the steps.
func (c *Calibration) Run() ([]Calibrated, error) {
	if err := c.read(); err != nil {
		return nil, err
	}
	for _, step := range Steps {
		if !slices.Contains(c.Steps, step) {
			continue
		}
		var err error
		switch step {
		case Direction:
			err = c.directions()
		case Zero:
			err = c.zeros()
		case Limits:
			err = c.limits()
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", step, err)
		}
	}
	all := make([]Calibrated, len(c.servos))
	for i, s := range c.servos {
		all[i] = s.Calibrated
	}
	return all, nil
}

// read asks all servos where they are; those that were not heard are asked again.
func (c *Calibration) read() error {
	servos := make([]*bus.Servo, len(c.servos))
	for i, s := range c.servos {
		servos[i] = s.servo
	}
	for range patient {
		if err := c.Client.Talk.States(servos); err != nil {
			return err
		}
		servos = slices.DeleteFunc(servos, func(s *bus.Servo) bool { return s.Heard })
		if len(servos) == 0 {
			return nil
		}
	}
	return fmt.Errorf("servo %d does not answer any more", servos[0].ID)
}

// watch reads until a person has done something.
func (c *Calibration) watch(text string, each func(s *calibrated)) error {
	done := c.Person.Do(text)
	look := func() error {
		if err := c.read(); err != nil {
			return err
		}
		for _, s := range c.servos {
			each(s)
		}
		return nil
	}
	for {
		if err := look(); err != nil {
			return err
		}
		select {
		case err := <-done:
			return errors.Join(err, look()) // where it was left
		case <-time.After(sampling):
		}
	}
}

// directions lets a person move each joint a little to where its numbers grow.
func (c *Calibration) directions() error {
	for _, s := range c.servos {
		began := s.servo.State.Position
		far := int32(0)
		text := fmt.Sprintf("Move joint %q a little in its positive direction (where its number grows in the Studio), and leave it there.", s.Joint)
		for {
			err := c.watch(text, func(x *calibrated) {
				if x == s {
					far = x.servo.State.Position - began
				}
			})
			if err != nil {
				return err
			}
			if math.Abs(float64(far))*s.servo.Model.Step >= wiggle {
				break
			}
			text = fmt.Sprintf("Servo %d has moved by %d steps, which is too little to tell. Move joint %q more.", s.ID, far, s.Joint)
		}
		if math.Abs(float64(far))*s.servo.Model.Step > math.Pi {
			return seamError(s)
		}
		s.Reversed = far < 0
	}
	return nil
}

// seamError says that a joint cannot be used as its horn is mounted.
func seamError(s *calibrated) error {
	return fmt.Errorf("joint %q: servo %d passes the seam of its turn, where its reading jumps: mount its horn half a turn further, or set its homing offset", s.Joint, s.ID)
}

// zeros reads where the servos are while the robot is in a pose.
func (c *Calibration) zeros() error {
	where := "in which every joint is at zero"
	if len(c.Pose) > 0 {
		where = "that was named"
	}
	if err := c.watch("Put the robot into the pose "+where+", and hold it there.", func(*calibrated) {}); err != nil {
		return err
	}
	if err := c.read(); err != nil {
		return err
	}
	for _, s := range c.servos {
		s.Zero = round(float64(s.servo.State.Position)-s.steps(c.Pose[s.Joint]), 2)
	}
	return nil
}

// steps returns how many steps an angle of the joint is.
func (s *calibrated) steps(q float64) float64 {
	n := q / (s.servo.Model.Step * s.gear)
	if s.Reversed {
		return -n
	}
	return n
}

// limits lets a person move all joints through their ranges.
func (c *Calibration) limits() error {
	last := make(map[*calibrated]int32, len(c.servos))
	for _, s := range c.servos {
		s.low, s.high = s.servo.State.Position, s.servo.State.Position
		last[s] = s.low
	}
	err := c.watch("Move every joint slowly from one end of its range to the other.", func(s *calibrated) {
		now := s.servo.State.Position
		if math.Abs(float64(now-last[s]))*s.servo.Model.Step > math.Pi {
			s.seam = true
		}
		last[s] = now
		s.low, s.high = min(s.low, now), max(s.high, now)
	})
	if err != nil {
		return err
	}
	var errs []error
	for _, s := range c.servos {
		switch turn := float64(s.high-s.low) * s.servo.Model.Step; {
		case s.seam:
			errs = append(errs, seamError(s))
		case turn < sweep:
			errs = append(errs, fmt.Errorf("joint %q: servo %d was moved by %.1f°, which is no range: leave it out with --joints if it cannot turn more", s.Joint, s.ID, turn/degree))
		default:
			s.Min, s.Max, s.Swept = s.low, s.high, true
		}
	}
	return errors.Join(errs...)
}

func round(x float64, digits int) float64 {
	unit := math.Pow10(digits)
	return math.Round(x*unit) / unit
}

// Table shows a calibration to people.
func Table(all []Calibrated) string {
	var b strings.Builder
	for _, s := range all {
		direction := ""
		if s.Reversed {
			direction = "  reversed"
		}
		fmt.Fprintf(&b, "  %-16s id %3d  %-12s zero %7.1f  %5d … %d%s\n", s.Joint, s.ID, s.Type, s.Zero, s.Min, s.Max, direction)
	}
	return b.String()
}
