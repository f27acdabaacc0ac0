// Package topics is the driver of a robot that another program moves: setpoints leave on the
// topic joint_commands each tick, and what it measures comes back on joint_states, both as
// sensor_msgs/JointState. So a simulator or a robot of ros2_control is driven by Poise.
//
//	cycle ── Exchange ──▶ newest setpoints ──▶ writer ──▶ joint_commands
//	      ◀── newest state, with its age ◀── reader ◀── joint_states
//
// The link to the other program is a rosbridge (WebSocket, JSON), or what the server puts in its
// place for other addresses: a node of ROS 1 or ROS 2. A joint that is off is left out of the commands, and
// the other program decides what it does.
package topics

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"poise/internal/rt"
	"poise/robot"
	"poise/rtps"
	"poise/servo"
)

// Settings are those of the driver.
type Settings struct {
	URL      string  `yaml:"url" doc:"where the rosbridge of the other program is, the ROS 1 master of its network, such as http://127.0.0.1:11311, or the DDS domain of its ROS 2, such as dds://0"`
	Commands string  `yaml:"commands" doc:"topic of the setpoints"`
	States   string  `yaml:"states" doc:"topic of what is measured"`
	Wait     float64 `yaml:"wait" doc:"s to wait for the first state of all joints at the start" range:"0.1 … 600 s"`
	Silence  float64 `yaml:"silence" doc:"s without a state after which the robot is silent" range:"0.02 … 60 s"`
}

// DefaultSettings are those of a rosbridge on this machine.
func DefaultSettings() Settings {
	return Settings{URL: "ws://127.0.0.1:9090", Commands: "/joint_commands", States: "/joint_states", Wait: 10, Silence: 0.5}
}

// Check refuses an address that nothing answers at.
func (s Settings) Check() error {
	if _, err := rtps.DomainOf(s.URL); err == nil {
		return nil
	}
	u, err := url.Parse(s.URL)
	if err != nil || u.Host == "" || u.Scheme != "ws" && u.Scheme != "wss" && u.Scheme != "http" {
		return fmt.Errorf("url is %q, must be such as ws://127.0.0.1:9090, http://127.0.0.1:11311 for a ROS 1 master, or dds://0 for ROS 2", s.URL)
	}
	return nil
}

// Joints is a message of joints, as sensor_msgs/JointState: setpoints, or what was measured.
// NaN is an absent value, and lists may be short.
type Joints struct {
	Names                      []string
	Position, Velocity, Effort []float64
}

// Link is a connection to the other program.
type Link interface {
	Send(ctx context.Context, commands *Joints) error
	Receive(ctx context.Context) (*Joints, error) // the next states
	Close() error
}

// Driver drives a robot by topics.
type Driver struct {
	names    []string
	index    map[string]int
	period   time.Duration
	settings Settings

	// Dial connects; what is not a rosbridge is put in its place before Open.
	Dial func(ctx context.Context, s Settings) (Link, error)

	open     bool
	stop     context.CancelFunc
	done     sync.WaitGroup
	alive    atomic.Bool
	readings []servo.Reading
	seen     []uint64
	told     []servo.Setpoint
	goals    *rt.Latest[[]servo.Setpoint]
	states   *rt.Latest[[]state]
}

var _ servo.Driver = (*Driver)(nil)

// state is what was measured of a joint.
type state struct {
	seq     uint64
	reading servo.Reading
}

// NewDriver returns the driver of a robot whose cycle has some period, s.
func NewDriver(m *robot.Model, period float64, s Settings) (servo.Driver, error) {
	n := len(m.Joints())
	d := &Driver{period: time.Duration(period * float64(time.Second)), settings: s, Dial: dial, index: map[string]int{},
		readings: make([]servo.Reading, n), seen: make([]uint64, n), told: make([]servo.Setpoint, n)}
	for i, j := range m.Joints() {
		d.names = append(d.names, j.Name)
		d.index[j.Name] = i
		d.readings[i].Age = servo.Never
	}
	return d, nil
}

// modes that a joint command can carry.
var modes = servo.ModesOf(servo.Off, servo.Position)

// Capabilities implements servo.Driver.
func (d *Driver) Capabilities() servo.Capabilities {
	return servo.Capabilities{Torque: true, Modes: modes, Lead: 1}
}

// Open implements servo.Driver: it connects and waits until every joint has been heard of.
func (d *Driver) Open(ctx context.Context) error {
	if d.open {
		return nil
	}
	wait, cancel := context.WithTimeout(ctx, time.Duration(d.settings.Wait*float64(time.Second)))
	defer cancel()
	l, err := d.connect(wait)
	if err != nil {
		return err
	}
	d.goals = rt.NewLatest(func(s *[]servo.Setpoint) { *s = make([]servo.Setpoint, len(d.names)) })
	d.states = rt.NewLatest(func(s *[]state) { *s = make([]state, len(d.names)) })
	now := make([]state, len(d.names))
	for missing := d.missing(now); len(missing) > 0; missing = d.missing(now) {
		came, err := l.Receive(wait)
		if err != nil {
			return errors.Join(fmt.Errorf("%s of %s: no state of joint %s within %g s: %w", d.settings.States, d.settings.URL, strings.Join(missing, ", "), d.settings.Wait, err), l.Close())
		}
		d.take(now, came)
	}
	d.publish(now)
	var life context.Context
	life, d.stop = context.WithCancel(context.Background())
	clear(d.told)
	clear(d.seen)
	d.alive.Store(true)
	d.done.Go(func() { d.run(life, l, now) })
	d.open = true
	return nil
}

