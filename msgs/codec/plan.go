package codec

import (
	"fmt"
	"reflect"
	"sync"

	"poise/msgs"
	"poise/msgs/registry"
)

// Codec reads and writes one message type in one form.
type Codec struct {
	typ  *registry.Type
	form msgs.Form
	cdr  bool
	root node
}

// Type returns what the codec reads and writes.
func (c *Codec) Type() *registry.Type { return c.typ }

// Form returns the form in which it does.
func (c *Codec) Form() msgs.Form { return c.form }

// codecs holds a codec for every type and form that was asked for.
var codecs [msgs.NumForms]sync.Map // *registry.Type → *Codec

// For returns the codec of a type in a form.
func For(t *registry.Type, f msgs.Form) *Codec {
	if c, ok := codecs[f].Load(t); ok {
		return c.(*Codec)
	}
	c := &Codec{typ: t, form: f, cdr: f != msgs.ROS1}
	c.root = c.record(t)
	codecs[f].Store(t, c)
	return c
}

// op is how a value is written.
type op uint8

const (
	opBool   op = iota
	opInt       // of size bytes
	opUint      // of size bytes
	opFloat     // of size bytes
	opString    // count, bytes
	opRecord    // fields in order
	opEmpty     // record without fields
	opFixed     // items
	opList      // count, items
	opFloats    // opList of float64, which most data is
	opBytes     // opList of uint8
)

// node is the plan of a value.
type node struct {
	op     op
	size   int         // bytes of a number
	least  int         // fewest bytes that a value takes
	fields []fieldPlan // of a record
	item   *node       // of a list
	max    int         // items of a list; 0 is no bound
}

type fieldPlan struct {
	node
	name  string
	index int // in the Go struct
}

// record plans a message.
func (c *Codec) record(t *registry.Type) node {
	n := node{op: opRecord}
	for _, field := range t.Fields(c.form) {
		n.add(fieldPlan{name: field.Name, index: field.Index, node: c.field(t.Go().Field(field.Index).Type, &field)})
	}
	if len(n.fields) > 0 {
		return n
	}
	n.op = opEmpty
	if c.cdr {
		n.least = 1
	}
	return n
}

func (n *node) add(f fieldPlan) {
	n.fields = append(n.fields, f)
	n.least += f.least
}

// field plans a field, whose Go type is t.
func (c *Codec) field(t reflect.Type, field *registry.Field) node {
	if field.List == registry.Scalar {
		return c.scalar(t, field)
	}
	return c.list(t, field, c.scalar(t.Elem(), field))
}

// list plans a list of items.
func (c *Codec) list(t reflect.Type, field *registry.Field, item node) node {
	if item.least == 0 {
		// a count of such items is not bounded by the data
		panic(fmt.Sprintf("codec: %s: the field %s is a list of messages without fields", c.typ, field.Name))
	}
	if field.List != registry.Open {
		return node{op: opFixed, item: &item, least: field.List * item.least}
	}
	n := node{op: opList, item: &item, least: 4, max: field.Max}
	switch t.Elem().Kind() {
	case reflect.Float64:
		n.op = opFloats
	case reflect.Uint8:
		n.op = opBytes
	}
	return n
}

// scalar plans a value that is not a list.
func (c *Codec) scalar(t reflect.Type, field *registry.Field) node {
	size := int(t.Size())
	switch t.Kind() {
	case reflect.Bool:
		return node{op: opBool, size: 1, least: 1}
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return node{op: opInt, size: size, least: size}
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return node{op: opUint, size: size, least: size}
	case reflect.Float32, reflect.Float64:
		return node{op: opFloat, size: size, least: size}
	case reflect.String:
		return node{op: opString, least: 4}
	case reflect.Struct:
		if m := field.Message(); m != nil {
			return c.record(m)
		}
		return timePlan
	}
	panic(fmt.Sprintf("codec: %s: the field %s is a Go %s", c.typ, field.Name, t))
}

// timePlan is that of a time or a duration, which are built-in types.
var timePlan = func() node {
	n := node{op: opRecord}
	n.add(fieldPlan{name: "sec", index: 0, node: node{op: opInt, size: 4, least: 4}})
	n.add(fieldPlan{name: "nanosec", index: 1, node: node{op: opUint, size: 4, least: 4}})
	return n
}()
