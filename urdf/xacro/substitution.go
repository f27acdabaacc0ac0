package xacro

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"poise/problem"
	"poise/urdf/xacro/expr"
	"poise/urdf/xacro/value"
)

// substitution evaluates the inside of $(…).
func (ex *expander) substitution(inside string, s *scope, pos problem.Pos) (value.Value, error) {
	text, err := ex.evalInside(inside, s, pos)
	if err != nil {
		return nil, err
	}
	whole := "$(" + inside + ")"
	if source, ok := strings.CutPrefix(text, "eval "); ok {
		v, err := expr.Eval(source, &evalScope{ex, pos}, ex.budget)
		if err != nil {
			return nil, ex.wrap(err, pos, whole)
		}
		out, err := value.Str(ex.budget, v)
		if err != nil {
			return nil, ex.wrap(err, pos, whole)
		}
		return out, nil
	}
	words := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' })
	if len(words) == 0 {
		return nil, ex.At(pos, whole, "empty substitution")
	}
	out, err := ex.command(words[0], words[1:], pos)
	if err == nil {
		out, err = ex.findInside(out)
	}
	if err != nil {
		return nil, ex.wrap(err, pos, whole)
	}
	return out, nil
}

func (ex *expander) command(name string, args []string, pos problem.Pos) (string, error) {
	one := len(args) == 1
	switch {
	case name == "find" && one:
		return ex.Find(args[0], ex.stack[0]) // above the file that was asked for, if nowhere else
	case name == "arg" && one:
		return ex.arg(args[0])
	case name == "env" && one:
		v, ok := ex.Env[args[0]]
		if !ok {
			return "", fmt.Errorf("environment variable %s is not given", args[0])
		}
		return v, nil
	case name == "optenv" && len(args) > 0:
		if v, ok := ex.Env[args[0]]; ok {
			return v, nil
		}
		return strings.Join(args[1:], " "), nil
	case name == "dirname" && len(args) == 0:
		return ex.dirname(pos), nil
	case name == "cwd" && len(args) == 0:
		return ex.Abs("."), nil
	}
	if slices.Contains(substitutions, name) {
		return "", fmt.Errorf("$(%s) with %d words behind it", name, len(args))
	}
	known := append(slices.Clone(substitutions), "eval")
	return "", fmt.Errorf("unknown substitution; known are %s%s", strings.Join(known, ", "), problem.Hint(name, known))
}

// substitutions are the words of $(…), apart from eval, which takes an expression.
var substitutions = []string{"find", "arg", "env", "optenv", "dirname", "cwd"}

func (ex *expander) arg(name string) (string, error) {
	ex.used[name] = true
	v, ok := ex.args[name]
	if !ok {
		return "", fmt.Errorf("undefined argument %s%s", name, problem.Hint(name, slices.Sorted(maps.Keys(ex.args))))
	}
	return v, nil
}

// dirname is the folder of the file in which it is written.
func (ex *expander) dirname(pos problem.Pos) string { return path.Dir(ex.Abs(pos.File)) }

// findInside resolves the $(find …) that the value of an argument may contain.
func (ex *expander) findInside(text string) (string, error) {
	const open = "$(find "
	var out strings.Builder
	for {
		before, rest, ok := strings.Cut(text, open)
		out.WriteString(before)
		if !ok {
			return out.String(), nil
		}
		pkg, after, ok := strings.Cut(rest, ")")
		if !ok {
			return out.String() + open + rest, nil
		}
		dir, err := ex.Find(strings.TrimSpace(pkg), ex.stack[0])
		if err != nil {
			return "", err
		}
		out.WriteString(dir)
		text = after
	}
}

// evalScope are the names of $(eval …): arguments, not properties.
type evalScope struct {
	x   *expander
	pos problem.Pos
}

func (s *evalScope) Lookup(name string) (value.Value, bool, error) {
	switch name {
	case "true":
		return true, true, nil
	case "false":
		return false, true, nil
	case "arg", "env", "optenv", "find", "dirname":
		return s.function(name), true, nil
	}
	if v, ok := expr.Global(name); ok {
		return v, true, nil
	}
	if _, ok := s.x.args[name]; !ok {
		return nil, false, nil
	}
	text, err := s.x.arg(name)
	return argumentValue(text), true, err
}

// Names lists the arguments.
func (s *evalScope) Names() []string { return slices.Collect(maps.Keys(s.x.args)) }

// function makes a substitution callable.
func (s *evalScope) function(name string) *expr.Func {
	return &expr.Func{Name: name, Max: -1, Do: func(b *value.Budget, a expr.Args) (value.Value, error) {
		words := make([]string, len(a.Pos))
		for i, v := range a.Pos {
			text, err := value.Str(b, v)
			if err != nil {
				return nil, err
			}
			words[i] = text
		}
		out, err := s.x.command(name, words, s.pos)
		if err == nil && name == "arg" {
			return argumentValue(out), nil
		}
		return out, err
	}}
}
