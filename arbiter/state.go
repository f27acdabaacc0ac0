package arbiter

import "poise/robot"

// Phase is how far a client has come. The bits may stand together.
type Phase uint8

// An OperationalPending client runs on one claim and asks for another.
const (
	NonOperational     Phase = 0
	Pending            Phase = 1
	Operational        Phase = 2
	OperationalPending Phase = Pending | Operational
)

var phaseNames = [...]string{"non-operational", "pending", "operational", "operational-pending"}

func (p Phase) String() string { return word(phaseNames[:], int(p)) }

// stage is how far a client's round has come.
type stage uint8

const (
	closed  stage = iota // no round
	offered              // the winner has been asked whether it can start
	waiting              // it can, but another hand-over has its leaves
	asking               // its leaves are reserved; their owners have been told
)

// Config is what a State is made for. Zero durations mean the defaults.
type Config struct {
	Policy       Policy
	RoundTimeout int64 // ns, from the request to the end of its round; default 20 ms
	Lease        int64 // ns, how long a remote client may give no sign of life; default 200 ms

	// RemoteTimeout is the timeout, ns, of a round in which a remote client takes part, as
	// the requester or as an owner; default RoundTimeout.
	RemoteTimeout int64
	// SilenceConsents means that a winner that has not answered its offer at the timeout becomes
	// operational. Otherwise it gets nothing.
	SilenceConsents bool
}

// Defaults of Config. A round outlasts two periods of the slowest usual bus
// (11.2 ms); ten rounds fit into a lease. DefaultRemoteTimeout is what the cycle gives
// rounds with remote clients: a message over a network and back, and a busy interpreter.
const (
	DefaultRoundTimeout  = 20_000_000  // ns
	DefaultRemoteTimeout = 100_000_000 // ns
	DefaultLease         = 200_000_000 // ns
)

// client is what the arbiter knows of one controller.
type client struct {
	known, local bool
	phase        Phase
	stage        stage
	running      uint8 // which of its two claims it runs on; the other it asks for

	request uint64 // newest request heard of: older ones are over
	seen    int64  // last sign of life, while engaged

	// while operational
	held   uint64    // the request it runs on
	turn   uint64    // order of arrival of that request
	owned  robot.Set // leaves it owns
	losing robot.Set // of those, what a round has reserved for another
	shed   robot.Set // of those, what it will give back when it hears of its grant
	told   robot.Set // what it was last told to own
	serial uint64    // of the message that told it
	acked  uint64    // newest message it has confirmed

	// while its round is open
	asked    uint64    // order of arrival of the request
	deadline int64     // end of the round
	offer    robot.Set // what it is to get; reserved while asking
	since    uint64    // first serial of the messages that asked its victims
}

// State is the arbiter's state: owners, claims, rounds and leases. It is a value: fixed in size, comparable with
// ==, changed by Handle alone. Make one with Init.
//
// At all times: a leaf has at most one owner, who is operational; an
// operational client owns all it needs (under PolicyNone: is granted all it
// asked for); a leaf is reserved for at most one client.
type State struct {
	cfg    Config
	now    int64
	turn   uint64 // requests that came in
	serial uint64 // assignments that went out

	owner [robot.MaxLeaves]ClientID
	next  [robot.MaxLeaves]ClientID // for whom a round has reserved the leaf
	since [robot.MaxLeaves]int64    // when the owner changed last
	why   [robot.MaxLeaves]Code     // and why

	engaged clientSet // phase is not NonOperational
	open    clientSet // stage is not closed
	untold  clientSet // to be told its set before Handle ends
	client  [MaxClients]client
	claim   [MaxClients][2]Claim
}

// Init makes the state of a robot that is unowned.
func (s *State) Init(cfg Config) {
	if cfg.RoundTimeout == 0 {
		cfg.RoundTimeout = DefaultRoundTimeout
	}
	if cfg.Lease == 0 {
		cfg.Lease = DefaultLease
	}
	if cfg.RemoteTimeout == 0 {
		cfg.RemoteTimeout = cfg.RoundTimeout
	}
	*s = State{cfg: cfg}
	for leaf := range s.owner {
		s.owner[leaf], s.next[leaf] = NoClient, NoClient
	}
}

