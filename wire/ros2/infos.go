package ros2

import (
	"encoding/binary"
	"maps"
	"path"
	"slices"
	"sync"

	"poise/msgs"
	"poise/rtps"
)

// infos tells others which node has which endpoints, and hears it of them, on the topic
// ros_discovery_info: by it ros2 node list knows nodes.
type infos struct {
	n      *Node
	writer *rtps.Writer
	told   bool

	mu    sync.Mutex
	nodes map[rtps.Prefix]string // the first node of a participant
}

const (
	infoTopic = "ros_discovery_info"
	infoType  = "rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_"
	mostNodes = 4096 // participants whose nodes are remembered
)

func newInfos(n *Node) (*infos, error) {
	i := &infos{n: n, nodes: map[rtps.Prefix]string{}}
	qos := rtps.QoS{Reliable: true, TransientLocal: true, Depth: 1}
	var err error
	if i.writer, err = n.p.NewWriter(rtps.WriterConfig{Topic: infoTopic, Type: infoType, QoS: qos}); err != nil {
		return nil, err
	}
	qos.Depth = 1000
	_, err = n.p.NewReader(rtps.ReaderConfig{Topic: infoTopic, Type: infoType, QoS: qos, Receive: i.came})
	return i, err
}

// nodeOf returns the name of a participant's node, empty if it is not known.
func (i *infos) nodeOf(prefix rtps.Prefix) string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.nodes[prefix]
}

// gidSize is how long a Gid is.
func (i *infos) gidSize() int {
	if i.n.c.Form == msgs.Humble {
		return 24
	}
	return 16
}

// tell tells which endpoints the node has now. The node is locked.
func (i *infos) tell() {
	n := i.n
	var readers, writers []rtps.GUID
	for _, name := range slices.Sorted(maps.Keys(n.pubs)) {
		writers = append(writers, n.pubs[name].writer.GUID())
	}
	for _, name := range slices.Sorted(maps.Keys(n.subs)) {
		for _, r := range n.subs[name].readers {
			readers = append(readers, r.GUID())
		}
	}
	add := func(s *service) {
		readers, writers = append(readers, s.reader.GUID()), append(writers, s.writer.GUID())
	}
	for _, s := range n.params {
		add(s)
	}
	for _, name := range slices.Sorted(maps.Keys(n.services)) {
		add(n.services[name])
	}
	for _, name := range slices.Sorted(maps.Keys(n.actions)) {
		a := n.actions[name]
		for _, s := range a.services {
			add(s)
		}
		writers = append(writers, a.feedback.GUID(), a.status.GUID())
	}
	e := text{b: []byte{0, 1, 0, 0}}
	e.gid(n.p.GUID(), i.gidSize())
	e.count(1)
	e.string(n.c.Names.Namespace)
	e.string(n.c.Names.Node)
	for _, list := range [][]rtps.GUID{readers, writers} {
		e.count(len(list))
		for _, g := range list {
			e.gid(g, i.gidSize())
		}
	}
	_, err := i.writer.Write(e.b, nil)
	i.told = err == nil
}

// came takes what another participant says of its nodes.
func (i *infos) came(s *rtps.Sample) {
	if len(s.Payload) < 4 || s.Payload[1] > 1 {
		return
	}
	order := binary.ByteOrder(binary.LittleEndian)
	if s.Payload[1] == 0 {
		order = binary.BigEndian
	}
	b := s.Payload[4:]
	at := i.gidSize()
	take := func() string {
		at = (at + 3) &^ 3
		if at+4 > len(b) {
			at = len(b)
			return ""
		}
		size := int(order.Uint32(b[at:]))
		at += 4
		if size == 0 || size > 512 || size > len(b)-at {
			at = len(b)
			return ""
		}
		at += size
		return string(b[at-size : at-1])
	}
	at += 4 // how many nodes there are; the first names the participant
	space, name := take(), take()
	i.mu.Lock()
	defer i.mu.Unlock()
	if _, known := i.nodes[s.Writer.Prefix]; !known && len(i.nodes) >= mostNodes {
		clear(i.nodes)
	}
	if name != "" {
		name = path.Join("/", space, name)
		if i.nodes[s.Writer.Prefix] != name {
			i.nodes[s.Writer.Prefix] = name
			if name == i.n.self {
				i.n.warn("another ROS 2 node has the name of this one: both answer the same services, a stop among them; -r __node:=NAME renames one", "node", name, "participant", s.Writer.Prefix)
			}
			i.n.lookAgain() // what is its, and has waited for its name
		}
	}
}

// forget drops the name of a participant that is gone.
func (i *infos) forget(prefix rtps.Prefix) {
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.nodes, prefix)
}

// text appends CDR.
type text struct{ b []byte }

func (e *text) gid(g rtps.GUID, size int) {
	b := g.Bytes()
	e.b = append(e.b, b[:]...)
	e.b = append(e.b, make([]byte, size-len(b))...)
}

func (e *text) count(n int) {
	for len(e.b)%4 != 0 {
		e.b = append(e.b, 0)
	}
	e.b = binary.LittleEndian.AppendUint32(e.b, uint32(n))
}

func (e *text) string(s string) {
	e.count(len(s) + 1)
	e.b = append(append(e.b, s...), 0)
}
