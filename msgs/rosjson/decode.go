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
	"poise/problem"
)

// maxProblems bounds how many problems of one text are returned.
const maxProblems = 20

// FieldError is a value that does not fit the message.
type FieldError struct {
	Path string // "goal_constraints[0].name"; empty for the whole
	Line int    // 0 if the text has one line
	Msg  string
}

func (e *FieldError) Error() string {
	if e.Path == "" {
		return atLine(e.Line, e.Msg)
	}
	return atLine(e.Line, e.Path+": "+e.Msg)
}

func atLine(line int, text string) string {
	if line == 0 {
		return text
	}
	return fmt.Sprintf("line %d: %s", line, text)
}

// Unmarshal reads JSON or YAML text into the message that dst points to. All
// problems are returned together; dst is then not to be used.
func Unmarshal(data []byte, dst any) error {
	if looksLikeJSON(data) {
		err := UnmarshalJSON(data, dst)
		var broken *SyntaxError
		if !errors.As(err, &broken) {
			return err
		}
		// flow YAML begins like JSON; if it is neither, the JSON reader's error is the
		// more useful one
		n, yamlErr := parseYAML(data)
		if yamlErr != nil {
			return err
		}
		reflect.ValueOf(dst).Elem().SetZero()
		return fill(n, dst, len(data))
	}
	n, err := parse(data)
	if err != nil {
		return err
	}
	return fill(n, dst, len(data))
}

// fill reads a tree into a message.
func fill(n *node, dst any, size int) error {
	d := decoder{budget: budgetFor(size)}
	d.value(n, reflect.ValueOf(dst).Elem())
	return d.result()
}

// HasKey reports whether the text is an object with the given key, by which a reader can
// tell two message types apart before reading.
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

// decoder fills a message from values of a text.
type decoder struct {
	problems []error
	steps    []step     // path of the current value
	more     bool       // problems that are not in the list
	budget   int        // bytes that lists may still take
	here     func() int // current line, for problems without one; may be nil
}

// step is one step of a path: into a field, or into an item if the name is empty.
type step struct {
	name  string
	index int
}

// budgetFor bounds the memory of what is read: "{}," is three bytes of text and may be a
// kilobyte of message. No list of numbers needs more than this.
func budgetFor(size int) int { return 64<<10 + 8*size }

// spend takes the memory of one more item from the budget, or reports that it is used up.
func (d *decoder) spend(line int, item reflect.Type) bool {
	if d.budget < 0 {
		return false
	}
	if d.budget -= int(item.Size()); d.budget < 0 {
		d.fail(line, "the lists are too long: the message would take far more memory than its text")
		return false
	}
	return true
}

func (d *decoder) into(s step) { d.steps = append(d.steps, s) }
func (d *decoder) out()        { d.steps = d.steps[:len(d.steps)-1] }

func (d *decoder) path() string {
	var b strings.Builder
	for i, s := range d.steps {
		switch {
		case s.name == "":
			fmt.Fprintf(&b, "[%d]", s.index)
		case i == 0:
			b.WriteString(s.name)
		default:
			b.WriteString("." + s.name)
		}
	}
	return b.String()
}

func (d *decoder) fail(line int, format string, a ...any) {
	switch {
	case len(d.problems) < maxProblems:
		if line == 0 && d.here != nil {
			line = d.here()
		}
		d.problems = append(d.problems, &FieldError{Path: d.path(), Line: line, Msg: fmt.Sprintf(format, a...)})
	default:
		d.more = true
	}
}

// errMore stands at the end of a list of problems that is not complete.
var errMore = errors.New("and more problems of this kind")

// result joins all problems.
func (d *decoder) result() error {
	if d.more {
		d.problems = append(d.problems, errMore)
	}
	return errors.Join(d.problems...)
}

var (
	timeType     = reflect.TypeFor[msgs.Time]()
	durationType = reflect.TypeFor[msgs.Duration]()
)

func (d *decoder) value(n *node, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		d.structure(n, v)
	case reflect.Slice, reflect.Array:
		if n.kind != list {
			d.scalar(n, v)
			return
		}
		d.list(n, v)
	default:
		d.scalar(n, v)
	}
}

func (d *decoder) structure(n *node, v reflect.Value) {
	if n.kind != object {
		d.scalar(n, v)
		return
	}
	p := planOf(v.Type())
	seen := make([]bool, v.NumField())
	for i, key := range n.keys {
		d.into(step{name: key})
		if field, ok := d.field(n.items[i].line, p, key, seen); ok {
			d.value(n.items[i], v.Field(field))
			d.bound(n.items[i].line, p, v, field)
		}
		d.out()
	}
}

// field returns the field of a key, which may occur once.
func (d *decoder) field(line int, p *plan, key string, seen []bool) (int, bool) {
	field, ok := p.index[key]
	switch {
	case !ok && d.more:
	case !ok:
		hint := ""
		if len(d.problems) < maxProblems { // more are not told
			hint = problem.Hint(key, p.names)
		}
		names := strings.Join(p.names, ", ")
		if names == "" {
			names = "none"
		}
		d.fail(line, "the message has no such field; it has %s%s", names, hint)
	case seen[field]:
		d.fail(line, "the field is given twice")
		ok = false
	default:
		seen[field] = true
	}
	return field, ok
}

