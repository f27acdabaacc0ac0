package arbiter

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"os"
	"slices"
	"testing"

	"poise/robot"
)

// The explorer drives State and Client, the code that ships, through every
// interleaving of a few requests, releases, refusals, lost, doubled, late and
// overtaking messages, crashes, restarts and timeouts, as far as the budgets go. A state is
// what the arbiter, the clients and the network hold; numbers that only grow
// count by their order, times by their distance from now.
const (
	nClients = 3
	nLeaves  = 4
	maxNet   = 12 // messages under way

	exploreTimeout  = 2 // units of time
	exploreLease    = 3
	explorePatience = 4
)

// budget is what may still happen on the way.
type budget struct {
	Requests [nClients]int8
	Quits    int8
	Parts    int8 // releases of one leaf
	Refusals int8 // offers refused
	Dislikes int8 // changes a controller quits over, though it need not
	Lost     int8
	Doubled  int8
	Crashes  int8
	Restarts int8
	Reports  int8 // signs of life at any moment
	Time     int8
}

// packet is a message under way, one of the two kinds.
type packet struct {
	toClient bool
	event    Event // with Claim nil; menu tells which
	menu     int8
	message  Message
}

// world is one state of everything. It holds the part of State that a few
// clients and leaves can reach.
type world struct {
	now          int64
	turn, serial uint64
	owner, next  [nLeaves]ClientID
	engaged      clientSet
	open         clientSet
	client       [nClients]client
	claim        [nClients][2]struct{ need, want robot.Set }

	clients [nClients]Client
	alive   [nClients]bool
	net     [maxNet]packet
	inNet   int
	left    budget
}

// explorer holds the machine and what has been seen.
type explorer struct {
	cfg   Config
	menu  [nClients][]Claim // what each controller may ask for
	s     State
	out   Effects
	seed  [2]maphash.Seed
	seen  map[[2]uint64]struct{}
	rests map[[2]uint64]struct{} // known to come to a proper rest
	moves int
	most  int      // packets under way at once
	fault error    // the first broken promise
	lent  []*world // one for each depth

	orderly         bool // no client dies and no message is lost
	dislike, refuse bool // what the hooks answer next
	before          robot.Set
}

func newExplorer(p Policy, menu [nClients][]Claim) *explorer {
	x := &explorer{
		cfg:   Config{Policy: p, RoundTimeout: exploreTimeout, Lease: exploreLease},
		menu:  menu,
		seed:  [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()},
		seen:  map[[2]uint64]struct{}{},
		rests: map[[2]uint64]struct{}{},
	}
	return x
}

func (x *explorer) start(left budget) *world {
	x.s.Init(x.cfg)
	x.orderly = left.Lost+left.Crashes+left.Restarts == 0 && x.cfg.Policy != PolicyNone
	w := &world{left: left}
	for c := range w.clients {
		x.s.Handle(&Event{Kind: Register, From: ClientID(c)}, &x.out)
		w.clients[c] = NewClient(ClientID(c), 0, explorePatience)
		w.alive[c] = true
	}
	x.save(w)
	return w
}

// save and load move the reachable part of the state between State and world.
func (x *explorer) save(w *world) {
	s := &x.s
	w.now, w.turn, w.serial, w.engaged, w.open = s.now, s.turn, s.serial, s.engaged, s.open
	copy(w.owner[:], s.owner[:])
	copy(w.next[:], s.next[:])
	copy(w.client[:], s.client[:])
	for c := range w.claim {
		for i := range w.claim[c] {
			w.claim[c][i].need, w.claim[c][i].want = s.claim[c][i].Need, s.claim[c][i].Want
		}
	}
}

func (x *explorer) load(w *world) {
	s := &x.s
	s.now, s.turn, s.serial, s.engaged, s.open = w.now, w.turn, w.serial, w.engaged, w.open
	copy(s.owner[:], w.owner[:])
	copy(s.next[:], w.next[:])
	copy(s.client[:], w.client[:])
	for c := range w.claim {
		for i, cl := range w.claim[c] {
			// priorities belong to the controller, so the sets tell the claim
			if s.claim[c][i].Need == cl.need && s.claim[c][i].Want == cl.want {
				continue
			}
			s.claim[c][i] = Claim{}
			if !cl.need.Empty() || !cl.want.Empty() {
				s.claim[c][i] = x.menu[c][0]
				s.claim[c][i].Need, s.claim[c][i].Want = cl.need, cl.want
			}
		}
	}
}

