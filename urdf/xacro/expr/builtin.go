package expr

import (
	"fmt"
	"slices"

	"poise/problem"
	"poise/urdf/xacro/value"
)

// Func is a function that expressions can call.
type Func struct {
	Name     string
	Min, Max int      // number of arguments without a name; Max −1: any
	Named    []string // arguments that may be given by name; "*" allows all
	Do       func(b *value.Budget, a Args) (value.Value, error)
}

// TypeName makes a Func a value.
func (f *Func) TypeName() string { return "function " + f.Name }

// Call calls the function after checking the number and names of its arguments.
func (f *Func) Call(b *value.Budget, a Args) (value.Value, error) {
	if n := len(a.Pos); n < f.Min || f.Max >= 0 && n > f.Max {
		return nil, fmt.Errorf("%s does not take %d arguments", f.Name, n)
	}
	for _, name := range a.names {
		if !slices.Contains(f.Named, name) && !slices.Contains(f.Named, "*") {
			return nil, fmt.Errorf("%s has no argument named %s%s", f.Name, name, problem.Hint(name, f.Named))
		}
	}
	return f.Do(b, a)
}

// Args are the arguments of a call.
type Args struct {
	Pos   []value.Value
	names []string
	named []value.Value
}

// Name adds an argument that has a name.
func (a *Args) Name(b *value.Budget, name string, v value.Value) error {
	if slices.Contains(a.names, name) {
		return fmt.Errorf("argument %s is given twice", name)
	}
	a.names, a.named = append(a.names, name), append(a.named, v)
	return b.Spend(len(a.names))
}

// Named returns the argument of that name, if it is given.
func (a Args) Named(name string) (value.Value, bool) {
	if i := slices.Index(a.names, name); i >= 0 {
		return a.named[i], true
	}
	return nil, false
}

// optional returns argument i, which may also be given by name.
func (a Args) optional(i int, name string, missing value.Value) value.Value {
	if i < len(a.Pos) {
		return a.Pos[i]
	}
	if v, ok := a.Named(name); ok {
		return v
	}
	return missing
}

// Namespace is a value whose members are reached by a point.
type Namespace interface {
	value.Object
	Member(name string) (v value.Value, ok bool, err error)
}

// Module is a name space of functions and constants.
type Module struct {
	Name    string
	Members map[string]value.Value
}

// TypeName makes a Module a value.
func (m *Module) TypeName() string { return "name space " + m.Name }

// Member returns a function or constant.
func (m *Module) Member(name string) (value.Value, bool, error) {
	v, ok := m.Members[name]
	return v, ok, nil
}

// Global returns what a name means where no property defines it: the symbols
// that ROS xacro puts into its outermost scope, and no more, because a property
// with a default is not set where its name has a meaning already.
func Global(name string) (value.Value, bool) {
	v, ok := globals[name]
	return v, ok
}

// Python returns a member of the name space python.
func Python(name string) (value.Value, bool) {
	v, ok := python[name]
	return v, ok
}

var python, globals = func() (map[string]value.Value, map[string]value.Value) {
	all := map[string]value.Value{"True": true, "False": false}
	for _, f := range functions {
		all[f.Name] = f
	}
	outer := map[string]value.Value{
		"math":   &Module{"math", mathematics},
		"python": &Module{"python", all},
	}
	for name, v := range mathematics {
		outer[name] = v
	}
	for _, name := range []string{
		"list", "dict", "map", "len", "str", "float", "int", "bool", "True", "False",
		"min", "max", "round", "sorted", "range",
	} {
		outer[name] = all[name]
	}
	return all, outer
}()
