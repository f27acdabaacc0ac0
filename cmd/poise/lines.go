package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"poise/problem"
	"regexp"
	"slices"
	"strings"
)

// maxLine bounds one line of input; a robot of 2,000 joints needs a hundredth.
const maxLine = 16 << 20 // bytes

// operation is a word after the robot, such as fk: it answers one request.
type operation struct {
	name   string
	answer func(r *request) (any, error)
}

// choose finds the operation that a command line asks for.
func choose(all []operation, words []string) (operation, error) {
	var names []string
	for _, op := range all {
		names = append(names, op.name)
	}
	list := strings.Join(names, ", ")
	switch {
	case len(words) == 0:
		return operation{}, usagef("what to compute? One of %s", list)
	case len(words) > 1:
		return operation{}, usagef("%q is too much", words[1])
	}
	for _, op := range all {
		if op.name == words[0] {
			return op, nil
		}
	}
	return operation{}, usagef("%q is unknown: want one of %s%s", words[0], list, problem.Hint(words[0], names))
}

// answerLines reads one JSON object per line and answers each by one line. A
// line that cannot be answered gives {"error":"…"} and the stream goes on; the
// error returned tells at the end that there was one. Empty lines are passed
// over.
func answerLines(e *env, op operation) error {
	input := bufio.NewReader(e.in)
	out := bufio.NewWriter(e.out)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	failed := false
	for {
		line, err := readLine(input)
		if err == io.EOF {
			break
		}
		if err != nil && !errors.Is(err, errLongLine) {
			return err
		}
		if err == nil && len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var answer any
		if err == nil {
			answer, err = answerLine(op, line)
		}
		if err == nil {
			err = enc.Encode(answer)
		}
		if err != nil {
			failed = true
			if err := enc.Encode(refusal(err)); err != nil {
				return err
			}
		}
		// a program that waits for its answer must not wait for the next line
		if input.Buffered() == 0 {
			if err := out.Flush(); err != nil {
				return err
			}
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	if failed {
		return errAnswered
	}
	return nil
}

func answerLine(op operation, line []byte) (any, error) {
	r, err := parseRequest(line)
	if err != nil {
		return nil, err
	}
	return op.answer(r)
}

// refuser is an error that has more to tell than its words.
type refuser interface{ refusal() any }

// refusal puts an error into the form of an answer: all problems in one line.
func refusal(err error) any {
	var more refuser
	if errors.As(err, &more) {
		return more.refusal()
	}
	var unsupported *json.UnsupportedValueError
	if errors.As(err, &unsupported) {
		err = fmt.Errorf("the result is not finite (%s): the numbers given are too large", unsupported.Str)
	}
	var all []string
	for _, one := range flatten(err) {
		all = append(all, one.Error())
	}
	return struct {
		Error string `json:"error"`
	}{strings.Join(all, "; ")}
}

var errLongLine = fmt.Errorf("line is longer than %d bytes", maxLine)

// readLine returns the next line without its end. A line that is too long is
// read to its end and refused.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := in.ReadSlice('\n')
		if !long {
			line = append(line, part...)
			long = len(line) > maxLine
		}
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case err == io.EOF && len(line) > 0, err == nil:
			if long {
				return nil, errLongLine
			}
			return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r")), nil
		default:
			return nil, err
		}
	}
}

// request is one JSON object: its values are taken key by key, and what is wrong
// with them is collected.
type request struct {
	keys   []string
	values map[string]json.RawMessage
	asked  []string // keys that were asked for, present or not
	errs   []error
}

// parseRequest reads an object; keys are exact, and none may be named twice.
func parseRequest(line []byte) (*request, error) {
	if !json.Valid(line) {
		bad := notJSON(line)
		if line = quoteNonNumbers(line); !json.Valid(line) {
			return nil, bad
		}
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return nil, errors.New(`an object is wanted, such as {"q":[…]}`)
	}
	r := &request{values: map[string]json.RawMessage{}}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		name := key.(string)
		if _, twice := r.values[name]; twice {
			r.fail("key %q is named twice", name)
			continue
		}
		r.keys = append(r.keys, name)
		r.values[name] = value
	}
	return r, nil
}

