package bench

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"poise/servo/bus"
	"poise/servo/dynamixel"
	"poise/servo/feetech"
)

// told is a line of STS servos that answer as a test wants, without a port and without time.
type told struct {
	bus.Talker // what no test asks for

	kinds  map[int]int      // number of the model by id
	holds  map[string]int64 // registers of all of them, by name
	at     map[int]int32    // where they stand
	deaf   int              // so many of the next questions get no answer
	wrong  error            // that a servo answers
	frozen bool             // what is written has no effect
	found  []int            // by a search

	asked  []string
	states func() // when they are asked where they are
}

func newTold(ids ...int) *told {
	x := &told{kinds: map[int]int{}, holds: map[string]int64{"present_voltage": 74}, at: map[int]int32{}}
	for _, id := range ids {
		x.kinds[id] = 777
	}
	return x
}

func (x *told) client() *Client {
	return &Client{Talk: x, line: bus.NewLine(nil, 1_000_000, feetech.Family{}), family: feetech.Family{}, baud: 1_000_000}
}

// answer counts a question, and says whether one answers.
func (x *told) answer(id int, format string, a ...any) error {
	x.asked = append(x.asked, fmt.Sprintf(format, a...))
	if x.deaf > 0 {
		x.deaf--
		return bus.ErrSilent
	}
	if _, there := x.kinds[id]; !there {
		return bus.ErrSilent
	}
	return x.wrong
}

func (x *told) Ping(id int) (bus.Identity, error) {
	if err := x.answer(id, "ping %d", id); err != nil {
		return bus.Identity{}, err
	}
	return bus.Identity{ID: id, Number: x.kinds[id], Firmware: "3.10"}, nil
}

func (x *told) Read(id int, _ *bus.Model, r *bus.Register) (int64, error) {
	if err := x.answer(id, "read %d %s", id, r.Name); err != nil {
		return 0, err
	}
	return x.holds[r.Name], nil
}

func (x *told) Write(id int, _ *bus.Model, r *bus.Register, v int64) error {
	if err := x.answer(id, "write %d %s %d", id, r.Name, v); err != nil {
		return err
	}
	if !x.frozen {
		x.holds[r.Name] = v
	}
	if r.Name == "id" && !x.frozen {
		x.kinds[int(v)] = x.kinds[id]
		delete(x.kinds, id)
	}
	return nil
}

func (x *told) Search() ([]int, error) { x.asked = append(x.asked, "search"); return x.found, nil }

func (x *told) States(servos []*bus.Servo) error {
	if x.states != nil {
		x.states()
	}
	for _, s := range servos {
		if s.Heard = x.answer(s.ID, "state %d", s.ID) == nil; s.Heard {
			s.State.Position = x.at[s.ID]
		}
	}
	return nil
}

func (x *told) Slow(s *bus.Servo) error {
	if err := x.answer(s.ID, "slow %d", s.ID); err != nil {
		return err
	}
	s.State.Torque = bus.TorqueOff
	if x.holds["torque"] != 0 {
		s.State.Torque = bus.TorqueOn
	}
	return nil
}

// count is how many questions begin with a word.
func (x *told) count(word string) (n int) {
	for _, a := range x.asked {
		if strings.HasPrefix(a, word) {
			n++
		}
	}
	return n
}

// says wants an error to have a text, or to be none.
func says(t *testing.T, what string, err error, want string) {
	t.Helper()
	if (err == nil) != (want == "") || !strings.Contains(fmt.Sprint(err), want) {
		t.Errorf("%s: %v, want %q", what, err, want)
	}
}

