package edge

import (
	"poise/executive"
	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/servo"
)

// ResourceState words who has, wants and waits for what.
func ResourceState(at servo.Tick, leaves []executive.LeafState, clients []executive.ClientState, rounds []executive.Round) *poisemsgs.ResourceState {
	out := &poisemsgs.ResourceState{Header: Header(at, ""), Cycle: at.N}
	for _, l := range leaves {
		out.Leaves = append(out.Leaves, poisemsgs.ResourceLeaf{Name: l.Name, Resources: l.Resources, Owner: l.Owner, OfferedTo: l.OfferedTo, Waiting: l.Waiting})
	}
	for _, c := range clients {
		out.Clients = append(out.Clients, poisemsgs.ResourceClient{Name: c.Name, Outside: c.Outside, State: c.Phase.String(), RequestID: c.Request,
			Needed: c.Needed, Wanted: c.Wanted, Owned: c.Owned, Offered: c.Offered, Denied: Explanations(c.Denied), LeftOut: c.LeftOut})
	}
	began := float64(at.Stamp-at.Time) * 1e-9 // of the cycle, s since the epoch
	for _, r := range rounds {
		r.Began += began
		if r.Ended > 0 {
			r.Ended += began
		}
		x := poisemsgs.ResourceRound{Number: r.Number, Requester: r.Requester, RequestID: r.Request, Began: r.Began, Ended: r.Ended,
			Outcome: r.Outcome, Why: Explanations(r.Why)}
		for _, a := range r.Answers {
			x.Answers = append(x.Answers, poisemsgs.ResourceAnswer{Controller: a.Controller, Resources: a.Resources, Answer: a.Answer, After: a.After})
		}
		out.Rounds = append(out.Rounds, x)
	}
	return out
}

// Request reads a request of an external controller; session is who sent it. Its answers
// decide what it can do without.
func Request(session string, v *msgs.ResourceRequest) executive.OutsideRequest {
	return executive.OutsideRequest{Name: v.RequesterName, Session: session, ID: v.RequestID, Resources: v.Resources,
		Pending: v.PriPending, Operational: v.PriOperational}
}

// NeededRequest reads a request that tells what is needed from what is wanted.
func NeededRequest(session string, v *poisemsgs.ResourceRequest) executive.OutsideRequest {
	r := executive.OutsideRequest{Name: v.RequesterName, Session: session, ID: v.RequestID,
		Pending: v.PriPending, Operational: v.PriOperational, Lease: v.Lease}
	for _, name := range v.Needed {
		r.Resources, r.Needed = append(r.Resources, name), append(r.Needed, true)
	}
	for _, name := range v.Wanted {
		r.Resources, r.Needed = append(r.Resources, name), append(r.Needed, false)
	}
	return r
}
