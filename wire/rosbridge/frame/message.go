package frame

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sort"
	"strconv"
	"unicode/utf8"
)

// The ops of the protocol.
const (
	Advertise          = "advertise"
	Unadvertise        = "unadvertise"
	Publish            = "publish"
	Subscribe          = "subscribe"
	Unsubscribe        = "unsubscribe"
	CallService        = "call_service"
	ServiceResponse    = "service_response"
	AdvertiseService   = "advertise_service"
	UnadvertiseService = "unadvertise_service"
	SendActionGoal     = "send_action_goal"
	CancelActionGoal   = "cancel_action_goal"
	ActionFeedback     = "action_feedback"
	ActionResult       = "action_result"
	AdvertiseAction    = "advertise_action"
	UnadvertiseAction  = "unadvertise_action"
	Fragment           = "fragment"
	PNG                = "png"
	Status             = "status"
	SetLevel           = "set_level"
	Auth               = "auth"
)

// Message is one frame, either way. Members that were not there are zero.
type Message struct {
	Op string
	ID string // JSON text of a string or a whole number, to be echoed; "" if there was none

	Topic, Service, Action string
	Type                   string // of a topic, a service or an advertised action
	ActionType             string // of the action that a goal is for
	Msg, Args, Values      []byte // JSON text

	// What Poise adds to the protocol, JSON text.
	GoalInfo     []byte // action_feedback: poise_msgs/GoalInfo, how far the goal is
	Explanations []byte // action_result: list of poise_msgs/Explanation, why it ended

	Latch        bool
	Feedback     bool
	Result       *bool
	Status       *int     // action_result
	Timeout      *float64 // call_service, s
	ThrottleRate float64  // subscribe, ms between messages
	QueueLength  int
	QueueSize    int
	FragmentSize int
	Compression  string

	Level string // set_level, status
	Data  string // fragment
	Num   int
	Total int

	Unknown []string // members that the protocol does not have, sorted
}

// maxID bounds the length of an id, which is kept as long as what it names.
const maxID = 4096

// maxSafe is the largest whole number that survives a JSON reader with one number
// type.
const maxSafe = 1 << 53

// Parse reads a text frame. If it is an object, the message comes back even with
// an error, as far as it could be read, so that the answer can carry its id.
func Parse(data []byte) (*Message, error) {
	data = unmarked(data, false)
	m := &Message{}
	if !json.Valid(data) {
		var nothing struct{}
		return Sniff(data), notJSON(data, json.Unmarshal(data, &nothing)) // which finds the same again, and says where
	}
	if kind := kindOf(data); kind != "an object" {
		return m, fmt.Errorf("a frame is an object, not %s", kind)
	}
	members, err := split(data)
	if err != nil {
		return Sniff(data), err
	}
	r := reader{members: members}
	m.read(&r)
	m.Unknown = r.rest(m.Op)
	if m.Op == "" && len(r.problems) == 0 {
		r.problems = append(r.problems, errors.New(`the member "op" is missing`))
	}
	return m, errors.Join(r.problems...)
}

// maxMembers bounds the members of a frame; the protocol has a third of it.
const maxMembers = 100

// split finds the members of a valid object. Their texts are parts of data: nothing is
// copied, and the values are not read.
func split(data []byte) (map[string]json.RawMessage, error) {
	members := map[string]json.RawMessage{}
	s := sniffer{rest: data}
	for s.skip("{"); s.next() == '"'; s.skip(",") {
		key := s.value()
		s.skip(":")
		name, _ := unquote(key) // the text is valid
		if members[name] = s.value(); len(members) > maxMembers {
			return nil, fmt.Errorf("the frame has more than %d members", maxMembers)
		}
	}
	return members, nil
}

// unquote returns the string of a JSON text.
func unquote(text []byte) (s string, ok bool) {
	if n := len(text); n >= 2 && text[0] == '"' && text[n-1] == '"' && bytes.IndexByte(text, '\\') < 0 && utf8.Valid(text) && bytes.IndexByte(text[1:n-1], '"') < 0 {
		return string(text[1 : n-1]), true
	}
	err := json.Unmarshal(text, &s)
	return s, err == nil && len(text) > 0 && text[0] == '"'
}

// notJSON says why a text cannot be read. Python writes non-finite numbers in a way that
// is not JSON.
func notJSON(data []byte, err error) error {
	var at *json.SyntaxError
	if errors.As(err, &at) && at.Offset > 0 && bytes.IndexByte([]byte("NI"), data[at.Offset-1]) >= 0 {
		return errors.New("not JSON: a number that is not finite is written null")
	}
	return fmt.Errorf("not JSON: %w", err)
}

// read takes the members out of r.
func (m *Message) read(r *reader) {
	m.Op = r.text("op")
	m.ID = r.id()
	m.Topic, m.Service, m.Action = r.text("topic"), r.text("service"), r.text("action")
	m.Type, m.ActionType = r.text("type"), r.text("action_type")
	m.Msg, m.Args, m.Values = r.raw("msg"), r.raw("args"), r.raw("values")
	m.GoalInfo, m.Explanations = r.raw("goal_info"), r.raw("explanations")
	m.Latch, m.Feedback = r.flag("latch"), r.flag("feedback")
	if r.has("result") {
		v := r.flag("result")
		m.Result = &v
	}
	if m.Op != Status && r.has("status") {
		v := r.whole("status")
		m.Status = &v
	}
	if r.has("timeout") {
		v := r.number("timeout")
		m.Timeout = &v
	}
	m.ThrottleRate = r.number("throttle_rate")
	m.QueueLength, m.QueueSize = r.whole("queue_length"), r.whole("queue_size")
	m.FragmentSize = r.whole("fragment_size")
	m.Compression, m.Level, m.Data = r.text("compression"), r.text("level"), r.text("data")
	m.Num, m.Total = r.whole("num"), r.whole("total")
}

