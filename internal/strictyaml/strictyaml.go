// Package strictyaml reads YAML into Go values and takes nothing on trust: an
// unknown key, a key written twice, a value of the wrong kind, a number that is
// not finite and a second document are errors, all reported at once, each with
// file, line and the path to the place.
//
// Decode fills structs by their `yaml:"key"` tags. Some tags mean more than a
// key:
//
//	,key    of a slice's element: the slice stands in the file as a mapping,
//	        in the order of the file, and this field takes the key
//	,value  of such an element: the value is this field alone, not a mapping
//	,line   an int that takes the line where the element begins
//	,lines  a map[string]int that takes the line of each key
//	,inline a slice of ,key elements that takes the whole mapping
//
// Numbers may be written as integers, and digits are decimal whatever zeros stand
// before them: 017 is seventeen. Words such as yes, on and 1:30 are texts. Aliases are followed, within a budget.
package strictyaml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"

	"poise/problem"
)

// Bounds are what a document may cost.
type Bounds struct {
	Bytes  int // size of a document
	Values int // nodes looked at, those behind aliases each time
}

// usual are the bounds where a caller asks for none.
var usual = Bounds{Bytes: 1 << 20, Values: 1 << 18}

const maxErrors = 100 // told of one document

// Node is a value of a document. A field of this type takes a value that may be
// of more than one kind, to be decoded once its kind is known.
type Node struct {
	d *decoder
	y *yaml.Node // nil for an empty document
	p string     // path from the top
}

// Parse reads a document; file is its name in messages.
func Parse(data []byte, file string) (Node, error) { return parse(data, file, usual) }

func parse(data []byte, file string, within Bounds) (Node, error) {
	d := &decoder{file: file, values: within.Values}
	if len(data) > within.Bytes {
		return Node{}, &problem.Problem{Pos: problem.Pos{File: file, Line: 1}, Text: fmt.Sprintf("%d bytes; a file of this kind has at most %d", len(data), within.Bytes)}
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return Node{d: d}, nil
	case err != nil:
		return Node{}, syntaxError(file, data, err)
	}
	switch err := dec.Decode(&second); {
	case errors.Is(err, io.EOF):
	case err != nil:
		return Node{}, syntaxError(file, data, err)
	default:
		return Node{}, &problem.Problem{Pos: problem.Pos{File: file, Line: second.Line}, Text: "a second document begins here; one is allowed"}
	}
	return Node{d: d, y: doc.Content[0]}, nil
}

// countedFromZero begin the texts of what the library's parser, as opposed to
// its scanner, finds wrong: there it counts lines from zero.
var countedFromZero = []string{
	"did not find expected '-' indicator", "did not find expected ',' or", "did not find expected key",
	"did not find expected node content", "did not find expected <", "found undefined tag handle", "found duplicate %",
	"found incompatible YAML",
}

// syntaxError takes the line out of the library's text "yaml: line 3: …".
func syntaxError(file string, data []byte, err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 1
	if n, _ := fmt.Sscanf(text, "line %d:", &line); n == 1 {
		_, text, _ = strings.Cut(text, ": ")
		for _, begin := range countedFromZero {
			if strings.HasPrefix(text, begin) {
				line++
				break
			}
		}
	} else if name, ok := strings.CutPrefix(text, "unknown anchor '"); ok {
		name, _, _ = strings.Cut(name, "'")
		if before, _, found := bytes.Cut(data, []byte("*"+name)); found {
			line += bytes.Count(before, []byte("\n"))
		}
	}
	last := 1 + bytes.Count(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
	return &problem.Problem{Pos: problem.Pos{File: file, Line: min(line, last)}, Text: text} // what the end of the file lacks, its last line lacks
}

// Only returns the value of key if the node is a mapping with this key alone:
// the way into a file that wraps its contents.
func (n Node) Only(key string) (Node, bool) {
	if n.y == nil || n.y.Kind != yaml.MappingNode || len(n.y.Content) != 2 || n.y.Content[0].Value != key {
		return n, false
	}
	return Node{n.d, n.y.Content[1], join(n.p, key)}, true
}

// Line returns where the node begins, 0 for none.
func (n Node) Line() int {
	if n.y == nil {
		return 0
	}
	return n.y.Line
}

// Path returns the way to the node from the top, such as chains.leg1.base.
func (n Node) Path() string { return n.p }

// Mapping reports whether the node is a mapping, and returns its keys.
func (n Node) Mapping() (keys []string, ok bool) {
	if n.y == nil || n.y.Kind != yaml.MappingNode {
		return nil, false
	}
	for i := 0; i < len(n.y.Content); i += 2 {
		keys = append(keys, n.y.Content[i].Value)
	}
	return keys, true
}

// Value returns what stands under a key of a mapping.
func (n Node) Value(key string) (Node, bool) {
	if n.y == nil || n.y.Kind != yaml.MappingNode {
		return Node{}, false
	}
	for i := 0; i < len(n.y.Content); i += 2 {
		if n.y.Content[i].Value == key {
			return Node{n.d, n.y.Content[i+1], join(n.p, key)}, true
		}
	}
	return Node{}, false
}

// Sequence reports whether the node is a list, and returns its elements.
func (n Node) Sequence() (elements []Node, ok bool) {
	if n.y == nil || n.y.Kind != yaml.SequenceNode {
		return nil, false
	}
	for i, y := range n.y.Content {
		elements = append(elements, Node{n.d, y, fmt.Sprintf("%s[%d]", n.p, i)})
	}
	return elements, true
}

// Decode fills what into points to. An empty document leaves it as it is. Several may
// decode one node at the same time.
func (n Node) Decode(into any) error {
	if n.y == nil || n.y.Tag == "!!null" {
		return nil
	}
	d := &decoder{file: n.d.file, values: n.d.values}
	d.decode(n.y, target(into), n.p)
	return errors.Join(d.errs...)
}

// Decode parses a document and fills what into points to.
func Decode(data []byte, file string, into any) error {
	return DecodeWithin(data, file, into, usual)
}

// DecodeWithin is Decode for files that may cost more than the usual, or less.
func DecodeWithin(data []byte, file string, into any, within Bounds) error {
	n, err := parse(data, file, within)
	if err != nil {
		return err
	}
	return n.Decode(into)
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