// CanStart and ResourcesChanged are the controllers' hooks.
func (x *explorer) CanStart(robot.Set) bool { return !x.refuse }

func (x *explorer) ResourcesChanged(owned robot.Set) bool {
	if owned == x.before {
		x.fail("a controller was called though its set %v did not change", owned)
	}
	return !x.dislike
}

func (x *explorer) fail(format string, a ...any) {
	if x.fault == nil {
		x.fault = fmt.Errorf(format, a...)
	}
}

// handle gives the arbiter an event and checks what comes of it.
func (x *explorer) handle(w *world, e *Event) {
	x.load(w)
	hands, was := w.owner, w.client
	x.s.Handle(e, &x.out)
	x.save(w)
	if err := broken(&x.s, nClients, nLeaves); err != nil {
		x.fail("%v", err)
	}
	var granted clientSet
	for _, m := range x.out.Messages() {
		switch m.Kind {
		case Grant:
			granted.add(m.To)
		case Assign:
			if m.To != e.From && m.Leaves == was[m.To].told {
				x.fail("client %d was told %v again", m.To, m.Leaves)
			}
		}
		w.post(packet{toClient: true, message: m})
	}
	x.checkHeirs(w, hands, granted)
	x.most = max(x.most, w.inNet)
}

// checkHeirs compares who inherited a leaf with the rule, told afresh: the
// operational client of the highest priority that asks for it, the latest
// request among equals.
func (x *explorer) checkHeirs(w *world, hands [nLeaves]ClientID, granted clientSet) {
	for i, heir := range w.owner {
		leaf := robot.LeafID(i)
		if heir == NoClient || heir == hands[i] || granted.has(heir) {
			continue
		}
		for c := range w.client {
			cl, claim := &w.client[c], &x.s.claim[c][w.client[c].running]
			if ClientID(c) == heir || cl.phase&Operational == 0 || granted.has(ClientID(c)) ||
				!claim.All().Has(leaf) || claim.Need.Overlaps(cl.losing) {
				continue
			}
			mine, theirs := x.s.runs(heir).Operational[leaf], claim.Operational[leaf]
			if x.cfg.Policy != PolicyPriority {
				mine, theirs = 0, 0
			}
			if theirs > mine || theirs == mine && cl.turn > w.client[heir].turn {
				x.fail("leaf %d went to %d, though %d comes first", leaf, heir, c)
			}
		}
	}
}

// post puts a packet on its way; what finds no room is lost.
func (w *world) post(p packet) {
	if w.inNet == maxNet {
		return
	}
	w.net[w.inNet] = p
	w.inNet++
}

func (w *world) take(i int) packet {
	p := w.net[i]
	w.inNet--
	w.net[i] = w.net[w.inNet]
	w.net[w.inNet] = packet{}
	return p
}

// send puts a client's event on its way.
func (w *world) send(e Event, menu int) {
	e.Claim = nil
	w.post(packet{event: e, menu: int8(menu)})
}

// deliver brings a packet to where it goes.
func (x *explorer) deliver(w *world, p packet) {
	if !p.toClient {
		e := p.event
		e.At = w.now
		if e.Kind == Request {
			e.Claim = &x.menu[e.From][p.menu]
		}
		x.handle(w, &e)
		return
	}
	c := p.message.To
	if !w.alive[c] {
		return
	}
	x.before = w.clients[c].owned
	if w.clients[c].phase&Pending != 0 && p.message.Request == w.clients[c].request {
		x.before = robot.Set{255} // whatever it is granted is a change
	}
	if e, ok := w.clients[c].Receive(w.now, &p.message, x); ok {
		w.send(e, 0)
	}
	x.checkUsers(w)
}

