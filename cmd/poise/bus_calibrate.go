package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"poise/problem"
	"poise/robot"
	"poise/robot/description"
	"poise/robot/load"
	"poise/servo/bench"
	serial "poise/servo/bus"
	"poise/servo/families"
)

// calibrate finds zeros, directions and limits of limp servos, and writes them into a
// robot.yaml.
func (b *busFlags) calibrate(args []string) error {
	line, err := serial.ParseLine(args[0])
	if err != nil {
		return usagef("%v", err)
	}
	if b.robot == "" {
		return usagef("whose servos? --robot FOLDER, or a shipped robot and --save FOLDER")
	}
	steps, err := b.stepsAsked()
	if err != nil {
		return err
	}
	bot, err := load.Robot(b.robot, load.Options{})
	if err != nil {
		return err
	}
	folder, err := b.calibratedFolder()
	if err != nil {
		return err
	}
	var file map[string]bench.LeRobot
	if b.lerobot != "" {
		text, err := os.ReadFile(b.lerobot)
		if err == nil {
			file, err = bench.ReadLeRobot(text)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", b.lerobot, err)
		}
	}
	joints, err := b.jointsAsked(bot.Model, line.Name, file)
	if err != nil {
		return err
	}
	client, err := b.openFor(bot.Model, line, joints, file)
	if err != nil {
		return err
	}
	c := &bench.Calibration{Client: client, Model: bot.Model, Joints: joints, Steps: steps, Person: b}
	found, err := b.performCalibration(c, file)
	if err := errors.Join(err, client.Close()); err != nil {
		return err
	}
	if err := saveCalibration(b.robot, folder, found); err != nil {
		return err
	}
	message := fmt.Sprintf("%d servos are calibrated; %s has it", len(found), filepath.Join(folder, "robot.yaml"))
	return b.answer(struct {
		answered
		File   string             `json:"file"`
		Joints []bench.Calibrated `json:"joints"`
	}{answered{true, message}, filepath.Join(folder, "robot.yaml"), found}, func(w io.Writer) {
		fmt.Fprint(w, bench.Table(found))
		fmt.Fprintln(w, message)
	})
}

// performCalibration takes a file over, or asks a person.
func (b *busFlags) performCalibration(c *bench.Calibration, file map[string]bench.LeRobot) ([]bench.Calibrated, error) {
	if file != nil {
		return c.Adopt(file)
	}
	if b.pose != "" {
		p, ok := c.Model.Pose(b.pose)
		if !ok {
			return nil, fmt.Errorf("robot %q has no pose %q%s", c.Model.Name(), b.pose, problem.Hint(b.pose, c.Model.PoseNames()))
		}
		c.Pose = map[string]float64{}
		for i, j := range p.Joints {
			c.Pose[c.Model.Joints()[j].Name] = p.Q[i][0]
		}
	}
	if err := c.Find(nil); err != nil {
		return nil, err
	}
	return c.Run()
}

// Do asks the person at the terminal.
func (b *busFlags) Do(text string) <-chan error {
	done := make(chan error, 1)
	fmt.Fprintf(b.env.err, "%s [Enter] ", text)
	go func() {
		_, err := b.reader().ReadString('\n')
		fmt.Fprintln(b.env.err)
		if err != nil {
			err = errors.New("nothing was written: the input ended before all was done")
		}
		done <- err
	}()
	return done
}

// reader returns what the person types: one for all questions, since it reads ahead.
func (b *busFlags) reader() *bufio.Reader {
	if b.typed == nil {
		b.typed = bufio.NewReader(b.env.in)
	}
	return b.typed
}

// stepsAsked reads --steps.
func (b *busFlags) stepsAsked() (steps []bench.Step, err error) {
	if b.steps == "" {
		return bench.Steps, nil
	}
	var names []string
	for _, step := range bench.Steps {
		names = append(names, string(step))
	}
	for _, name := range commaList(b.steps) {
		if !slices.Contains(bench.Steps, bench.Step(name)) {
			return nil, usagef("--steps %q: there are direction, zero and limits%s", name, problem.Hint(name, names))
		}
		steps = append(steps, bench.Step(name))
	}
	return steps, nil
}

// jointsAsked lists the joints of --joints, of a file, or of the line.
func (b *busFlags) jointsAsked(m *robot.Model, line string, file map[string]bench.LeRobot) (names []string, err error) {
	known := make([]string, 0, len(m.Joints()))
	for i, j := range m.Joints() {
		known = append(known, j.Name)
		a := m.Servo(robot.JointID(i))
		if _, in := file[j.Name]; file != nil && in || file == nil && a.Assigned && (line == "" || a.Bus == line) {
			names = append(names, j.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(file)) {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("%s: robot %q has no joint %q%s", b.lerobot, m.Name(), name, problem.Hint(name, known))
		}
	}
	if b.joints != "" {
		names = commaList(b.joints)
	}
	if err := b.idsAreFree(m, names, file); err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("robot %q has no servo on this line: robot.yaml names them (docs/robot-yaml.md)", m.Name())
	}
	return names, nil
}

