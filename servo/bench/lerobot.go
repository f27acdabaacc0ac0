package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// LeRobot is what a calibration file of LeRobot says of a joint's servo. Its numbers are
// readings with the homing offset that lies in the servo.
type LeRobot struct {
	ID           int   `json:"id"`
	DriveMode    int   `json:"drive_mode"`
	HomingOffset int64 `json:"homing_offset"`
	RangeMin     int32 `json:"range_min"`
	RangeMax     int32 `json:"range_max"`
}

// ReadLeRobot reads a calibration file of LeRobot, by the names of its joints.
func ReadLeRobot(text []byte) (map[string]LeRobot, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	all := map[string]LeRobot{}
	if err := d.Decode(&all); err != nil {
		return nil, fmt.Errorf("no calibration of LeRobot: %w", err)
	}
	if len(all) == 0 {
		return nil, errors.New("no calibration of LeRobot: it names no joint")
	}
	var errs []error
	joints := map[int]string{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if other, twice := joints[all[name].ID]; twice {
			errs = append(errs, fmt.Errorf("joint %q: id %d is that of joint %q already", name, all[name].ID, other))
		}
		joints[all[name].ID] = name
		if s := all[name]; s.ID < 0 || s.ID > 253 || s.RangeMin >= s.RangeMax {
			errs = append(errs, fmt.Errorf("joint %q: id %d, range %d … %d: not a servo's", name, s.ID, s.RangeMin, s.RangeMax))
		}
	}
	return all, errors.Join(errs...)
}

// Adopt takes a calibration of LeRobot over: the middle of a servo's range is the middle of its
// joint's limits, as LeRobot's degrees count from there. The servos must have the homing
// offsets with which the file was made; they are read, and nothing is written.
func (c *Calibration) Adopt(file map[string]LeRobot) ([]Calibrated, error) {
	ids := make(map[string]int, len(file))
	for name, s := range file {
		ids[name] = s.ID
	}
	if err := c.Find(ids); err != nil {
		return nil, err
	}
	var errs []error
	all := make([]Calibrated, len(c.servos))
	for i, s := range c.servos {
		f := file[s.Joint]
		if r, ok := s.servo.Model.Register("homing_offset"); ok {
			offset, err := c.Client.read(s.ID, s.servo.Model, r)
			if err == nil && offset != f.HomingOffset {
				err = fmt.Errorf("its homing offset is %d, that of the file %d: poise bus write PORT %d homing_offset %d", offset, f.HomingOffset, s.ID, f.HomingOffset)
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("joint %q: servo %d: %w", s.Joint, s.ID, err))
			}
		}
		s.Reversed = f.DriveMode != 0
		middle := 0.0
		j, _ := c.Model.Joint(s.Joint)
		if l := c.Model.Joints()[j].Limits; l.Lower.Has && l.Upper.Has {
			middle = (l.Lower.Value + l.Upper.Value) / 2
		}
		s.Zero = round(float64(f.RangeMin+f.RangeMax)/2-s.steps(middle), 2)
		s.Min, s.Max, s.Swept = f.RangeMin, f.RangeMax, true
		if err := c.readable(s, f); err != nil {
			errs = append(errs, fmt.Errorf("joint %q: servo %d: %w", s.Joint, s.ID, err))
		}
		all[i] = s.Calibrated
	}
	return all, errors.Join(errs...)
}

// readable wants the range of a file, and the zero that follows from it, to be what the servo can read.
func (c *Calibration) readable(s *calibrated, f LeRobot) error {
	turns := false
	for name, counts := range map[string]func(v int64) bool{
		"phase": func(v int64) bool { return v&0x10 != 0 },      // of an STS
		"mode":  func(v int64) bool { return v == 4 || v == 5 }, // of a Dynamixel
	} {
		r, ok := s.servo.Model.Register(name)
		if !ok {
			continue
		}
		v, err := c.Client.read(s.ID, s.servo.Model, r)
		if err != nil {
			return err
		}
		turns = turns || counts(v)
	}
	m := s.servo.Model
	if err := errors.Join(m.CheckReading("range_min", float64(f.RangeMin), turns), m.CheckReading("range_max", float64(f.RangeMax), turns)); err != nil {
		return err
	}
	j, _ := c.Model.Joint(s.Joint)
	if l := c.Model.Joints()[j].Limits; !l.Lower.Has || !l.Upper.Has || l.Lower.Value <= 0 && l.Upper.Value >= 0 {
		return m.CheckReading(fmt.Sprintf("range %d … %d puts the joint's zero to", f.RangeMin, f.RangeMax), s.Zero, turns)
	}
	return nil
}
