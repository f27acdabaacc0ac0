package strictyaml

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"poise/problem"
)

// decoder fills values and gathers what is wrong.
type decoder struct {
	file   string
	errs   []error
	visits int
	values int // that may be visited
}

func (d *decoder) errorf(y *yaml.Node, path, format string, a ...any) {
	if len(d.errs) < maxErrors {
		d.errs = append(d.errs, &problem.Problem{Pos: problem.Pos{File: d.file, Line: y.Line}, Thing: path, Text: fmt.Sprintf(format, a...)})
	}
}

func target(into any) reflect.Value {
	v := reflect.ValueOf(into)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		panic(fmt.Sprintf("strictyaml: cannot decode into %T", into))
	}
	return v.Elem()
}

// enter follows an alias and counts the visit; ok is false when the budget is
// spent, which is said once.
func (d *decoder) enter(y *yaml.Node, path string) (*yaml.Node, bool) {
	d.visits++
	if d.visits > d.values {
		if d.visits == d.values+1 {
			d.errorf(y, path, "aliases unfold to more than %d values", d.values)
		}
		return y, false
	}
	for hops := 0; y.Kind == yaml.AliasNode && hops < 10; hops++ {
		y = y.Alias
	}
	return y, true
}

func (d *decoder) decode(y *yaml.Node, v reflect.Value, path string) {
	y, ok := d.enter(y, path)
	if !ok {
		return
	}
	if v.Type() == reflect.TypeFor[Node]() {
		v.Set(reflect.ValueOf(Node{d, y, path})) // to be looked at and decoded later
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		p, before := reflect.New(v.Type().Elem()), len(d.errs)
		d.decode(y, p.Elem(), path)
		if len(d.errs) == before || p.Elem().Kind() == reflect.Struct {
			v.Set(p) // a number that cannot be read stays absent
		}
	case reflect.Struct:
		d.decodeStruct(y, v, path)
	case reflect.Slice:
		if elem := v.Type().Elem(); elem.Kind() == reflect.Struct && fieldOf(elem, ",key") >= 0 {
			d.decodeKeyed(y, v, path)
		} else {
			d.decodeList(y, v, path)
		}
	default:
		d.decodeScalar(y, v, path)
	}
}

// decodeStruct takes a mapping key by key.
func (d *decoder) decodeStruct(y *yaml.Node, v reflect.Value, path string) {
	if i := fieldOf(v.Type(), ",line"); i >= 0 && v.Field(i).Int() == 0 {
		v.Field(i).SetInt(int64(y.Line))
	}
	if i := fieldOf(v.Type(), ",value"); i >= 0 {
		d.decode(y, v.Field(i), path)
		return
	}
	if i := fieldOf(v.Type(), ",inline"); i >= 0 {
		d.decodeKeyed(y, v.Field(i), path)
		return
	}
	known, lines := Keys(v.Type()), fieldOf(v.Type(), ",lines")
	if lines >= 0 {
		v.Field(lines).Set(reflect.ValueOf(map[string]int{}))
	}
	d.eachKey(y, path, func(key, value *yaml.Node) {
		i := fieldOf(v.Type(), key.Value)
		if i < 0 || strings.HasPrefix(key.Value, ",") {
			hint := problem.Hint(key.Value, known)
			if hint == "" {
				hint = "; known are " + strings.Join(known, ", ")
			}
			d.errorf(key, path, "unknown key %q%s", short(key.Value), hint)
			return
		}
		if lines >= 0 {
			v.Field(lines).SetMapIndex(reflect.ValueOf(key.Value), reflect.ValueOf(key.Line))
		}
		d.decode(value, v.Field(i), join(path, key.Value))
	})
}

// decodeKeyed takes a mapping as a list of named elements. One that is in the list
// already keeps what the mapping does not say.
func (d *decoder) decodeKeyed(y *yaml.Node, v reflect.Value, path string) {
	elem := v.Type().Elem()
	name := fieldOf(elem, ",key")
	d.eachKey(y, path, func(key, value *yaml.Node) {
		for i := range v.Len() {
			if e := v.Index(i); e.Field(name).String() == key.Value {
				d.decode(value, e, join(path, key.Value))
				return
			}
		}
		e := reflect.New(elem).Elem()
		e.Field(name).SetString(key.Value)
		if i := fieldOf(elem, ",line"); i >= 0 {
			e.Field(i).SetInt(int64(key.Line))
		}
		d.decode(value, e, join(path, key.Value))
		v.Set(reflect.Append(v, e))
	})
}