// idsAreFree wants the ids of a file not to be those of other joints of robot.yaml on the same line.
func (b *busFlags) idsAreFree(m *robot.Model, names []string, file map[string]bench.LeRobot) error {
	var errs []error
	for _, name := range names {
		j, ok := m.Joint(name)
		from, in := file[name]
		if !ok || !in {
			continue
		}
		for i, other := range m.Joints() {
			a := m.Servo(robot.JointID(i))
			if a.Assigned && a.ID == from.ID && a.Bus == m.Servo(j).Bus && !slices.Contains(names, other.Name) {
				errs = append(errs, fmt.Errorf("%s: joint %q: id %d is that of joint %q in robot.yaml, which is not calibrated with it", b.lerobot, name, from.ID, other.Name))
			}
		}
	}
	return errors.Join(errs...)
}

// openFor opens the line for the family of its servos.
func (b *busFlags) openFor(m *robot.Model, line serial.LineConfig, joints []string, file map[string]bench.LeRobot) (*bench.Client, error) {
	baud := line.Baud
	if baud == 0 {
		baud = b.baud
	}
	j, _ := m.Joint(joints[0])
	if a := m.Servo(j); a.Assigned && b.family == "" {
		if f, _, ok := serial.ModelNamed(families.All, a.Type); ok {
			return bench.Open(line.Port, baud, f)
		}
	}
	b.baud = baud
	return b.open(line.Port, file[joints[0]].ID)
}

// calibratedFolder is where robot.yaml is written.
func (b *busFlags) calibratedFolder() (string, error) {
	if slices.Contains(load.Shipped(), b.robot) {
		if b.save == "" {
			return "", usagef("%s comes with the program and is not written to: --save FOLDER makes a copy with your calibration", b.robot)
		}
		return b.save, b.saveIsNew()
	}
	info, err := os.Stat(b.robot)
	switch {
	case err != nil:
		return "", err
	case !info.IsDir():
		return "", usagef("%s is a file: --robot takes a folder with robot.yaml", b.robot)
	case b.save != "" && filepath.Clean(b.save) != filepath.Clean(b.robot):
		return b.save, b.saveIsNew()
	}
	return b.robot, nil
}

// saveIsNew wants the folder of --save to be one that a copy can be made in: to be told after the work by hand is too late.
func (b *busFlags) saveIsNew() error {
	if _, err := os.Lstat(b.save); err == nil {
		return usagef("--save %s: it is there already, and a copy of robot %s goes into a new folder", b.save, b.robot)
	}
	over := filepath.Dir(filepath.Clean(b.save))
	for {
		info, err := os.Stat(over)
		switch up := filepath.Dir(over); {
		case err == nil && !info.IsDir():
			return usagef("--save %s: %s is no folder", b.save, over)
		case err == nil, up == over:
			return nil
		default:
			over = up
		}
	}
}

// saveCalibration writes robot.yaml, in a copy of the robot's folder if that is another one.
func saveCalibration(name, folder string, found []bench.Calibrated) error {
	if folder != name {
		if err := load.Copy(name, folder); err != nil {
			return err
		}
	}
	file := filepath.Join(folder, "robot.yaml")
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	var joints []string
	var keys [][]description.Key
	for _, s := range found {
		reversed := ""
		if s.Reversed {
			reversed = "true"
		}
		set := []description.Key{{Name: "id", Value: strconv.Itoa(s.ID)}, {Name: "type", Value: s.Type},
			{Name: "zero", Value: strconv.FormatFloat(s.Zero, 'g', -1, 64)}, {Name: "reversed", Value: reversed}}
		if s.Swept {
			set = append(set, description.Key{Name: "min", Value: strconv.Itoa(int(s.Min))}, description.Key{Name: "max", Value: strconv.Itoa(int(s.Max))})
		}
		joints, keys = append(joints, s.Joint), append(keys, set)
	}
	if text, err = description.SetServos(text, file, joints, keys); err != nil {
		return err
	}
	return writeWhole(file, text)
}

// writeWhole replaces a file at once: a crash leaves the old one or the new one.
func writeWhole(name string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+"-*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// twice asks two questions before what lasts is written.
func (b *busFlags) twice(questions ...string) error {
	if b.yes {
		return nil
	}
	for _, q := range questions {
		fmt.Fprintf(b.env.err, "%s (yes/no) ", q)
		text, _ := b.reader().ReadString('\n')
		if strings.TrimSpace(text) != "yes" {
			return errors.New("nothing was written: the answer was not yes (--yes answers for scripts)")
		}
	}
	return nil
}