// TestSilenceIsAskedAgain, three times in all; what a servo answers is not.
func TestSilenceIsAskedAgain(t *testing.T) {
	for _, c := range []struct {
		deaf, pings int
		wrong       error
		kind        int
		want        string
	}{
		{0, 1, nil, 777, ""},
		{2, 3, nil, 777, ""},
		{3, 3, nil, 777, "servo 1 at 1000000 baud: no answer"},
		{0, 1, &bus.StatusError{ID: 1, Why: "too hot"}, 777, "servo 1: too hot"},
		{0, 1, nil, 4711, "servo 1 is of model 4711, which is not known"},
	} {
		x := newTold(1)
		x.deaf, x.wrong, x.kinds[1] = c.deaf, c.wrong, c.kind
		_, _, err := x.client().Model(1)
		says(t, fmt.Sprintf("%+v", c), err, c.want)
		if x.count("ping") != c.pings {
			t.Errorf("%+v: %q", c, x.asked)
		}
	}
}

// TestWhatIsWritten is read back; what could move a servo, or has a command of its own, is not written at all.
func TestWhatIsWritten(t *testing.T) {
	for _, c := range []struct {
		register string
		v        int64
		allowed  bool // to give torque
		on       bool // it has torque
		frozen   bool
		writes   int
		want     string
	}{
		{"acceleration", 7, false, false, false, 1, ""},
		{"acceleration", 7, false, false, true, 1, "register acceleration: holds 0 after 7 was written"},
		{"torque", 0, false, true, false, 1, ""},
		{"torque", 1, false, false, false, 0, "--torque allows it"},
		{"torque", 1, true, false, false, 1, ""},
		{"goal_position", 0, false, false, false, 0, "register goal_position is a goal"},
		{"goal_position", 9, false, false, false, 0, "--torque allows it"},
		{"mode", 1, false, true, false, 0, "which has torque: let it go first (poise bus write PORT 1 torque 0)"},
		{"mode", 1, true, true, false, 1, ""},
		{"mode", 1, false, false, false, 1, ""},
		{"present_voltage", 1, true, false, false, 0, "can only be read"},
		{"id", 2, true, false, false, 0, "is changed by poise bus set-id"},
		{"baud", 2, true, false, false, 0, "is changed by poise bus set-baud"},
		{"acelleration", 1, true, false, false, 0, `a sts3215 has no register "acelleration"; did you mean "acceleration"?`},
	} {
		x := newTold(1)
		if x.frozen = c.frozen; c.on {
			x.holds["torque"] = 1
		}
		says(t, fmt.Sprintf("%+v", c), x.client().Write(1, c.register, c.v, c.allowed), c.want)
		if x.count("write") != c.writes {
			t.Errorf("%+v: %q", c, x.asked)
		}
	}
}

// restarted is a line whose servos take a new id at their next start, and some questions later.
type restarted struct {
	*told
	late int
}

func (x restarted) Reboot(int) error { x.deaf = x.late; return nil }

// TestIDs: a servo with torque keeps its own, and so does one for which there is no such id; a new one has to answer.
func TestIDs(t *testing.T) {
	for _, c := range []struct {
		to     int
		on     bool
		frozen bool
		late   int // −1: it needs no start
		want   string
	}{
		{2, false, false, -1, ""},
		{2, false, true, -1, "after its id was written: servo 2 at 1000000 baud: no answer"},
		{2, true, false, -1, "servo 1 has torque"},
		{254, false, false, -1, "id 254 is not within 0 … 253"},
		{-1, false, false, -1, "id -1 is not within 0 … 253"},
		{2, false, false, confirmations*tries - 1, ""},
		{2, false, false, confirmations * tries, "after its id was written"},
	} {
		synctest.Test(t, func(t *testing.T) {
			x := newTold(1)
			if x.frozen = c.frozen; c.on {
				x.holds["torque"] = 1
			}
			client, began, pause := x.client(), time.Now(), time.Duration(0)
			if c.late >= 0 {
				client.Talk, pause = restarted{x, c.late}, restart
			}
			says(t, fmt.Sprintf("%+v", c), client.SetID(1, c.to), c.want)
			if time.Since(began) != pause {
				t.Errorf("%+v: it took %v, want the start of a servo, %v", c, time.Since(began), pause)
			}
		})
	}
}

