package xacro

import (
	"errors"
	"fmt"
	"strings"

	"poise/problem"
	"poise/urdf/xacro/expr"
	"poise/urdf/xacro/value"
)

// builtins are the symbols that need no file: those of units in YAML.
type builtins struct{}

func (builtins) Lookup(name string) (value.Value, bool, error) {
	v, ok := expr.Global(name)
	return v, ok, nil
}

func (builtins) Names() []string { return nil }

// functions are the symbols that depend on the expansion: the name space xacro,
// and those of its functions that were once outside of it.
func (ex *expander) functions() map[string]value.Value {
	text := func(name string, do func(s string) (value.Value, error)) *expr.Func {
		return &expr.Func{Name: name, Min: 1, Max: 1, Do: func(_ *value.Budget, a expr.Args) (value.Value, error) {
			s, ok := a.Pos[0].(string)
			if !ok {
				return nil, fmt.Errorf("%s needs a string, not %s", name, value.TypeName(a.Pos[0]))
			}
			return do(s)
		}}
	}
	loadYAML := text("load_yaml", ex.loadYAML)
	absFilename := text("abs_filename", func(s string) (value.Value, error) {
		name, err := ex.Resolve(s, ex.file())
		return name, err
	})
	dotify := &expr.Func{Name: "dotify", Min: 1, Max: 1, Do: func(_ *value.Budget, a expr.Args) (value.Value, error) {
		return a.Pos[0], nil // every dict has dotted access
	}}
	members := map[string]value.Value{
		"load_yaml": loadYAML, "abs_filename": absFilename, "dotify": dotify,
		"arg":      text("arg", func(s string) (value.Value, error) { return ex.arg(s) }),
		"tokenize": expr.Tokenize,
		"fatal": &expr.Func{Name: "fatal", Max: -1, Do: func(b *value.Budget, a expr.Args) (value.Value, error) {
			s, err := sentence(b, a)
			return nil, errors.Join(err, errors.New(s))
		}},
	}
	for _, name := range []string{"message", "warning", "error", "print_location"} {
		members[name] = &expr.Func{Name: name, Max: -1, Named: []string{"*"}, Do: func(b *value.Budget, a expr.Args) (value.Value, error) {
			s, err := sentence(b, a)
			ex.Warn(ex.place, s, "%s of the file", name)
			return "", err
		}}
	}
	return map[string]value.Value{
		"xacro":     &expr.Module{Name: "xacro", Members: members},
		"load_yaml": loadYAML, "abs_filename": absFilename, "dotify": dotify,
	}
}

func sentence(b *value.Budget, a expr.Args) (string, error) {
	words := make([]string, len(a.Pos))
	for i, v := range a.Pos {
		s, err := value.Str(b, v)
		if err != nil {
			return "", err
		}
		words[i] = excerpt(s)
	}
	return strings.Join(words, " "), nil
}

// loadYAML reads a file once and returns its value.
func (ex *expander) loadYAML(spec string) (value.Value, error) {
	name, err := ex.Resolve(spec, ex.file())
	if err != nil {
		return nil, err
	}
	key := ex.Abs(name)
	if v, ok := ex.yamls[key]; ok {
		return v, nil
	}
	data, err := ex.load(name, ex.place)
	if err != nil {
		var placed *problem.Problem
		if errors.As(err, &placed) {
			err = fmt.Errorf("%s: %s", placed.Text, name) // the caller knows the place
		}
		return nil, err
	}
	v, err := readYAML(data, name, builtins{}, ex.budget)
	if err != nil {
		var placed *problem.Problem
		if errors.As(err, &placed) {
			err = ex.At(placed.Pos, placed.Excerpt, "%s", placed.Text)
		}
		return nil, err
	}
	ex.yamls[key] = v
	return v, nil
}
