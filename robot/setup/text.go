package setup

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"poise/robot"
)

// Section is one key of robot.yaml with its explanation.
type Section struct {
	Key  string `json:"key"`
	Text string `json:"text"`
}

// check refuses what cannot be worded; whether the robot has what is named, its reader
// tells.
func (p *Proposal) check() error {
	finite := func(thing string, x ...float64) error {
		for _, v := range x {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("%s: %g is not finite", thing, v)
			}
		}
		return nil
	}
	var errs []error
	for _, pose := range p.Poses {
		if len(pose.Joints) != len(pose.Q) {
			errs = append(errs, fmt.Errorf("pose %q: %d joints and %d positions", pose.Name, len(pose.Joints), len(pose.Q)))
		}
		errs = append(errs, finite(fmt.Sprintf("pose %q", pose.Name), pose.Q...))
	}
	for _, l := range p.Limbs {
		for _, x := range l.Points {
			errs = append(errs, finite(fmt.Sprintf("limb %q: a point of its foot", l.Name), x[:]...))
		}
	}
	return errors.Join(errs...)
}

// sections words a proposal, key by key, in the order of the file. Files are those that the
// robot is read from.
func (p *Proposal) sections(f *files) []Section {
	w := &writer{}
	w.files(p, f)
	w.base(p)
	if p.Limits {
		about := "Limits in MoveIt's format. Nothing of a URDF says accelerations: those there are\n" +
			"PROPOSED, chosen so that full speed is reached in 0.5 s and full acceleration in 0.1 s,\n" +
			"by joints of legs in a tenth of these times. Check them against the data sheets of the drives."
		if p.ways(f.model) {
			about += "\nLimits of the tip, for lines and arcs, are there, too: assumed, for want of others."
		}
		w.key("joint_limits", about)
		w.line("joint_limits: joint_limits.yaml")
		w.transitions(p, f)
	}
	w.contacts(p)
	w.limbs(p)
	w.poses(p)
	w.mirror(p)
	return w.all
}

// writer gathers sections.
type writer struct{ all []Section }

// key begins a section with its explanation.
func (w *writer) key(key, about string) {
	w.all = append(w.all, Section{Key: key})
	for _, l := range strings.Split(about, "\n") {
		w.line("# %s", l)
	}
}

func (w *writer) line(format string, a ...any) {
	last := &w.all[len(w.all)-1]
	last.Text += fmt.Sprintf(format, a...) + "\n"
}

// files says what the robot is and which files belong to it.
func (w *writer) files(p *Proposal, f *files) {
	if p.Name != "" {
		w.key("name", "What the robot is called.")
		w.line("name: %s", scalar(p.Name))
	}
	w.key("urdf", "How it is built.")
	w.line("urdf: %s", scalar(f.urdf))
	if len(f.arguments) > 0 {
		w.key("xacro_arguments", "Values of the arguments of that file.")
		w.line("xacro_arguments:")
		for _, a := range f.arguments {
			w.line("  %s: %s", scalar(a.Name), strconv.Quote(a.Value))
		}
	}
	if f.srdf != "" {
		w.key("srdf", "Groups and poses as MoveIt knows them.")
		w.line("srdf: %s", scalar(f.srdf))
	}
	if len(p.Packages) > 0 {
		w.key("packages", "Folders in which package://… is looked for, from this folder on: meshes are there.")
		w.line("packages: [%s]", join(p.Packages))
	}
}

func (w *writer) base(p *Proposal) {
	if p.Base != "" {
		w.key("base", "Is the root link bolted to the world (fixed), or free (floating)? Here: "+oneLine(p.Why)+".")
		w.line("base: %s", scalar(p.Base))
	}
}

// ways tells whether limits of tips on their ways are proposed: the robot has a limb with a tip, and none of them.
func (p *Proposal) ways(m *robot.Model) bool {
	return m.CartesianLimits() == nil && slices.ContainsFunc(p.Limbs, func(l Limb) bool { return l.Base != "" })
}

// legs returns the names of the joints of limbs on which the robot walks: those that are proposed, or that its files declare.
func (p *Proposal) legs(m *robot.Model) []string {
	names := robot.LegJoints(m)
	for _, l := range p.Limbs {
		if (p.Base == "floating" || p.Base == "" && m.Floating()) && l.Base != "" && len(l.Points) > 0 {
			names = append(names, l.Joints...)
		}
	}
	return names
}

// transitions keeps hand-overs, moves to poses and stops of a robot whose legs are quick enough to step gentle. What the file
// declares already stays, and the others go with it.
func (w *writer) transitions(p *Proposal, f *files) {
	t, ok := robot.ProposeTransition(f.model.Joints(), p.legs(f.model))
	if !ok {
		return
	}
	if given := f.model.TransitionAcceleration(); given.Has {
		t.Fast = max(t.Fast, given.Value)
	}
	w.key("transition_acceleration", "Hand-overs, moves to poses and stops take longer than steps: they accelerate by no more than this, rad/s².")
	w.line("transition_acceleration: %s", decimal(t.Acceleration))
	w.key("transition_velocity", "They go no faster than this, rad/s.")
	w.line("transition_velocity: %s", decimal(t.Velocity))
	w.key("fast_transition_acceleration", "Joints that are faster already, as in a step, slow down by this, rad/s².")
	w.line("fast_transition_acceleration: %s", decimal(t.Fast))
}

