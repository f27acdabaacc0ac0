package mirror

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"poise/stop"
	"poise/wire/rosbridge/client"
)

// HopsHeader is the header of POST /stop that counts the servers it came through.
const HopsHeader = "Poise-Stop-Hops"

// Stops asks the robots behind a rosbridge server to stop. It has connections of its own,
// so that nothing else that goes through the mirror is before it, and asks in two ways at
// once: by a call over a socket that is kept open for it, and by POST /stop, which a server
// takes that takes no more sockets. One of them is enough.
//
// It is a stop.Remote. Keep tells it what the robot has.
type Stops struct {
	prefix string
	socket *client.Client
	post   *url.URL
	web    *http.Client
	life   context.Context
	end    context.CancelFunc

	asked stop.Bounded[kind, *stopped]

	mu      sync.Mutex
	known   map[string]string // types of the services that stop, by remote name; nil before the robot has said
	first   string            // the robot that a plain stop is for, if the robot has said
	waiting int               // stops that wait for a robot to stand
}

// kind is a stop as the other server is asked for it.
type kind struct {
	service  string // empty for all robots
	category uint8
	hops     int
}

// Bounds of the stops under way.
const (
	mostAsking  = 4  // of one kind that the server has not answered yet
	mostWaiting = 64 // that wait for a robot to stand
)

// NewStops makes the stops of the robots at an address, which are shown below a prefix.
// Of the options those of the connection hold; Log, Changed and Failed do not.
func NewStops(address, prefix string, o client.Options) (*Stops, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	post := *u
	post.Scheme = map[string]string{"ws": "http", "wss": "https"}[u.Scheme]
	post.Path, post.RawQuery = strings.TrimSuffix(strings.TrimSuffix(u.Path, "/"), "/rosbridge")+"/stop", ""
	web := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	if o.HTTP != nil {
		web = *o.HTTP
	}
	web.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	o.Log, o.Changed, o.Failed = nil, nil, nil // the mirror's own connection is told of
	s := &Stops{prefix: strings.Trim(prefix, "/"), post: &post, web: &web}
	s.asked = stop.Bounded[kind, *stopped]{Most: mostAsking, Begin: s.begin}
	s.life, s.end = context.WithCancel(context.Background())
	s.socket = client.Open(address, o)
	return s, nil
}

// Close ends what is under way.
func (s *Stops) Close() {
	s.end()
	s.socket.Close()
}

// Name is the prefix.
func (s *Stops) Name() string { return s.prefix }

// Types of services that stop a robot. One of another type is called like any service.
const poiseStop = "poise_msgs/srv/Stop"

func isStop(typ string) bool {
	switch typ {
	case poiseStop, "poise_msgs/Stop", "std_srvs/srv/Trigger", "std_srvs/Trigger", "std_srvs/srv/Empty", "std_srvs/Empty":
		return true
	}
	return false
}

func hasCategory(typ string) bool { return typ == poiseStop || typ == "poise_msgs/Stop" }

// Stops reports whether a service of the other server is a stop. Before the robot has said
// what it has, every one is that is called so.
func (s *Stops) Stops(service string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	typ, ok := s.known[service]
	return isStop(typ) || !ok && (service == "stop" || s.known == nil)
}

