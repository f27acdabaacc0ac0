package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"poise/executive"
	"poise/msgs/poisemsgs"
	"poise/stop"
	"poise/wire/admission"
	"poise/wire/loopback"
	"poise/wire/mirror"
	"poise/wire/rosbridge/client"
)

// newStops makes the way of a stop into the robots, and to the server that is mirrored. It
// is used by every wire, POST /stop, the service and the end of the server.
func (s *Server) newStops() (*stop.Line, error) {
	var remotes []stop.Remote
	if m := s.cfg.Mirror; m.ROS1() || m.ROS2() {
		if err := s.newROSMirror(); err != nil {
			return nil, err
		}
		remotes = append(remotes, s.ros.mirror.Remote())
	} else if m.URL != "" {
		var err error
		if s.mirrored, err = mirror.NewStops(m.URL, m.Prefix, s.mirrorOptions()); err != nil {
			return nil, fmt.Errorf("mirror.url is %q: %w", m.URL, err)
		}
		remotes = append(remotes, s.mirrored)
		s.background.Go(func() {
			<-s.life.Done()
			s.mirrored.Close()
		})
	}
	robots := make([]stop.Robot, len(s.robots))
	byName := map[string]*servedRobot{}
	for i, bot := range s.robots {
		robots[i] = stop.Robot{Name: bot.name, Cycle: bot.loop, Confirm: bot.confirms()}
		byName[bot.name] = bot
	}
	return stop.New(s.life, robots, func(d stop.Done) {
		result := d.Result
		if d.LeftOut > 0 {
			result += fmt.Sprintf(" (and %d stops before it)", d.LeftOut)
		}
		what := fmt.Sprintf("stop %d", d.Category)
		if bot := byName[d.Robot]; bot != nil {
			bot.audit(executive.Audit{Who: d.Who, What: what, Result: result})
			return
		}
		s.log.Info("audit", "robot", d.Robot, "who", d.Who, "what", what, "result", result)
	}, remotes...), nil
}

// mirrorOptions are those of the connections to the mirrored server.
func (s *Server) mirrorOptions() client.Options {
	return client.Options{Log: s.log, HTTP: s.http, MaxBytes: s.cfg.Limits.MessageSize}
}

// maxStops bounds the calls of stop in the graph. Each waits for the robot to stand and
// costs next to nothing; wires do not use it.
const maxStops = 4096

// stop stops the robot and answers when it stands: the service of the graph, for
// components and for wires that do not know of stops.
func (bot *servedRobot) stop(ctx context.Context, q *poisemsgs.StopRequest) (*poisemsgs.StopResponse, error) {
	category, note := q.Category, ""
	if category > stop.Mildest {
		category, note = stop.Mildest, fmt.Sprintf("category %d is unknown (0, 1, 2) and was taken as %d; ", q.Category, stop.Mildest)
	}
	target, _ := bot.s.stops.Robot(bot.name)
	answer := target.Stop(callerOf(ctx), category).Over(ctx)
	return &poisemsgs.StopResponse{Success: answer.Success, Message: note + answer.Text}, nil
}

// What POST /stop waits for: its arguments, before the robots are stopped without them and
// until they are given up, and the cycles.
const (
	stopArguments = 20 * time.Millisecond
	stopLate      = 200 * time.Millisecond
	stopTaken     = 500 * time.Millisecond
)

// postStop answers POST /stop: all robots, or the one that is named, stop. It answers once
// their cycles have taken the stop, or says that it is set; with until=stands once the
// robots stand. Arguments come as a query, a form or a JSON object; those that cannot be
// read mean all robots and the mildest category. A body that is late is not waited for:
// the robots stop, and by what it asks for when it comes after all.
func (s *Server) postStop(w http.ResponseWriter, r *http.Request) {
	body := beginBody(w, r)
	q, late := stopRequest{}, false
	select {
	case text := <-body:
		q = readStop(r, text)
	case <-time.After(stopArguments):
		s.stopFor(r, &stopRequest{category: stop.Mildest, robot: queriedRobot(r)})
		text := <-body
		q = readStop(r, text)
		if late = !text.whole; late {
			q.robot = queriedRobot(r)
		}
		q.note += fmt.Sprintf("the body was late, and category %d was taken meanwhile; ", stop.Mildest)
	}
	asked := s.stopFor(r, &q)
	ctx := r.Context()
	if late { // its end is that of the body, not that of the client
		ctx = context.WithoutCancel(ctx)
	}
	taken, cancel := context.WithTimeout(ctx, stopTaken)
	defer cancel()
	answer, status := asked.Taken(taken), http.StatusOK
	if !answer.Success {
		status = http.StatusAccepted
	} else if q.stands {
		stands, cancel := context.WithTimeout(ctx, stop.Patience)
		defer cancel()
		answer = asked.Over(stands)
	}
	text, err := json.Marshal(stopAnswer{answer.Success, q.note + answer.Text, q.category, []any{}})
	if err != nil {
		text = []byte("{}") // it cannot: a flag, a number and a string
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // the robots stop, whether the client hears it or not
}

// stopFor stops the robots that a request is for: an unknown one means all, as mildly as
// can be.
func (s *Server) stopFor(r *http.Request, q *stopRequest) *stop.Asked {
	target, ok := s.stops.Robot(q.robot)
	if !ok {
		if target = s.stops.All(); q.robot != "" {
			q.category = stop.Mildest
			q.note += fmt.Sprintf("there is no robot %.100q, and all were stopped by category %d; ", q.robot, q.category)
		}
	}
	if hops, err := strconv.Atoi(r.Header.Get(mirror.HopsHeader)); err == nil {
		target = target.Via(hops)
	}
	return target.Stop("POST /stop from "+r.RemoteAddr, q.category)
}

// handleStop serves POST /stop, with slashes too many as well, and tells those who ask in
// another way how to. The rest is another handler's.
func (s *Server) handleStop(rest http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.Trim(r.URL.Path, "/") != "stop":
			rest.ServeHTTP(w, r)
		case r.Method == http.MethodPost:
			s.postStop(w, r)
		default:
			w.Header().Set("Allow", http.MethodPost)
			http.Error(w, "no robot was stopped: use POST, such as curl -X POST http://"+s.Address()+"/stop", http.StatusMethodNotAllowed)
		}
	})
}

