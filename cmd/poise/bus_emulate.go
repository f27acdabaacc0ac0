package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"poise/problem"
	"poise/robot"
	"poise/robot/load"
	"poise/servo/bench"
	serial "poise/servo/bus"
	"poise/servo/emulator"
	"poise/servo/families"
	"poise/servo/imu"
)

// monitor shows what servos say, until Ctrl-C or so many times.
func (b *busFlags) monitor(args []string) error {
	which, err := b.chosen()
	if err != nil {
		return err
	}
	first, last, err := b.idRange()
	if err != nil {
		return err
	}
	scan := bench.Scan{Port: args[0], Families: which, Baud: b.baud, First: first, Last: last, Patience: scanPatience}
	found, err := scan.Run()
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return fmt.Errorf("no servo answers on %s", args[0])
	}
	c, err := bench.Open(args[0], found[0].Baud, found[0].Speaks)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), endingSignals()...)
	defer stop()
	w := bench.Watch(c, found)
	for n := 0; (b.count == 0 || n < b.count) && ctx.Err() == nil; n++ {
		if n > 0 {
			select {
			case <-ctx.Done():
			case <-time.After(monitorEvery):
			}
		}
		now, err := w.Read()
		if err != nil {
			return errors.Join(err, c.Close())
		}
		if err := b.answer(struct {
			answered
			Servos []bench.Seen `json:"servos"`
		}{answered{true, fmt.Sprintf("%d servos", len(now))}, now}, func(w io.Writer) {
			for _, s := range now {
				fmt.Fprintf(w, "id %3d  %-12s %6d  %+8.1f°  %5.1f V  %3.0f °C  torque %-3s  %s\n", s.ID, s.Model, s.Position, s.Degrees, s.Voltage, s.Temperature, s.Torque, s.Fault)
			}
			if b.count != 1 {
				fmt.Fprintln(w)
			}
		}); err != nil {
			return errors.Join(err, c.Close())
		}
	}
	return c.Close()
}

// monitorEvery is how often people see new numbers.
const monitorEvery = 500 * time.Millisecond

// emulatedLine is a line as emulate prints it.
type emulatedLine struct {
	Name   string `json:"name"`
	Port   string `json:"port"`
	Baud   int    `json:"baud"`
	Servos int    `json:"servos"`
	Unit   string `json:"unit,omitempty"` // type of the inertial unit that is there
}

// emulate is servos on pseudo-terminals that move a robot with mass, until Ctrl-C.
func (b *busFlags) emulate(args []string) error {
	named := families.Named(args[0])
	alone := args[0] == "imu"
	if len(named) == 0 && !alone {
		return unknownFamily(args[0], "imu")
	}
	name := b.robot
	if name == "" {
		name = "pony"
	}
	bot, err := load.Robot(name, load.Options{})
	if err != nil {
		return err
	}
	if err := b.checkEmulated(bot.Model); err != nil {
		return err
	}
	log, closeLog, err := b.eventLog()
	if err != nil {
		return err
	}
	defer closeLog()
	e, family, err := b.emulator(bot.Model, named, log)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), endingSignals()...)
	defer stop()
	lines, closeLines, err := b.openLines(e, family)
	if err != nil {
		return err
	}
	defer closeLines()
	unit, closeUnit, err := b.openUnit(e, bot.Model, alone)
	if err != nil {
		return err
	}
	defer closeUnit()
	message := fmt.Sprintf("%d emulated %s servos of %s; Ctrl-C ends them", len(e.Servos()), args[0], name)
	if alone {
		message = fmt.Sprintf("the emulated inertial unit of %s; Ctrl-C ends it", name)
	}
	if err := b.answerLines(message, append(lines, unit...)); err != nil {
		return err
	}
	b.keepMoving(ctx, e, log)
	return nil
}

