package registry

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"poise/msgs"
)

// Hash returns the name that ROS 2 gives a type's definition since Iron, RIHS01_ and 64 hex
// digits: REP-2016, the sha256 of the description of the type and of all types inside it.
func (t *Type) Hash(f msgs.Form) string {
	text, err := json.Marshal(t.hashed(f))
	if err != nil {
		panic("registry: " + err.Error()) // of texts and numbers alone
	}
	sum := sha256.Sum256(spaced(text))
	return "RIHS01_" + hex.EncodeToString(sum[:])
}

// hashed describes a type and all types inside it.
func (t *Type) hashed(f msgs.Form) hashed {
	parts := map[string]*Type{}
	times := map[string]bool{}
	for _, p := range append(t.Parts(f), t) {
		if p != t {
			parts[p.Name(f)] = p
		}
		for _, x := range p.Fields(f) {
			if x.message == nil && strings.Contains(x.Type, "/") {
				times[x.Type] = true // built in here, and messages in ROS 2
			}
		}
	}
	described := hashed{Type: t.described(f), Parts: []describedType{}}
	for _, p := range parts {
		described.Parts = append(described.Parts, p.described(f))
	}
	for name := range times {
		described.Parts = append(described.Parts, timeDescribed(name))
	}
	slices.SortFunc(described.Parts, func(a, b describedType) int { return strings.Compare(a.Name, b.Name) })
	return described
}

type hashed struct {
	Type  describedType   `json:"type_description"`
	Parts []describedType `json:"referenced_type_descriptions"`
}

type describedType struct {
	Name   string           `json:"type_name"`
	Fields []describedField `json:"fields"`
}

type describedField struct {
	Name string        `json:"name"`
	Type describedKind `json:"type"`
}

type describedKind struct {
	ID       int    `json:"type_id"`
	Capacity int    `json:"capacity"`
	Text     int    `json:"string_capacity"`
	Nested   string `json:"nested_type_name"`
}

// kinds are the numbers of type_description_interfaces/FieldType.
var kinds = map[string]int{"int8": 2, "uint8": 3, "int16": 4, "uint16": 5, "int32": 6, "uint32": 7, "int64": 8, "uint64": 9,
	"float32": 10, "float64": 11, "char": 3, "bool": 15, "byte": 16, "string": 17}

// What is added to the number of a list's items, and the number of a message.
const (
	kindNested  = 1
	kindText    = 21 // that is bounded
	kindArray   = 48
	kindBounded = 96
	kindOpen    = 144
)

func (t *Type) described(f msgs.Form) describedType {
	d := describedType{Name: t.Name(f), Fields: []describedField{}}
	for _, x := range t.Fields(f) {
		d.Fields = append(d.Fields, describedField{x.Name, x.described(f)})
	}
	if len(d.Fields) == 0 {
		d.Fields = append(d.Fields, describedField{"structure_needs_at_least_one_member", describedKind{ID: kinds["uint8"]}})
	}
	return d
}

func (x *Field) described(f msgs.Form) (k describedKind) {
	name := x.TypeName(f)
	if id, ok := kinds[name]; ok {
		k.ID = id
	} else {
		k.ID, k.Nested = kindNested, name
	}
	switch {
	case x.List == Scalar && x.Max > 0:
		k.ID, k.Text = kindText, x.Max
	case x.List == Scalar:
	case x.List > 0:
		k.ID, k.Capacity = k.ID+kindArray, x.List
	case x.Max > 0:
		k.ID, k.Capacity = k.ID+kindBounded, x.Max
	default:
		k.ID += kindOpen
	}
	return k
}

func timeDescribed(name string) describedType {
	return describedType{Name: name, Fields: []describedField{{"sec", describedKind{ID: kinds["int32"]}}, {"nanosec", describedKind{ID: kinds["uint32"]}}}}
}

// spaced puts a space after each comma and colon of JSON, as REP-2016 has it; names have none.
func spaced(text []byte) []byte {
	out := make([]byte, 0, len(text)+len(text)/4)
	quoted := false
	for _, c := range text {
		out = append(out, c)
		switch {
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ',' || c == ':'):
			out = append(out, ' ')
		}
	}
	return out
}
