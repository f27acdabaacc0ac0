// Package bench sets servos up by hand, before a robot is driven: it lists ports, finds
// servos, reads and writes their registers, ids and baud rates, and calibrates their zeros.
// It writes only what it is asked to write, and never a goal.
package bench

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"go.bug.st/serial/enumerator"

	"poise/problem"
	"poise/servo/bus"
)

// PortInfo is a serial port of this machine.
type PortInfo struct {
	Port    string `json:"port"`
	Product string `json:"product,omitempty"`
	USB     string `json:"usb,omitempty"` // vendor:product
	Serial  string `json:"serial,omitempty"`
	Problem string `json:"problem,omitempty"` // why it cannot be used
}

// Ports lists them.
func Ports() ([]PortInfo, error) {
	found, err := enumerator.GetDetailedPortsList()
	if err != nil {
		return nil, err
	}
	all := []PortInfo{}
	for _, p := range found {
		info := PortInfo{Port: p.Name, Product: p.Product, Serial: p.SerialNumber}
		if p.IsUSB {
			info.USB = p.VID + ":" + p.PID
		}
		if open, err := bus.OpenPort(p.Name, 115200); err != nil {
			info.Problem = err.Error()
		} else {
			_ = open.Close()
		}
		all = append(all, info)
	}
	return all, nil
}

// Servo is one that answered.
type Servo struct {
	ID       int     `json:"id"`
	Family   string  `json:"family"`
	Model    string  `json:"model"`
	Firmware string  `json:"firmware"`
	Baud     int     `json:"baud"`
	Voltage  float64 `json:"voltage"`

	Speaks bus.Family `json:"-"` // by which it was found
}

// Scan is what to look for.
type Scan struct {
	Port     string
	Families []bus.Family
	Baud     int // 0 is all of each family
	First    int // id
	Last     int // −1 is the last of the family
	Patience time.Duration

	Progress func(done, all int) // may be nil
}

// scanStep is one look at a line.
type scanStep struct {
	family bus.Family
	baud   int
	single bool // every id is asked alone
}

// steps puts what is quick first: one question to all servos.
func (s *Scan) steps() (all []scanStep) {
	for _, single := range []bool{false, true} {
		for _, f := range s.Families {
			_, hasSearch := f.(bus.Searcher)
			if !single && !hasSearch || single && hasSearch && f.(bus.Searcher).Complete() {
				continue
			}
			bauds := f.Bauds()
			if s.Baud != 0 {
				bauds = []int{s.Baud}
			}
			for _, baud := range bauds {
				all = append(all, scanStep{f, baud, single})
			}
		}
	}
	return all
}

// Run asks at every rate. Nothing is written. Where servos of one protocol are there are none
// of another; where some answered the question to all, others that do not, such as SCS beside STS, have
// the same rate.
func (s *Scan) Run() ([]Servo, error) {
	steps, found := s.steps(), []Servo{}
	for i, at := range steps {
		here := func(f Servo) bool { return f.Baud == at.baud }
		if _, searched := at.family.(bus.Searcher); len(found) > 0 && (found[0].Speaks != at.family || at.single && searched && !slices.ContainsFunc(found, here)) {
			continue
		}
		if s.Progress != nil {
			s.Progress(i, len(steps))
		}
		c, err := Open(s.Port, at.baud, at.family)
		if err != nil {
			return found, err
		}
		found = append(found, s.search(c, at.single, found)...)
		if err := c.Close(); err != nil {
			return found, err
		}
	}
	if s.Progress != nil {
		s.Progress(len(steps), len(steps))
	}
	return found, nil
}

// search asks all ids of a line but those that are known.
func (s *Scan) search(c *Client, single bool, known []Servo) (all []Servo) {
	last := s.Last
	if last < 0 {
		last = c.family.LastID()
	}
	var ids []int
	if single {
		c.line.Patience = s.Patience
		for id := s.First; id <= last; id++ {
			if slices.ContainsFunc(known, func(f Servo) bool { return f.ID == id && f.Baud == c.baud }) {
				continue
			}
			if _, err := c.Talk.Ping(id); err == nil {
				ids = append(ids, id)
			}
		}
		c.line.Patience = patience
	} else {
		ids, _ = c.Talk.Search()
		if len(ids) > 0 { // an answer may have been lost
			more, _ := c.Talk.Search()
			ids = append(ids, more...)
		}
	}
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		if id < s.First || id > last {
			continue
		}
		who, err := c.Identify(id)
		for n := 0; n < 5 && err != nil; n++ {
			who, err = c.Identify(id)
		}
		if err == nil {
			all = append(all, who)
		}
	}
	return all
}

