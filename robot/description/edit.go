package description

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Key is a key of a servo with its value, as it is written.
type Key struct{ Name, Value string }

// setServo returns a robot.yaml in which keys of a joint's servo have other values. All other
// text stays as it is; the servo itself then stands on one line. A servo that is not there is
// added behind the others.
func setServo(data []byte, joint string, keys []Key) ([]byte, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	servos := valueOf(&doc, "servos")
	if servos == nil || servos.Kind != yaml.MappingNode || len(servos.Content) == 0 {
		if servos != nil {
			return nil, fmt.Errorf("robot.yaml: servos, line %d: is empty or no mapping", servos.Line)
		}
		return joined(append(lines, "", "servos:", entry("  ", joint, nil, keys, ""))), nil
	}
	if servos.Style&yaml.FlowStyle != 0 {
		return nil, fmt.Errorf("robot.yaml: servos, line %d: write one joint a line to have it changed", servos.Line)
	}
	end := 0
	for i := 0; i+1 < len(servos.Content); i += 2 {
		key, value := servos.Content[i], servos.Content[i+1]
		last := lastLine(lines, key, value)
		end = last
		if key.Value != joint {
			continue
		}
		if value.Kind != yaml.MappingNode {
			return nil, fmt.Errorf("robot.yaml: servo of joint %q, line %d: is no mapping", joint, key.Line)
		}
		indent := lines[key.Line-1][:key.Column-1]
		text := entry(indent, joint, value, keys, comment(key, value))
		return joined(slices.Replace(lines, key.Line-1, last, text)), nil
	}
	first := servos.Content[0]
	indent := lines[first.Line-1][:first.Column-1]
	return joined(slices.Insert(lines, end, entry(indent, joint, nil, keys, ""))), nil
}

func joined(lines []string) []byte { return []byte(strings.Join(lines, "\n") + "\n") }

// valueOf returns the value of a key at the top of a document.
func valueOf(doc *yaml.Node, name string) *yaml.Node {
	if len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode {
		return nil
	}
	top := doc.Content[0].Content
	for i := 0; i+1 < len(top); i += 2 {
		if top[i].Value == name {
			return top[i+1]
		}
	}
	return nil
}

// lastLine returns the last line of a joint's servo: that of its last value, or of the brace
// that closes it.
func lastLine(lines []string, key, value *yaml.Node) int {
	last := key.Line
	var walk func(n *yaml.Node)
	walk = func(n *yaml.Node) {
		last = max(last, n.Line)
		for _, c := range n.Content {
			walk(c)
		}
	}
	walk(value)
	if value.Style&yaml.FlowStyle != 0 {
		for last < len(lines) && !strings.Contains(strings.SplitN(lines[last-1], " #", 2)[0], "}") {
			last++
		}
	}
	return last
}

func comment(nodes ...*yaml.Node) string {
	for _, n := range nodes {
		if n.LineComment != "" {
			return " " + n.LineComment
		}
	}
	return ""
}

// entry writes the servo of a joint: what it had, with keys changed and new ones behind.
func entry(indent, joint string, had *yaml.Node, keys []Key, comment string) string {
	var parts []string
	done := map[string]bool{}
	add := func(name, value string) {
		if value != "" {
			parts = append(parts, name+": "+value)
		}
	}
	if had != nil {
		for i := 0; i+1 < len(had.Content); i += 2 {
			name := had.Content[i].Value
			if k := slices.IndexFunc(keys, func(k Key) bool { return k.Name == name }); k >= 0 {
				done[name] = true
				add(name, keys[k].Value)
				continue
			}
			add(name, inLine(had.Content[i+1]))
		}
	}
	for _, k := range keys {
		if !done[k.Name] {
			add(k.Name, k.Value)
		}
	}
	name, err := yaml.Marshal(joint)
	return indent + strings.TrimSpace(orText(name, err, joint)) + ": {" + strings.Join(parts, ", ") + "}" + comment
}

// inLine writes a value on one line.
func inLine(n *yaml.Node) string {
	flat := *n
	flat.HeadComment, flat.LineComment, flat.FootComment = "", "", ""
	if flat.Kind == yaml.MappingNode || flat.Kind == yaml.SequenceNode {
		flat.Style = yaml.FlowStyle
	}
	text, err := yaml.Marshal(&flat)
	return strings.Join(strings.Fields(orText(text, err, n.Value)), " ")
}

func orText(text []byte, err error, otherwise string) string {
	if err != nil {
		return otherwise
	}
	return string(text)
}

// SetServos changes several servos and reads the result, so that no file is written that
// cannot be read.
func SetServos(data []byte, file string, joints []string, keys [][]Key) ([]byte, error) {
	if len(joints) != len(keys) {
		return nil, errors.New("as many joints as lists of keys")
	}
	var err error
	for i, joint := range joints {
		if data, err = setServo(data, joint, keys[i]); err != nil {
			return nil, err
		}
	}
	_, err = Read(data, file)
	return data, err
}