// checkUsers looks for a leaf that two controllers believe to own. As long as
// all live and no time has run out there is none, whatever overtakes what.
func (x *explorer) checkUsers(w *world) {
	if !x.orderly || w.now > 0 {
		return
	}
	for a := range w.clients {
		for b := range a {
			if w.clients[a].owned.Overlaps(w.clients[b].owned) {
				x.fail("%d and %d both use %v", b, a, w.clients[a].owned.Intersect(w.clients[b].owned))
			}
		}
	}
}

// passTime lets one unit of time go by, and everything fall due that does.
func (x *explorer) passTime(w *world) {
	w.now++
	for {
		x.load(w)
		at, any := x.s.Due()
		if !any || at > w.now {
			break
		}
		x.handle(w, &Event{At: w.now, Kind: Tick, From: NoClient})
	}
	x.s.now = w.now
	for c := range w.clients {
		if e, ok := w.clients[c].Tick(w.now); ok && w.alive[c] {
			w.send(e, 0)
		}
	}
}

// restart begins a new life of a crashed client.
func (x *explorer) restart(w *world, c int) {
	first := w.clients[c].request + 1
	w.alive[c] = true
	w.clients[c] = NewClient(ClientID(c), first, explorePatience)
	x.handle(w, &Event{At: w.now, Kind: Register, From: ClientID(c), Request: first})
}

// each calls visit with every world that may come after w, which is lent to
// visit for the call.
func (x *explorer) each(w *world, depth int, visit func(next *world, what string)) {
	for depth >= len(x.lent) {
		x.lent = append(x.lent, new(world))
	}
	n := x.lent[depth]
	try := func(what string, spend func(*budget) *int8, step func(n *world)) {
		if spend != nil && *spend(&w.left) == 0 {
			return
		}
		*n = *w
		if spend != nil {
			*spend(&n.left)--
		}
		x.refuse, x.dislike = false, false
		step(n)
		x.moves++
		visit(n, what)
	}

	// what controllers do of their own will
	for c := range w.clients {
		if !w.alive[c] {
			try("restart", func(b *budget) *int8 { return &b.Restarts }, func(n *world) { x.restart(n, c) })
			continue
		}
		for k := range x.menu[c] {
			try("request", func(b *budget) *int8 { return &b.Requests[c] }, func(n *world) {
				n.send(n.clients[c].Request(n.now, &x.menu[c][k]), k)
			})
		}
		if w.clients[c].phase != NonOperational {
			try("quit", func(b *budget) *int8 { return &b.Quits }, func(n *world) {
				e, _ := n.clients[c].Quit(n.now)
				n.send(e, 0)
			})
			try("report", func(b *budget) *int8 { return &b.Reports }, func(n *world) {
				e, _ := n.clients[c].Report(n.now)
				n.send(e, 0)
			})
			try("crash", func(b *budget) *int8 { return &b.Crashes }, func(n *world) { n.alive[c] = false })
		}
		for leaf := range w.clients[c].owned.All {
			try("part", func(b *budget) *int8 { return &b.Parts }, func(n *world) {
				e, _ := n.clients[c].Release(n.now, robot.Leaf(leaf))
				n.send(e, 0)
			})
		}
	}

	// what the network does
	for i := range w.inNet {
		if i > 0 && w.net[i] == w.net[i-1] {
			continue
		}
		try("deliver", nil, func(n *world) { x.deliver(n, n.take(i)) })
		try("lose", func(b *budget) *int8 { return &b.Lost }, func(n *world) { n.take(i) })
		try("double", func(b *budget) *int8 { return &b.Doubled }, func(n *world) { x.deliver(n, n.net[i]) })
		if p := &w.net[i]; p.toClient && p.message.Kind == Offer {
			try("refuse", func(b *budget) *int8 { return &b.Refusals }, func(n *world) { x.refuse = true; x.deliver(n, n.take(i)) })
		} else if p.toClient {
			try("dislike", func(b *budget) *int8 { return &b.Dislikes }, func(n *world) { x.dislike = true; x.deliver(n, n.take(i)) })
		}
	}
	try("time", func(b *budget) *int8 { return &b.Time }, x.passTime)
}

