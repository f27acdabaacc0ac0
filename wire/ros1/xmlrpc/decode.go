package xmlrpc

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// Bounds of what is read and written.
const (
	maxDepth  = 32
	maxValues = 1 << 20
)

// reader reads the elements of a document. Attributes, comments and declarations mean
// nothing in XML-RPC.
type reader struct {
	d      *xml.Decoder
	values int
}

func newReader(data []byte) *reader {
	d := xml.NewDecoder(bytes.NewReader(data))
	d.CharsetReader = func(label string, in io.Reader) (io.Reader, error) {
		switch strings.ToLower(label) {
		case "us-ascii", "ascii", "iso-8859-1", "latin1":
			all, err := io.ReadAll(in)
			if err != nil {
				return nil, err
			}
			runes := make([]rune, len(all))
			for i, c := range all {
				runes[i] = rune(c)
			}
			return strings.NewReader(string(runes)), nil
		}
		return nil, fmt.Errorf("the encoding %q is not read", label)
	}
	return &reader{d: d}
}

// next returns the next start or end of an element and the text before it.
func (r *reader) next() (start *xml.StartElement, text string, err error) {
	var all []byte
	for {
		token, err := r.d.Token()
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, "", err
		}
		switch t := token.(type) {
		case xml.StartElement:
			return &t, string(all), nil
		case xml.EndElement:
			return nil, string(all), nil
		case xml.CharData:
			all = append(all, t...)
		}
	}
}

// open expects an element of one of the names.
func (r *reader) open(names ...string) (string, error) {
	start, _, err := r.next()
	if err != nil {
		return "", err
	}
	found := "an end"
	if start != nil {
		for _, name := range names {
			if start.Name.Local == name {
				return name, nil
			}
		}
		found = "<" + start.Name.Local + ">"
	}
	return "", fmt.Errorf("%s in place of <%s>", found, strings.Join(names, "> or <"))
}

// close expects the end of an element.
func (r *reader) close() error {
	start, _, err := r.next()
	if err == nil && start != nil {
		err = fmt.Errorf("<%s> is not expected here", start.Name.Local)
	}
	return err
}

// text reads the text of an element, up to its end.
func (r *reader) text() (string, error) {
	start, text, err := r.next()
	if err == nil && start != nil {
		err = fmt.Errorf("<%s> stands inside a text", start.Name.Local)
	}
	return text, err
}

// readCall reads a call.
func readCall(data []byte) (method string, args []any, err error) {
	r := newReader(data)
	if _, err := r.open("methodCall"); err != nil {
		return "", nil, err
	}
	if _, err := r.open("methodName"); err != nil {
		return "", nil, err
	}
	if method, err = r.text(); err != nil {
		return "", nil, err
	}
	start, _, err := r.next()
	if err != nil || start == nil {
		return strings.TrimSpace(method), nil, err // no params at all
	}
	if start.Name.Local != "params" {
		return "", nil, fmt.Errorf("<%s> in place of <params>", start.Name.Local)
	}
	for {
		start, _, err := r.next()
		switch {
		case err != nil:
			return "", nil, err
		case start == nil:
			return strings.TrimSpace(method), args, nil
		case start.Name.Local != "param":
			return "", nil, fmt.Errorf("<%s> in place of <param>", start.Name.Local)
		}
		v, err := r.param()
		if err != nil {
			return "", nil, err
		}
		args = append(args, v)
	}
}

// param reads the value inside an element, and the element's end.
func (r *reader) param() (any, error) {
	if _, err := r.open("value"); err != nil {
		return nil, err
	}
	v, err := r.value(0)
	if err != nil {
		return nil, err
	}
	return v, r.close()
}

// readAnswer reads an answer; one that says why the call failed is a Fault.
func readAnswer(data []byte) (any, error) {
	r := newReader(data)
	if _, err := r.open("methodResponse"); err != nil {
		return nil, err
	}
	kind, err := r.open("params", "fault")
	if err != nil {
		return nil, err
	}
	if kind == "params" {
		if _, err := r.open("param"); err != nil {
			return nil, err
		}
		return r.param()
	}
	v, err := r.param()
	if err != nil {
		return nil, err
	}
	return nil, readFault(v)
}

func readFault(v any) *Fault {
	m, _ := v.(map[string]any)
	code, _ := m["faultCode"].(int)
	text, ok := m["faultString"].(string)
	if !ok {
		text = "the fault has no text"
	}
	return &Fault{Code: code, Text: text}
}

// value reads a value behind <value>, and its end.
func (r *reader) value(depth int) (any, error) {
	if r.values++; r.values > maxValues {
		return nil, fmt.Errorf("there are more than %d values", maxValues)
	}
	if depth > maxDepth {
		return nil, fmt.Errorf("values nest deeper than %d", maxDepth)
	}
	start, text, err := r.next()
	if err != nil {
		return nil, err
	}
	if start == nil {
		return text, nil // without a type it is a string
	}
	v, err := r.typed(start.Name.Local, depth)
	if err != nil {
		return nil, err
	}
	return v, r.close()
}

// typed reads the inside of an element that tells a type, and its end.
func (r *reader) typed(kind string, depth int) (any, error) {
	switch kind {
	case "array":
		return r.array(depth)
	case "struct":
		return r.members(depth)
	}
	text, err := r.text()
	if err != nil {
		return nil, err
	}
	trimmed := strings.TrimSpace(text)
	switch kind {
	case "string":
		return text, nil
	case "int", "i4", "i1", "i2", "i8":
		n, err := strconv.ParseInt(trimmed, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("<%s> is %.50q", kind, text)
		}
		return int(n), nil
	case "boolean":
		if trimmed != "0" && trimmed != "1" {
			return nil, fmt.Errorf("<boolean> is %.50q, must be 0 or 1", text)
		}
		return trimmed == "1", nil
	case "double", "float":
		x, err := strconv.ParseFloat(trimmed, 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return nil, fmt.Errorf("<%s> is %.50q", kind, text)
		}
		return x, nil
	case "base64":
		data, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
		if err != nil {
			return nil, fmt.Errorf("<base64>: %w", err)
		}
		return data, nil
	case "dateTime.iso8601":
		at, err := time.Parse(timeForm, trimmed)
		if err != nil {
			return nil, fmt.Errorf("<dateTime.iso8601> is %.50q", text)
		}
		return at, nil
	case "nil":
		return nil, nil
	}
	return nil, fmt.Errorf("<%.50s> is no type of XML-RPC", kind)
}

func (r *reader) array(depth int) (any, error) {
	if _, err := r.open("data"); err != nil {
		return nil, err
	}
	list := []any{}
	for {
		start, _, err := r.next()
		switch {
		case err != nil:
			return nil, err
		case start == nil:
			return list, r.close()
		case start.Name.Local != "value":
			return nil, fmt.Errorf("<%s> in place of <value>", start.Name.Local)
		}
		v, err := r.value(depth + 1)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
}

func (r *reader) members(depth int) (any, error) {
	out := map[string]any{}
	for {
		start, _, err := r.next()
		switch {
		case err != nil:
			return nil, err
		case start == nil:
			return out, nil
		case start.Name.Local != "member":
			return nil, fmt.Errorf("<%s> in place of <member>", start.Name.Local)
		}
		if _, err := r.open("name"); err != nil {
			return nil, err
		}
		name, err := r.text()
		if err != nil {
			return nil, err
		}
		if _, err := r.open("value"); err != nil {
			return nil, err
		}
		v, err := r.value(depth + 1)
		if err != nil {
			return nil, err
		}
		out[name] = v
		if err := r.close(); err != nil {
			return nil, err
		}
	}
}
