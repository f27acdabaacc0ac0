package rosjson

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"poise/msgs"
)

// maxProblems is how many problems of one text are told; the rest is noise.
const maxProblems = 20

// FieldError is a value that does not fit the message.
type FieldError struct {
	Path string // "goal_constraints[0].name"; empty for the whole
	Line int
	Msg  string
}

func (e *FieldError) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("line %d: %s", e.Line, e.Msg)
	}
	return fmt.Sprintf("line %d: %s: %s", e.Line, e.Path, e.Msg)
}

// Unmarshal reads JSON or YAML text into the message that dst points to. All
// problems are returned together; dst is then not to be used.
func Unmarshal(data []byte, dst any) error {
	n, err := parse(data)
	if err != nil {
		return err
	}
	d := decoder{}
	d.value(n, reflect.ValueOf(dst).Elem(), "")
	return errors.Join(d.problems...)
}

// HasKey reports whether the text is an object with the given key: how a reader
// tells one message from another before it reads either.
func HasKey(data []byte, key string) (bool, error) {
	n, err := parse(data)
	if err != nil {
		return false, err
	}
	if n.kind != object {
		return false, &FieldError{Line: n.line, Msg: "a message is an object, not " + n.kind.String()}
	}
	for _, k := range n.keys {
		if k == key {
			return true, nil
		}
	}
	return false, nil
}

type decoder struct{ problems []error }

func (d *decoder) fail(n *node, path, format string, a ...any) {
	switch {
	case len(d.problems) < maxProblems:
		d.problems = append(d.problems, &FieldError{Path: path, Line: n.line, Msg: fmt.Sprintf(format, a...)})
	case len(d.problems) == maxProblems:
		d.problems = append(d.problems, errors.New("and more problems of this kind"))
	}
}

var (
	timeType     = reflect.TypeFor[msgs.Time]()
	durationType = reflect.TypeFor[msgs.Duration]()
)

func (d *decoder) value(n *node, v reflect.Value, path string) {
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == timeType || v.Type() == durationType {
			d.structure(respell(n), v, path)
			return
		}
		d.structure(n, v, path)
	case reflect.Slice:
		d.slice(n, v, path)
	case reflect.Array:
		d.array(n, v, path)
	case reflect.Float64, reflect.Float32:
		d.float(n, v, path)
	case reflect.String:
		if n.kind != text {
			d.fail(n, path, "want a string, got %s%s", n.kind, shown(n))
			return
		}
		v.SetString(n.text)
	case reflect.Bool:
		if n.kind != boolean {
			d.fail(n, path, "want true or false, got %s%s", n.kind, shown(n))
			return
		}
		v.SetBool(strings.EqualFold(n.text, "true"))
	default:
		d.integer(n, v, path)
	}
}

// respell turns ROS 1's names of a time's parts into ROS 2's.
func respell(n *node) *node {
	if n.kind != object {
		return n
	}
	out := *n
	out.keys = make([]string, len(n.keys))
	for i, k := range n.keys {
		switch k {
		case "secs":
			k = "sec"
		case "nsecs":
			k = "nanosec"
		}
		out.keys[i] = k
	}
	return &out
}

func (d *decoder) structure(n *node, v reflect.Value, path string) {
	if n.kind != object {
		d.fail(n, path, "want an object, got %s%s", n.kind, shown(n))
		return
	}
	p := planOf(v.Type())
	seen := make([]bool, v.NumField())
	for i, key := range n.keys {
		at := join(path, key)
		field, ok := p.index[key]
		switch {
		case !ok:
			d.fail(n.items[i], at, "the message has no such field; it has %s", strings.Join(p.names, ", "))
		case seen[field]:
			d.fail(n.items[i], at, "the field stands here twice")
		default:
			seen[field] = true
			d.value(n.items[i], v.Field(field), at)
			d.bound(n.items[i], v, field, at)
		}
	}
}

// bound refuses a list that is longer than its field allows.
func (d *decoder) bound(n *node, v reflect.Value, field int, path string) {
	if tag := v.Type().Field(field).Tag.Get("bound"); tag != "" {
		if most, _ := strconv.Atoi(tag); v.Field(field).Len() > most {
			d.fail(n, path, "%d values, at most %d fit", v.Field(field).Len(), most)
		}
	}
}

// bytes reads base64, as rosbridge writes uint8[].
func (d *decoder) bytes(n *node, v reflect.Value, path string) {
	data, err := base64.StdEncoding.DecodeString(n.text)
	switch {
	case err != nil:
		d.fail(n, path, "want a list of bytes or base64, got%s", shown(n))
	case v.Kind() == reflect.Slice:
		v.SetBytes(data)
	case len(data) != v.Len():
		d.fail(n, path, "want %d bytes, got %d", v.Len(), len(data))
	default:
		reflect.Copy(v, reflect.ValueOf(data))
	}
}