// eachKey calls f for each entry of a mapping and reports keys that come twice.
func (d *decoder) eachKey(y *yaml.Node, path string, f func(key, value *yaml.Node)) {
	if y.Kind != yaml.MappingNode {
		d.errorf(y, path, "is %s, must be a mapping (key: value)", describe(y))
		return
	}
	lines := make(map[string]int, len(y.Content)/2)
	for i := 0; i+1 < len(y.Content); i += 2 {
		key := y.Content[i]
		if key.Kind != yaml.ScalarNode || key.Tag == "!!null" {
			d.errorf(key, path, "a key must be a word")
			continue
		}
		if key.Tag == "!!merge" {
			d.errorf(key, path, "unknown key %q: nothing is merged, the values must stand here", short(key.Value))
			continue
		}
		if first, twice := lines[key.Value]; twice {
			d.errorf(key, path, "key %q comes twice, first on line %d", short(key.Value), first)
			continue
		}
		lines[key.Value] = key.Line
		f(key, y.Content[i+1])
	}
}

func (d *decoder) decodeList(y *yaml.Node, v reflect.Value, path string) {
	if y.Kind != yaml.SequenceNode {
		d.errorf(y, path, "is %s, must be a list", describe(y))
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	for i, item := range y.Content {
		e := reflect.New(v.Type().Elem()).Elem()
		d.decode(item, e, fmt.Sprintf("%s[%d]", path, i))
		if d.visits > d.values {
			return
		}
		v.Set(reflect.Append(v, e))
	}
}

// plain are the tags of values that are what stands there.
var plain = []string{"!!str", "!!int", "!!float", "!!bool", "!!timestamp", "!!merge", "!"}

func (d *decoder) decodeScalar(y *yaml.Node, v reflect.Value, path string) {
	if y.Kind != yaml.ScalarNode || y.Tag == "!!null" {
		d.errorf(y, path, "is %s, must be %s", describe(y), wanted(v.Kind()))
		return
	}
	if !slices.Contains(plain, y.ShortTag()) {
		d.errorf(y, path, "%s %q: values of this kind are not read, must be %s", y.ShortTag(), short(y.Value), wanted(v.Kind()))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(y.Value) // whatever it is, as written
		return
	case reflect.Bool:
		if b := false; y.ShortTag() == "!!bool" && y.Decode(&b) == nil {
			v.SetBool(b)
			return
		}
	case reflect.Int:
		if n, ok := integer(y); ok {
			v.SetInt(int64(n))
			return
		}
	case reflect.Float64:
		if x, ok := number(y); ok {
			v.SetFloat(x)
			return
		}
	default:
		panic(fmt.Sprintf("strictyaml: cannot decode into %s", v.Type()))
	}
	d.errorf(y, path, "%q must be %s", short(y.Value), wanted(v.Kind()))
}

// fieldOf finds the field with a tag, −1 if there is none.
func fieldOf(t reflect.Type, tag string) int {
	if tag == "-" || tag == "" {
		return -1
	}
	for i := range t.NumField() {
		if t.Field(i).Tag.Get("yaml") == tag {
			return i
		}
	}
	return -1
}

// Keys lists the keys that a mapping of struct type t may have, in the order of
// its fields.
func Keys(t reflect.Type) []string {
	var keys []string
	for i := range t.NumField() {
		if tag := t.Field(i).Tag.Get("yaml"); tag != "" && tag != "-" && tag[0] != ',' {
			keys = append(keys, tag)
		}
	}
	return slices.Clip(keys)
}

// short is the beginning of a text, for a message.
func short(s string) string {
	const most = 60 // runes
	n := 0
	for i := range s {
		if n++; n > most {
			return s[:i] + "…"
		}
	}
	return s
}

func describe(y *yaml.Node) string {
	switch {
	case y.Kind == yaml.MappingNode:
		return "a mapping"
	case y.Kind == yaml.SequenceNode:
		return "a list"
	case y.Tag == "!!null":
		return "empty"
	}
	return fmt.Sprintf("%q", short(y.Value))
}

func wanted(k reflect.Kind) string {
	switch k {
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Int:
		return "an integer"
	}
	return "a finite number"
}