// rest lets all that is under way arrive and time pass, without further faults,
// and checks that everything comes to a proper rest.
func (x *explorer) rest(w *world) {
	var passed [][2]uint64
	n := *w
	n.left = budget{}
	x.refuse, x.dislike = false, false
	quiet := 0
	for step := 0; quiet < exploreLease+explorePatience; step++ {
		if step > 400 {
			x.fail("no rest after %d steps", step)
			return
		}
		k := x.key(&n)
		if _, ok := x.rests[k]; ok && step > 0 {
			break
		}
		passed = append(passed, k)
		if n.inNet > 0 {
			quiet = 0
			x.deliver(&n, n.take(0))
			continue
		}
		quiet++
		x.passTime(&n)
		for c := range n.clients {
			if e, ok := n.clients[c].Report(n.now); ok && n.alive[c] {
				x.deliver(&n, packet{event: e})
			}
		}
		if n.inNet > 0 {
			quiet = 0
		}
	}
	if quiet >= exploreLease+explorePatience {
		x.checkRest(&n)
	}
	if x.fault == nil {
		for _, k := range passed {
			x.rests[k] = struct{}{}
		}
	}
}

func (x *explorer) checkRest(w *world) {
	if w.open != (clientSet{}) {
		x.fail("at rest, and rounds %v are open", w.open)
	}
	for c := range w.clients {
		held, own := &w.client[c], &w.clients[c]
		if !w.alive[c] {
			if held.phase != NonOperational {
				x.fail("at rest, and %d, long gone, is %v", c, held.phase)
			}
			continue
		}
		if held.phase != own.phase {
			x.fail("at rest, and %d is %v in the state and %v in truth", c, held.phase, own.phase)
		}
		if held.owned != own.owned && x.cfg.Policy != PolicyNone {
			x.fail("at rest, and %d owns %v in the state and %v in truth", c, held.owned, own.owned)
		}
	}
}

// explore visits every world that can be reached from w. The path is what led
// there, for the report of a fault.
func (x *explorer) explore(w *world, path []int, limit int) []int {
	x.seen[x.key(w)] = struct{}{}
	var found []int
	count := 0
	x.each(w, len(path), func(n *world, what string) {
		count++
		if found != nil || len(x.seen) >= limit {
			return
		}
		here := append(path, count)
		if x.fault == nil {
			if _, ok := x.seen[x.key(n)]; ok {
				return
			}
			x.rest(n)
		}
		if x.fault != nil {
			found = slices.Clone(here)
			return
		}
		found = x.explore(n, here, limit)
	})
	return found
}

// tell walks a path again and says what happens on it.
func (x *explorer) tell(t *testing.T, w *world, path []int) {
	if len(path) == 0 {
		return
	}
	count := 0
	x.each(w, len(path), func(n *world, what string) {
		if count++; count != path[0] {
			return
		}
		t.Logf("%s at %d: owners %v, reserved %v", what, n.now, n.owner, n.next)
		for c := range n.client {
			cl, own := &n.client[c], &n.clients[c]
			t.Logf("    %d: %v, request %d, runs on %d, owns %x told %x #%d; itself: %v, request %d, owns %x #%d",
				c, cl.phase, cl.request, cl.held, cl.owned[0], cl.told[0], cl.serial, own.phase, own.request, own.owned[0], own.serial)
		}
		for _, p := range n.net[:n.inNet] {
			if p.toClient {
				t.Logf("    → %d: %v request %d #%d leaves %x", p.message.To, p.message.Kind, p.message.Request, p.message.Serial, p.message.Leaves[0])
			} else {
				t.Logf("    ← %d: %v request %d #%d leaves %x", p.event.From, p.event.Kind, p.event.Request, p.event.Serial, p.event.Leaves[0])
			}
		}
		x.tell(t, n, path[1:])
	})
}

// key condenses a world into what later steps depend on.
func (x *explorer) key(w *world) [2]uint64 {
	var buf [1024]byte
	b := x.encode(w, buf[:0])
	return [2]uint64{maphash.Bytes(x.seed[0], b), maphash.Bytes(x.seed[1], b)}
}

