package frame

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math/bits"
)

// Head is what a frame says at its outermost level. It is found in one pass that builds
// nothing: who reads a socket learns what a frame is, and leaves the rest to others.
type Head struct {
	Op, Topic, Service, Action string

	ID   string // as that of a Message
	Args []byte // as it stands in the frame; nil if it is not there
	CBOR bool   // the frame is CBOR, not JSON

	// Broken says that the frame is no object, or ends too early. What was found until
	// there counts; Doubtful, that an op or a service came twice in such a frame.
	Broken, Doubtful bool

	Partial bool // by SketchHead: what follows was not looked at
}

// Lengths beyond which a member is not read: it names nothing here.
const (
	longestName = 8 << 10 // every character of a long name may be escaped
	longestID   = 8 * maxID
)

// ReadHead finds the head of a frame. Some clients send JSON in binary frames; no CBOR
// object begins with a brace.
func ReadHead(data []byte, binary bool) *Head {
	return readHead(data, binary, func([]byte, rawHead) bool { return false })
}

// longFrame is from where on SketchHead leaves out what it can.
const longFrame = 64 << 10

// SketchHead finds the head of a frame as ReadHead does, but of a long goal or message of a
// topic only up to its value, if all that is needed stands before it: most clients write it
// so, and looking at megabytes takes milliseconds.
func SketchHead(data []byte, binary bool) *Head {
	return readHead(data, binary, func(name []byte, raw rawHead) bool {
		if len(data) < longFrame {
			return false
		}
		switch string(name) {
		case "args":
			return raw.op() == SendActionGoal && raw.members["id"] != nil && raw.members["action"] != nil
		case "msg":
			return raw.op() == Publish && raw.members["topic"] != nil
		}
		return false
	})
}

// rawHead are members as they stand in a frame.
type rawHead struct {
	members map[string][]byte
	text    func([]byte) []byte // of a member as JSON
}

func (r rawHead) op() (op string) {
	if v := r.members["op"]; v != nil && len(v) < 100 {
		_ = json.Unmarshal(r.text(v), &op) // an op that is not a string stays empty
	}
	return op
}

// readHead finds the head; enough is asked before each value whether the rest is needed.
func readHead(data []byte, binary bool, enough func(name []byte, raw rawHead) bool) *Head {
	data = unmarked(data, binary)
	h := &Head{CBOR: IsCBOR(data, binary)}
	raw := rawHead{members: map[string][]byte{}, text: jsonText}
	each := eachMember
	if h.CBOR {
		each, raw.text = eachPair, cborText
	}
	whole := each(data, func(name []byte) bool {
		h.Partial = enough(name, raw)
		return h.Partial
	}, func(name, value []byte) {
		switch string(name) {
		case "op", "service":
			h.Doubtful = h.Doubtful || raw.members[string(name)] != nil
			raw.members[string(name)] = value
		case "id", "topic", "action", "args":
			raw.members[string(name)] = value
		}
	})
	h.Broken = !whole && !h.Partial
	h.Doubtful = h.Doubtful && h.Broken
	h.Args = raw.members["args"]
	delete(raw.members, "args")
	members := map[string]json.RawMessage{}
	for name, value := range raw.members {
		most := longestName
		if name == "id" {
			most = longestID
		}
		if len(value) <= most {
			if t := raw.text(value); t != nil {
				members[name] = t
			}
		}
	}
	m := &Message{}
	m.read(&reader{members: members})
	h.Op, h.Topic, h.Service, h.Action, h.ID = m.Op, m.Topic, m.Service, m.Action, m.ID
	return h
}

// IsCBOR reports whether a frame is CBOR.
func IsCBOR(data []byte, binary bool) bool {
	return binary && !bytes.HasPrefix(unmarked(data, binary), []byte{'{'})
}

// Marks that some programs put before what they write, and that say nothing: that of UTF-8,
// and CBOR's tag of itself (RFC 8949, 3.4.6).
var (
	markUTF8 = []byte("\xef\xbb\xbf")
	markCBOR = []byte("\xd9\xd9\xf7")
)

// unmarked is a frame without such a mark.
func unmarked(data []byte, binary bool) []byte {
	if rest, ok := bytes.CutPrefix(data, markCBOR); ok && binary {
		return rest
	}
	return bytes.TrimPrefix(data, markUTF8)
}

// Message returns the head as a message, for a refusal.
func (h *Head) Message() *Message {
	return &Message{Op: h.Op, ID: h.ID, Topic: h.Topic, Service: h.Service, Action: h.Action}
}

