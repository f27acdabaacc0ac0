package xacro

import (
	"fmt"
	"math"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"poise/problem"
	"poise/urdf/xacro/expr"
	"poise/urdf/xacro/value"
)

// maxYAML bounds a file: a node costs a hundred times its text.
const maxYAML = 1 << 20

// readYAML reads YAML 1.1 as the safe loader of PyYAML does: yes is a truth, 010 is
// eight, 1:30 is ninety, 1e3 is text. That is what descriptions of robots were
// written for. The tags of xacro are units: !degrees 90, !radians pi/2, !meters,
// !millimeters, !foot, !inches; their values are expressions and come out in SI.
// Other tags, sets and binary data are refused. A date is text. Anchors that contain
// themselves or each other too often are refused by depth and by budget.
//
// Units are evaluated in the scope. An error that has a place is a *problem.Problem.
func readYAML(data []byte, file string, units expr.Scope, b *value.Budget) (value.Value, error) {
	if len(data) > maxYAML {
		return nil, fmt.Errorf("%s has more than %d bytes", file, maxYAML)
	}
	r := &yamlReader{file: file, scope: units, budget: b}
	return r.document(data)
}

type yamlReader struct {
	file   string
	scope  expr.Scope
	budget *value.Budget
	depth  int
}

func (r *yamlReader) document(data []byte) (value.Value, error) {
	decoder := yaml.NewDecoder(strings.NewReader(string(data)))
	var doc, second yaml.Node
	switch err := decoder.Decode(&doc); {
	case err != nil && err.Error() == "EOF":
		return nil, nil
	case err != nil:
		return nil, &problem.Problem{Pos: problem.Pos{File: r.file, Line: lineOf(err)}, Text: err.Error()}
	}
	if err := decoder.Decode(&second); err == nil {
		return nil, r.fail(&second, "", "second document in a YAML file")
	}
	if len(doc.Content) == 0 {
		return nil, nil
	}
	return r.value(doc.Content[0])
}

var lineNumber = regexp.MustCompile(`line (\d+)`)

func lineOf(err error) int {
	line := 1
	if m := lineNumber.FindStringSubmatch(err.Error()); m != nil {
		fmt.Sscan(m[1], &line)
	}
	return line
}

func (r *yamlReader) fail(n *yaml.Node, text, format string, args ...any) error {
	return &problem.Problem{Pos: problem.Pos{File: r.file, Line: max(n.Line, 1)}, Excerpt: text, Text: fmt.Sprintf(format, args...)}
}

// nodeCost is what a value costs, in operations of expressions: a file of many
// aliases makes many of them.
const nodeCost = 8

func (r *yamlReader) value(n *yaml.Node) (value.Value, error) {
	if r.depth++; r.depth > value.MaxDepth {
		return nil, r.fail(n, "", "YAML nests deeper than %d; does an anchor contain itself?", value.MaxDepth)
	}
	defer func() { r.depth-- }()
	if err := r.budget.Spend(nodeCost + len(n.Value)/16); err != nil {
		return nil, err
	}
	switch n.Kind {
	case yaml.AliasNode:
		return r.value(n.Alias)
	case yaml.SequenceNode:
		if tagged(n) && n.Tag != "!!seq" {
			return nil, r.fail(n, n.Tag, "unknown tag")
		}
		list := make(value.List, len(n.Content))
		for i, c := range n.Content {
			v, err := r.value(c)
			if err != nil {
				return nil, err
			}
			list[i] = v
		}
		return list, nil
	case yaml.MappingNode:
		if tagged(n) && n.Tag != "!!map" {
			return nil, r.fail(n, n.Tag, "unknown tag")
		}
		d := value.NewDict()
		return d, r.mapping(n, d)
	}
	return r.scalar(n)
}

func tagged(n *yaml.Node) bool { return n.Style&yaml.TaggedStyle != 0 }

// mapping fills d; what << merges comes first and yields to the mapping's own.
func (r *yamlReader) mapping(n *yaml.Node, d *value.Dict) error {
	if r.depth++; r.depth > value.MaxDepth {
		return r.fail(n, "", "YAML nests deeper than %d; does an anchor contain itself?", value.MaxDepth)
	}
	defer func() { r.depth-- }()
	for i := 0; i+1 < len(n.Content); i += 2 {
		if isMerge(n.Content[i]) {
			if err := r.merge(n.Content[i+1], d); err != nil {
				return err
			}
		}
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if isMerge(n.Content[i]) {
			continue
		}
		k, err := r.value(n.Content[i])
		if err != nil {
			return err
		}
		v, err := r.value(n.Content[i+1])
		if err != nil {
			return err
		}
		if err := d.Set(r.budget, k, v); err != nil {
			return r.fail(n.Content[i], n.Content[i].Value, "%v", err)
		}
	}
	return nil
}

func isMerge(key *yaml.Node) bool {
	return key.Kind == yaml.ScalarNode && key.Value == "<<" && key.Style == 0
}

