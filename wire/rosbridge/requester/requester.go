// Package requester is the arbiter's client in an external controller, one that runs in a
// process of its own: it requests resources, answers offers, and renews its lease.
//
//	r, err := requester.New(c, requester.Config{Name: "wag", Wanted: []string{"tail"}, Changed: changed})
//	err = r.Request(ctx)            // nil: operational
//	err = r.Send(&msgs.JointState{…})
//	r.Quit()
//
// Every assignment that carries the id of its request is answered: it goes on with it, or
// quits. A controller that loses a part decides by Changed whether it goes on, and has the
// part offered again when it is free. docs/controllers.md has the rules.
package requester

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/wire/rosbridge/client"
)

// Config names a controller and the resources that it requests.
type Config struct {
	Name   string   // of the controller
	Robot  string   // whose resources; "" is the first of the server
	Needed []string // it cannot run without
	Wanted []string // it runs without, and takes when it can

	// Pending and Operational are priorities: of Needed, then of Wanted, one each, or none.
	Pending, Operational []float32

	Lease time.Duration // without a sign of life; 0 is the server's, 200 ms as it ships

	// Changed tells what the controller has from now on, or is offered, and returns
	// whether it goes on with that; nil goes on with all it needs, or with anything at all.
	Changed func(owned []string) bool
}

// Requester is an external controller. Make one with New; its methods are safe for
// concurrent use.
type Requester struct {
	cfg             Config
	claim, state    *client.Publisher
	references      [5]*client.Publisher // see Send, SendEyes
	assigned        *client.Subscription
	cancel          context.CancelFunc
	mu              sync.Mutex
	id              uint32 // of the newest request
	running         uint32 // of the one that it runs on
	pending, active bool
	offered         bool // and confirmed
	owned           []string
	heard           time.Time // of the last assignment that was for this controller alone
	answer          chan error
}

// ErrDenied is a request that was not granted; topic resource_state says why.
var ErrDenied = errors.New("requester: denied")

// New registers a controller by a client's connection.
func New(c *client.Client, cfg Config) (r *Requester, err error) {
	r = &Requester{cfg: cfg}
	prefix := "/"
	if cfg.Robot != "" {
		prefix += cfg.Robot + "/"
	}
	var errs [3 + len(r.references)]error
	r.assigned, errs[0] = c.Subscribe(prefix+"resource_assignment", "", client.SubscribeOptions{Queue: 100})
	r.claim, errs[1] = c.Advertise(prefix+"resource_claim", "poise_msgs/msg/ResourceRequest", false)
	r.state, errs[2] = c.Advertise(prefix+"resource_requester_state", "resource_control_msgs/msg/ResourceRequesterState", false)
	for i, topic := range [len(r.references)][2]string{
		{"ref_joints", "sensor_msgs/msg/JointState"}, {"ref_joints_accel", "poise_msgs/msg/JointStateAccel"},
		{"ref_limbs_cartesian", "poise_msgs/msg/RigidBodyState"}, {"ref_support", "poise_msgs/msg/SupportState"},
		{"ref_eyes", "sensor_msgs/msg/JointState"},
	} {
		r.references[i], errs[3+i] = c.Advertise(prefix+"controllers/"+cfg.Name+"/"+topic[0], topic[1], false)
	}
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	r.cancel = cancel
	go r.listen(ctx)
	go r.live(ctx)
	return r, nil
}

// Request asks, and waits until the controller is operational, or was denied. An
// operational one asks anew and runs on meanwhile.
func (r *Requester) Request(ctx context.Context) error {
	answer := make(chan error, 1)
	r.mu.Lock()
	r.id++
	if r.pending { // a newer request takes the place of one that waits
		r.answer <- fmt.Errorf("%w: %s has sent a newer request", ErrDenied, r.cfg.Name)
	}
	r.pending, r.offered, r.answer = true, false, answer
	ask := poisemsgs.ResourceRequest{RequesterName: r.cfg.Name, RequestID: r.id, Needed: r.cfg.Needed, Wanted: r.cfg.Wanted,
		PriPending: r.cfg.Pending, PriOperational: r.cfg.Operational, Lease: r.cfg.Lease.Seconds()}
	r.mu.Unlock()
	if err := r.claim.Publish(client.Text(&ask, msgs.ROS2)); err != nil {
		return err
	}
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
		r.Quit()
		return ctx.Err()
	}
}

// Owned returns what the controller has, nothing while it is not operational.
func (r *Requester) Owned() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.active {
		return nil
	}
	return slices.Clone(r.owned)
}

// Send publishes a reference: of joints (msgs.JointState, or poisemsgs.JointStateAccel with
// accelerations), of limbs and the base (poisemsgs.RigidBodyState), or of supports
// (poisemsgs.SupportState). What the controller does not own is not followed.
func (r *Requester) Send(reference any) error {
	stream := 0
	switch reference.(type) {
	case *msgs.JointState:
	case *poisemsgs.JointStateAccel:
		stream = 1
	case *poisemsgs.RigidBodyState:
		stream = 2
	case *poisemsgs.SupportState:
		stream = 3
	default:
		return fmt.Errorf("requester: %T is no reference", reference)
	}
	return r.references[stream].Publish(client.Text(reference, msgs.ROS2))
}

