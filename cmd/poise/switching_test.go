package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"poise/internal/chaos"
	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/wire/rosbridge/client"
)

// These tests play the scenarios of the switching document with external controllers
// in Go, Python (roslibpy) and JavaScript (roslib), against the built program.
// What came of it is read from topic resource_state by a client of the test's own. Rounds
// have 5 s and leases a minute, so that a busy machine changes nothing.
const calmRounds = "loop: {silence: 600, remote_timeout: 5, lease: 30}\nfaults: {cycle_gap: {severity: ignore}}\ncontrollers: {remote: {seats: 8}}\n"

// cue is a command to controllers in another program.
type cue struct {
	Do          string   `json:"do"` // open, request, answer, send, close
	Name        string   `json:"name"`
	Needed      []string `json:"needed"`
	Wanted      []string `json:"wanted"`
	Pending     float32  `json:"pending"`
	Operational float32  `json:"operational"`
	Mode        string   `json:"mode"` // how it answers: well, never, twice, other (for another round)
	GoesOn      bool     `json:"goes_on"`
	Joint       string   `json:"joint"`
	Q           float64  `json:"q"`
}

// assigned is what a controller was told under an id of its own; 0 is that it has opened.
type assigned struct {
	Name  string   `json:"name"`
	ID    uint32   `json:"id"`
	Owned []string `json:"owned"`
}

// troupe is the controllers of one language.
type troupe struct {
	s    *stage
	in   io.Writer
	cmd  *exec.Cmd
	mu   sync.Mutex
	told map[string][]assigned
}

// stage is a server with an observer.
type stage struct {
	*running
	observer *client.Client
	ctx      context.Context
}

func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{running: serveIt(t, "--config", writtenFile(t, calmRounds), "--no-record")}
	var cancel context.CancelFunc
	s.ctx, cancel = context.WithTimeout(context.Background(), hang)
	t.Cleanup(cancel)
	c, err := client.Dial(s.ctx, "ws://"+s.address+"/rosbridge", client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	s.observer = c
	return s
}

// languages are those that controllers are written in, each with what starts them.
var languages = []string{"go", "python", "javascript"}

// troupe starts the program of a language, whose controllers connect to an address.
func (s *stage) troupe(language, address string) *troupe {
	s.t.Helper()
	tr := &troupe{s: s, told: map[string][]assigned{}}
	var out io.Reader
	switch language {
	case "go":
		in, feed := io.Pipe()
		lines, tell := io.Pipe()
		go playGo(s.ctx, "ws://"+address+"/rosbridge", in, tell)
		s.t.Cleanup(func() { feed.Close() })
		tr.in, out = feed, lines
	default:
		folder := clients(s.t, "node_modules/roslib")
		_, port, _ := strings.Cut(address, ":")
		program, args := node(s.t), []string{"testdata/controller.mjs", "ws://" + address + "/rosbridge"}
		if language == "python" {
			clients(s.t, "venv/bin/python")
			program, args = filepath.Join(folder, "venv/bin/python"), []string{"testdata/controller.py", port}
		}
		tr.cmd = exec.Command(program, args...)
		tr.cmd.Env, tr.cmd.Stderr = append(os.Environ(), "POISE_CLIENTS="+folder), s.log
		in, err := tr.cmd.StdinPipe()
		if err != nil {
			s.t.Fatal(err)
		}
		if out, err = tr.cmd.StdoutPipe(); err != nil {
			s.t.Fatal(err)
		}
		if err := tr.cmd.Start(); err != nil {
			s.t.Fatal(err)
		}
		s.t.Cleanup(func() { _ = tr.cmd.Process.Kill(); _ = tr.cmd.Wait() })
		tr.in = in
	}
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			var a assigned
			if json.Unmarshal(lines.Bytes(), &a) == nil {
				tr.mu.Lock()
				tr.told[a.Name] = append(tr.told[a.Name], a)
				tr.mu.Unlock()
			}
		}
	}()
	return tr
}

