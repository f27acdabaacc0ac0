package modelfile

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"poise/internal/strictyaml"
	"poise/problem"
	"poise/servo/model"
)

// Bad is the code of what is wrong with a file of servo models.
const Bad problem.Code = "bad_servo_model"

// Named is a model of a file.
type Named struct {
	Name  string // "" of a file that is one model
	Pos   problem.Pos
	Model model.Model

	Identified Identified
}

// Set is what a file of models has.
type Set struct {
	Models  []Named
	Default *Named      // of servos that the file does not name; nil without one
	types   [][2]string // joint and model of NimbRo's robots
}

// Find returns the model of a name: a joint's, or a type's. A file that is one model has it for
// every name.
func (s *Set) Find(name string) (*Named, bool) {
	if m, ok := s.named(name); ok {
		return m, true
	}
	for _, t := range s.types {
		if t[0] == name {
			return s.named(t[1])
		}
	}
	return nil, false
}

func (s *Set) named(name string) (*Named, bool) {
	for i := range s.Models {
		if m := &s.Models[i]; m.Name == name || m.Name == "" {
			return m, true
		}
	}
	return nil, false
}

// DefaultName is the name under which a property file has the model of all others.
const DefaultName = "default_servo_model"

// Choose is Find by a person who says which model of the file is meant: that of all others, too, by
// DefaultName or by its own name.
func (s *Set) Choose(name string) (*Named, bool) {
	if m, ok := s.Find(name); ok && m.Name != "" {
		return m, true
	}
	if s.Default != nil && (name == DefaultName || name == s.Default.Name) {
		return s.Default, true
	}
	return nil, false
}

// Choices are the names by which Choose finds models.
func (s *Set) Choices() []string {
	names := s.Names()
	if s.Default != nil {
		names = append(names, DefaultName)
	}
	return names
}

// Names lists the names of the models.
func (s *Set) Names() (names []string) {
	for i := range s.Models {
		names = append(names, s.Models[i].Name)
	}
	return names
}

// Read reads a file of models, whatever its form; file is its name in messages.
func Read(data []byte, file string) (*Set, error) {
	r := &reader{file: file}
	if trimmed := bytes.TrimLeft(data, "\ufeff \t\r\n"); len(trimmed) > 0 && trimmed[0] == '<' {
		r.properties(data)
	} else if n, err := strictyaml.Parse(data, file); err != nil {
		r.errs = append(r.errs, err)
	} else {
		r.document(n)
	}
	r.unique()
	if len(r.errs) == 0 && len(r.set.Models) == 0 && r.set.Default == nil {
		r.fail(1, "", "has no servo model")
	}
	if err := errors.Join(r.errs...); err != nil {
		return nil, err
	}
	return &r.set, nil
}

type reader struct {
	file string
	set  Set
	errs []error
}

func (r *reader) fail(line int, thing, text string) {
	r.errs = append(r.errs, &problem.Problem{Code: Bad, Pos: problem.Pos{File: r.file, Line: max(line, 1)}, Thing: thing, Text: text})
}

// unique refuses two models of one name.
func (r *reader) unique() {
	seen := map[string]int{}
	for _, m := range r.set.Models {
		if first, twice := seen[m.Name]; twice {
			r.fail(m.Pos.Line, thing(m.Name), fmt.Sprintf("is named twice: on lines %d and %d", first, m.Pos.Line))
		}
		seen[m.Name] = m.Pos.Line
	}
}

func thing(name string) string {
	if name == "" {
		return "servo model"
	}
	return problem.Named("servo model", name)
}

// add takes a model, if nothing is wrong with it.
func (r *reader) add(name string, line int, m model.Model, lineOf func(error) int) {
	for _, wrong := range m.Check() {
		r.fail(lineOf(wrong), thing(name), wrong.Error())
	}
	r.set.Models = append(r.set.Models, Named{Name: name, Pos: problem.Pos{File: r.file, Line: max(line, 1)}, Model: m})
}

// document reads YAML or JSON: a model, a list or a mapping of models, a robot.yaml, or the
// configuration of one of NimbRo's robots.
func (r *reader) document(n strictyaml.Node) {
	if inner, ok := n.Value("robotcontrol"); ok {
		r.nimbro(inner)
		return
	}
	for _, wrapper := range []string{"servo_models", "models"} {
		if inner, ok := n.Value(wrapper); ok {
			r.several(inner)
			return
		}
	}
	if r.one(n, "") {
		return
	}
	r.several(n)
}