// authMembers belong to an op that is answered without being read.
var authMembers = []string{"mac", "client", "dest", "rand", "t", "level", "end"}

// reader takes members out of an object and collects what is wrong with them.
type reader struct {
	members  map[string]json.RawMessage
	problems []error
}

func (r *reader) has(name string) bool {
	v, ok := r.members[name]
	if ok && string(v) == "null" {
		// null stands for "not given": Python clients write None
		delete(r.members, name)
		return false
	}
	return ok
}

func (r *reader) raw(name string) []byte {
	v := r.members[name]
	delete(r.members, name)
	return v
}

func (r *reader) wrong(name, want string, got []byte) {
	r.problems = append(r.problems, fmt.Errorf("%s: want %s, got %s", name, want, kindOf(got)))
}

func (r *reader) text(name string) (s string) {
	if !r.has(name) {
		return ""
	}
	v := r.raw(name)
	s, ok := unquote(v)
	if !ok {
		r.wrong(name, "a string", v)
	}
	return s
}

func (r *reader) flag(name string) (b bool) {
	if !r.has(name) {
		return false
	}
	if v := r.raw(name); json.Unmarshal(v, &b) != nil {
		r.wrong(name, "true or false", v)
	}
	return b
}

func (r *reader) number(name string) (x float64) {
	if !r.has(name) {
		return 0
	}
	if v := r.raw(name); json.Unmarshal(v, &x) != nil {
		r.wrong(name, "a number", v)
	}
	return x
}

func (r *reader) whole(name string) int {
	if !r.has(name) {
		return 0
	}
	v := r.members[name]
	x := r.number(name)
	if x != math.Trunc(x) || math.Abs(x) > math.MaxInt32 {
		r.problems = append(r.problems, fmt.Errorf("%s: want a whole number that fits into 32 bits, got %s", name, v))
		return 0
	}
	return int(x)
}

// id returns the id's JSON text, normalized: 7.0 is 7.
func (r *reader) id() string {
	if !r.has("id") {
		return ""
	}
	v := r.raw("id")
	var s string
	if json.Unmarshal(v, &s) == nil {
		if len(s) > maxID {
			r.problems = append(r.problems, fmt.Errorf("id: %d bytes, at most %d are kept", len(s), maxID))
			return ""
		}
		return string(AppendString(nil, s))
	}
	var x float64
	if json.Unmarshal(v, &x) == nil && x == math.Trunc(x) && math.Abs(x) <= maxSafe {
		return strconv.FormatInt(int64(x), 10)
	}
	r.wrong("id", "a string or a whole number", v)
	return ""
}

// rest returns the members that were not read.
func (r *reader) rest(op string) (names []string) {
	if op == Auth {
		for _, name := range authMembers {
			delete(r.members, name)
		}
	}
	for name := range r.members {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// kindOf says what a JSON text is, for messages.
func kindOf(v []byte) string {
	v = bytes.TrimLeft(v, " \t\r\n")
	if len(v) == 0 {
		return "nothing"
	}
	switch v[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}

// IDText returns an id as plain text: a string without its quotes.
func IDText(id string) string {
	var s string
	if json.Unmarshal([]byte(id), &s) == nil {
		return s
	}
	return id
}

// Sniff finds op, id and names in a frame that cannot be parsed, because it is too long
// or not JSON, so that the refusal can carry them and a client that waits gets an answer.
func Sniff(text []byte) *Message {
	head := map[string]json.RawMessage{}
	for _, name := range []string{"op", "id", "topic", "service", "action"} {
		if value := Dig(text, name); json.Valid(value) {
			head[name] = value
		}
	}
	m := &Message{}
	m.read(&reader{members: head})
	return m
}

// Dig returns the text of a member, of a member of it, and so on, as far as it can be
// found in a text that may be broken; nil if it cannot.
func Dig(text []byte, path ...string) []byte {
	for _, name := range path {
		text = (&sniffer{rest: text}).member(name)
	}
	return text
}

// sniffer finds values in a text without checking them.
type sniffer struct{ rest []byte }

func (s *sniffer) member(name string) []byte {
	s.skip("{")
	for n := 0; s.next() == '"' && n <= maxMembers; s.skip(",") {
		n++
		key := s.value()
		s.skip(":")
		value := s.value()
		if found, ok := unquote(key); ok && found == name {
			return value
		}
	}
	return nil
}

func (s *sniffer) next() byte {
	if s.rest = bytes.TrimLeft(s.rest, " \t\r\n"); len(s.rest) == 0 {
		return 0
	}
	return s.rest[0]
}

func (s *sniffer) skip(mark string) bool {
	if s.next() != mark[0] {
		return false
	}
	s.rest = s.rest[1:]
	return true
}

// value returns the text up to the next comma, colon or bracket.
func (s *sniffer) value() []byte {
	s.next()
	depth, quoted := 0, false
	for i := 0; i < len(s.rest); i++ {
		c := s.rest[i]
		switch {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case depth > 0 && (c == '}' || c == ']'):
			depth--
		case depth == 0 && bytes.IndexByte([]byte(",:}]"), c) >= 0:
			return s.cut(i)
		}
	}
	return s.cut(len(s.rest))
}

func (s *sniffer) cut(n int) []byte {
	v := bytes.TrimSpace(s.rest[:n])
	s.rest = s.rest[n:]
	return v
}
