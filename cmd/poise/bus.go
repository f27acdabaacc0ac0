package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/pflag"

	"poise/problem"
	"poise/servo/bench"
	serial "poise/servo/bus"
	"poise/servo/families"
)

// busFlags are those of all commands of poise bus.
type busFlags struct {
	env    *env
	family string
	baud   int
	ids    string
	count  int
	log    string
	link   string
	robot  string
	limp   bool
	torque bool
	yes    bool
	fresh  bool

	hand    string // emulate
	imu     string
	steps   string // calibrate
	joints  string
	pose    string
	save    string
	lerobot string
	typed   *bufio.Reader
}

// busWords are the commands of poise bus.
var busWords = map[string]struct {
	args []string
	run  func(b *busFlags, args []string) error
}{
	"list":      {nil, (*busFlags).list},
	"scan":      {[]string{"PORT"}, (*busFlags).scan},
	"monitor":   {[]string{"PORT"}, (*busFlags).monitor},
	"ping":      {[]string{"PORT", "ID"}, (*busFlags).ping},
	"read":      {[]string{"PORT", "ID", "[REGISTER …]"}, (*busFlags).read},
	"write":     {[]string{"PORT", "ID", "REGISTER", "VALUE"}, (*busFlags).write},
	"set-id":    {[]string{"PORT", "ID", "NEW"}, (*busFlags).setID},
	"set-baud":  {[]string{"PORT", "ID", "BAUD"}, (*busFlags).setBaud},
	"calibrate": {[]string{"PORT"}, (*busFlags).calibrate},
	"emulate":   {[]string{"FAMILY|imu"}, (*busFlags).emulate},
}

// busNames lists the first words of poise bus.
func busNames() []string { return slices.Sorted(maps.Keys(busWords)) }

// busCommand works on real servos.
func busCommand(e *env, fs *pflag.FlagSet) func(args []string) error {
	b := &busFlags{env: e}
	fs.StringVar(&b.family, "family", "", "the servos' `family`: herkulex, dynamixel or feetech; otherwise all are tried")
	fs.IntVar(&b.baud, "baud", 0, "`N` bit/s; otherwise every rate that a family knows, or that of its factory")
	fs.StringVar(&b.ids, "ids", "", "scan, monitor: ask only these, such as `1-20`")
	fs.IntVar(&b.count, "count", 0, "monitor: end after `N` readings; otherwise with Ctrl-C")
	fs.StringVar(&b.log, "log", "", "emulate: write what happens to this `file` (JSON lines)")
	fs.StringVar(&b.link, "link", "", "emulate: a link of this `path` leads to the line, and path-NAME to a line with a name")
	fs.StringVar(&b.robot, "robot", "", "emulate: the `robot` that the servos move, pony if none is named; calibrate: the robot whose servos they are")
	fs.StringVar(&b.hand, "hand", "", "emulate: lines JOINT ANGLE that are added to this `file` move limp joints as a hand does, rad; JOINT free lets go")
	fs.StringVar(&b.imu, "imu", "", "emulate: the robot has an inertial unit of this `type`, bno08x or wit, on a line of its own")
	fs.StringVar(&b.steps, "steps", "", "calibrate: only these `steps`, of direction,zero,limits")
	fs.StringVar(&b.joints, "joints", "", "calibrate, emulate: only these `joints`, with commas between them")
	fs.BoolVar(&b.fresh, "new", false, "emulate: servos have the id of the factory, as new ones do")
	fs.StringVar(&b.pose, "pose", "", "calibrate: the `pose` of robot.yaml that the robot is put into for the zeros; otherwise all joints are at zero")
	fs.StringVar(&b.save, "save", "", "calibrate: write into a copy of the robot in this `folder`")
	fs.StringVar(&b.lerobot, "lerobot", "", "calibrate: take a calibration `file` of LeRobot over and ask nothing")
	fs.BoolVar(&b.limp, "limp", true, "emulate: servos begin without torque, as real ones do; --limp=false: with it")
	fs.BoolVar(&b.torque, "torque", false, "write: also registers that can move the servo or give it torque")
	fs.BoolVar(&b.yes, "yes", false, "set-id, set-baud: do not ask before it is written")
	return b.run
}