// feet returns the contact set of each limb that has one, "" for the others, and the sets:
// limbs with the same points share theirs.
func (p *Proposal) feet() (of []string, sets []contactSet) {
	of = make([]string, len(p.Limbs))
	for i, l := range p.Limbs {
		if len(l.Points) == 0 || l.Base == "" {
			continue
		}
		k := slices.IndexFunc(sets, func(s contactSet) bool { return slices.Equal(s.points, l.Points) })
		if k < 0 {
			k = len(sets)
			sets = append(sets, contactSet{name: l.Name + "_foot", points: l.Points, how: l.Touch})
		}
		of[i] = sets[k].name
	}
	if len(sets) == 1 {
		sets[0].name = "foot"
		for i := range of {
			if of[i] != "" {
				of[i] = "foot"
			}
		}
	}
	return of, sets
}

type contactSet struct {
	name   string
	points [][3]float64
	how    string
}

func (w *writer) contacts(p *Proposal) {
	_, sets := p.feet()
	if len(sets) == 0 {
		return
	}
	w.key("contacts", "How feet touch the ground: points in the frame of the tip, m. One point leaves the foot\n"+
		"free to turn, three that are not in line hold it.")
	w.line("contacts:")
	told := ""
	for _, s := range sets {
		if s.how != "" && s.how != told {
			w.line("  # found as %s", oneLine(s.how))
			told = s.how
		}
		var points []string
		for _, x := range s.points {
			points = append(points, fmt.Sprintf("[%s, %s, %s]", decimal(x[0]), decimal(x[1]), decimal(x[2])))
		}
		w.line("  %s: {points: [%s]}", scalar(s.name), strings.Join(points, ", "))
	}
}

func (w *writer) limbs(p *Proposal) {
	feet, _ := p.feet()
	if slices.ContainsFunc(p.Limbs, func(l Limb) bool { return l.Base != "" }) {
		w.key("chains", "Limbs, each from the link that it hangs on to the tip that is held, moved and looked at.\n"+
			"A limb with a contact can stand. Legs are in the order in which they stand around.")
		w.line("chains:")
		for i, l := range p.Limbs {
			if l.Base == "" {
				continue
			}
			contact := ""
			if feet[i] != "" {
				contact = ", contact: " + scalar(feet[i])
			}
			w.line("  %s: {base: %s, tip: %s%s}", scalar(l.Name), scalar(l.Base), scalar(l.Tip), contact)
		}
	}
	if len(p.Limbs) == 0 {
		return
	}
	w.key("groups", "What one controller owns at a time, switches and plans for: here each limb.")
	w.line("groups:")
	for _, l := range p.Limbs {
		if l.Base != "" {
			w.line("  %s: {chains: [%s]}", scalar(l.Name), scalar(l.Name))
		} else {
			w.line("  %s: {joints: [%s]}", scalar(l.Name), join(l.Joints))
		}
	}
}

func (w *writer) poses(p *Proposal) {
	if len(p.Poses) == 0 {
		return
	}
	w.key("poses", "Poses with a name (poise pose NAME), rad or m.")
	w.line("poses:")
	for _, pose := range p.Poses {
		if pose.Why != "" {
			w.line("  # %s", oneLine(pose.Why))
		}
		w.line("  %s:", scalar(pose.Name))
		for i, j := range pose.Joints {
			w.line("    %s: %s", scalar(j), decimal(pose.Q[i]))
		}
	}
}

func (w *writer) mirror(p *Proposal) {
	if len(p.Mirror) == 0 {
		return
	}
	w.key("mirror", "What a pose is in a mirror that exchanges left and right: each joint once; sign -1 where the\n"+
		"image of a positive angle is a negative one. Found from the axes while all joints are at zero.")
	w.line("mirror:")
	for _, m := range p.Mirror {
		if m.Left == m.Right {
			w.line("  - {middle: %s, sign: %d}", scalar(m.Left), m.Sign)
		} else {
			w.line("  - {left: %s, right: %s, sign: %d}", scalar(m.Left), scalar(m.Right), m.Sign)
		}
	}
}

var plain = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z0-9_.]+)?$`)

// scalar writes a text so that YAML reads the same text.
func scalar(text string) string {
	words := []string{"y", "n", "yes", "no", "true", "false", "on", "off", "null"}
	if plain.MatchString(text) && !slices.Contains(words, strings.ToLower(text)) {
		return text
	}
	return strconv.Quote(text)
}

func join(names []string) string {
	var quoted []string
	for _, n := range names {
		quoted = append(quoted, scalar(n))
	}
	return strings.Join(quoted, ", ")
}

// oneLine keeps an explanation in its comment, whatever names are in it.
func oneLine(text string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f || c == 0x85 || c == 0x2028 || c == 0x2029 || c == 0xfeff {
			return ' '
		}
		return c
	}, text)
}

func decimal(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
