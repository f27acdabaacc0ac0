package scenario

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"poise/arbiter"
	"poise/internal/strictyaml"
	"poise/problem"
	"poise/robot"
)

// Scenario is a script that has been read and checked.
type Scenario struct {
	Resources   []string
	Controllers []Controller
	config      arbiter.Config
	events      []event
}

// End returns the time of the script's last event, in ns.
func (s *Scenario) End() int64 {
	if len(s.events) == 0 {
		return 0
	}
	return s.events[len(s.events)-1].at
}

// Controller is one of the cast.
type Controller struct {
	Name    string
	Claim   arbiter.Claim
	Refuses bool // cannot start
}

type verb uint8

const (
	request verb = iota
	release
	crash
	fault
)

// event is one thing the script does.
type event struct {
	at     int64
	verb   verb
	who    arbiter.ClientID
	claim  *arbiter.Claim // of a request
	leaves robot.Set      // of a release; empty is all
	fault  wireFault
}

// wireFault is what happens to the next messages of a wire.
type wireFault struct {
	client    arbiter.ClientID
	toArbiter bool
	lose      int
	double    int
	delay     int
	by        int64 // ns
}

// maxTime bounds times in a script, so that sums of them are exact.
const maxTime = 1_000_000 * int64(time.Second)

// What stands in a file, each word with its line.
type (
	file struct {
		Resources    []word            `yaml:"resources"`
		Policy       word              `yaml:"policy"`
		RoundTimeout word              `yaml:"round_timeout"`
		Lease        word              `yaml:"lease"`
		Controllers  []controllerEntry `yaml:"controllers"`
		Events       []eventEntry      `yaml:"events"`
	}
	word struct {
		Text string `yaml:",value"`
		Line int    `yaml:",line"`
	}
	controllerEntry struct {
		Line     int             `yaml:",line"`
		Name     word            `yaml:"name"`
		Needs    []word          `yaml:"needs"`
		Wants    []word          `yaml:"wants"`
		Priority strictyaml.Node `yaml:"priority"`
		Start    word            `yaml:"start"`
	}
	eventEntry struct {
		Line      int         `yaml:",line"`
		At        word        `yaml:"at"`
		Request   word        `yaml:"request"`
		Needs     []word      `yaml:"needs"`
		Wants     []word      `yaml:"wants"`
		Release   word        `yaml:"release"`
		Resources []word      `yaml:"resources"`
		Crash     word        `yaml:"crash"`
		Lose      *faultEntry `yaml:"lose"`
		Delay     *faultEntry `yaml:"delay"`
		Duplicate *faultEntry `yaml:"duplicate"`
	}
	faultEntry struct {
		Line  int  `yaml:",line"`
		From  word `yaml:"from"`
		To    word `yaml:"to"`
		Count *int `yaml:"count"`
		By    word `yaml:"by"`
	}
)

// given reports whether the word stands in the file.
func (w word) given() bool { return w.Line != 0 }

// reader turns what stands in a file into a scenario and gathers problems.
type reader struct {
	file    string
	errs    []error
	s       *Scenario
	leaves  map[string]robot.LeafID
	clients map[string]arbiter.ClientID
}

