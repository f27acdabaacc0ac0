package ros2

import (
	"slices"
	"strings"

	"poise/rtps"
)

// Network is who else is in the domain, as people look at it.
type Network struct {
	Node         string               `json:"node"` // this one
	Domain       int                  `json:"domain"`
	Distribution string               `json:"distribution"`
	Open         bool                 `json:"open"`    // to other machines
	Foreign      uint64               `json:"foreign"` // datagrams of other machines that were dropped
	Lost         uint64               `json:"lost"`    // samples that came too late to be had again
	Participants []NetworkParticipant `json:"participants"`
}

// NetworkParticipant is another participant, as a rule the process of one node.
type NetworkParticipant struct {
	ID        string            `json:"id"`
	Node      string            `json:"node"` // empty if it does not say
	Vendor    string            `json:"vendor"`
	Address   string            `json:"address"`
	Silent    float64           `json:"silent"` // s since it was heard
	Lease     float64           `json:"lease"`  // s of silence after which it is gone
	Endpoints []NetworkEndpoint `json:"endpoints"`
}

// NetworkEndpoint is a writer or a reader of another participant.
type NetworkEndpoint struct {
	Name           string `json:"name"` // in ROS, or of the topic in DDS
	Kind           string `json:"kind"` // topic, service, action, or DDS
	Type           string `json:"type"`
	Writes         bool   `json:"writes"` // or reads
	Reliable       bool   `json:"reliable"`
	TransientLocal bool   `json:"transient_local"`
	Matched        bool   `json:"matched"` // with an endpoint of this node
	Why            string `json:"why"`     // there is one of the same topic, and they do not match; or it is not alive
}

// Network returns who else is in the domain.
func (n *Node) Network() Network {
	stats := n.p.Stats()
	out := Network{Node: n.self, Domain: n.c.Domain, Distribution: n.c.Form.String(), Open: n.c.Open, Foreign: stats.Foreign, Lost: stats.Lost, Participants: []NetworkParticipant{}}
	for _, o := range n.p.Others() {
		p := NetworkParticipant{ID: o.GUID.String(), Node: n.infos.nodeOf(o.GUID.Prefix), Vendor: o.Vendor.String(), Address: o.Address, Silent: o.Silent.Seconds(), Lease: o.Lease.Seconds(), Endpoints: []NetworkEndpoint{}}
		for _, w := range o.Writers {
			p.Endpoints = append(p.Endpoints, shown(&w, true))
		}
		for _, r := range o.Readers {
			p.Endpoints = append(p.Endpoints, shown(&r, false))
		}
		slices.SortStableFunc(p.Endpoints, func(a, b NetworkEndpoint) int { return strings.Compare(a.Name, b.Name) })
		out.Participants = append(out.Participants, p)
	}
	return out
}

// shown returns an endpoint by its name in ROS.
func shown(e *rtps.EndpointInfo, writes bool) NetworkEndpoint {
	out := NetworkEndpoint{Name: e.Topic, Kind: "DDS", Type: e.Type, Writes: writes, Reliable: e.QoS.Reliable, TransientLocal: e.QoS.TransientLocal, Matched: e.Matched, Why: e.Why}
	for prefix, kind := range map[string]string{"rt/": "topic", "rq/": "service", "rr/": "service"} {
		if name, is := strings.CutPrefix(e.Topic, prefix); is {
			out.Kind, out.Name = kind, "/"+name
		}
	}
	if out.Kind == "service" {
		out.Name = strings.TrimSuffix(strings.TrimSuffix(out.Name, "Request"), "Reply")
	}
	if name, part, is := strings.Cut(out.Name, "/_action/"); is {
		out.Kind, out.Name = "action", name+" ("+part+")"
	}
	if typ := rosType(e.Type); typ != "" {
		out.Type = typ
	}
	return out
}
