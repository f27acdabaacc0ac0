package registry

import (
	"fmt"
	"reflect"
	"strings"

	"poise/msgs"
)

// Type is a message type, or one half of a service's.
type Type struct {
	pkg, name string // sensor_msgs, JointState
	section   string // of a ROS 2 name: msg, srv, action
	ros2name  string // in ROS 2, if it differs: X_Request, X_Goal
	ros2pkg   string // in ROS 2, if it differs
	only      msgs.Form
	single    bool // it exists only in the form only
	goType    reflect.Type
	constants []Constant
	fields    []Field
	sum       string
}

// Field is a field of a message.
type Field struct {
	Name string
	Type string // as ROS 2 writes it, without brackets: float64, geometry_msgs/Pose
	List int    // Scalar, Open, or the fixed length
	Max  int    // of an open list, or of a text, in ROS 2; 0 is no bound

	Index int // in the Go struct

	ros1Name string
	forms    [msgs.NumForms]bool
	message  *Type // nil for a built-in type
}

// Values of Field.List besides a fixed length.
const (
	Scalar = -1
	Open   = 0
)

// Constant is a constant of a message.
type Constant struct {
	Type, Name, Value string

	forms [msgs.NumForms]bool
}

// Name returns the type's full name: sensor_msgs/msg/JointState in ROS 2,
// sensor_msgs/JointState in ROS 1.
func (t *Type) Name(f msgs.Form) string {
	if f == msgs.ROS1 {
		return t.pkg + "/" + t.name
	}
	return t.home(f) + "/" + t.section + "/" + t.shortName(f)
}

func (t *Type) home(f msgs.Form) string {
	if f.IsROS2() && t.ros2pkg != "" {
		return t.ros2pkg
	}
	return t.pkg
}

// String returns the ROS 2 name, or ROS 1's of a type that only ROS 1 has.
func (t *Type) String() string { return t.Name(t.Form()) }

// Form returns ROS 2, unless the type exists in ROS 1 only.
func (t *Type) Form() msgs.Form {
	if t.single {
		return t.only
	}
	return msgs.ROS2
}

// In reports whether the type exists in a form.
func (t *Type) In(f msgs.Form) bool { return !t.single || t.only.IsROS2() == f.IsROS2() }

// Go returns the struct that carries the type's values.
func (t *Type) Go() reflect.Type { return t.goType }

// New returns a pointer to a zero value.
func (t *Type) New() any { return reflect.New(t.goType).Interface() }

// Holds reports whether v is a pointer to a value of the type.
func (t *Type) Holds(v any) bool {
	r := reflect.TypeOf(v)
	return r != nil && r.Kind() == reflect.Pointer && r.Elem() == t.goType
}

// Fields returns the fields in one form, in order and under that form's names.
func (t *Type) Fields(f msgs.Form) []Field {
	var out []Field
	for _, x := range t.fields {
		if !x.forms[f] {
			continue
		}
		if f == msgs.ROS1 {
			x.Name = x.ros1Name
		}
		out = append(out, x)
	}
	return out
}

// Constants returns the constants in one form, in order.
func (t *Type) Constants(f msgs.Form) []Constant {
	var out []Constant
	for _, c := range t.constants {
		if c.forms[f] {
			out = append(out, c)
		}
	}
	return out
}

// Message returns the field's message type, nil for a built-in type.
func (x *Field) Message() *Type { return x.message }

// TypeName returns the full name of the field's type in a form, without brackets; in
// ROS 1, times are built in.
func (x *Field) TypeName(f msgs.Form) string {
	switch {
	case x.message != nil:
		return x.message.Name(f)
	case f == msgs.ROS1 && x.Type == builtinTime:
		return "time"
	case f == msgs.ROS1 && x.Type == builtinDuration:
		return "duration"
	}
	return x.Type
}

const (
	builtinTime     = "builtin_interfaces/msg/Time"
	builtinDuration = "builtin_interfaces/msg/Duration"
)

var (
	timeType     = reflect.TypeFor[msgs.Time]()
	durationType = reflect.TypeFor[msgs.Duration]()
)

// describe reads the fields of a struct. types holds the message types known so far. A
// mistake is one of the table, so it panics.
func describe(t reflect.Type, types map[reflect.Type]*Type) (fields []Field) {
	for i := range t.NumField() {
		f := t.Field(i)
		name := f.Tag.Get("json")
		if name == "" {
			panic(fmt.Sprintf("registry: %s.%s has no json tag", t, f.Name))
		}
		field := Field{Name: name, ros1Name: name, Index: i, List: Scalar, forms: formsOf(f.Tag.Get("form"), f.Tag.Get("since"))}
		if other := f.Tag.Get("ros1"); other != "" {
			field.ros1Name = other
		}
		fmt.Sscan(f.Tag.Get("bound"), &field.Max)
		base := f.Type
		switch base.Kind() {
		case reflect.Slice:
			field.List, base = Open, base.Elem()
		case reflect.Array:
			field.List, base = base.Len(), base.Elem()
		}
		switch {
		case base == timeType:
			field.Type = builtinTime
		case base == durationType:
			field.Type = builtinDuration
		case base.Kind() == reflect.Struct:
			field.message = types[base]
			if field.message == nil {
				panic(fmt.Sprintf("registry: %s.%s: %s is not in the table, or stands below", t, f.Name, base))
			}
			field.Type = field.message.String()
		default:
			field.Type = base.Kind().String()
		}
		if other := f.Tag.Get("ros"); other != "" {
			field.Type = other
		}
		fields = append(fields, field)
	}
	return fields
}

// formsOf reads a form tag: "1", "2", or nothing for both; and the distribution of ROS 2 that
// had it first: "jazzy", "rolling", or nothing for all.
func formsOf(tag, since string) (forms [msgs.NumForms]bool) {
	forms[msgs.ROS1] = tag != "2"
	forms[msgs.ROS2] = tag != "1"
	forms[msgs.Jazzy] = tag != "1" && since != "rolling"
	forms[msgs.Humble] = tag != "1" && since == ""
	return forms
}

// constant reads a line of the table: "int32 SUCCESS=1", before it "1:" or "2:"
// if only one form has it.
func constant(line string) Constant {
	form := ""
	if only, rest, ok := strings.Cut(line, ":"); ok && (only == "1" || only == "2") {
		form, line = only, rest
	}
	kind, rest, ok := strings.Cut(line, " ")
	name, value, ok2 := strings.Cut(rest, "=")
	if !ok || !ok2 {
		panic("registry: bad constant " + line)
	}
	return Constant{Type: kind, Name: name, Value: value, forms: formsOf(form, "")}
}

// Part reports whether the type is a half of a service or a part of an action.
func (t *Type) Part() bool { return t.section != "msg" }
