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
	Seq     uint32 `json:"seq" form:"1"`
	Stamp   Time   `json:"stamp"`
	FrameID string `json:"frame_id"`
}

// TimeOf returns a count of nanoseconds since the epoch as a message.
func TimeOf(nanos int64) Time { return Time(DurationOf(nanos)) }

// Empty is std_msgs/Empty.
type Empty struct{}

// Bool is std_msgs/Bool.
type Bool struct {
	Data bool `json:"data"`
}

// Byte is std_msgs/Byte.
type Byte struct {
	Data uint8 `json:"data" ros:"byte"`
}

// Char is std_msgs/Char.
type Char struct {
	Data uint8 `json:"data" ros:"char"`
}

// String is std_msgs/String.
type String struct {
	Data string `json:"data"`
}

// Float32 is std_msgs/Float32.
type Float32 struct {
	Data float32 `json:"data"`
}

// Float64 is std_msgs/Float64.
type Float64 struct {
	Data float64 `json:"data"`
}

// Int8 is std_msgs/Int8.
type Int8 struct {
	Data int8 `json:"data"`
}

// Int16 is std_msgs/Int16.
type Int16 struct {
	Data int16 `json:"data"`
}

// Int32 is std_msgs/Int32.
type Int32 struct {
	Data int32 `json:"data"`
}

// Int64 is std_msgs/Int64.
type Int64 struct {
	Data int64 `json:"data"`
}

// UInt8 is std_msgs/UInt8.
type UInt8 struct {
	Data uint8 `json:"data"`
}

// UInt16 is std_msgs/UInt16.
type UInt16 struct {
	Data uint16 `json:"data"`
}

// UInt32 is std_msgs/UInt32.
type UInt32 struct {
	Data uint32 `json:"data"`
}

// UInt64 is std_msgs/UInt64.
type UInt64 struct {
	Data uint64 `json:"data"`
}

// TimeData is std_msgs/Time, which only ROS 1 has.
type TimeData struct {
	Data Time `json:"data"`
}

// DurationData is std_msgs/Duration, which only ROS 1 has.
type DurationData struct {
	Data Duration `json:"data"`
}

// ColorRGBA is std_msgs/ColorRGBA.
type ColorRGBA struct {
	R float32 `json:"r"`
	G float32 `json:"g"`
	B float32 `json:"b"`
	A float32 `json:"a"`
}

// MultiArrayDimension is std_msgs/MultiArrayDimension.
type MultiArrayDimension struct {
	Label  string `json:"label"`
	Size   uint32 `json:"size"`
	Stride uint32 `json:"stride"`
}

// MultiArrayLayout is std_msgs/MultiArrayLayout.
type MultiArrayLayout struct {
	Dim        []MultiArrayDimension `json:"dim"`
	DataOffset uint32                `json:"data_offset"`
}

// Float32MultiArray is std_msgs/Float32MultiArray.
type Float32MultiArray struct {
	Layout MultiArrayLayout `json:"layout"`
	Data   []float32        `json:"data"`
}

// Float64MultiArray is std_msgs/Float64MultiArray.
type Float64MultiArray struct {
	Layout MultiArrayLayout `json:"layout"`
	Data   []float64        `json:"data"`
}

// Int32MultiArray is std_msgs/Int32MultiArray.
type Int32MultiArray struct {
	Layout MultiArrayLayout `json:"layout"`
	Data   []int32          `json:"data"`
}

// UInt8MultiArray is std_msgs/UInt8MultiArray.
type UInt8MultiArray struct {
	Layout MultiArrayLayout `json:"layout"`
	Data   []uint8          `json:"data"`
}

// EmptyRequest is std_srvs/Empty's request.
type EmptyRequest struct{}

// EmptyResponse is std_srvs/Empty's response.
type EmptyResponse struct{}

// SetBoolRequest is std_srvs/SetBool's request.
type SetBoolRequest struct {
	Data bool `json:"data"`
}

// SetBoolResponse is std_srvs/SetBool's response.
type SetBoolResponse struct {
	Success bool   `json:"success"`
	Message string `json:"message"`
}

// TriggerRequest is std_srvs/Trigger's request.
type TriggerRequest struct{}

// TriggerResponse is std_srvs/Trigger's response.
type TriggerResponse struct {
	Success bool   `json:"success"`
	Message string `json:"message"`
}

// Log is rosgraph_msgs/Log, in ROS 2 rcl_interfaces/Log. The two count severity
// differently; NewLog fills both.
type Log struct {
	Header   Header   `json:"header" form:"1"`
	Stamp    Time     `json:"stamp" form:"2"`
	Level    uint8    `json:"level" form:"2"`
	Severity uint8    `json:"severity" ros1:"level" form:"1" ros:"byte"`
	Name     string   `json:"name"`
	Msg      string   `json:"msg"`
	File     string   `json:"file"`
	Function string   `json:"function"`
	Line     uint32   `json:"line"`
	Topics   []string `json:"topics" form:"1"`
}

// Values of Log.Level.
const (
	LogDebug = 10
	LogInfo  = 20
	LogWarn  = 30
	LogError = 40
	LogFatal = 50
)

// Clock is rosgraph_msgs/Clock.
type Clock struct {
	Clock Time `json:"clock"`
}

// KeyValue is diagnostic_msgs/KeyValue.
type KeyValue struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// DiagnosticStatus is diagnostic_msgs/DiagnosticStatus.
type DiagnosticStatus struct {
	Level      uint8      `json:"level" ros:"byte"`
	Name       string     `json:"name"`
	Message    string     `json:"message"`
	HardwareID string     `json:"hardware_id"`
	Values     []KeyValue `json:"values"`
}

// DiagnosticArray is diagnostic_msgs/DiagnosticArray.
type DiagnosticArray struct {
	Header Header             `json:"header"`
	Status []DiagnosticStatus `json:"status"`
}

// Logger is roscpp/Logger: a log of a ROS 1 node, and its level (debug, info, warn, error,
// fatal).
type Logger struct {
	Name  string `json:"name"`
	Level string `json:"level"`
}

// GetLoggersRequest is roscpp/GetLoggers' request.
type GetLoggersRequest struct{}

// GetLoggersResponse is roscpp/GetLoggers' response.
type GetLoggersResponse struct {
	Loggers []Logger `json:"loggers"`
}

// SetLoggerLevelRequest is roscpp/SetLoggerLevel's request.
type SetLoggerLevelRequest struct {
	Logger string `json:"logger"`
	Level  string `json:"level"`
}

// SetLoggerLevelResponse is roscpp/SetLoggerLevel's response.
type SetLoggerLevelResponse struct{}
