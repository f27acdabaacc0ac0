package executive

import (
	"poise/robot"
)

// NewsKind says what an external controller is told.
type NewsKind uint8

// Offered and Reassigned are to be answered with an OutsideState that carries the id of
// the request: it goes on with what it is told to have, or quits.
const (
	Offered    NewsKind = iota // what it would get for its request
	Reassigned                 // what it has from now on
	Granted                    // it is operational, and has this
	Denied                     // its request was denied
	Ended                      // it is not operational any more
)

// News is a message to an external controller: the owners of resources, or the resources it is offered.
type News struct {
	Kind NewsKind
	// Requests of the controller that this is about: one, or two when a request of a
	// running one is denied, which goes on with what it runs on.
	Requests  []uint32
	Resources []string
	Owners    []string // "" where a resource has no one owner
	Why       []Explanation
}

// news tells an external controller who has what, with the set that it has or is to have;
// what it is to give up goes to taker.
func (o *Outside) news(client *remote, kind NewsKind, a *asked, set robot.Set, taker string, reasons []Explanation) {
	call := client.tell
	if call == nil || o.e.robot.snap == nil {
		return
	}
	n := News{Kind: kind, Requests: []uint32{a.request}, Why: reasons}
	if kind == Denied && client.runs.live() {
		n.Requests = append(n.Requests, client.runs.request)
	}
	add := func(name string, leaves robot.Set) {
		owner := ""
		switch {
		case set.Contains(leaves):
			owner = client.name
		case client.owns.Contains(leaves):
			owner = taker
		default:
			if has := o.e.robot.ownerOf(leaves); has != client.seat.id {
				owner = o.e.robot.controllerName(has)
			}
		}
		n.Resources, n.Owners = append(n.Resources, name), append(n.Owners, owner)
	}
	listed := map[string]bool{}
	resources, err := o.e.model.Resources()
	if err != nil {
		return
	}
	for _, r := range resources.List() {
		listed[r.Name] = true
		add(r.Name, r.Set)
	}
	for _, name := range a.named { // joints by their own names
		if leaves, unknown := o.e.words.Set([]string{name}); len(unknown) == 0 && !listed[name] {
			listed[name] = true
			add(name, leaves)
		}
	}
	o.e.out.add(func() { call(n) })
}