// Parse reads a scenario; name stands in messages. All problems are reported,
// each with its line.
func Parse(data []byte, name string) (*Scenario, error) {
	var f file
	if err := strictyaml.Decode(data, name, &f); err != nil {
		return nil, err
	}
	r := &reader{file: name, s: &Scenario{}, leaves: map[string]robot.LeafID{}, clients: map[string]arbiter.ClientID{}}
	r.resources(f.Resources)
	r.config(&f)
	r.controllers(f.Controllers)
	if len(r.errs) == 0 { // events speak of all the rest
		for i := range f.Events {
			r.event(&f.Events[i])
		}
	}
	slices.SortStableFunc(r.s.events, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	if err := errors.Join(r.errs...); err != nil {
		return nil, err
	}
	return r.s, nil
}

func (r *reader) errorf(line int, format string, a ...any) {
	r.errs = append(r.errs, &problem.Problem{Pos: problem.Pos{File: r.file, Line: max(line, 1)}, Text: fmt.Sprintf(format, a...)})
}

func (r *reader) resources(list []word) {
	if len(list) == 0 {
		r.errorf(0, "resources: at least one is needed")
	}
	for _, w := range list {
		switch _, twice := r.leaves[w.Text]; {
		case w.Text == "":
			r.errorf(w.Line, "resources: a name is empty")
		case twice:
			r.errorf(w.Line, "resources: %q comes twice", w.Text)
		case len(r.s.Resources) == robot.MaxLeaves:
			r.errorf(w.Line, "resources: more than %d", robot.MaxLeaves)
			return
		default:
			r.leaves[w.Text] = robot.LeafID(len(r.s.Resources))
			r.s.Resources = append(r.s.Resources, w.Text)
		}
	}
}

func (r *reader) config(f *file) {
	c := &r.s.config
	c.Policy = arbiter.PolicyLast
	if w := f.Policy; w.given() {
		var ok bool
		if c.Policy, ok = arbiter.ParsePolicy(w.Text); !ok {
			r.errorf(w.Line, "policy: %q must be none, last or priority%s", w.Text, problem.Hint(w.Text, []string{"none", "last", "priority"}))
		}
	}
	c.RoundTimeout = r.positive("round_timeout", f.RoundTimeout, arbiter.DefaultRoundTimeout)
	c.Lease = r.positive("lease", f.Lease, arbiter.DefaultLease)
}

func (r *reader) positive(key string, w word, standard int64) int64 {
	if !w.given() {
		return standard
	}
	t := r.duration(key, w)
	if t == 0 {
		r.errorf(w.Line, "%s: %q must be more than zero", key, w.Text)
	}
	return t
}

// duration reads 20ms, 1.5s, or a number of seconds.
func (r *reader) duration(key string, w word) int64 {
	ns := int64(-1)
	if d, err := time.ParseDuration(w.Text); err == nil {
		ns = int64(d)
	} else if x, err := strconv.ParseFloat(w.Text, 64); err == nil && math.Abs(x) <= float64(maxTime/1e9) {
		ns = int64(math.Round(x * 1e9))
	}
	if ns < 0 || ns > maxTime {
		r.errorf(w.Line, "%s: %q must be a time from 0 to %d s, such as 20ms, 1.5s or 0.02 (seconds)", key, w.Text, maxTime/1e9)
		return 0
	}
	return ns
}

func (r *reader) controllers(list []controllerEntry) {
	for i := range list {
		e := &list[i]
		w := e.Name
		switch _, twice := r.clients[w.Text]; {
		case w.Text == "":
			r.errorf(max(w.Line, e.Line), "controllers: a name is missing")
			continue
		case twice:
			r.errorf(w.Line, "controllers: %q comes twice", w.Text)
			continue
		case w.Text == arbiterName:
			r.errorf(w.Line, "controllers: %q is the arbiter's own name", w.Text)
			continue
		case len(r.s.Controllers) == arbiter.MaxClients:
			r.errorf(w.Line, "controllers: more than %d", arbiter.MaxClients)
			return
		}
		r.clients[w.Text] = arbiter.ClientID(len(r.s.Controllers))
		c := Controller{Name: w.Text}
		c.Claim.Need, c.Claim.Want = r.claim(w.Text, e.Line, e.Needs, e.Wants)
		r.priority(&c, e.Priority)
		switch e.Start.Text {
		case "", "ok":
		case "refuse":
			c.Refuses = true
		default:
			r.errorf(e.Start.Line, "controller %q: start: %q must be ok or refuse%s", w.Text, e.Start.Text, problem.Hint(e.Start.Text, []string{"ok", "refuse"}))
		}
		r.s.Controllers = append(r.s.Controllers, c)
	}
}

// claim reads what a controller needs and wants.
func (r *reader) claim(name string, line int, needs, wants []word) (need, want robot.Set) {
	need = r.set(name, "needs", needs, robot.Set{})
	want = r.set(name, "wants", wants, need)
	if len(needs)+len(wants) == 0 {
		r.errorf(line, "controller %q: needs and wants nothing", name)
	}
	return need, want
}

func (r *reader) set(name, key string, list []word, taken robot.Set) (s robot.Set) {
	for _, w := range list {
		switch leaf, ok := r.leaves[w.Text]; {
		case !ok:
			r.errorf(w.Line, "controller %q: %s: %q is not one of the resources %s%s", name, key, w.Text, strings.Join(r.s.Resources, ", "), problem.Hint(w.Text, r.s.Resources))
		case taken.Has(leaf) || s.Has(leaf):
			r.errorf(w.Line, "controller %q: %s: %q comes twice", name, key, w.Text)
		default:
			s = s.With(leaf)
		}
	}
	return s
}