// do sends a command; one that opens a controller is waited for.
func (tr *troupe) do(c cue) {
	tr.s.t.Helper()
	if c.Needed == nil {
		c.Needed = []string{}
	}
	if c.Wanted == nil {
		c.Wanted = []string{}
	}
	if c.Operational == 0 {
		c.Operational = c.Pending
	}
	text, err := json.Marshal(c)
	if err != nil {
		tr.s.t.Fatal(err)
	}
	n := tr.count(c.Name)
	if _, err := tr.in.Write(append(text, '\n')); err != nil {
		tr.s.t.Fatal(err)
	}
	if c.Do == "open" {
		tr.s.until(c.Name+" is connected", func() bool { return tr.count(c.Name) > n })
	}
}

func (tr *troupe) open(name string, priority float32, needed, wanted []string, mode string) {
	tr.s.t.Helper()
	tr.do(cue{Do: "open", Name: name, Needed: needed, Wanted: wanted, Pending: priority, Mode: mode})
}

func (tr *troupe) request(name string) { tr.s.t.Helper(); tr.do(cue{Do: "request", Name: name}) }
func (tr *troupe) quit(name string)    { tr.s.t.Helper(); tr.do(cue{Do: "answer", Name: name}) }

// count returns how often a controller was told something.
func (tr *troupe) count(name string) int {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return len(tr.told[name])
}

// believes reports whether a controller was told last that it has some resources.
func (tr *troupe) believes(name string, owned ...string) bool {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	told := tr.told[name]
	return len(told) > 0 && slices.Equal(told[len(told)-1].Owned, owned)
}

// state reads topic resource_state.
func (s *stage) state() poisemsgs.ResourceState {
	return topicNow[poisemsgs.ResourceState](s, "/resource_state")
}

func topicNow[T any](s *stage, topic string) (m T) {
	s.t.Helper()
	sub, err := s.observer.Subscribe(topic, "", client.SubscribeOptions{Queue: 1})
	if err != nil {
		s.t.Fatal(err)
	}
	defer sub.Close()
	text, _, err := sub.Next(s.ctx)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := client.Read(text, &m); err != nil {
		s.t.Fatal(err)
	}
	return m
}

// owns reports whether a controller has all of a resource.
func (s *stage) owns(who, resource string) bool {
	found := false
	for _, l := range s.state().Leaves {
		if l.Name == resource || slices.Contains(l.Resources, resource) {
			if found = true; l.Owner != who {
				return false
			}
		}
	}
	return found
}

// outcome returns what became of the newest round of a requester.
func (s *stage) outcome(requester string) string {
	rounds := s.state().Rounds
	for i := len(rounds) - 1; i >= 0; i-- {
		if rounds[i].Requester == requester {
			return rounds[i].Outcome
		}
	}
	return ""
}

// joint returns where a joint is told to be.
func (s *stage) joint(name string) float64 {
	m := topicNow[msgs.JointState](s, "/joint_states")
	return m.Position[slices.Index(m.Name, name)]
}

// TestTheSeedsScenariosInThreeLanguages plays them with controllers in each language alone.
func TestTheSeedsScenariosInThreeLanguages(t *testing.T) {
	t.Parallel()
	for _, language := range languages {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			tr := s.troupe(language, s.address)
			for _, part := range []func(*stage, *troupe){gaitAndYawn, gaitAndTail, twoGaits, badAnswers, fourRounds, deaths} {
				part(s, tr)
			}
		})
	}
}

var legs = []string{"leg1", "leg2"}

