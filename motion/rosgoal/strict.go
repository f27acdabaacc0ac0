package rosgoal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// utf8BOM is what some editors put before a text.
var utf8BOM = []byte("\xef\xbb\xbf")

// mostTold is how many such problems are told of one text.
const mostTold = 20

// strict refuses what the JSON reader would take silently for something else: a null,
// which it reads as zero and which other programs write for a non-finite number, and
// a key that comes twice, of which it forgets the first. Keys are the same whatever
// their case, as they are to the reader. The text is valid JSON.
func strict(data []byte) error {
	var errs []error
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber() // whether a number fits is not asked here
	type level struct {
		keys  map[string]bool // nil in a list
		key   string          // whose value comes next, if named
		named bool
		n     int // of values in a list
	}
	var path []level
	where := func() string {
		var b strings.Builder
		for _, l := range path {
			if l.keys == nil {
				fmt.Fprintf(&b, "[%d]", l.n)
			} else {
				b.WriteString("." + l.key)
			}
		}
		return strings.TrimPrefix(b.String(), ".")
	}
	add := func(format string, a ...any) {
		line := 1 + bytes.Count(data[:dec.InputOffset()], []byte("\n"))
		errs = append(errs, fmt.Errorf("line %d: "+format, append([]any{line}, a...)...))
	}
	for {
		token, err := dec.Token()
		if err != nil || len(errs) == mostTold {
			return errors.Join(errs...)
		}
		if text, ok := token.(string); ok && len(path) > 0 {
			if top := &path[len(path)-1]; top.keys != nil && !top.named {
				// a key, not a value
				top.key, top.named = text, true
				if same := strings.ToLower(text); top.keys[same] {
					add("%s comes twice", where())
				} else {
					top.keys[same] = true
				}
				continue
			}
		}
		switch token {
		case nil:
			add("%s is null", where())
		case json.Delim('{'):
			path = append(path, level{keys: map[string]bool{}})
			continue
		case json.Delim('['):
			path = append(path, level{})
			continue
		case json.Delim('}'), json.Delim(']'):
			path = path[:len(path)-1]
		}
		// a value is over
		if len(path) > 0 {
			path[len(path)-1].named = false
			path[len(path)-1].n++
		}
	}
}