// Client is an open line.
type Client struct {
	Talk   bus.Talker
	port   bus.Port
	line   *bus.Line
	family bus.Family
	baud   int
}

// Open opens a port for a family; without a baud rate that of the factory.
func Open(port string, baud int, f bus.Family) (*Client, error) {
	if baud == 0 {
		baud = f.Bauds()[0]
	}
	p, err := bus.OpenPort(port, baud)
	if err != nil {
		return nil, err
	}
	c := &Client{port: p, line: bus.NewLine(p, baud, f), family: f, baud: baud}
	c.line.Patience = patience
	c.Talk = f.Talk(c.line)
	return c, nil
}

// patience is how long a single answer may take.
const patience = 80 * time.Millisecond

// Close closes the port.
func (c *Client) Close() error { return c.port.Close() }

// tries is how often a servo is asked before it counts as silent: a reply may be late or lost.
const tries = 3

// again asks until there is an answer.
func again(times int, ask func() error) (err error) {
	for range times {
		if err = ask(); !errors.Is(err, bus.ErrSilent) {
			break
		}
	}
	return err
}

// read reads a register.
func (c *Client) read(id int, m *bus.Model, r *bus.Register) (v int64, err error) {
	err = again(tries, func() (err error) {
		v, err = c.Talk.Read(id, m, r)
		return err
	})
	return v, err
}

// Model identifies a servo; errors say that it does not answer or is not known.
func (c *Client) Model(id int) (*bus.Model, bus.Identity, error) {
	var who bus.Identity
	err := again(tries, func() (err error) {
		who, err = c.Talk.Ping(id)
		return err
	})
	if err != nil {
		return nil, who, fmt.Errorf("servo %d at %d baud: %w", id, c.baud, err)
	}
	m, ok := bus.ModelNumbered(c.family, who.Number)
	if !ok {
		return nil, who, fmt.Errorf("servo %d is of model %d, which is not known", id, who.Number)
	}
	return m, who, nil
}

// Identify says what a servo is.
func (c *Client) Identify(id int) (Servo, error) {
	who, err := c.Talk.Ping(id)
	if err != nil {
		return Servo{}, err
	}
	s := Servo{ID: id, Family: c.family.Name(), Model: fmt.Sprintf("unknown (%d)", who.Number), Firmware: who.Firmware, Baud: c.baud, Speaks: c.family}
	m, ok := bus.ModelNumbered(c.family, who.Number)
	if !ok {
		return s, nil
	}
	s.Model = m.Name
	for name, unit := range map[string]float64{"present_voltage": 0.1, "voltage": 0.074075} {
		if r, ok := m.Register(name); ok {
			if v, err := c.read(id, m, r); err == nil {
				s.Voltage = float64(int(unit*float64(v)*100+0.5)) / 100
			}
		}
	}
	return s, nil
}

// Value is what a register holds.
type Value struct {
	Register string `json:"register"`
	Value    int64  `json:"value"`
	Unit     string `json:"unit,omitempty"`
	Saved    bool   `json:"saved"`
}

// Read reads registers by name; without names all of them.
func (c *Client) Read(id int, names []string) ([]Value, error) {
	m, _, err := c.Model(id)
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		for _, r := range m.Registers {
			names = append(names, r.Name)
		}
	}
	var all []Value
	for _, name := range names {
		r, err := registerOf(m, name)
		if err != nil {
			return all, err
		}
		v, err := c.read(id, m, r)
		if err != nil {
			return all, fmt.Errorf("servo %d, register %s: %w", id, name, err)
		}
		all = append(all, Value{name, v, r.Unit, r.Saved})
	}
	return all, nil
}

func registerOf(m *bus.Model, name string) (*bus.Register, error) {
	r, ok := m.Register(name)
	if !ok {
		names := make([]string, len(m.Registers))
		for i := range m.Registers {
			names[i] = m.Registers[i].Name
		}
		return nil, fmt.Errorf("a %s has no register %q%s", m.Name, name, problem.Hint(name, names))
	}
	return r, nil
}

// Write writes a register and reads it back. One that can move the servo needs torque to be
// allowed; id and baud have commands of their own.
func (c *Client) Write(id int, name string, v int64, torque bool) error {
	m, _, err := c.Model(id)
	if err != nil {
		return err
	}
	r, err := registerOf(m, name)
	switch {
	case err != nil:
		return err
	case r.ReadOnly:
		return fmt.Errorf("register %s of a %s can only be read", name, m.Name)
	case r.Moves && !torque && v != 0:
		return fmt.Errorf("register %s can move the servo or give it torque: --torque allows it", name)
	case r.Moves && !torque && name != "torque" && name != "torque_control":
		return fmt.Errorf("register %s is a goal: --torque allows it", name)
	case name == "id" || name == "baud":
		return fmt.Errorf("register %s is changed by poise bus set-%s", name, name)
	}
	if r.Shifts && !torque {
		if err := c.limp(id, m, name); err != nil {
			return err
		}
	}
	if err := again(tries, func() error { return c.Talk.Write(id, m, r, v) }); err != nil {
		return fmt.Errorf("servo %d, register %s: %w", id, name, err)
	}
	now, err := c.read(id, m, r)
	if err != nil {
		return fmt.Errorf("servo %d, register %s: %w", id, name, err)
	}
	if now != v {
		return fmt.Errorf("servo %d, register %s: holds %d after %d was written", id, name, now, v)
	}
	return nil
}