// run does what the first word says.
func (b *busFlags) run(rest []string) error {
	if len(rest) == 0 {
		rest = []string{"list"}
	}
	word, ok := busWords[rest[0]]
	if !ok {
		return wrongVerb("bus", rest, busNames())
	}
	need := len(word.args)
	many := need > 0 && strings.HasPrefix(word.args[need-1], "[")
	if got := len(rest) - 1; got < need && !(many && got == need-1) || got > need && !many {
		return usagef("%s takes %s", rest[0], strings.Join(word.args, " "))
	}
	const fastest = 10_000_000
	if b.baud < 0 || b.baud > fastest {
		return usagef("--baud %d is not within 1 … %d bit/s; 0 is every rate, or that of the factory", b.baud, fastest)
	}
	if b.count < 0 {
		return usagef("--count %d is below 0; 0 is until Ctrl-C", b.count)
	}
	return word.run(b, rest[1:])
}

// answer prints what programs read, or the text for people.
func (b *busFlags) answer(v any, text func(w io.Writer)) error {
	if !b.env.json {
		text(b.env.out)
		return nil
	}
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(b.env.out, "%s\n", line)
	return err
}

// list lists the ports.
func (b *busFlags) list([]string) error {
	ports, err := bench.Ports()
	if err != nil {
		return err
	}
	message := fmt.Sprintf("%d serial ports", len(ports))
	if len(ports) == 0 {
		message = "there is no serial port: plug an adapter in"
	}
	return b.answer(struct {
		answered
		Ports []bench.PortInfo `json:"ports"`
	}{answered{true, message}, ports}, func(w io.Writer) {
		fmt.Fprintln(w, message)
		for _, p := range ports {
			fmt.Fprintf(w, "  %s  %s %s\n", p.Port, p.USB, p.Product)
			if p.Problem != "" {
				fmt.Fprintf(w, "      %s\n", p.Problem)
			}
		}
	})
}

// chosen returns the families that --family names, all if it names none, unless none of them has the rate that --baud names.
func (b *busFlags) chosen() ([]serial.Family, error) {
	all := families.All
	if b.family != "" {
		if all = families.Named(b.family); len(all) == 0 {
			return nil, unknownFamily(b.family)
		}
	}
	if b.baud != 0 {
		if err := bench.CheckBaud(b.baud, all...); err != nil {
			return nil, usagef("%v", err)
		}
	}
	return all, nil
}

func unknownFamily(name string, besides ...string) error {
	known := append([]string{"herkulex", "dynamixel", "feetech"}, besides...)
	return usagef("family %q is not one of %s%s", name, strings.Join(known, ", "), problem.Hint(name, known))
}

// idRange reads --ids.
func (b *busFlags) idRange() (first, last int, err error) {
	if b.ids == "" {
		return 0, -1, nil
	}
	low, high, ok := strings.Cut(b.ids, "-")
	if !ok {
		high = low
	}
	first, err1 := strconv.Atoi(low)
	last, err2 := strconv.Atoi(high)
	if err1 != nil || err2 != nil || first < 0 || last < first || last > 253 {
		return 0, 0, usagef("--ids %q is no range such as 1-20 within 0-253", b.ids)
	}
	return first, last, nil
}

// scanPatience is how long an id may be silent before the next one is asked.
const scanPatience = 8 * time.Millisecond

// scan looks for servos.
func (b *busFlags) scan(args []string) error {
	which, err := b.chosen()
	if err != nil {
		return err
	}
	first, last, err := b.idRange()
	if err != nil {
		return err
	}
	s := bench.Scan{Port: args[0], Families: which, Baud: b.baud, First: first, Last: last, Patience: scanPatience}
	var share atomic.Uint64
	s.Progress = func(done, all int) { share.Store(math.Float64bits(float64(done) / float64(max(all, 1)))) }
	end := progressShare(b.env.err, "asking at every rate", func() float64 { return math.Float64frombits(share.Load()) })
	found, err := s.Run()
	end()
	if err != nil {
		return err
	}
	message := fmt.Sprintf("%d servos answer on %s", len(found), args[0])
	if len(found) == 0 {
		message = "no servo answers on " + args[0] + ": is their power on, and is the cable right?"
	}
	return b.answer(struct {
		answered
		Servos []bench.Servo `json:"servos"`
	}{answered{true, message}, found}, func(w io.Writer) {
		fmt.Fprintln(w, message)
		for _, x := range found {
			fmt.Fprintf(w, "  id %3d  %s %s, firmware %s, %d baud, %.1f V\n", x.ID, x.Family, x.Model, x.Firmware, x.Baud, x.Voltage)
		}
	})
}