// longestShort bounds what ShortArgs reads.
const longestShort = 4 << 10

// ShortArgs returns the arguments as JSON text, nothing if there are none. It is false if
// they are long or cannot be read.
func (h *Head) ShortArgs() (text []byte, ok bool) {
	switch {
	case h.Args == nil:
		return nil, !h.Broken
	case len(h.Args) > longestShort:
		return nil, false
	case h.CBOR:
		text = cborText(h.Args)
	default:
		text = jsonText(h.Args)
	}
	return text, text != nil
}

// jsonText returns a value if it is JSON.
func jsonText(value []byte) []byte {
	if !json.Valid(value) {
		return nil
	}
	return value
}

// eachMember yields the name and the text of every member of the object that a text is,
// as far as the text is one; it reports whether it is one to its end. Values are not
// checked. A member that comes twice is yielded twice. enough is asked with each name
// whether to end there.
func eachMember(text []byte, enough func(name []byte) bool, yield func(name, value []byte)) (whole bool) {
	at := skipSpace(text, 0)
	if at == len(text) || text[at] != '{' {
		return false
	}
	if at = skipSpace(text, at+1); at < len(text) && text[at] == '}' {
		return skipSpace(text, at+1) == len(text)
	}
	for {
		end := stringEnd(text, at)
		if end < 0 {
			return false
		}
		name := plainName(text[at:end])
		if at = skipSpace(text, end); at == len(text) || text[at] != ':' || enough(name) {
			return false
		}
		at = skipSpace(text, at+1)
		if end = valueEnd(text, at); end < 0 {
			return false
		}
		yield(name, text[at:end])
		if at = skipSpace(text, end); at == len(text) {
			return false
		}
		switch text[at] {
		case '}':
			return skipSpace(text, at+1) == len(text)
		case ',':
			at = skipSpace(text, at+1)
		default:
			return false
		}
	}
}

// plainName returns a member's name without quotes; nothing that is known here has a name
// as long as one that is left in them.
func plainName(quoted []byte) []byte {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	var s string
	if len(quoted) > 100 || json.Unmarshal(quoted, &s) != nil {
		return quoted
	}
	return []byte(s)
}

func skipSpace(text []byte, at int) int {
	for at < len(text) && (text[at] == ' ' || text[at] == '\n' || text[at] == '\t' || text[at] == '\r') {
		at++
	}
	return at
}

// stringEnd returns the end of the string that begins at a place, -1 if there is none.
func stringEnd(text []byte, at int) int {
	if at >= len(text) || text[at] != '"' {
		return -1
	}
	for from := at + 1; ; {
		n := bytes.IndexByte(text[from:], '"')
		if n < 0 {
			return -1
		}
		quote := from + n
		escapes := 0
		for i := quote - 1; i >= from && text[i] == '\\'; i-- {
			escapes++
		}
		if from = quote + 1; escapes%2 == 0 {
			return from
		}
	}
}

// valueEnd returns the end of the value that begins at a place, -1 if it has none.
func valueEnd(text []byte, at int) int {
	if at >= len(text) {
		return -1
	}
	switch text[at] {
	case '"':
		return stringEnd(text, at)
	case '{', '[':
		return bracketEnd(text, at)
	}
	n := bytes.IndexAny(text[at:], ",}] \n\t\r:\"{[")
	if n <= 0 {
		return -1 // at the end of the text a number may have been cut
	}
	return at + n
}

// bracketEnd returns the end of the object or list that begins at a place. It looks at
// eight bytes at a time: most of a long message is numbers.
func bracketEnd(text []byte, at int) int {
	depth := 0
	for at < len(text) {
		if len(text)-at >= 8 {
			marks := marked(binary.LittleEndian.Uint64(text[at:]))
			if marks == 0 {
				at += 8
				continue
			}
			at += bits.TrailingZeros64(marks) / 8
		}
		switch text[at] {
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return at + 1
			}
		case '"':
			if at = stringEnd(text, at); at < 0 {
				return -1
			}
			continue
		}
		at++
	}
	return -1
}

// marked returns a word whose lowest bit that is set stands in the first byte of w that is
// a bracket, a brace or a quote; 0 if there is none. The test for a zero byte is that of
// Hacker's Delight, section 6-1.
func marked(w uint64) uint64 {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	zero := func(v uint64) uint64 { return (v - ones) & ^v & high }
	lower := w | 0x20*ones // [ and ] become { and }
	return zero(w^'"'*ones) | zero(lower^'{'*ones) | zero(lower^'}'*ones)
}