// connect dials.
func (d *Driver) connect(ctx context.Context) (Link, error) {
	l, err := d.Dial(ctx, d.settings)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.settings.URL, err)
	}
	return l, nil
}

func (d *Driver) missing(now []state) (names []string) {
	for i, s := range now {
		if s.seq == 0 {
			names = append(names, d.names[i])
		}
	}
	return names
}

// take reads states.
func (d *Driver) take(now []state, came *Joints) {
	number := func(list []float64, i int) float64 {
		if i >= len(list) || !finite(list[i]) {
			return 0
		}
		return list[i]
	}
	for i, name := range came.Names {
		j, ok := d.index[name]
		if !ok || i >= len(came.Position) || !finite(came.Position[i]) {
			continue // a joint of others, or one that is not measured
		}
		now[j].seq++
		now[j].reading = servo.Reading{Position: came.Position[i], Velocity: number(came.Velocity, i), Effort: number(came.Effort, i)}
	}
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

func (d *Driver) publish(now []state) {
	copy(*d.states.Slot(), now)
	d.states.Publish()
}

// again is how long to wait before a link that broke is dialled anew.
const again = 250 * time.Millisecond

// run reads and writes until the driver is closed, and connects again when the link breaks.
func (d *Driver) run(life context.Context, l Link, now []state) {
	for life.Err() == nil {
		if l != nil {
			d.serve(life, l, now)
		}
		d.alive.Store(false)
		select {
		case <-life.Done():
			return
		case <-time.After(again):
		}
		l, _ = d.connect(life) // it is tried again
	}
	if l != nil {
		_ = l.Close()
	}
}

// serve uses a link until it breaks.
func (d *Driver) serve(life context.Context, l Link, now []state) {
	ctx, cancel := context.WithCancel(life)
	var heard atomic.Int64 // when the last state came, ns
	heard.Store(time.Now().UnixNano())
	var writer sync.WaitGroup
	writer.Go(func() {
		defer cancel()
		d.write(ctx, l, &heard)
	})
	for {
		came, err := l.Receive(ctx)
		if err != nil {
			break
		}
		heard.Store(time.Now().UnixNano())
		d.take(now, came)
		d.publish(now)
	}
	cancel()
	_ = l.Close()
	writer.Wait()
}

// write sends setpoints as the cycle leaves them, and watches whether states come.
func (d *Driver) write(ctx context.Context, l Link, heard *atomic.Int64) {
	tick := time.NewTicker(max(d.period/2, time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		d.alive.Store(time.Since(time.Unix(0, heard.Load())).Seconds() < d.settings.Silence)
		goals, fresh := d.goals.Load()
		if !fresh {
			continue
		}
		if c := d.command(*goals); len(c.Names) > 0 && l.Send(ctx, c) != nil {
			return
		}
	}
}

// command returns the setpoints of joints that are on.
func (d *Driver) command(goals []servo.Setpoint) *Joints {
	c := &Joints{}
	for i, s := range goals {
		if s.Mode == servo.Position && !math.IsNaN(s.Position) {
			c.Names, c.Position, c.Velocity = append(c.Names, d.names[i]), append(c.Position, s.Position), append(c.Velocity, s.Velocity)
		}
	}
	return c
}

// Exchange implements servo.Bus. Loop-safe.
func (d *Driver) Exchange(_ servo.Tick, dst *servo.Measurement, src []servo.Setpoint) servo.Fault {
	for i := range d.readings {
		r := &d.readings[i]
		if r.Fault = 0; r.Age != servo.Never {
			r.Age++
		}
	}
	if !d.open {
		copy(dst.Joints, d.readings)
		return servo.BusDown
	}
	states, _ := d.states.Load()
	for i := range d.readings {
		r := &d.readings[i]
		if s := &(*states)[i]; s.seq != d.seen[i] {
			d.seen[i] = s.seq
			*r = s.reading
		}
		switch s := &src[i]; {
		case !modes.Has(s.Mode):
			r.Fault |= servo.BadMode
		case s.Finite():
			d.told[i] = *s
		}
	}
	copy(*d.goals.Slot(), d.told)
	d.goals.Publish()
	copy(dst.Joints, d.readings)
	if !d.alive.Load() {
		return servo.BusDown
	}
	return 0
}

// Close implements servo.Driver.
func (d *Driver) Close() error {
	if !d.open {
		return nil
	}
	d.open = false
	d.stop()
	d.done.Wait()
	return nil
}