// learn notes what the robot has.
func (s *Stops) learn(ctx context.Context, c *client.Client, spec *Spec) {
	known, first := map[string]string{}, ""
	for _, n := range spec.Services {
		if name := strings.Trim(n.Remote, "/"); name == "stop" || strings.HasSuffix(name, "/stop") {
			known[name] = n.Type
		}
	}
	if hasCategory(known["stop"]) {
		var info struct{ Robot string }
		values, err := c.Call(ctx, "/robot_info", nil)
		if err == nil && json.Unmarshal(values, &info) == nil && hasCategory(known[info.Robot+"/stop"]) {
			first = info.Robot
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known, s.first = known, first
}

// Stop asks for a stop, and returns at once.
func (s *Stops) Stop(service string, category uint8, hops int) stop.Progress {
	s.mu.Lock()
	if _, ok := s.known[service]; !ok && service != "" {
		service, category = "", stop.Mildest // it is not known whose it is: all, as mildly as can be
	}
	s.mu.Unlock()
	return s.asked.Ask(kind{service, category, hops}, &stopped{category: category})
}

// begin asks for a stop by a goroutine of its own; the next may go once it is taken, or has
// failed.
func (s *Stops) begin(k kind, one *stopped, settled func()) {
	one.settled = sync.OnceFunc(settled)
	s.mu.Lock()
	defer s.mu.Unlock()
	if one.brief = s.waiting >= mostWaiting; !one.brief {
		s.waiting++
	}
	go func() {
		s.run(k, one)
		one.settled()
		if !one.brief {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.waiting--
		}
	}()
}

// reachWithin is how long it is tried to reach the other server.
const reachWithin = 2 * time.Second

// run asks for a stop in both ways, until one has told that the robots stand or both have
// failed.
func (s *Stops) run(k kind, one *stopped) {
	ctx, cancel := context.WithTimeout(s.life, stop.Patience)
	defer cancel()
	called, posted := make(chan error, 1), make(chan error, 1)
	go func() { called <- s.call(ctx, k, one) }()
	go func() { posted <- s.postStop(ctx, k, one, false) }()
	var noCall, noPost error
	for range 2 {
		select {
		case noCall = <-called:
		case noPost = <-posted:
		}
		if one.Over() || one.brief && one.Taken() {
			break
		}
	}
	if noCall != nil && noPost == nil && !one.Over() && !one.brief {
		noPost = s.postStop(ctx, k, one, true) // nothing else tells when they stand
	}
	one.ended(errors.Join(noPost, noCall))
}

// call calls the services, and returns when the robots stand.
func (s *Stops) call(ctx context.Context, k kind, one *stopped) error {
	services := s.services(k.service)
	if len(services) == 0 {
		return errors.New("no service of it is known that stops it")
	}
	reach, cancel := context.WithTimeout(ctx, reachWithin)
	defer cancel()
	if err := s.socket.WaitConnected(reach); err != nil {
		return fmt.Errorf("its socket: %w", client.ErrDisconnected)
	}
	answers := make(chan error, len(services))
	var texts stopTexts
	for service, typ := range services {
		go func() {
			text, err := s.callOne(ctx, service, typ, k.category)
			texts.add(service, text, len(services) > 1)
			answers <- err
		}()
	}
	var errs []error
	for range services {
		errs = append(errs, <-answers)
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	one.over(texts.String())
	return nil
}

// callOne calls one service, and returns what it answers.
func (s *Stops) callOne(ctx context.Context, service, typ string, category uint8) (string, error) {
	var args []byte
	if hasCategory(typ) {
		args = fmt.Appendf(nil, `{"category":%d}`, category)
	}
	values, err := s.socket.Call(ctx, "/"+service, args)
	if err != nil {
		return "", err
	}
	answer := stopAnswer{Success: true} // of a service that answers nothing
	if len(values) > 0 && json.Unmarshal(values, &answer) != nil {
		return "", fmt.Errorf("service /%s: its answer cannot be read", service)
	}
	if !answer.Success {
		return "", fmt.Errorf("service /%s: it answers: %.300s", service, answer.Message)
	}
	return answer.Message, nil
}

// services are what is called for a stop, and their types: of all robots those of each, and
// what is called stop if there is no other.
func (s *Stops) services(service string) map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := map[string]string{}
	if service != "" {
		found[service] = s.known[service]
		return found
	}
	const most = 64
	for name, typ := range s.known {
		if hasCategory(typ) && strings.Count(name, "/") == 1 && len(found) < most {
			found[name] = typ
		}
	}
	if typ := s.known["stop"]; len(found) == 0 && isStop(typ) {
		found["stop"] = typ
	}
	return found
}

type stopAnswer struct {
	Success bool
	Message string
}

// errNoPost is the answer of a server that has no POST /stop.
var errNoPost = errors.New("it serves no POST /stop")

// postStop asks by POST /stop, again if the server is not reached, and returns when its
// robots have taken the stop, or stand.
func (s *Stops) postStop(ctx context.Context, k kind, one *stopped, stands bool) error {
	reach, cancel := context.WithTimeout(ctx, reachWithin)
	defer cancel()
	for pause := 10 * time.Millisecond; ; pause *= 2 {
		answer, err := s.postOnce(ctx, k, stands)
		switch {
		case err == nil && answer.Success && stands:
			one.over(answer.Message)
			return nil
		case err == nil && answer.Success:
			one.taken(answer.Message)
			return nil
		case err == nil:
			err = fmt.Errorf("it answers: %.300s", answer.Message)
		case errors.Is(err, errNoPost):
			return err
		}
		one.late(err)
		select {
		case <-reach.Done():
			return err
		case <-time.After(pause):
		}
	}
}

// postOnce posts one request.
func (s *Stops) postOnce(ctx context.Context, k kind, stands bool) (answer stopAnswer, err error) {
	within := reachWithin
	if stands {
		within = stop.Patience
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	q := url.Values{}
	robot, _ := strings.CutSuffix(k.service, "/stop")
	if k.service == "stop" {
		s.mu.Lock()
		robot = s.first
		s.mu.Unlock()
	}
	if robot != "" {
		q.Set("robot", robot)
	} else if k.service != "" {
		k.category = stop.Mildest // it stops more than was asked for
	}
	q.Set("category", strconv.Itoa(int(k.category)))
	if stands {
		q.Set("until", "stands")
	}
	at := *s.post
	at.RawQuery = q.Encode()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, at.String(), nil)
	if err != nil {
		return answer, err
	}
	r.Header.Set(HopsHeader, strconv.Itoa(k.hops))
	response, err := s.web.Do(r)
	if err != nil {
		return answer, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 64<<10))
	switch {
	case err != nil:
		return answer, err
	case response.StatusCode == http.StatusServiceUnavailable, response.StatusCode == http.StatusTooManyRequests:
		return answer, fmt.Errorf("it answers %s", response.Status)
	case response.StatusCode/100 != 2:
		return answer, fmt.Errorf("%w (%s)", errNoPost, response.Status)
	case json.Unmarshal(text, &answer) != nil:
		return answer, errNoPost
	}
	return answer, nil
}