// gaitAndYawn: a gait loses the head to a yawn, goes on, and has it back; one that is not
// concerned is not told anything.
func gaitAndYawn(s *stage, tr *troupe) {
	s.t.Helper()
	tr.open("gait", 40, legs, []string{"head"}, "well")
	tr.open("aside", 40, []string{"ears"}, nil, "well")
	tr.open("yawn", 60, []string{"head"}, nil, "well")
	tr.request("gait")
	tr.request("aside")
	s.until("gait and the one aside run", func() bool { return s.owns("gait", "leg2") && s.owns("gait", "head") && s.owns("aside", "ears") })
	s.until("they know", func() bool { return tr.believes("gait", "leg1", "leg2", "head") && tr.believes("aside", "ears") })
	calls := tr.count("aside")
	tr.request("yawn")
	s.until("the yawn has the head, the gait its legs", func() bool { return s.owns("yawn", "head") && s.owns("gait", "leg1") && s.owns("gait", "leg2") })
	s.until("the gait waits for the head", func() bool {
		return slices.ContainsFunc(s.state().Leaves, func(l poisemsgs.ResourceLeaf) bool {
			return slices.Contains(l.Resources, "head") && slices.Contains(l.Waiting, "gait")
		})
	})
	tr.quit("yawn")
	s.until("the gait has the head back", func() bool { return s.owns("gait", "head") && tr.believes("gait", "leg1", "leg2", "head") })
	if n := tr.count("aside") - calls; n != 0 {
		s.t.Errorf("one that is not concerned was told %d times", n)
	}
	tr.quit("gait")
	tr.quit("aside")
	s.until("all is free", func() bool { return s.owns("", "head") && s.owns("", "leg1") && s.owns("", "ears") })
}

// gaitAndTail: what a gait only wants goes to one of a higher rank, which moves it, and what
// the gait says of it then moves nothing.
func gaitAndTail(s *stage, tr *troupe) {
	s.t.Helper()
	tr.open("amble", 40, legs, []string{"tail"}, "well")
	tr.open("wag", 50, []string{"tail"}, nil, "well")
	tr.request("amble")
	s.until("the gait has the tail", func() bool { return s.owns("amble", "tail") })
	tr.request("wag")
	s.until("the wag has the tail", func() bool { return s.owns("wag", "tail") && s.owns("amble", "leg1") })
	s.until("the tail goes where the wag says", func() bool {
		tr.do(cue{Do: "send", Name: "amble", Joint: "tail_joint1", Q: -0.3})
		tr.do(cue{Do: "send", Name: "wag", Joint: "tail_joint1", Q: 0.2})
		return math.Abs(s.joint("tail_joint1")-0.2) < 1e-3
	})
	for range 20 {
		tr.do(cue{Do: "send", Name: "amble", Joint: "tail_joint1", Q: -0.3})
		time.Sleep(10 * time.Millisecond)
	}
	if q := s.joint("tail_joint1"); math.Abs(q-0.2) > 0.05 { // it may have been settling
		s.t.Errorf("one that does not own the tail moved it to %g", q)
	}
	tr.quit("wag")
	s.until("the gait has it back, and moves it", func() bool {
		tr.do(cue{Do: "send", Name: "amble", Joint: "tail_joint1", Q: 0.1})
		return s.owns("amble", "tail") && math.Abs(s.joint("tail_joint1")-0.1) < 1e-3
	})
	tr.quit("amble")
	s.until("all is free", func() bool { return s.owns("", "tail") && s.owns("", "leg1") })
}

// twoGaits take over from each other: 60 while they ask, 50 while they run.
func twoGaits(s *stage, tr *troupe) {
	s.t.Helper()
	for _, name := range []string{"trot", "pace"} {
		tr.do(cue{Do: "open", Name: name, Needed: legs, Pending: 60, Operational: 50, Mode: "well"})
	}
	for i := range 4 {
		name, other := "trot", "pace"
		if i%2 == 1 {
			name, other = other, name
		}
		tr.request(name)
		s.until(name+" has taken over", func() bool { return s.owns(name, "leg1") && s.owns(name, "leg2") && s.outcome(name) == "granted" })
		if i > 0 {
			s.until(other+" is out", func() bool { return tr.believes(other) })
		}
	}
	tr.quit("pace")
	s.until("all is free", func() bool { return s.owns("", "leg1") })
}