// order replaces numbers of which only the order counts.
type order struct {
	v [64]uint64
	n int
}

func (o *order) add(vs ...uint64) {
	for _, v := range vs {
		if v != 0 && !slices.Contains(o.v[:o.n], v) {
			o.v[o.n] = v
			o.n++
		}
	}
}

func (o *order) of(v uint64) byte {
	if v == 0 {
		return 0
	}
	i, _ := slices.BinarySearch(o.v[:o.n], v)
	return byte(i + 1)
}

func (x *explorer) encode(w *world, b []byte) []byte {
	var turns, serials order
	var ids [nClients]order
	for c := range w.client {
		cl, own := &w.client[c], &w.clients[c]
		turns.add(cl.turn, cl.asked)
		serials.add(cl.serial, cl.acked, cl.since, own.serial)
		ids[c].add(cl.request, cl.held, own.request, own.held)
	}
	for i := range w.net[:w.inNet] {
		p := &w.net[i]
		serials.add(p.event.Serial, p.message.Serial)
		if p.toClient {
			ids[p.message.To].add(p.message.Request)
		} else {
			ids[p.event.From].add(p.event.Request)
		}
	}
	slices.Sort(turns.v[:turns.n])
	slices.Sort(serials.v[:serials.n])
	for c := range ids {
		slices.Sort(ids[c].v[:ids[c].n])
	}

	for i := range w.owner {
		b = append(b, byte(w.owner[i]), byte(w.next[i]))
	}
	for c := range w.client {
		cl, own := &w.client[c], &w.clients[c]
		runs, asks := w.claim[c][cl.running], w.claim[c][1-cl.running]
		b = append(b, byte(cl.phase), byte(cl.stage), ids[c].of(cl.request), ids[c].of(cl.held),
			turns.of(cl.turn), turns.of(cl.asked), serials.of(cl.serial), serials.of(cl.acked), serials.of(cl.since),
			byte(cl.told[0]), byte(cl.offer[0]), byte(runs.need[0]), byte(runs.want[0]), byte(asks.need[0]), byte(asks.want[0]))
		b = append(b, ago(cl.phase != 0, w.now, cl.seen), ago(cl.stage != 0, cl.deadline, w.now))
		b = append(b, byte(own.phase), ids[c].of(own.request), ids[c].of(own.held), serials.of(own.serial),
			byte(own.runs.need[0]), byte(own.runs.want[0]), byte(own.asks.need[0]), byte(own.asks.want[0]), byte(own.owned[0]),
			ago(own.phase&Pending != 0, w.now, own.asked), bit(own.ready)|bit(w.alive[c])<<1)
	}
	var packets [maxNet][12]byte
	for i := range w.net[:w.inNet] {
		p, q := &w.net[i], &packets[i]
		if p.toClient {
			m := &p.message
			*q = [12]byte{1, byte(m.To), byte(m.Kind), ids[m.To].of(m.Request), serials.of(m.Serial), byte(m.Leaves[0])}
		} else {
			e := &p.event
			*q = [12]byte{2, byte(e.From), byte(e.Kind), ids[e.From].of(e.Request), serials.of(e.Serial), byte(e.Leaves[0]), byte(p.menu)}
		}
	}
	slices.SortFunc(packets[:w.inNet], func(a, b [12]byte) int { return bytes.Compare(a[:], b[:]) })
	for i := range w.inNet {
		b = append(b, packets[i][:]...)
	}
	l := &w.left
	b = append(b, byte(l.Quits), byte(l.Parts), byte(l.Refusals), byte(l.Dislikes), byte(l.Lost), byte(l.Doubled),
		byte(l.Crashes), byte(l.Restarts), byte(l.Reports), byte(l.Time))
	for _, r := range l.Requests {
		b = append(b, byte(r))
	}
	return b
}

func ago(counts bool, a, b int64) byte {
	if !counts {
		return 255
	}
	return byte(min(max(a-b, -1), 100) + 1)
}

func bit(v bool) byte {
	if v {
		return 1
	}
	return 0
}

func soak() bool { return os.Getenv("POISE_SOAK") != "" }
