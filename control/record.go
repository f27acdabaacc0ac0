package control

import (
	"encoding/json"
	"fmt"
)

// record is what a recording has of a controller that takes more than one kind of
// program: the kind, and then the program itself.
type record struct {
	Kind string          `json:"kind"`
	Data json.RawMessage `json:"data"`
}

// EncodeRecord writes a program under the name of its kind, for the flight recorder.
func EncodeRecord(kind string, p any) ([]byte, error) {
	data, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	return json.Marshal(record{kind, data})
}

// DecodeRecord reads what EncodeRecord wrote. make returns an empty program of a
// kind, nil for one that it does not know; who is named in errors.
func DecodeRecord(who string, b []byte, make func(kind string) Program) (Program, error) {
	var r record
	if err := json.Unmarshal(b, &r); err != nil {
		return nil, fmt.Errorf("%s: %w", who, err)
	}
	p := make(r.Kind)
	if p == nil {
		return nil, fmt.Errorf("%s: there are no programs of kind %q", who, r.Kind)
	}
	return DecodeJSON(who, r.Data, p)
}

// DecodeJSON reads a program that is recorded as it is into p, an empty one; who is named in errors.
func DecodeJSON(who string, b []byte, p Program) (Program, error) {
	if err := json.Unmarshal(b, p); err != nil {
		return nil, fmt.Errorf("%s: %w", who, err)
	}
	return p, nil
}