// SendEyes publishes joints of eyes, and typed outputs such as eye_screens by their names.
func (r *Requester) SendEyes(values *msgs.JointState) error {
	return r.references[4].Publish(client.Text(values, msgs.ROS2))
}

// Quit ends what the controller does and asks for.
func (r *Requester) Quit() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stop(false)
}

// Close quits and ends the registration.
func (r *Requester) Close() {
	r.Quit()
	r.cancel()
	r.assigned.Close()
	for _, p := range append([]*client.Publisher{r.claim, r.state}, r.references[:]...) {
		p.Close()
	}
}

// listen takes assignments.
func (r *Requester) listen(ctx context.Context) {
	for {
		text, _, err := r.assigned.Next(ctx)
		if err != nil {
			return
		}
		var a msgs.ResourceAssignment
		if client.Read(text, &a) == nil && len(a.Owners) == len(a.Resources) {
			r.take(&a)
		}
	}
}

// settled is how long after an assignment of its own a table for all counts: tables are
// older than what the controller was told alone.
const settled = 500 * time.Millisecond

func (r *Requester) take(a *msgs.ResourceAssignment) {
	r.mu.Lock()
	defer r.mu.Unlock()
	asked := r.pending && slices.Contains(a.RequestIds, r.id)
	runs := r.active && slices.Contains(a.RequestIds, r.running)
	if !asked && !runs && (!r.active || len(a.RequestIds) > 0 || time.Since(r.heard) < settled) {
		return
	}
	if len(a.RequestIds) > 0 {
		r.heard = time.Now()
	}
	var owned []string
	for i, name := range a.Resources {
		if a.Owners[i] == r.cfg.Name {
			owned = append(owned, name)
		}
	}
	if len(a.RequestIds) == 0 { // a table for all does not list joints by their own names
		for _, name := range r.owned {
			if !slices.Contains(a.Resources, name) {
				owned = append(owned, name)
			}
		}
	}
	same := slices.Equal(owned, r.owned)
	switch {
	case asked && (runs || !r.offered && len(owned) == 0): // denied, and an operational one goes on
		r.pending = false
		r.answer <- fmt.Errorf("%w: %s does not get %v", ErrDenied, r.cfg.Name, append(slices.Clone(r.cfg.Needed), r.cfg.Wanted...))
	case asked && !r.offered: // an offer
		if r.offered = r.likes(owned); !r.offered {
			r.stop(false)
			return
		}
		r.say(r.id, true)
	case asked: // the end of its round
		switch {
		case len(owned) == 0:
			r.pending = false
			r.answer <- fmt.Errorf("%w: the request of %s was not granted", ErrDenied, r.cfg.Name)
		case !same && !r.likes(owned):
			r.stop(false)
		default:
			r.pending, r.active, r.running, r.owned = false, true, r.id, owned
			r.answer <- nil
		}
	case same:
		r.say(r.running, true)
	default: // another set for what it runs on
		switch {
		case len(owned) == 0 && r.pending: // its request goes on
			r.say(r.running, false)
			r.active, r.owned = false, nil
		case len(owned) == 0 || !r.likes(owned):
			r.stop(true)
		default:
			r.owned = owned
			r.say(r.running, true)
		}
	}
}

// likes asks the controller whether it goes on with what it has.
func (r *Requester) likes(owned []string) bool {
	for _, need := range r.cfg.Needed {
		if !slices.Contains(owned, need) {
			return false
		}
	}
	if r.cfg.Changed != nil {
		return r.cfg.Changed(owned)
	}
	return true
}

// stop ends everything; lost tells the controller that it has nothing any more.
func (r *Requester) stop(lost bool) {
	if !r.active && !r.pending {
		return
	}
	r.say(r.id, false)
	if r.pending {
		r.answer <- fmt.Errorf("%w: %s quit", ErrDenied, r.cfg.Name)
	}
	r.active, r.pending, r.offered, r.owned = false, false, false, nil
	if lost && r.cfg.Changed != nil {
		r.cfg.Changed(nil)
	}
}

// say tells the arbiter how the controller gets on.
func (r *Requester) say(id uint32, operational bool) {
	_ = r.state.Publish(client.Text(&msgs.ResourceRequesterState{RequesterName: r.cfg.Name, RequestID: id, IsOperational: operational}, msgs.ROS2))
}

// signOfLife is the id of no request: such a state answers no assignment that is on its way.
const signOfLife = 0

// live gives signs of life while the controller is operational.
func (r *Requester) live(ctx context.Context) {
	every := 40 * time.Millisecond
	if r.cfg.Lease > 0 {
		every = r.cfg.Lease / 5
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			r.mu.Lock()
			if r.active {
				r.say(signOfLife, true)
			}
			r.mu.Unlock()
		}
	}
}