func (r *yamlReader) merge(n *yaml.Node, d *value.Dict) error {
	if err := r.budget.Spend(1); err != nil {
		return err
	}
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch n.Kind {
	case yaml.MappingNode:
		return r.mapping(n, d)
	case yaml.SequenceNode:
		// the first of several has the last word
		for i := len(n.Content) - 1; i >= 0; i-- {
			c := n.Content[i]
			if c.Kind == yaml.AliasNode {
				c = c.Alias
			}
			if c.Kind != yaml.MappingNode {
				return r.fail(c, c.Value, "<< merges mappings only")
			}
			if err := r.mapping(c, d); err != nil {
				return err
			}
		}
		return nil
	}
	return r.fail(n, n.Value, "<< merges mappings only")
}

// units of xacro's tags, in SI: !degrees 90 is π/2.
var units = map[string]float64{
	"!radians": 1, "!degrees": math.Pi / 180,
	"!meters": 1, "!millimeters": 0.001, "!foot": 0.3048, "!inches": 0.0254,
}

func (r *yamlReader) scalar(n *yaml.Node) (value.Value, error) {
	quoted := n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0
	if !tagged(n) {
		if quoted {
			return n.Value, nil
		}
		return plainScalar(n.Value), nil
	}
	if factor, ok := units[n.Tag]; ok {
		v, err := expr.Eval(strings.TrimSpace(n.Value), r.scope, r.budget)
		if err != nil {
			return nil, r.fail(n, n.Value, "%v", err)
		}
		f, err := toFloat(v)
		if err != nil {
			return nil, r.fail(n, n.Value, "%v", err)
		}
		return f * factor, nil
	}
	want := map[string]string{"!!str": "str", "!!int": "int", "!!float": "float", "!!bool": "bool", "!!null": "NoneType"}[n.Tag]
	v := plainScalar(n.Value)
	switch {
	case want == "":
		return nil, r.fail(n, n.Tag, "unknown tag")
	case want == "str":
		return n.Value, nil
	case want == "float" && value.TypeName(v) != "float":
		f, err := toFloat(v)
		if err != nil {
			return nil, r.fail(n, n.Value, "not a float")
		}
		return f, nil
	case value.TypeName(v) != want:
		return nil, r.fail(n, n.Value, "not of the type %s", n.Tag)
	}
	return v, nil
}

func toFloat(v value.Value) (float64, error) {
	if s, ok := v.(string); ok {
		return value.ParseFloat(s)
	}
	return value.AsFloat(v)
}

// The scalars of YAML 1.1 that PyYAML resolves; 1e3 is a string there, because
// a float needs a point, and its exponent a sign.
var (
	intPattern   = regexp.MustCompile(`^[-+]?(0b[01_]+|0x[0-9a-fA-F_]+|0[0-7_]*|[1-9][0-9_]*)$`)
	floatPattern = regexp.MustCompile(`^([-+]?[0-9][0-9_]*\.[0-9_]*([eE][-+][0-9]+)?|\.[0-9][0-9_]*([eE][-+][0-9]+)?)$`)
	basePattern  = regexp.MustCompile(`^[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?$`)
)

func plainScalar(s string) value.Value {
	switch s {
	case "", "~", "null", "Null", "NULL":
		return nil
	case "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON":
		return true
	case "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF":
		return false
	case ".nan", ".NaN", ".NAN":
		return math.NaN()
	}
	digits := strings.ReplaceAll(s, "_", "")
	switch {
	case strings.TrimLeft(strings.ToLower(s), "+-") == ".inf" && len(s) <= 5:
		return math.Inf(1 - 2*strings.Count(s, "-"))
	case intPattern.MatchString(s):
		base := 10
		if body := strings.TrimLeft(digits, "+-"); len(body) > 1 && body[0] == '0' {
			base = map[byte]int{'b': 2, 'x': 16}[body[1]]
			if base == 0 {
				base = 8
			}
		}
		if n, err := value.ParseInt(digits, base); err == nil {
			return n
		}
	case floatPattern.MatchString(s):
		if f, err := value.ParseFloat(digits); err == nil {
			return f
		}
	case basePattern.MatchString(s) && (strings.Contains(s, ".") || strings.TrimLeft(s, "+-")[0] != '0'):
		return sexagesimal(digits)
	}
	return s
}

// sexagesimal reads 1:30 as 90.
func sexagesimal(s string) value.Value {
	body := strings.TrimLeft(s, "+-")
	total := 0.0
	for _, part := range strings.Split(body, ":") {
		f, err := value.ParseFloat(part)
		if err != nil {
			return s
		}
		total = total*60 + f
	}
	if strings.HasPrefix(s, "-") {
		total = -total
	}
	if strings.Contains(s, ".") {
		return total
	}
	n, err := value.Whole(total)
	if err != nil {
		return s
	}
	return n
}