// bound refuses a list that is longer than its field allows.
func (d *decoder) bound(line int, p *plan, v reflect.Value, field int) {
	if most := p.bounds[field]; most > 0 && v.Field(field).Len() > most {
		d.fail(line, "%d values, at most %d fit", v.Field(field).Len(), most)
	}
}

func (d *decoder) list(n *node, v reflect.Value) {
	if v.Kind() == reflect.Array && len(n.items) != v.Len() {
		d.fail(n.line, "want a list of %d, got a list of %d", v.Len(), len(n.items))
		return
	}
	if v.Kind() == reflect.Slice {
		v.SetZero()
	}
	for i, item := range n.items {
		if v.Kind() == reflect.Slice {
			if !d.spend(item.line, v.Type().Elem()) {
				return
			}
			extend(v)
		}
		d.into(step{index: i})
		d.value(item, v.Index(i))
		d.out()
	}
	notNil(v)
}

// extend makes room for one more item, which is zero.
func extend(v reflect.Value) {
	n := v.Len()
	if n == v.Cap() {
		v.Grow(1)
	}
	v.SetLen(n + 1)
}

// notNil replaces a nil slice by an empty one.
func notNil(v reflect.Value) {
	if v.Kind() == reflect.Slice && v.IsNil() {
		v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	}
}

// scalar reads a plain value, or reports why the field cannot take it.
func (d *decoder) scalar(n *node, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		d.fail(n.line, "want an object, got %s%s", n.kind, shown(n))
	case reflect.Slice, reflect.Array:
		d.bytes(n, v)
	case reflect.Float64, reflect.Float32:
		d.float(n, v)
	case reflect.String:
		if n.kind != text {
			d.fail(n.line, "want a string, got %s%s", n.kind, shown(n))
			return
		}
		v.SetString(n.text)
	case reflect.Bool:
		if n.kind != boolean {
			d.fail(n.line, "want true or false, got %s%s", n.kind, shown(n))
			return
		}
		v.SetBool(strings.EqualFold(n.text, "true"))
	default:
		d.integer(n, v)
	}
}

// bytes reads base64, as rosbridge writes uint8[].
func (d *decoder) bytes(n *node, v reflect.Value) {
	if n.kind != text || v.Type().Elem().Kind() != reflect.Uint8 {
		d.fail(n.line, "want a list, got %s%s", n.kind, shown(n))
		return
	}
	data, err := base64.StdEncoding.DecodeString(n.text)
	switch {
	case err != nil:
		d.fail(n.line, "want a list of bytes or base64, got%s", shown(n))
	case v.Kind() == reflect.Slice:
		v.SetBytes(data)
	case len(data) != v.Len():
		d.fail(n.line, "want %d bytes, got %d", v.Len(), len(data))
	default:
		reflect.Copy(v, reflect.ValueOf(data))
	}
}

func (d *decoder) float(n *node, v reflect.Value) {
	if n.kind == null {
		v.SetFloat(math.NaN())
		return
	}
	if n.kind != number {
		d.fail(n.line, "want a number, got %s%s", n.kind, shown(n))
		return
	}
	x, err := strconv.ParseFloat(yamlNumber(n.text), v.Type().Bits())
	if err != nil {
		d.fail(n.line, "%s is not a number that fits", n.text)
		return
	}
	v.SetFloat(x)
}

// yamlNumber returns YAML's infinities and NaN in Go's spelling.
func yamlNumber(s string) string {
	switch strings.ToLower(strings.TrimLeft(s, "+-")) {
	case ".inf", ".nan":
		return strings.Replace(s, ".", "", 1)
	}
	return s
}

func (d *decoder) integer(n *node, v reflect.Value) {
	if n.kind != number {
		d.fail(n.line, "want a whole number, got %s%s", n.kind, shown(n))
		return
	}
	if x, err := strconv.ParseUint(n.text, 10, 64); err == nil && v.CanUint() && !v.OverflowUint(x) {
		v.SetUint(x)
		return
	}
	x, err := wholeNumber(n.text)
	switch {
	case err != nil:
		d.fail(n.line, "%s is not a whole number", n.text)
	case v.CanInt() && !v.OverflowInt(x):
		v.SetInt(x)
	case v.CanUint() && x >= 0 && !v.OverflowUint(uint64(x)):
		v.SetUint(uint64(x))
	default:
		d.fail(n.line, "%s does not fit into %s", n.text, v.Type())
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

// plan holds the names of a struct's fields.
type plan struct {
	index map[string]int // by name, in either form
	names []string       // in the ROS 2 form, then those of ROS 1 alone

	bounds []int    // of lists, by field; 0 if there is no bound
	own    []string // name of each field, for paths
}

var plans sync.Map

func planOf(t reflect.Type) *plan {
	if p, ok := plans.Load(t); ok {
		return p.(*plan)
	}
	p := &plan{index: map[string]int{}, bounds: make([]int, t.NumField())}
	for i := range t.NumField() {
		p.bounds[i], _ = strconv.Atoi(t.Field(i).Tag.Get("bound"))
		p.own = append(p.own, t.Field(i).Tag.Get("json"))
	}
	if t == timeType || t == durationType {
		p.index["secs"], p.index["nsecs"] = 0, 1 // as ROS 1 spells it
	}
	for form := range msgs.NumTextForms {
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
