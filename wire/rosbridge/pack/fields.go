package pack

import (
	"reflect"
	"strings"
	"sync"

	"poise/msgs"
)

// field is a struct's field as one form has it.
type field struct {
	name  string
	index int
}

type structForm struct {
	t reflect.Type
	f msgs.Form
}

var (
	known        sync.Map // structForm → []field
	timeType     = reflect.TypeFor[msgs.Time]()
	durationType = reflect.TypeFor[msgs.Duration]()
)

// fieldsOf reads the tags of a struct once.
func fieldsOf(t reflect.Type, f msgs.Form) []field {
	key := structForm{t, f}
	if v, ok := known.Load(key); ok {
		return v.([]field)
	}
	var fields []field
	for i := range t.NumField() {
		tag := t.Field(i).Tag
		only := tag.Get("form")
		if only == "1" && f != msgs.ROS1 || only == "2" && f != msgs.ROS2 {
			continue
		}
		name, _, _ := strings.Cut(tag.Get("json"), ",")
		if other := tag.Get("ros1"); other != "" && f == msgs.ROS1 {
			name = other
		}
		fields = append(fields, field{name: name, index: i})
	}
	if f == msgs.ROS1 && (t == timeType || t == durationType) {
		fields[0].name, fields[1].name = "secs", "nsecs"
	}
	known.Store(key, fields)
	return fields
}