// stopAnswer is what POST /stop answers: first what every answer begins with.
type stopAnswer struct {
	Success      bool   `json:"success"`
	Message      string `json:"message"`
	Category     uint8  `json:"category"`
	Explanations []any  `json:"explanations"`
}

// pages is how many connections there may be besides those of rosbridge clients.
const pages = 200

// admit bounds the connections of a listener: by the configuration, and by the file
// descriptors that there are. One beyond the bound may still stop the robots.
func (s *Server) admit(l net.Listener) net.Listener {
	most := admission.Room(s.cfg.Limits.Connections + pages)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", s.healthz) // a watchdog must not take a crowd for a fault
	mux.HandleFunc("GET /readyz", s.readyz)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, fmt.Sprintf("too many connections: the limit is %d; only POST /stop, /healthz and /readyz are served beyond it", most), http.StatusServiceUnavailable)
	})
	return admission.Listen(l, admission.Config{Most: most, Urgent: loopback.Guard{Origins: s.cfg.Origins}.Handler(s.handleStop(mux)), Log: s.log})
}

// stopRequest is what POST /stop was asked.
type stopRequest struct {
	category uint8
	robot    string
	stands   bool   // answer when the robots stand
	note     string // what was not as it should be
}

// stopBody is the body of a stop, as far as it came.
type stopBody struct {
	text  []byte
	whole bool
}

// beginBody reads the body of a request. It comes, or is given up, within stopLate.
func beginBody(w http.ResponseWriter, r *http.Request) <-chan stopBody {
	read := make(chan stopBody, 1)
	if r.ContentLength == 0 {
		read <- stopBody{whole: true}
		return read
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(stopLate))
	go func() {
		const most = 4 << 10
		text, err := io.ReadAll(io.LimitReader(r.Body, most+1))
		read <- stopBody{text, err == nil && len(text) <= most}
	}()
	return read
}

// queriedRobot is the robot that the query names.
func queriedRobot(r *http.Request) string {
	if all := r.URL.Query()["robot"]; len(all) == 1 {
		return all[0]
	}
	return ""
}

// readStop reads the arguments of a stop, as far as they can be.
func readStop(r *http.Request, body stopBody) stopRequest {
	unread := stopRequest{category: stop.Mildest, note: fmt.Sprintf("the arguments cannot be read, and category %d was taken; ", stop.Mildest)}
	if !body.whole {
		return unread
	}
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return unread
	}
	if text := strings.TrimSpace(string(body.text)); strings.HasPrefix(text, "{") {
		if err := jsonArguments(text, values); err != nil {
			return unread
		}
	} else if form, err := url.ParseQuery(text); err != nil {
		return unread
	} else {
		for name, v := range form {
			values[name] = v
		}
	}
	q := stopRequest{category: stop.Mildest, robot: values.Get("robot"), stands: values.Get("until") == "stands"}
	switch text := values.Get("category"); text {
	case "0", "1", "2":
		q.category = text[0] - '0'
	case "":
	default:
		q.note = fmt.Sprintf("category %.20q is unknown (0, 1, 2) and was taken as %d; ", text, stop.Mildest)
	}
	for name, v := range values {
		if name != "category" && name != "robot" && name != "until" || len(v) > 1 {
			return unread
		}
	}
	return q
}

// jsonArguments adds the members of a JSON object. Its names are taken by the letter and
// once, and nothing may follow it: what is not quite a request must not take a torque.
func jsonArguments(text string, values url.Values) error {
	d := json.NewDecoder(strings.NewReader(text))
	if _, err := d.Token(); err != nil { // the brace
		return err
	}
	seen := map[string]bool{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		name, _ := key.(string)
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
		if seen[name] {
			return fmt.Errorf("the member %q comes twice", name)
		}
		seen[name] = true
		var word string
		if name == "category" || json.Unmarshal(value, &word) != nil {
			word = string(value)
		}
		values.Set(name, word)
	}
	if _, err := d.Token(); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("something follows the object")
	}
	return nil
}