// badAnswers: one that never answers, one whose answer comes when its round is over and one
// that answers for another round get nothing and disturb no owner; one that answers twice is
// as one that answers once.
func badAnswers(s *stage, tr *troupe) {
	s.t.Helper()
	tr.open("owner", 40, []string{"tail"}, []string{"mouth", "ears"}, "well")
	tr.request("owner")
	s.until("it runs", func() bool { return tr.believes("owner", "ears", "mouth", "tail") && s.outcome("owner") == "granted" })
	calls := tr.count("owner")
	tr.open("never", 70, []string{"tail"}, nil, "never")
	tr.open("late", 70, []string{"mouth"}, nil, "never")
	tr.open("other", 70, []string{"ears"}, nil, "other")
	for _, name := range []string{"never", "late", "other"} {
		tr.request(name)
	}
	for _, name := range []string{"never", "late", "other"} {
		s.until("the round of "+name+" is over", func() bool { return s.outcome(name) == "denied" })
	}
	tr.do(cue{Do: "answer", Name: "late", GoesOn: true})
	tr.do(cue{Do: "answer", Name: "other", GoesOn: true})
	for _, r := range []string{"tail", "mouth", "ears"} {
		if !s.owns("owner", r) {
			s.t.Errorf("%s is not the owner's any more", r)
		}
	}
	if n := tr.count("owner") - calls; n != 0 {
		s.t.Errorf("the owner was told %d times, for requesters that never confirmed", n)
	}
	tr.open("twice", 70, []string{"head"}, nil, "twice")
	tr.request("twice")
	s.until("it has the head", func() bool { return s.owns("twice", "head") })
	rounds := 0
	for _, r := range s.state().Rounds {
		if r.Requester == "twice" {
			rounds++
		}
	}
	if rounds != 1 {
		s.t.Errorf("two answers made %d rounds", rounds)
	}
	tr.quit("twice")
	tr.quit("owner")
	s.until("all is free", func() bool { return s.owns("", "head") && s.owns("", "tail") && s.owns("", "mouth") })
}

// fourRounds are open at once; each ends, and all that is wanted is owned by one.
func fourRounds(s *stage, tr *troupe) {
	s.t.Helper()
	sets := [][]string{{"ears", "head"}, {"ears", "tail"}, {"mouth", "tail"}, {"head", "mouth"}}
	for i, set := range sets {
		tr.open(fmt.Sprint("c", i), 40, nil, set, "well")
	}
	for i := range sets {
		tr.request(fmt.Sprint("c", i))
	}
	for i := range sets {
		s.until("each round ends", func() bool { o := s.outcome(fmt.Sprint("c", i)); return o == "granted" || o == "denied" })
	}
	s.until("each resource has one owner", func() bool {
		for _, r := range []string{"ears", "head", "tail", "mouth"} {
			one := false
			for i := range sets {
				one = one || slices.Contains(sets[i], r) && s.owns(fmt.Sprint("c", i), r)
			}
			if !one {
				return false
			}
		}
		return true
	})
	for i := range sets {
		tr.quit(fmt.Sprint("c", i))
	}
	s.until("all is free", func() bool {
		return s.owns("", "ears") && s.owns("", "head") && s.owns("", "tail") && s.owns("", "mouth")
	})
}

