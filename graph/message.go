package graph

import (
	"sync"
	"sync/atomic"

	"poise/msgs"
	"poise/msgs/registry"
	"poise/msgs/rosjson"
)

// Message is a published value, shared by all subscribers.
type Message struct {
	Type  *registry.Type
	Value any    // pointer to the struct; never written again
	From  string // the node that published it

	size *atomic.Int32 // of the last text of its topic, for allocation; may be nil
	mu   sync.Mutex
	made []encoding
}

type encoding struct {
	key  any
	data []byte
}

// jsonKey names the JSON encoding of a form.
type jsonKey msgs.Form

// JSON returns the message as JSON in one form. The bytes are shared: they are
// not to be changed.
func (m *Message) JSON(f msgs.Form) []byte {
	return m.Encoded(jsonKey(f), func() []byte {
		if m.size == nil {
			return rosjson.Append(nil, m.Value, f)
		}
		text := rosjson.Append(make([]byte, 0, m.size.Load()), m.Value, f)
		m.size.Store(int32(len(text) + len(text)/8))
		return text
	})
}

// Encoded returns the message in an encoding that the wire names by key, which
// must be comparable. The first call encodes; all others share the bytes.
func (m *Message) Encoded(key any, encode func() []byte) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.made {
		if e.key == key {
			return e.data
		}
	}
	data := encode()
	m.made = append(m.made, encoding{key, data})
	return data
}