// limp wants a servo to have no torque before a register is written that would move it.
func (c *Client) limp(id int, m *bus.Model, name string) error {
	for _, torque := range []string{"torque", "torque_control"} {
		r, ok := m.Register(torque)
		if !ok {
			continue
		}
		on, err := c.read(id, m, r)
		if err != nil {
			return fmt.Errorf("servo %d, register %s: %w", id, torque, err)
		}
		if on != 0 {
			return fmt.Errorf("register %s can move servo %d, which has torque: let it go first (poise bus write PORT %d %s 0), or --torque allows it", name, id, id, torque)
		}
	}
	return nil
}

// rebooter is a Talker whose servos take a new id at their next start.
type rebooter interface{ Reboot(id int) error }

// restart is how long a servo takes to start.
const restart = 400 * time.Millisecond

// confirmations is how often a servo that was given an id is asked whether it is there.
const confirmations = 7

// Alone wants a servo to be the only one of its line: a new id for two is a mess.
func (c *Client) Alone(id int) error {
	scan := Scan{First: 0, Last: -1, Patience: 6 * time.Millisecond}
	search, ok := c.family.(bus.Searcher)
	found := []Servo{}
	if ok {
		found = scan.search(c, false, nil)
	}
	if !ok || !search.Complete() {
		found = append(found, scan.search(c, true, append(found, Servo{ID: id, Baud: c.baud}))...)
	}
	var others []int
	for _, s := range found {
		if s.ID != id {
			others = append(others, s.ID)
		}
	}
	if len(others) > 0 {
		return fmt.Errorf("servos %v are on the line, too: connect servo %d alone", others, id)
	}
	return nil
}

// SetID gives a servo another id, and sees that it answers to it.
func (c *Client) SetID(id, to int) error {
	if to < 0 || to > c.family.LastID() {
		return fmt.Errorf("id %d is not within 0 … %d", to, c.family.LastID())
	}
	if err := c.save(id, "id", int64(to)); err != nil {
		return err
	}
	if r, ok := c.Talk.(rebooter); ok {
		if err := r.Reboot(id); err != nil {
			return err
		}
		time.Sleep(restart)
	}
	err := again(confirmations, func() error { // one that writes its memory may be late
		_, _, err := c.Model(to)
		return err
	})
	if err != nil {
		return fmt.Errorf("after its id was written: %w", err)
	}
	return nil
}

// CheckBaud refuses a rate that servos of no family can have.
func CheckBaud(baud int, families ...bus.Family) error {
	var known []int
	for _, f := range families {
		if _, ok := f.BaudCode(baud); ok {
			return nil
		}
		known = append(known, f.Bauds()...)
	}
	slices.Sort(known)
	return fmt.Errorf("%d baud is not one of %v", baud, slices.Compact(known))
}

// SetBaud gives a servo another rate. The line is of no use to it from then on.
func (c *Client) SetBaud(id, baud int) error {
	if err := CheckBaud(baud, c.family); err != nil {
		return err
	}
	code, _ := c.family.BaudCode(baud)
	if err := c.save(id, "baud", code); err != nil {
		return err
	}
	if r, ok := c.Talk.(rebooter); ok {
		if err := r.Reboot(id); err != nil {
			return err
		}
		time.Sleep(restart)
	}
	return nil
}

// save writes a register in EEPROM, without torque.
func (c *Client) save(id int, name string, v int64) error {
	m, _, err := c.Model(id)
	if err != nil {
		return err
	}
	for _, torque := range []string{"torque", "torque_control"} {
		if r, ok := m.Register(torque); ok {
			if on, err := c.read(id, m, r); err != nil {
				return err
			} else if on != 0 {
				return fmt.Errorf("servo %d has torque: poise bus write … %s 0 first", id, torque)
			}
		}
	}
	r, err := registerOf(m, name)
	if err != nil {
		return err
	}
	err = c.Talk.Write(id, m, r, v)
	if errors.Is(err, bus.ErrSilent) { // it may answer by its new name already
		return nil
	}
	return err
}
