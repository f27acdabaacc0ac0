package ros2

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"strings"

	"go.yaml.in/yaml/v3"
)

// ReadParamsFile reads the parameters of a node from a file as --params-file and launch files have it: names
// of nodes, * and ** among them, below each ros__parameters, and there the parameters, those inside
// others with a dot between them. Entries that name the node count; of several values the last one.
func ReadParamsFile(text []byte, names Names) (map[string]any, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	params := map[string]any{}
	if len(doc.Content) == 0 {
		return params, nil
	}
	r := paramsReader{self: names.Self(), params: params}
	r.nodes("/", doc.Content[0], 0)
	return params, errors.Join(r.problems...)
}

// paramsReader reads a file of parameters.
type paramsReader struct {
	self     string // the node's name in full
	params   map[string]any
	problems []error
}

// maxParamsDepth bounds how deep a file of parameters is.
const maxParamsDepth = 32

func (r *paramsReader) errorf(y *yaml.Node, format string, a ...any) {
	if len(r.problems) < 20 {
		r.problems = append(r.problems, fmt.Errorf("line %d: %s", y.Line, fmt.Sprintf(format, a...)))
	}
}

// nodes reads a map of nodes, or of namespaces.
func (r *paramsReader) nodes(at string, y *yaml.Node, depth int) {
	if y.Kind != yaml.MappingNode || depth > maxParamsDepth {
		r.errorf(y, "%s must be a map of nodes, with ros__parameters in each", at)
		return
	}
	for i := 0; i+1 < len(y.Content); i += 2 {
		key, value := y.Content[i], y.Content[i+1]
		if key.Value == "ros__parameters" {
			if depth == 0 {
				r.errorf(key, "ros__parameters stands below the name of a node, such as /**")
			} else if named(at, r.self) {
				r.values("", value, 0)
			}
			continue
		}
		r.nodes(path.Join(at, key.Value), value, depth+1)
	}
}

// named reports whether a name with wildcards is that of a node: * is one part of a name, ** any number of
// them.
func named(pattern, node string) bool {
	return matches(strings.Split(strings.Trim(pattern, "/"), "/"), strings.Split(strings.Trim(node, "/"), "/"))
}

func matches(pattern, parts []string) bool {
	switch {
	case len(pattern) == 0:
		return len(parts) == 0
	case pattern[0] == "**":
		return matches(pattern[1:], parts) || len(parts) > 0 && matches(pattern, parts[1:])
	case len(parts) == 0:
		return false
	}
	return (pattern[0] == "*" || pattern[0] == parts[0]) && matches(pattern[1:], parts[1:])
}

// values reads the parameters below a prefix.
func (r *paramsReader) values(prefix string, y *yaml.Node, depth int) {
	if y.Kind != yaml.MappingNode || depth > maxParamsDepth {
		r.errorf(y, "%s must be a map of parameters", cmp.Or(prefix, "ros__parameters"))
		return
	}
	for i := 0; i+1 < len(y.Content); i += 2 {
		name, value := y.Content[i].Value, y.Content[i+1]
		if prefix != "" {
			name = prefix + "." + name
		}
		if value.Kind == yaml.MappingNode {
			r.values(name, value, depth+1)
			continue
		}
		v, err := valueOf(value)
		if err != nil {
			r.errorf(value, "parameter %s: %v", name, err)
			continue
		}
		r.params[name] = v
	}
}

// valueOf reads a value as YAML has it.
func valueOf(y *yaml.Node) (any, error) {
	switch y.Kind {
	case yaml.ScalarNode:
		var v any
		if err := y.Decode(&v); err != nil {
			return nil, err
		}
		switch x := v.(type) {
		case bool, int, float64, string:
			return x, nil
		}
		return nil, fmt.Errorf("%q is not a number, boolean or text", y.Value)
	case yaml.SequenceNode:
		items := make([]any, len(y.Content))
		texts := 0
		for i, one := range y.Content {
			v, err := valueOf(one)
			if err != nil || one.Kind != yaml.ScalarNode {
				return nil, errors.Join(errors.New("a list must have numbers, booleans or texts"), err)
			}
			if items[i] = v; isText(v) {
				texts++
			}
		}
		list := listOf(items, func(v any) any { return v })
		if _, mixed := list.([]string); mixed && texts < len(items) {
			return nil, errors.New("the items of a list must be of one kind")
		}
		return list, nil
	}
	return nil, errors.New("it is no value")
}

func isText(v any) bool {
	_, ok := v.(string)
	return ok
}