// deaths: one whose connection ends, and all of a program that is killed, free what they had.
func deaths(s *stage, tr *troupe) {
	s.t.Helper()
	tr.open("keeper", 40, legs, []string{"head"}, "well")
	tr.open("mortal", 60, []string{"head"}, nil, "well")
	tr.request("keeper")
	s.until("it runs", func() bool { return s.owns("keeper", "head") })
	tr.request("mortal")
	s.until("it has taken the head", func() bool { return s.owns("mortal", "head") && tr.believes("keeper", "leg1", "leg2") })
	tr.do(cue{Do: "close", Name: "mortal"})
	s.until("the head goes back", func() bool { return s.owns("keeper", "head") })
	if tr.cmd == nil {
		tr.do(cue{Do: "close", Name: "keeper"})
	} else if err := tr.cmd.Process.Kill(); err != nil {
		s.t.Error(err)
	}
	s.until("all is free", func() bool { return s.owns("", "head") && s.owns("", "leg1") })
}

// TestThreeLanguagesThroughAProxy: controllers of all three languages fight through a proxy
// that drops, repeats, delays and reorders what is published, and cuts connections. Every
// round ends; when the way is clear again, the gait in Python and the yawn in JavaScript do
// what they are to do.
func TestThreeLanguagesThroughAProxy(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := chaos.New(listener, "ws://"+s.address+"/rosbridge", http.DefaultClient, 17)
	t.Cleanup(p.Close)
	all := map[string]*troupe{}
	sets := map[string][]string{"go": {"tail", "mouth"}, "python": {"mouth", "head"}, "javascript": {"head", "tail"}}
	for _, language := range languages {
		all[language] = s.troupe(language, listener.Addr().String())
		all[language].open("wild_"+language, 50, nil, sets[language], "well")
	}
	random := rand.New(rand.NewPCG(17, 4))
	for i := range 60 {
		language := languages[random.IntN(3)]
		switch random.IntN(5) {
		case 0:
			all[language].quit("wild_" + language)
		default:
			all[language].request("wild_" + language)
		}
		if i == 30 {
			p.Cut()
			for _, language := range languages {
				all[language].open("wild_"+language, 50, nil, sets[language], "well")
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	did := p.Counts()
	t.Logf("%+v", did)
	if did.Dropped < 5 || did.Repeated < 5 || did.Delayed < 10 {
		t.Error("too little happened")
	}
	p.Calm(true)
	for _, language := range languages {
		all[language].do(cue{Do: "close", Name: "wild_" + language})
	}
	s.until("rounds have ended, and what is gone has nothing", func() bool {
		state := s.state()
		return !slices.ContainsFunc(state.Rounds, func(r poisemsgs.ResourceRound) bool { return r.Outcome == "open" }) &&
			!slices.ContainsFunc(state.Leaves, func(l poisemsgs.ResourceLeaf) bool { return l.Owner != "" })
	})
	for _, r := range s.state().Rounds {
		if r.Ended-r.Began > 16 { // three questions of 5 s one after another at most
			t.Errorf("round %d of %s took %g s", r.Number, r.Requester, r.Ended-r.Began)
		}
	}
	gait, yawn := all["python"], all["javascript"]
	gait.open("gait", 40, legs, []string{"head"}, "well")
	yawn.open("yawn", 60, []string{"head"}, nil, "well")
	gait.request("gait")
	s.until("the gait runs", func() bool { return s.owns("gait", "head") && s.owns("gait", "leg1") })
	yawn.request("yawn")
	s.until("the yawn has the head", func() bool {
		return s.owns("yawn", "head") && s.owns("gait", "leg1") && gait.believes("gait", "leg1", "leg2")
	})
	yawn.quit("yawn")
	s.until("the gait has it back", func() bool { return s.owns("gait", "head") && gait.believes("gait", "leg1", "leg2", "head") })
}

// playGo is the controllers in Go: as testdata/controller.py and controller.mjs, by package
// client.
func playGo(ctx context.Context, url string, in io.Reader, out io.Writer) {
	everyone := map[string]*goController{}
	var mu sync.Mutex
	say := func(a assigned) {
		mu.Lock()
		defer mu.Unlock()
		_ = json.NewEncoder(out).Encode(a)
	}
	for lines := bufio.NewScanner(in); lines.Scan(); {
		var c cue
		if json.Unmarshal(lines.Bytes(), &c) != nil {
			return
		}
		if c.Do == "open" {
			if old := everyone[c.Name]; old != nil {
				old.c.Close()
			}
			one, err := newGoController(ctx, url, c, say)
			if err != nil {
				return
			}
			everyone[c.Name] = one
			say(assigned{Name: c.Name, Owned: []string{}})
			continue
		}
		one := everyone[c.Name]
		switch c.Do {
		case "request":
			one.request()
		case "answer":
			one.mu.Lock()
			one.answer(c.GoesOn, one.id)
			one.mu.Unlock()
		case "send":
			_ = one.ref.Publish(client.Text(&msgs.JointState{Name: []string{c.Joint}, Position: []float64{c.Q}}, msgs.ROS2))
		case "close":
			one.c.Close()
		}
	}
}

type goController struct {
	cue
	c                 *client.Client
	claim, state, ref *client.Publisher
	mu                sync.Mutex
	id                uint32
	operational       bool
}

func newGoController(ctx context.Context, url string, c cue, say func(assigned)) (*goController, error) {
	one := &goController{cue: c}
	var err error
	if one.c, err = client.Dial(ctx, url, client.Options{}); err != nil {
		return nil, err
	}
	one.claim, _ = one.c.Advertise("/resource_claim", "poise_msgs/msg/ResourceRequest", false)
	one.state, _ = one.c.Advertise("/resource_requester_state", "resource_control_msgs/msg/ResourceRequesterState", false)
	one.ref, _ = one.c.Advertise("/controllers/"+c.Name+"/ref_joints", "sensor_msgs/msg/JointState", false)
	sub, err := one.c.Subscribe("/resource_assignment", "", client.SubscribeOptions{Queue: 100})
	if err != nil {
		return nil, err
	}
	go func() {
		for {
			text, _, err := sub.Next(ctx)
			if err != nil {
				return
			}
			var a msgs.ResourceAssignment
			if client.Read(text, &a) == nil {
				one.assigned(&a, say)
			}
		}
	}()
	return one, nil
}

func (one *goController) request() {
	one.mu.Lock()
	defer one.mu.Unlock()
	one.id++
	n := len(one.Needed) + len(one.Wanted)
	_ = one.claim.Publish(client.Text(&poisemsgs.ResourceRequest{RequesterName: one.Name, RequestID: one.id, Needed: one.Needed, Wanted: one.Wanted,
		PriPending: slices.Repeat([]float32{one.Pending}, n), PriOperational: slices.Repeat([]float32{one.Operational}, n), Lease: 60}, msgs.ROS2))
}

// answer is called with the lock held.
func (one *goController) answer(goesOn bool, id uint32) {
	one.operational = goesOn
	_ = one.state.Publish(client.Text(&msgs.ResourceRequesterState{RequesterName: one.Name, RequestID: id, IsOperational: goesOn}, msgs.ROS2))
}

func (one *goController) assigned(a *msgs.ResourceAssignment, say func(assigned)) {
	one.mu.Lock()
	defer one.mu.Unlock()
	if one.id == 0 || !slices.Contains(a.RequestIds, one.id) {
		return
	}
	owned := []string{}
	enough := true
	for i, r := range a.Resources {
		if a.Owners[i] == one.Name {
			owned = append(owned, r)
		}
	}
	for _, r := range one.Needed {
		enough = enough && slices.Contains(owned, r)
	}
	say(assigned{Name: one.Name, ID: one.id, Owned: owned})
	if one.Mode == "never" || len(owned) == 0 && !one.operational {
		return
	}
	id := one.id
	if one.Mode == "other" {
		id--
	}
	one.answer(len(owned) > 0 && enough, id)
	if one.Mode == "twice" {
		one.answer(one.operational, one.id)
	}
}