// Owner returns who owns the leaf, or NoClient.
func (s *State) Owner(leaf robot.LeafID) ClientID { return s.owner[leaf] }

// Owners returns who owns each leaf.
func (s *State) Owners() [robot.MaxLeaves]ClientID { return s.owner }

// Reserved returns for whom a round under way has reserved the leaf, or NoClient.
func (s *State) Reserved(leaf robot.LeafID) ClientID { return s.next[leaf] }

// Since returns when the leaf last changed its owner, and why.
func (s *State) Since(leaf robot.LeafID) (at int64, why Code) { return s.since[leaf], s.why[leaf] }

// Phase returns how far the client is.
func (s *State) Phase(c ClientID) Phase { return s.client[c].phase }

// Owned returns the leaves the client owns.
func (s *State) Owned(c ClientID) robot.Set { return s.client[c].owned }

// Running returns the number of the request the client runs on, 0 if none: the
// epoch of whatever it writes.
func (s *State) Running(c ClientID) uint64 { return s.client[c].held }

// RoundDue returns when the client's open round ends at the latest.
func (s *State) RoundDue(c ClientID) (at int64, open bool) {
	return s.client[c].deadline, s.client[c].stage != closed
}

// LeaseDue returns when the client is gone unless it gives a sign of life.
func (s *State) LeaseDue(c ClientID) (at int64, leased bool) {
	cl := &s.client[c]
	if cl.local || cl.phase == NonOperational {
		return 0, false
	}
	claims := &s.claim[c]
	lease := max(claims[0].Lease, claims[1].Lease)
	if lease == 0 {
		lease = s.cfg.Lease
	}
	return cl.seen + lease, true
}

// Due returns the earliest time at which a Tick has something to decide.
func (s *State) Due() (at int64, any bool) {
	for c := range s.engaged.all {
		if t, ok := s.RoundDue(c); ok && (!any || t < at) {
			at, any = t, true
		}
		if t, ok := s.LeaseDue(c); ok && (!any || t < at) {
			at, any = t, true
		}
	}
	return at, any
}

// Hash condenses what a later decision depends on, for replay: equal states
// have equal hashes.
func (s *State) Hash() uint64 {
	const prime = 1099511628211 // FNV-1a, 64 bit, over words
	h := uint64(14695981039346656037)
	mix := func(v uint64) { h = (h ^ v) * prime; h ^= h >> 29 }
	mix(uint64(s.now))
	mix(s.turn)
	mix(s.serial)
	for leaf := range s.owner {
		mix(uint64(s.owner[leaf])<<8 | uint64(s.next[leaf]))
	}
	for c := range s.client {
		mix(s.client[c].request)
	}
	for c := range s.engaged.all {
		cl := &s.client[c]
		mix(uint64(c)<<16 | uint64(cl.phase)<<8 | uint64(cl.stage))
		for _, v := range [...]uint64{uint64(cl.seen), cl.held, cl.turn, cl.serial, cl.acked, cl.asked, uint64(cl.deadline), cl.since} {
			mix(v)
		}
		for _, set := range [...]robot.Set{cl.owned, cl.losing, cl.shed, cl.told, cl.offer, s.runs(c).Need, s.runs(c).Want, s.asks(c).Need, s.asks(c).Want} {
			for _, w := range set {
				mix(w)
			}
		}
	}
	return h
}

// runs is the claim an operational client runs on.
func (s *State) runs(c ClientID) *Claim { return &s.claim[c][s.client[c].running] }

// asks is the claim of a client's open round.
func (s *State) asks(c ClientID) *Claim { return &s.claim[c][1-s.client[c].running] }

// due is what the client should believe to own. A remote one is told to let go
// before the leaf changes its owner, a local one in the step in which it does.
func (s *State) due(c ClientID) robot.Set {
	cl := &s.client[c]
	if cl.local {
		return cl.owned
	}
	return cl.owned.Minus(cl.losing).Minus(cl.shed)
}

// doomed reports whether the client is about to lose a leaf it needs.
func (s *State) doomed(c ClientID) bool {
	return s.runs(c).Need.Overlaps(s.client[c].losing)
}
