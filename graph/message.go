package graph

import (
	"sync"
	"sync/atomic"

	"poise/internal/budget"
	"poise/msgs"
	"poise/msgs/registry"
	"poise/msgs/rosjson"
)

// Message is a published value, shared by all subscribers.
type Message struct {
	Type  *registry.Type
	Value any    // pointer to the struct; never written again
	From  string // the node that published it

	Number uint32 // of the message on its topic, from 1; ROS 1's sequence number

	form msgs.Form     // of an answer
	size *atomic.Int32 // of the last text of its topic, for allocation; may be nil
	kept bool          // for late subscribers: large encodings are not kept beside it
	mu   sync.Mutex
	made []encoding

	account *budget.Account // of the client that published it; nil for the server's own
	cost    int64
	refs    atomic.Int32 // queues that it waits in
	paid    atomic.Bool  // it has waited nowhere: what is latched has a price of its own
}

// Form returns the form that the caller of a service asked for.
func (m *Message) Form() msgs.Form { return m.form }

// retain notes that the message waits in one more queue.
func (m *Message) retain() {
	if m.account != nil {
		m.refs.Add(1)
	}
}

// release notes that it has left a queue. When it waits nowhere any more it costs its
// publisher nothing.
func (m *Message) release() {
	if m.account != nil && m.refs.Add(-1) == 0 && !m.paid.Swap(true) {
		m.account.Give(budget.Messages, m.cost)
	}
}

// smallEncoding is how long a text may be that is kept with a latched message.
const smallEncoding = 64 << 10

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
	if !m.kept || len(data) <= smallEncoding {
		m.made = append(m.made, encoding{key, data})
	}
	return data
}