// open opens a port for one family: that of --family, or that of the servo which answers at
// the rate of its factory.
func (b *busFlags) open(port string, id int) (*bench.Client, error) {
	which, err := b.chosen()
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, f := range which {
		c, err := bench.Open(port, b.baud, f)
		if err != nil {
			return nil, err
		}
		if _, _, err = c.Model(id); err == nil {
			return c, nil
		}
		errs = append(errs, fmt.Errorf("%s: %w", f.Name(), err))
		if err := c.Close(); err != nil {
			return nil, err
		}
	}
	return nil, errors.Join(errs...)
}

// withServo opens a port and does something with a servo.
func (b *busFlags) withServo(args []string, do func(c *bench.Client, id int) error) error {
	id, err := number(args[1], "id", 253)
	if err != nil {
		return err
	}
	c, err := b.open(args[0], id)
	if err != nil {
		return err
	}
	return errors.Join(do(c, id), c.Close())
}

func number(text, what string, most int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > most {
		return 0, usagef("%s %q is not a number within 0 … %d", what, text, most)
	}
	return n, nil
}

func (b *busFlags) ping(args []string) error {
	return b.withServo(args, func(c *bench.Client, id int) error {
		s, err := c.Identify(id)
		if err != nil {
			return err
		}
		message := fmt.Sprintf("servo %d is a %s, firmware %s, at %d baud, %.1f V", id, s.Model, s.Firmware, s.Baud, s.Voltage)
		return b.answer(struct {
			answered
			Servo bench.Servo `json:"servo"`
		}{answered{true, message}, s}, func(w io.Writer) { fmt.Fprintln(w, message) })
	})
}

func (b *busFlags) read(args []string) error {
	return b.withServo(args, func(c *bench.Client, id int) error {
		values, err := c.Read(id, args[2:])
		if err != nil {
			return err
		}
		return b.answer(struct {
			answered
			Registers []bench.Value `json:"registers"`
		}{answered{true, fmt.Sprintf("%d registers of servo %d", len(values), id)}, values}, func(w io.Writer) {
			for _, v := range values {
				saved := ""
				if v.Saved {
					saved = "  saved"
				}
				fmt.Fprintf(w, "%-24s %8d  %s%s\n", v.Register, v.Value, v.Unit, saved)
			}
		})
	})
}

func (b *busFlags) write(args []string) error {
	v, err := strconv.ParseInt(args[3], 0, 64)
	if err != nil {
		return usagef("value %q is not a number", args[3])
	}
	return b.withServo(args, func(c *bench.Client, id int) error {
		if err := c.Write(id, args[2], v, b.torque); err != nil {
			return err
		}
		return b.done("register %s of servo %d holds %d", args[2], id, v)
	})
}

// done says what was done.
func (b *busFlags) done(format string, a ...any) error {
	message := fmt.Sprintf(format, a...)
	return b.answer(answered{true, message}, func(w io.Writer) { fmt.Fprintln(w, message) })
}

// alone is the first question: two servos with one id answer as if they were one.
func alone(id int) string {
	return fmt.Sprintf("Servo %d is the only one that answers. Is it the only one on the line?", id)
}

func (b *busFlags) setID(args []string) error {
	to, err := number(args[2], "new id", 253)
	if err != nil {
		return err
	}
	return b.withServo(args, func(c *bench.Client, id int) error {
		if err := c.Alone(id); err != nil {
			return err
		}
		if err := b.twice(alone(id), fmt.Sprintf("Shall its id be %d from now on, also without power?", to)); err != nil {
			return err
		}
		if err := c.SetID(id, to); err != nil {
			return err
		}
		return b.done("servo %d is servo %d now", id, to)
	})
}

func (b *busFlags) setBaud(args []string) error {
	baud, err := number(args[2], "baud", 10_000_000)
	if err != nil {
		return err
	}
	return b.withServo(args, func(c *bench.Client, id int) error {
		if err := c.Alone(id); err != nil {
			return err
		}
		if err := b.twice(alone(id), fmt.Sprintf("Shall it listen at %d baud from now on, also without power?", baud)); err != nil {
			return err
		}
		if err := c.SetBaud(id, baud); err != nil {
			return err
		}
		return b.done("servo %d listens at %d baud now", id, baud)
	})
}