// emulator makes the servos of a family that move a robot in physics; without a family there is only
// its inertial unit.
func (b *busFlags) emulator(m *robot.Model, named []serial.Family, log func(emulator.Event)) (*emulator.Emulator, serial.Family, error) {
	world, err := emulator.NewPhysics(m)
	if err != nil {
		return nil, nil, err
	}
	c := emulator.Config{Model: m, World: world, Families: families.All, Baud: b.baud, On: !b.limp, Bare: len(named) == 0,
		Assign: func(int) robot.Servo { return robot.Servo{} }, Log: log}
	var family serial.Family
	if len(named) > 0 {
		family = emulator.Spoken(m, named)
		c.Assign = b.assigned(m, family)
	}
	e, err := emulator.New(c)
	return e, family, err
}

// answerLines prints where the emulated lines are.
func (b *busFlags) answerLines(message string, lines []emulatedLine) error {
	return b.answer(struct {
		answered
		Lines []emulatedLine `json:"lines"`
	}{answered{true, message}, lines}, func(w io.Writer) {
		fmt.Fprintln(w, message)
		for _, l := range lines {
			if l.Unit != "" {
				fmt.Fprintf(w, "  imu: {port: %s, type: %s, baud: %d}   in robot.yaml\n", l.Port, l.Unit, l.Baud)
				continue
			}
			fmt.Fprintf(w, "  --bus %v,baud=%d   %d servos\n", serial.LineConfig{Name: l.Name, Port: l.Port}, l.Baud, l.Servos)
		}
	})
}

// keepMoving steps the emulated world when no client does, follows the file of --hand and logs servos, until ctx is done.
func (b *busFlags) keepMoving(ctx context.Context, e *emulator.Emulator, log func(emulator.Event)) {
	hand := &handFile{name: b.hand}
	tick := time.NewTicker(emulatorTick)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			e.With(func() {
				hand.act(e, b.env.err)
				if n%5 == 0 {
					for _, s := range e.Servos() {
						log(s.Now())
					}
				}
			})
		}
	}
}

// checkEmulated refuses joints that the robot does not have, and a file for the hand that cannot be there.
func (b *busFlags) checkEmulated(m *robot.Model) error {
	known := make([]string, len(m.Joints()))
	for i, j := range m.Joints() {
		known[i] = j.Name
	}
	for _, name := range commaList(b.joints) {
		if !slices.Contains(known, name) {
			return usagef("--joints: robot %q has no joint %q%s", m.Name(), name, problem.Hint(name, known))
		}
	}
	if b.hand == "" {
		return nil
	}
	if info, err := os.Stat(filepath.Dir(b.hand)); err != nil || !info.IsDir() {
		return usagef("--hand %s: there is no folder %s", b.hand, filepath.Dir(b.hand))
	}
	return nil
}

// assigned returns which servo a joint has: of all, or of those that were asked for.
func (b *busFlags) assigned(m *robot.Model, f serial.Family) func(joint int) robot.Servo {
	assign, only := emulator.AssignFamily(m, f), commaList(b.joints)
	return func(joint int) robot.Servo {
		a := assign(joint)
		if len(only) > 0 && !slices.Contains(only, m.Joints()[joint].Name) {
			return robot.Servo{}
		}
		if b.fresh {
			a.ID = factoryID(f)
		}
		return a
	}
}

// factoryID is that of new servos.
func factoryID(f serial.Family) int {
	if f.Name() == "herkulex" {
		return 253
	}
	return 1
}

// handFile is where a script says how a hand moves joints.
type handFile struct {
	name string
	done int // bytes of it that were read
}