// notJSON says where a line stops being JSON.
func notJSON(line []byte) error {
	var v any
	err := json.Unmarshal(line, &v)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Errorf("not JSON at byte %d: %w", syntax.Offset, err)
	}
	return fmt.Errorf("not JSON: %w", err)
}

// quoteNonNumbers puts quotes around NaN and Infinity, for which JSON has no
// words but many programs write: then the one who takes the value can say where
// it stands.
func quoteNonNumbers(line []byte) []byte {
	var out []byte
	inString := false
	for i := 0; i < len(line); i++ {
		c := line[i]
		if !inString {
			if word := nonNumber.Find(line[i:]); word != nil {
				out = append(append(append(out, '"'), word...), '"')
				i += len(word) - 1
				continue
			}
		}
		out = append(out, c)
		switch {
		case c == '"':
			inString = !inString
		case c == '\\' && inString && i+1 < len(line):
			i++
			out = append(out, line[i])
		}
	}
	return out
}

var nonNumber = regexp.MustCompile(`^[-+]?(?i:nan|infinity|inf)\b`)

func (r *request) fail(format string, a ...any) { r.errs = append(r.errs, fmt.Errorf(format, a...)) }

// has reports whether a key that may be left out is there.
func (r *request) has(key string) bool {
	r.ask(key)
	_, ok := r.values[key]
	return ok
}

func (r *request) ask(key string) {
	if !slices.Contains(r.asked, key) {
		r.asked = append(r.asked, key)
	}
}

// value takes the value of a key that must be there.
func (r *request) value(key string) (json.RawMessage, bool) {
	r.ask(key)
	v, ok := r.values[key]
	if !ok {
		r.fail("%s is missing", key)
	}
	return v, ok
}

// text takes a string; false if it is missing or something else, which is told.
func (r *request) text(key string) (string, bool) {
	raw, ok := r.value(key)
	if !ok {
		return "", false
	}
	var s *string
	if json.Unmarshal(raw, &s) != nil || s == nil {
		r.fail("%s: a string is wanted, not %s", key, short(raw))
		return "", false
	}
	return *s, true
}

// numbers takes an array of n finite numbers.
func (r *request) numbers(key string, n int) []float64 {
	raw, ok := r.value(key)
	if !ok {
		return nil
	}
	var elements []json.RawMessage
	if err := json.Unmarshal(raw, &elements); err != nil || elements == nil {
		r.fail("%s: an array of %d numbers is wanted, not %s", key, n, short(raw))
		return nil
	}
	if len(elements) != n {
		r.fail("%s has %d numbers, want %d", key, len(elements), n)
		return nil
	}
	x := make([]float64, n)
	for i, e := range elements {
		x[i] = r.number(fmt.Sprintf("%s[%d]", key, i), e)
	}
	return x
}

// number reads one finite number.
func (r *request) number(what string, raw json.RawMessage) float64 {
	var x *float64
	if err := json.Unmarshal(raw, &x); err != nil || x == nil || math.IsInf(*x, 0) {
		r.fail("%s: a finite number is wanted, not %s", what, short(raw))
		return 0
	}
	return *x
}

// done ends the taking: unknown keys are errors too.
func (r *request) done() error {
	for _, key := range r.keys {
		if !slices.Contains(r.asked, key) {
			r.fail("key %q is unknown: want %s%s", key, strings.Join(r.asked, ", "), problem.Hint(key, r.asked))
		}
	}
	return errors.Join(r.errs...)
}

// short cuts a value for a message.
func short(raw json.RawMessage) string {
	const most = 40
	if len(raw) > most {
		return string(raw[:most]) + "…"
	}
	return string(raw)
}
