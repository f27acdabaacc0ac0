package rosjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"
)

// Bounds of what is read, far above any real message.
const (
	maxBytes = 64 << 20
	maxNodes = 4 << 20
	maxDepth = 64
)

type kind uint8

const (
	null kind = iota
	boolean
	number
	text
	list
	object
)

func (k kind) String() string {
	return [...]string{"null", "a boolean", "a number", "a string", "a list", "an object"}[k]
}

// node is a value of the text, with its line.
type node struct {
	kind  kind
	text  string   // as written: boolean, number, text
	keys  []string // of an object
	items []*node
	line  int
}

// looksLikeJSON reports whether the text begins as JSON messages do.
func looksLikeJSON(data []byte) bool {
	first := bytes.TrimLeft(bytes.TrimPrefix(data, byteOrderMark), " \t\r\n")
	return len(first) > 0 && (first[0] == '{' || first[0] == '[')
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// parse reads JSON if the text is JSON, else YAML.
func parse(data []byte) (*node, error) {
	if len(data) > maxBytes {
		return nil, fmt.Errorf("%d bytes, at most %d are read", len(data), maxBytes)
	}
	data = bytes.TrimPrefix(data, byteOrderMark)
	if looksLikeJSON(data) {
		n, err := parseJSON(data)
		if err == nil {
			return n, nil
		}
		if n, yamlErr := parseYAML(data); yamlErr == nil {
			return n, nil
		}
		return nil, err
	}
	return parseYAML(data)
}

// jsonReader builds nodes from JSON tokens.
type jsonReader struct {
	dec   *json.Decoder
	data  []byte
	line  int   // of offset
	at    int64 // how far lines have been counted
	nodes int
}

func parseJSON(data []byte) (*node, error) {
	r := &jsonReader{dec: json.NewDecoder(bytes.NewReader(data)), data: data, line: 1}
	r.dec.UseNumber()
	n, err := r.value(0)
	if err == nil {
		if _, err = r.dec.Token(); err == io.EOF {
			return n, nil
		} else if err == nil {
			err = errors.New("something follows the value")
		}
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		r.countLines(syntax.Offset)
	}
	return nil, fmt.Errorf("line %d: %w", r.line, err)
}

func (r *jsonReader) countLines(to int64) {
	to = min(to, int64(len(r.data)))
	if to > r.at {
		r.line += bytes.Count(r.data[r.at:to], []byte{'\n'})
		r.at = to
	}
}

func (r *jsonReader) token() (json.Token, error) {
	t, err := r.dec.Token()
	r.countLines(r.dec.InputOffset())
	return t, err
}

func (r *jsonReader) value(depth int) (*node, error) {
	t, err := r.token()
	if err != nil {
		return nil, err
	}
	if r.nodes++; r.nodes > maxNodes {
		return nil, fmt.Errorf("more than %d values", maxNodes)
	}
	if depth > maxDepth {
		return nil, fmt.Errorf("nested deeper than %d", maxDepth)
	}
	n := &node{line: r.line}
	switch v := t.(type) {
	case nil:
	case bool:
		n.kind, n.text = boolean, fmt.Sprint(v)
	case json.Number:
		n.kind, n.text = number, v.String()
	case string:
		n.kind, n.text = text, v
	case json.Delim:
		n.kind = list
		if v == '{' {
			n.kind = object
		}
		return n, r.inside(n, depth)
	}
	return n, nil
}

// inside reads the items of a list or an object up to its closing bracket.
func (r *jsonReader) inside(n *node, depth int) error {
	for r.dec.More() {
		if n.kind == object {
			key, err := r.token()
			if err != nil {
				return err
			}
			n.keys = append(n.keys, key.(string))
		}
		item, err := r.value(depth + 1)
		if err != nil {
			return err
		}
		n.items = append(n.items, item)
	}
	_, err := r.token()
	return err
}

// parseYAML reads one YAML document.
func parseYAML(data []byte) (*node, error) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc yaml.Node
	if err := dec.Decode(&doc); err != nil {
		if err == io.EOF {
			return nil, errors.New("the text is empty")
		}
		return nil, err
	}
	var next yaml.Node
	if err := dec.Decode(&next); err != io.EOF {
		return nil, errors.New("more than one document")
	}
	count := 0
	return fromYAML(doc.Content[0], 0, &count)
}

// fromYAML converts a YAML node; aliases are expanded and count, so that nested aliases
// reach the bound.
func fromYAML(y *yaml.Node, depth int, count *int) (*node, error) {
	if *count++; *count > maxNodes {
		return nil, fmt.Errorf("line %d: more than %d values", y.Line, maxNodes)
	}
	if depth > maxDepth {
		return nil, fmt.Errorf("line %d: nested deeper than %d", y.Line, maxDepth)
	}
	n := &node{line: y.Line}
	switch y.Kind {
	case yaml.AliasNode:
		return fromYAML(y.Alias, depth+1, count)
	case yaml.MappingNode:
		n.kind = object
		for i := 0; i+1 < len(y.Content); i += 2 {
			if y.Content[i].Kind != yaml.ScalarNode {
				return nil, fmt.Errorf("line %d: a key must be a plain word", y.Content[i].Line)
			}
			item, err := fromYAML(y.Content[i+1], depth+1, count)
			if err != nil {
				return nil, err
			}
			n.keys, n.items = append(n.keys, y.Content[i].Value), append(n.items, item)
		}
	case yaml.SequenceNode:
		n.kind = list
		for _, c := range y.Content {
			item, err := fromYAML(c, depth+1, count)
			if err != nil {
				return nil, err
			}
			n.items = append(n.items, item)
		}
	default:
		n.text = y.Value
		switch y.ShortTag() {
		case "!!null":
		case "!!bool":
			n.kind = boolean
		case "!!int", "!!float":
			n.kind = number
		default:
			n.kind = text
		}
	}
	return n, nil
}