// TestOneAlone gets a new id: others that answer, or that a search finds, are named.
func TestOneAlone(t *testing.T) {
	says(t, "alone", newTold(1).client().Alone(1), "")
	others := newTold(1, 3, 253)
	others.found = []int{1, 3}
	says(t, "among others", others.client().Alone(1), "servos [3 253] are on the line, too: connect servo 1 alone")
}

// TestSearch: within its ids, each servo once; one whose answers are lost is asked again; an unknown model is told as such.
func TestSearch(t *testing.T) {
	x := newTold(1, 2, 9)
	x.found, x.kinds[2] = []int{9, 2, 1, 2}, 4711
	s := &Scan{First: 1, Last: 8}
	got := s.search(x.client(), false, nil)
	if len(got) != 2 || got[0].ID != 1 || got[0].Model != "sts3215" || got[0].Voltage != 7.4 || got[1].ID != 2 || got[1].Model != "unknown (4711)" {
		t.Errorf("%+v", got)
	}
	x = newTold(1, 2, 9)
	got = (&Scan{First: 0, Last: -1}).search(x.client(), true, []Servo{{ID: 2, Baud: 1_000_000}, {ID: 9, Baud: 500_000}})
	if len(got) != 2 || got[0].ID != 1 || got[1].ID != 9 || slices.Contains(x.asked, "ping 2") || x.count("ping") != 253+2 {
		t.Errorf("%+v of %d questions", got, len(x.asked))
	}
	x = newTold(1)
	x.found, x.deaf = []int{1}, 5
	if got := s.search(x.client(), false, nil); len(got) != 1 {
		t.Errorf("after five answers that were lost: %+v", got)
	}
}

// TestScansBeginWithWhatIsQuick: one question to all at every rate, and then each id where not all answer that.
func TestScansBeginWithWhatIsQuick(t *testing.T) {
	s := &Scan{Families: []bus.Family{feetech.Family{}, dynamixel.Family{}}}
	var got []string
	for _, at := range s.steps() {
		got = append(got, fmt.Sprint(at.family.Name(), " ", at.baud, " ", at.single))
	}
	sts, xl := len(feetech.Family{}.Bauds()), len(dynamixel.Family{}.Bauds())
	if len(got) != 2*sts+xl || got[0] != "feetech 1000000 false" || got[sts] != fmt.Sprint("dynamixel ", dynamixel.Family{}.Bauds()[0], " false") || got[sts+xl] != "feetech 1000000 true" {
		t.Errorf("%q", got)
	}
	s.Baud = 57600
	if got := s.steps(); len(got) != 3 || got[2].baud != 57600 {
		t.Errorf("at one rate: %+v", got)
	}
}

// TestWatch tells what servos say, and which do not answer; those of another rate are left out.
func TestWatch(t *testing.T) {
	x := newTold(1)
	x.at[1], x.holds["torque"] = 2048+1024, 1
	w := Watch(x.client(), []Servo{{ID: 1, Model: "sts3215", Baud: 1_000_000}, {ID: 2, Model: "sts3215", Baud: 1_000_000}, {ID: 3, Model: "sts3215", Baud: 500_000}, {ID: 4, Model: "unknown (1)", Baud: 1_000_000}})
	all, err := w.Read()
	if err != nil || len(all) != 2 {
		t.Fatalf("%+v, %v", all, err)
	}
	if s := all[0]; !s.Answers || s.Torque != "on" || s.Position != 3072 || s.Degrees < 89.9 || s.Degrees > 90.1 || s.Fault != "" {
		t.Errorf("%+v", s)
	}
	if s := all[1]; s.Answers || s.Torque != "" || s.Fault != "no answer" {
		t.Errorf("%+v", s)
	}
}

// errGone is what a person, or a test, ends with.
var errGone = errors.New("gone home")