// act does what new lines say.
func (h *handFile) act(e *emulator.Emulator, complain io.Writer) {
	if h.name == "" {
		return
	}
	for _, s := range e.Servos() {
		s.Hold()
	}
	text, err := os.ReadFile(h.name)
	if err != nil || len(text) < h.done {
		return // it is not there yet
	}
	end := bytes.LastIndexByte(text, '\n') + 1
	if end <= h.done {
		return
	}
	lines := strings.Split(strings.TrimSpace(string(text[h.done:end])), "\n")
	h.done = end
	for _, line := range lines {
		words := strings.Fields(line)
		if len(words) != 2 || e.Servo(words[0]) == nil {
			fmt.Fprintf(complain, "poise: bus: hand: %q is not JOINT ANGLE\n", line)
			continue
		}
		s := e.Servo(words[0])
		if words[1] == "free" {
			s.LetGo()
			continue
		}
		at, err := strconv.ParseFloat(words[1], 64)
		if err != nil || math.IsNaN(at) || math.Abs(at) > 100 {
			fmt.Fprintf(complain, "poise: bus: hand: %q is no angle\n", words[1])
		} else if !s.Hand(at) {
			fmt.Fprintf(complain, "poise: bus: hand: joint %q has torque\n", words[0])
		}
	}
}

// emulatorTick is how often the world moves on though no client speaks.
const emulatorTick = 20 * time.Millisecond

// openLines gives every line of the robot a pseudo-terminal.
func (b *busFlags) openLines(e *emulator.Emulator, f serial.Family) (all []emulatedLine, end func(), err error) {
	var ends []func()
	end = func() {
		for _, f := range ends {
			f()
		}
	}
	for _, name := range e.Lines() {
		p, err := serial.OpenPseudo()
		if err != nil {
			end()
			return nil, nil, err
		}
		ends = append(ends, func() { _ = p.Close() })
		port := p.Name
		if b.link != "" {
			port = b.link
			if name != "" {
				port += "-" + name
			}
			if err := os.Symlink(p.Name, port); err != nil {
				end()
				return nil, nil, err
			}
			ends = append(ends, func() { _ = os.Remove(port) })
		}
		l := emulatedLine{Name: name, Port: port, Baud: f.Bauds()[0]}
		if b.baud != 0 {
			l.Baud = b.baud
		}
		for _, s := range e.Servos() {
			if s.Line == name {
				l.Servos++
			}
		}
		all = append(all, l)
		go func() { _ = e.Line(name, p, 0).Serve() }()
	}
	return all, end, nil
}

// openUnit gives the inertial unit a pseudo-terminal: that of --imu, of robot.yaml, or, if there is
// nothing else, the usual one.
func (b *busFlags) openUnit(e *emulator.Emulator, m *robot.Model, alone bool) (all []emulatedLine, end func(), err error) {
	name, has := b.imu, b.imu != "" || alone || m.InertialUnit().Port != ""
	if name == "" {
		name = m.InertialUnit().Type
	}
	end = func() {}
	if !has {
		return nil, end, nil
	}
	kind, ok := imu.Named(name)
	if !ok {
		return nil, nil, usagef("--imu %q is not one of %s%s", name, strings.Join(imu.Names(), ", "), problem.Hint(name, imu.Names()))
	}
	p, err := serial.OpenPseudo()
	if err != nil {
		return nil, nil, err
	}
	port, link := p.Name, b.link
	if link != "" {
		if !alone {
			link += "-imu"
		}
		if err := os.Symlink(p.Name, link); err != nil {
			return nil, nil, errors.Join(err, p.Close())
		}
		port = link
	}
	go func() { _ = e.Unit(p, kind).Serve() }()
	return []emulatedLine{{Name: "imu", Port: port, Baud: kind.Baud, Unit: kind.Name}}, func() {
		if link != "" {
			_ = os.Remove(link)
		}
		_ = p.Close()
	}, nil
}

// eventLog returns who writes events as JSON lines, and closes the file.
func (b *busFlags) eventLog() (log func(emulator.Event), end func(), err error) {
	if b.log == "" {
		return func(emulator.Event) {}, func() {}, nil
	}
	f, err := os.Create(b.log)
	if err != nil {
		return nil, nil, err
	}
	var mu sync.Mutex
	enc := json.NewEncoder(f)
	return func(x emulator.Event) {
		mu.Lock()
		defer mu.Unlock()
		_ = enc.Encode(x) // a full disk must not stop servos
	}, func() { f.Close() }, nil
}
