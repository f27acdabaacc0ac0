package msgs

import "math"

// Time is builtin_interfaces/Time.
type Time struct {
	Sec     int32  `json:"sec"`
	Nanosec uint32 `json:"nanosec"`
}

// Duration is builtin_interfaces/Duration. A negative duration has negative
// seconds and nanoseconds that count upwards.
type Duration struct {
	Sec     int32  `json:"sec"`
	Nanosec uint32 `json:"nanosec"`
}

const nanosPerSecond = 1_000_000_000

// DurationOf returns a count of nanoseconds as a message.
func DurationOf(nanos int64) Duration {
	sec := nanos / nanosPerSecond
	rest := nanos % nanosPerSecond
	if rest < 0 {
		sec, rest = sec-1, rest+nanosPerSecond
	}
	return Duration{Sec: int32(sec), Nanosec: uint32(rest)}
}

// Nanos returns the duration in nanoseconds.
func (d Duration) Nanos() int64 { return int64(d.Sec)*nanosPerSecond + int64(d.Nanosec) }

// Nanos returns the time in nanoseconds since the epoch.
func (t Time) Nanos() int64 { return int64(t.Sec)*nanosPerSecond + int64(t.Nanosec) }

// Seconds returns the duration in seconds.
func (d Duration) Seconds() float64 { return float64(d.Sec) + float64(d.Nanosec)/nanosPerSecond }

// DurationFromSeconds returns the nearest duration to s seconds. What does not
// fit into a message saturates.
func DurationFromSeconds(s float64) Duration {
	switch {
	case math.IsNaN(s):
		return Duration{}
	case s >= math.MaxInt32:
		return Duration{Sec: math.MaxInt32}
	case s <= math.MinInt32:
		return Duration{Sec: math.MinInt32}
	}
	return DurationOf(int64(math.Round(s * nanosPerSecond)))
}

// Header is std_msgs/Header.
type Header struct {
	Stamp   Time   `json:"stamp"`
	FrameID string `json:"frame_id"`
}