// several reads a list or a mapping of models.
func (r *reader) several(n strictyaml.Node) {
	if list, ok := n.Sequence(); ok {
		for _, e := range list {
			if !r.one(e, "") {
				r.fail(e.Line(), e.Path(), "is no servo model: it has neither kp nor km")
			}
		}
		return
	}
	keys, ok := n.Mapping()
	if !ok {
		r.fail(n.Line(), n.Path(), "a servo model is wanted, such as {kp: 100, voltage: 12, parameters: {a3: 235}}")
		return
	}
	for _, key := range keys {
		if e, _ := n.Value(key); !r.one(e, key) {
			r.fail(e.Line(), problem.Named("servo model", key), "has neither kp nor km")
		}
	}
}

// one reads a model by the keys that tell its form; false if it is not a model.
func (r *reader) one(n strictyaml.Node, name string) bool {
	keys, _ := n.Mapping()
	switch has := func(key string) bool { return slices.Contains(keys, key) }; {
	case has("km"):
		r.nimbroModel(n, name)
	case has("alpha"):
		r.message(n, name)
	case has("kp"), has("parameters"):
		e := Entry{Name: name}
		if err := n.Decode(&e); err != nil {
			r.errs = append(r.errs, err)
			return true
		}
		if at, given := e.Lines["gear"]; given && e.Gear == 0 {
			r.fail(at, thing(name), zeroGear)
		}
		r.add(name, e.Line, e.Model(), e.LineOf)
		r.set.Models[len(r.set.Models)-1].Identified = e.Identified
	default:
		return false
	}
	return true
}

// zeroGear is what is wrong with a gear that is written down as 0: one that is left out is 1.
const zeroGear = "gear is 0, must be above 0: leave it out for 1"

// Message is a model as ServoModel messages have it: alpha is a0 … a3, or to a5.
type Message struct {
	Line      int            `yaml:",line" json:"-"`
	Lines     map[string]int `yaml:",lines" json:"-"`
	Name      string         `yaml:"name" json:"name"`
	Kp        float64        `yaml:"kp" json:"kp"`
	Gear      float64        `yaml:"kgear" json:"kgear"`
	Alpha     []float64      `yaml:"alpha" json:"alpha"`
	Speed     float64        `yaml:"vs" json:"vs"`
	Ks        float64        `yaml:"ks" json:"ks"`
	Lead      float64        `yaml:"lead" json:"lead"`
	DeadZone  float64        `yaml:"dead_zone" json:"dead_zone"`
	Voltage   float64        `yaml:"voltage" json:"voltage"`
	Stiffness float64        `yaml:"stiffness" json:"stiffness"`
}

// Model returns the model of a message, or what is wrong with it. Zero of gear and dead zone is
// that of servos that say nothing of them.
func (m *Message) Model() (model.Model, error) {
	out := model.Model{Kp: m.Kp, Gear: m.Gear, Saturation: m.Ks, Lead: m.Lead, DeadZone: m.DeadZone, Voltage: m.Voltage,
		Stiffness: m.Stiffness, Speed: m.Speed}
	if out.DeadZone == 0 {
		out.DeadZone = model.DefaultDeadZone
	}
	if n := copy(out.A[:], m.Alpha); n != len(m.Alpha) || n < 4 {
		return out, problem.New(Bad, "alpha has %d numbers, want 4 (a0 … a3) to 6 (a0 … a5)", len(m.Alpha))
	}
	return out, errors.Join(out.Check()...)
}

func (r *reader) message(n strictyaml.Node, name string) {
	var m Message
	if err := n.Decode(&m); err != nil {
		r.errs = append(r.errs, err)
		return
	}
	if m.Name != "" {
		name = m.Name
	}
	made, err := m.Model()
	var bad *problem.Problem
	if errors.As(err, &bad) {
		r.fail(m.Lines["alpha"], thing(name), bad.Text)
		return
	}
	r.add(name, m.Line, made, func(wrong error) int {
		key, _, _ := strings.Cut(wrong.Error(), " ")
		switch {
		case key == "gear":
			key = "kgear"
		case key == "parameters.vs":
			key = "vs"
		case strings.HasPrefix(key, "parameters"):
			key = "alpha"
		}
		return m.Lines[key]
	})
}
