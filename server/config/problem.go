package config

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"poise/problem"
)

// Bad is the code of an invalid value.
const Bad problem.Code = "bad_configuration"

// keyed is a problem of a key whose place in the file is still to be found.
type keyed struct {
	*problem.Problem
	key string
}

// Unwrap returns the problem.
func (k keyed) Unwrap() error { return k.Problem }

// problemf makes the problem of a key, such as loop.period.
func problemf(key, format string, a ...any) error {
	return keyed{problem.New(Bad, "%s %s", key, fmt.Sprintf(format, a...)), key}
}

// wrongChoice reports a value that a setting cannot have.
func wrongChoice(key, value string, choices ...string) error {
	last := len(choices) - 1
	return problemf(key, "is %q, must be %s or %s%s", value, strings.Join(choices[:last], ", "), choices[last], problem.Hint(value, choices))
}

// measure prints a value with its unit.
func measure(value float64, unit string) string {
	return strings.TrimSpace(fmt.Sprintf("%v %s", value, unit))
}

// checkRanges reports every number of a struct, nested structs included, that is outside
// the range in its tag.
func checkRanges(errs *[]error, prefix string, v reflect.Value) {
	for i := range v.NumField() {
		field, value := v.Type().Field(i), v.Field(i)
		key := prefix + field.Tag.Get("yaml")
		if value.Kind() == reflect.Struct {
			checkRanges(errs, key+".", value)
			continue
		}
		limits := field.Tag.Get("range")
		if limits == "" {
			continue
		}
		least, most, unit := parseRange(limits)
		var x float64
		if value.CanInt() {
			x = float64(value.Int())
		} else {
			x = value.Float()
		}
		if !(x >= least && x <= most) {
			*errs = append(*errs, problemf(key, "is %s, must be %s", measure(x, unit), limits))
		}
	}
}

// parseRange reads a range tag: least … most unit.
func parseRange(tag string) (least, most float64, unit string) {
	low, rest, ok := strings.Cut(tag, " … ")
	high, unit, _ := strings.Cut(rest, " ")
	least, errLeast := strconv.ParseFloat(low, 64)
	most, errMost := strconv.ParseFloat(high, 64)
	if !ok || errLeast != nil || errMost != nil {
		panic(fmt.Sprintf("config: range tag %q, must be such as \"0 … 10 s\"", tag))
	}
	return least, most, unit
}

// located adds file and line to problems whose keys the document has.
func located(problems []error, data []byte, file string) error {
	var root yaml.Node
	_ = yaml.Unmarshal(data, &root) // Decode has reported its errors
	for i, err := range problems {
		var k keyed
		if !errors.As(err, &k) {
			continue
		}
		if line := lineOf(&root, strings.Split(k.key, ".")); line > 0 {
			k.Pos = problem.Pos{File: file, Line: line}
		}
		problems[i] = k.Problem
	}
	return errors.Join(problems...)
}

// lineOf returns the line of a key, or of the list item it would be in; 0 if there is
// neither.
func lineOf(n *yaml.Node, path []string) int {
	switch {
	case n.Kind == yaml.DocumentNode && len(n.Content) > 0:
		return lineOf(n.Content[0], path)
	case n.Kind != yaml.MappingNode:
		return 0
	}
	key, item, isItem := strings.Cut(path[0], "[")
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value != key {
			continue
		}
		value, line := n.Content[i+1], n.Content[i].Line
		if isItem {
			index, err := strconv.Atoi(strings.TrimSuffix(item, "]"))
			if err != nil || index < 0 || index >= len(value.Content) {
				return line
			}
			value = value.Content[index]
			line = value.Line
		}
		if len(path) > 1 {
			if deeper := lineOf(value, path[1:]); deeper > 0 || !isItem {
				return deeper
			}
		}
		return line
	}
	return 0
}

// Sets reports whether a configuration file has a key, such as loop.period.
func Sets(file, key string) bool {
	data, err := os.ReadFile(file)
	var root yaml.Node
	return err == nil && yaml.Unmarshal(data, &root) == nil && lineOf(&root, strings.Split(key, ".")) > 0
}
