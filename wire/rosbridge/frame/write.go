package frame

import (
	"encoding/json"
	"strconv"
)

// StringID returns a text as an id.
func StringID(s string) string { return string(AppendString(nil, s)) }

// AppendString appends s as JSON text.
func AppendString(b []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x7f {
			quoted, err := json.Marshal(s)
			if err != nil {
				panic("frame: a string that JSON cannot hold") // json.Marshal replaces invalid UTF-8
			}
			return append(b, quoted...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

// Append writes the message as JSON text: op and id first, then the members that
// are not zero. Msg, Args and Values are taken as they are.
func (m *Message) Append(b []byte) []byte {
	b = append(b, `{"op":`...)
	b = AppendString(b, m.Op)
	b = appendRaw(b, "id", m.ID)
	b = appendText(b, "topic", m.Topic)
	b = appendText(b, "service", m.Service)
	b = appendText(b, "action", m.Action)
	b = appendText(b, "type", m.Type)
	b = appendText(b, "action_type", m.ActionType)
	b = appendText(b, "level", m.Level)
	b = appendRaw(b, "msg", string(m.Msg))
	b = appendRaw(b, "args", string(m.Args))
	b = appendRaw(b, "values", string(m.Values))
	if m.Status != nil {
		b = appendRaw(b, "status", strconv.Itoa(*m.Status))
	}
	if m.Result != nil {
		b = appendRaw(b, "result", strconv.FormatBool(*m.Result))
	}
	b = appendRaw(b, "goal_info", string(m.GoalInfo))
	b = appendRaw(b, "explanations", string(m.Explanations))
	if m.Timeout != nil {
		b = appendRaw(b, "timeout", strconv.FormatFloat(*m.Timeout, 'g', -1, 64))
	}
	if m.Latch {
		b = appendRaw(b, "latch", "true")
	}
	if m.Feedback {
		b = appendRaw(b, "feedback", "true")
	}
	if m.ThrottleRate != 0 {
		b = appendRaw(b, "throttle_rate", strconv.FormatFloat(m.ThrottleRate, 'g', -1, 64))
	}
	b = appendWhole(b, "queue_length", m.QueueLength)
	b = appendWhole(b, "queue_size", m.QueueSize)
	b = appendWhole(b, "fragment_size", m.FragmentSize)
	b = appendText(b, "compression", m.Compression)
	if m.Op == Fragment {
		b = append(b, `,"data":`...)
		b = AppendString(b, m.Data)
		b = appendRaw(b, "num", strconv.Itoa(m.Num))
		b = appendRaw(b, "total", strconv.Itoa(m.Total))
	}
	return append(b, '}')
}

func appendRaw(b []byte, name, json string) []byte {
	if json == "" {
		return b
	}
	b = append(b, ',', '"')
	b = append(b, name...)
	b = append(b, '"', ':')
	return append(b, json...)
}

func appendText(b []byte, name, s string) []byte {
	if s == "" {
		return b
	}
	b = append(b, ',', '"')
	b = append(b, name...)
	b = append(b, '"', ':')
	return AppendString(b, s)
}

func appendWhole(b []byte, name string, n int) []byte {
	if n == 0 {
		return b
	}
	return appendRaw(b, name, strconv.Itoa(n))
}
