package telemetry

import (
	"encoding/binary"
	"math"

	"poise/servo"
)

// A measurement is written as what has changed since the tick before: of each
// joint, inertial unit and touch sensor in turn a mask, then the fields that it
// names. The first bits are numbers, the next one or two counts, the last are numbers that older
// recordings do not have.

// fields is one part of a measurement, ready to be compared and written.
type fields struct {
	numbers []*float64
	counts  []uint64
	more    []*float64
}

// layout has room for the fields of the largest part.
type layout struct {
	numbers [10]*float64
	counts  [2]uint64
	more    [3]*float64
}

func (l *layout) joint(r *servo.Reading) fields {
	l.counts = [2]uint64{uint64(r.Age), uint64(r.Fault)}
	return fields{append(l.numbers[:0], &r.Position, &r.Velocity, &r.Effort, &r.Voltage, &r.Temperature), l.counts[:2], nil}
}

func (l *layout) inertial(i *servo.Inertial) fields {
	l.counts[0] = uint64(i.Age)
	o, v, a := &i.Orientation, &i.Rate, &i.Acceleration
	return fields{append(l.numbers[:0], &o.W, &o.X, &o.Y, &o.Z, &v.X, &v.Y, &v.Z, &a.X, &a.Y, &a.Z), l.counts[:1], nil}
}

func (l *layout) touch(c *servo.Contact) fields {
	l.counts = [2]uint64{uint64(c.Age), 0}
	if c.Pressed {
		l.counts[1] = 1
	}
	return fields{append(l.numbers[:0], &c.Force.X, &c.Force.Y, &c.Force.Z), l.counts[:2], append(l.more[:0], &c.Moment.X, &c.Moment.Y, &c.Moment.Z)}
}

// measurement writes what has changed, and remembers it.
func (e *encoder) measurement(b []byte, m *servo.Measurement) []byte {
	var now, last layout
	for i := range m.Joints {
		b = appendChanges(b, now.joint(&m.Joints[i]), last.joint(&e.last.Joints[i]))
	}
	for i := range m.IMU {
		b = appendChanges(b, now.inertial(&m.IMU[i]), last.inertial(&e.last.IMU[i]))
	}
	for i := range m.Touch {
		b = appendChanges(b, now.touch(&m.Touch[i]), last.touch(&e.last.Touch[i]))
	}
	e.last.Copy(m)
	return b
}

func appendChanges(b []byte, now, last fields) []byte {
	mask := changed(now.numbers, last.numbers)
	first := len(now.numbers) // bit of the counts
	rest := first + len(now.counts)
	mask |= changed(now.more, last.more) << rest
	for i, n := range now.counts {
		if n != last.counts[i] {
			mask |= 1 << (first + i)
		}
	}
	b = binary.AppendUvarint(b, mask)
	for i, x := range now.numbers {
		if mask>>i&1 != 0 {
			b = appendFloat(b, *x)
		}
	}
	for i, n := range now.counts {
		if mask>>(first+i)&1 != 0 {
			b = binary.AppendUvarint(b, n)
		}
	}
	for i, x := range now.more {
		if mask>>(rest+i)&1 != 0 {
			b = appendFloat(b, *x)
		}
	}
	return b
}

// changed returns a mask of the numbers that are not what they were.
func changed(now, last []*float64) (mask uint64) {
	for i, x := range now {
		if math.Float64bits(*x) != math.Float64bits(*last[i]) {
			mask |= 1 << i
		}
	}
	return mask
}

// measurement reads into m, which holds that of the tick before.
func (c *cursor) measurement(m *servo.Measurement) {
	var l layout
	for i := range m.Joints {
		x := &m.Joints[i]
		f := l.joint(x)
		c.changes(f)
		x.Age, x.Fault = uint32(f.counts[0]), servo.Fault(f.counts[1])
	}
	for i := range m.IMU {
		x := &m.IMU[i]
		f := l.inertial(x)
		c.changes(f)
		x.Age = uint32(f.counts[0])
	}
	for i := range m.Touch {
		x := &m.Touch[i]
		f := l.touch(x)
		c.changes(f)
		x.Age, x.Pressed = uint32(f.counts[0]), f.counts[1] != 0
	}
}

func (c *cursor) changes(f fields) {
	mask := c.uvarint()
	for i, x := range f.numbers {
		if mask>>i&1 != 0 {
			*x = c.float()
		}
	}
	for i := range f.counts {
		if mask>>(len(f.numbers)+i)&1 != 0 {
			f.counts[i] = c.uvarint()
		}
	}
	for i, x := range f.more {
		if mask>>(len(f.numbers)+len(f.counts)+i)&1 != 0 {
			*x = c.float()
		}
	}
}