func (d *decoder) slice(n *node, v reflect.Value, path string) {
	if n.kind == text && v.Type().Elem().Kind() == reflect.Uint8 {
		d.bytes(n, v, path)
		return
	}
	if n.kind != list {
		d.fail(n, path, "want a list, got %s%s", n.kind, shown(n))
		return
	}
	s := reflect.MakeSlice(v.Type(), len(n.items), len(n.items))
	for i, item := range n.items {
		d.value(item, s.Index(i), path+"["+strconv.Itoa(i)+"]")
	}
	v.Set(s)
}

func (d *decoder) array(n *node, v reflect.Value, path string) {
	if n.kind == text && v.Type().Elem().Kind() == reflect.Uint8 {
		d.bytes(n, v, path)
		return
	}
	if n.kind != list || len(n.items) != v.Len() {
		d.fail(n, path, "want a list of %d, got %s of %d", v.Len(), n.kind, len(n.items))
		return
	}
	for i, item := range n.items {
		d.value(item, v.Index(i), path+"["+strconv.Itoa(i)+"]")
	}
}

func (d *decoder) float(n *node, v reflect.Value, path string) {
	if n.kind == null {
		v.SetFloat(math.NaN())
		return
	}
	if n.kind != number {
		d.fail(n, path, "want a number, got %s%s", n.kind, shown(n))
		return
	}
	x, err := strconv.ParseFloat(yamlNumber(n.text), 64)
	if err != nil {
		d.fail(n, path, "%s is not a number that fits", n.text)
		return
	}
	v.SetFloat(x)
}

// yamlNumber spells YAML's infinities and not-a-number as Go reads them.
func yamlNumber(s string) string {
	switch strings.ToLower(strings.TrimLeft(s, "+-")) {
	case ".inf", ".nan":
		return strings.Replace(s, ".", "", 1)
	}
	return s
}

func (d *decoder) integer(n *node, v reflect.Value, path string) {
	if n.kind != number {
		d.fail(n, path, "want a whole number, got %s%s", n.kind, shown(n))
		return
	}
	if v.CanInt() {
		x, err := wholeNumber(n.text)
		switch {
		case err != nil:
			d.fail(n, path, "%s is not a whole number", n.text)
		case v.OverflowInt(x):
			d.fail(n, path, "%s does not fit into %s", n.text, v.Type())
		default:
			v.SetInt(x)
		}
		return
	}
	if x, err := strconv.ParseUint(n.text, 10, 64); err == nil && !v.OverflowUint(x) {
		v.SetUint(x)
		return
	}
	switch x, err := wholeNumber(n.text); {
	case err != nil:
		d.fail(n, path, "%s is not a whole number", n.text)
	case x < 0 || v.OverflowUint(uint64(x)):
		d.fail(n, path, "%s does not fit into %s", n.text, v.Type())
	default:
		v.SetUint(uint64(x))
	}
}

var errNotWhole = errors.New("not a whole number")

// wholeNumber reads a whole number, which may come as 3.0: clients in languages
// with one number type do that.
func wholeNumber(s string) (int64, error) {
	if x, err := strconv.ParseInt(s, 10, 64); err == nil {
		return x, nil
	}
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || x != math.Trunc(x) || math.Abs(x) > 1<<53 {
		return 0, errNotWhole
	}
	return int64(x), nil
}

// plan is how a struct's fields are named on the wire.
type plan struct {
	index map[string]int // by name, in either form
	names []string       // in the ROS 2 form, then those of ROS 1 alone
}

var plans sync.Map

func planOf(t reflect.Type) *plan {
	if p, ok := plans.Load(t); ok {
		return p.(*plan)
	}
	p := &plan{index: map[string]int{}}
	for form := range msgs.NumForms {
		for i := range t.NumField() {
			f := t.Field(i)
			name := fieldName(f, form)
			if _, known := p.index[name]; inForm(f, form) && !known {
				p.index[name] = i
				p.names = append(p.names, name)
			}
		}
	}
	plans.Store(t, p)
	return p
}

// fieldName returns the ROS name of a field in a form.
func fieldName(f reflect.StructField, form msgs.Form) string {
	if other := f.Tag.Get("ros1"); other != "" && form == msgs.ROS1 {
		return other
	}
	return f.Tag.Get("json")
}

// inForm reports whether a form has the field.
func inForm(f reflect.StructField, form msgs.Form) bool {
	switch f.Tag.Get("form") {
	case "1":
		return form == msgs.ROS1
	case "2":
		return form == msgs.ROS2
	}
	return true
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// shown returns a short quotation of a plain value, for messages.
func shown(n *node) string {
	if n.text == "" {
		return ""
	}
	s := n.text
	if len(s) > 40 {
		s = s[:40] + "…"
	}
	return " " + strconv.Quote(s)
}
