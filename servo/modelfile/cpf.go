package modelfile

import (
	"regexp"
	"strconv"
	"strings"

	"poise/internal/xmltree"
	"poise/problem"
	"poise/servo/model"
)

// doctype is the only document type of property files. It says nothing, and is not followed.
var doctype = regexp.MustCompile(`<!DOCTYPE\s+properties(\s+SYSTEM\s+("[^"<>\[]*"|'[^'<>\[]*'))?\s*>`)

// properties reads a property file of OROCOS (.cpf): structs of type ServoModel, alone or inside of
// others. What else stands there is for other components.
func (r *reader) properties(data []byte) {
	text := doctype.ReplaceAllFunc(data, func(found []byte) []byte {
		return []byte(strings.Repeat("\n", strings.Count(string(found), "\n")))
	})
	root, err := xmltree.Parse(text, r.file, xmltree.Limits{})
	if err != nil {
		r.errs = append(r.errs, err)
		return
	}
	if root.Name != "properties" {
		r.fail(root.Pos.Line, "<"+root.QName()+">", "root element is not <properties>")
		return
	}
	for n := range root.Elements() {
		r.property(n)
	}
}

func (r *reader) property(n *xmltree.Node) {
	if n.Name != "struct" {
		return
	}
	switch kind := n.Value("type"); {
	case strings.HasSuffix(kind, "ServoModel[]"):
		for e := range n.Elements() {
			r.propertyModel(e)
		}
	case strings.HasSuffix(kind, "ServoModel"):
		before := len(r.set.Models)
		r.propertyModel(n)
		if n.Value("name") == DefaultName && len(r.set.Models) > before {
			byDefault := r.set.Models[before]
			r.set.Default = &byDefault
			r.set.Models = r.set.Models[:before]
		}
	default: // a list of another type, or a part of a component's
		for e := range n.Elements() {
			r.property(e)
		}
	}
}

// propertyModel reads name, kp, kgear and alpha of a ServoModel.
func (r *reader) propertyModel(n *xmltree.Node) {
	m := Message{Name: n.Value("name")}
	lines := map[string]int{}
	for e := range n.Elements() {
		lines[e.Value("name")] = e.Pos.Line
		switch e.Value("name") {
		case "name":
			m.Name = propertyText(e)
		case "kp":
			m.Kp = r.propertyNumber(e, m.Name)
		case "kgear":
			m.Gear = r.propertyNumber(e, m.Name)
		case "alpha":
			for a := range e.Elements() {
				m.Alpha = append(m.Alpha, r.propertyNumber(a, m.Name))
			}
		default:
			r.fail(e.Pos.Line, thing(m.Name), "unknown property "+strconv.Quote(e.Value("name"))+
				problem.Hint(e.Value("name"), []string{"name", "kp", "kgear", "alpha"}))
		}
	}
	if len(m.Alpha) != 4 {
		r.fail(max(lines["alpha"], n.Pos.Line), thing(m.Name), "alpha has "+strconv.Itoa(len(m.Alpha))+" numbers, want 4 (a0 … a3)")
		return
	}
	if at, given := lines["kgear"]; given && m.Gear == 0 {
		r.fail(at, thing(m.Name), "k"+zeroGear)
	}
	made := model.Model{Kp: m.Kp, Gear: m.Gear, DeadZone: model.DefaultDeadZone}
	copy(made.A[:], m.Alpha)
	r.add(m.Name, n.Pos.Line, made, func(wrong error) int {
		key, _, _ := strings.Cut(wrong.Error(), " ")
		switch {
		case key == "gear":
			key = "kgear"
		case strings.HasPrefix(key, "parameters"):
			key = "alpha"
		}
		return max(lines[key], n.Pos.Line)
	})
}

// propertyText is the text of <value>.
func propertyText(n *xmltree.Node) string {
	for e := range n.Elements() {
		if e.Name != "value" {
			continue
		}
		for _, c := range e.Children {
			if c.IsText() {
				return strings.TrimSpace(c.Text)
			}
		}
	}
	return ""
}

func (r *reader) propertyNumber(n *xmltree.Node, of string) float64 {
	text := propertyText(n)
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		r.fail(n.Pos.Line, thing(of), n.Value("name")+": a number is wanted, not "+strconv.Quote(text))
	}
	return x
}
