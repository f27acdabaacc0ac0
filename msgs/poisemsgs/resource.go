package poisemsgs

import "poise/msgs"

// ResourceRequest is poise_msgs/ResourceRequest: a request of resources by a controller
// outside that says what it cannot run without. Priorities are those of Needed, then of
// Wanted, one each, or none; Lease is how long it may give no sign of life, s, 0 for the
// configured one.
type ResourceRequest struct {
	RequesterName  string    `json:"requester_name"`
	RequestID      uint32    `json:"request_id"`
	Needed         []string  `json:"needed"`
	Wanted         []string  `json:"wanted"`
	PriOperational []float32 `json:"pri_operational"`
	PriPending     []float32 `json:"pri_pending"`
	Lease          float64   `json:"lease"`
}

// ResourceLeaf is poise_msgs/ResourceLeaf: one joint, support, output or the base, who
// has it, who is about to, and who would take it if it were free.
type ResourceLeaf struct {
	Name      string   `json:"name"`
	Resources []string `json:"resources"` // that it belongs to
	Owner     string   `json:"owner"`
	OfferedTo string   `json:"offered_to"` // in a round that is open
	Waiting   []string `json:"waiting"`    // operational without it
}

// ResourceClient is poise_msgs/ResourceClient: what one controller needs, wants and has.
type ResourceClient struct {
	Name      string        `json:"name"`
	Outside   bool          `json:"outside"`
	State     string        `json:"state"` // non-operational, pending, operational, operational-pending
	RequestID uint32        `json:"request_id"`
	Needed    []string      `json:"needed"`
	Wanted    []string      `json:"wanted"`
	Owned     []string      `json:"owned"`
	Offered   []string      `json:"offered"`  // and not confirmed yet
	Denied    []Explanation `json:"denied"`   // why its last request was denied, or why it lost what it had
	LeftOut   uint64        `json:"left_out"` // values of which it does not own a part, which was left out
}

// ResourceAnswer is poise_msgs/ResourceAnswer: what one controller said in a round.
type ResourceAnswer struct {
	Controller string   `json:"controller"`
	Resources  []string `json:"resources"` // offered, or to have from then on
	Answer     string   `json:"answer"`    // waiting, confirmed, quit, silent
	After      float64  `json:"after"`     // s
}

// ResourceRound is poise_msgs/ResourceRound: a round of a request.
type ResourceRound struct {
	Number    uint64           `json:"number"`
	Requester string           `json:"requester"`
	RequestID uint32           `json:"request_id"`
	Began     float64          `json:"began"`   // s since the epoch, on the clock of stamps
	Ended     float64          `json:"ended"`   // 0 while it is open
	Outcome   string           `json:"outcome"` // open, granted, denied
	Why       []Explanation    `json:"why"`
	Answers   []ResourceAnswer `json:"answers"`
}

// ResourceState is poise_msgs/ResourceState: owners, offers and waiting clients, leaf by
// leaf, and the last rounds.
type ResourceState struct {
	Header  msgs.Header      `json:"header"`
	Cycle   uint64           `json:"cycle"`
	Leaves  []ResourceLeaf   `json:"leaves"`
	Clients []ResourceClient `json:"clients"`
	Rounds  []ResourceRound  `json:"rounds"`
}
