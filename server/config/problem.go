package config

import (
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Problem is a value that cannot be.
type Problem struct {
	Key  string // such as loop.period
	Text string // what it is, and what it must be
	File string // where it stands, "" if no file says it
	Line int
}

func (p *Problem) Error() string {
	if p.File == "" {
		return p.Key + " " + p.Text
	}
	return fmt.Sprintf("%s:%d: %s %s", p.File, p.Line, p.Key, p.Text)
}

func problemf(key, format string, a ...any) error {
	return &Problem{Key: key, Text: fmt.Sprintf(format, a...)}
}

// measure prints a value with its unit.
func measure(value float64, unit string) string {
	return strings.TrimSpace(fmt.Sprintf("%v %s", value, unit))
}

// located gives problems the lines of the document in which their keys stand.
func located(problems []error, data []byte, file string) error {
	var root yaml.Node
	_ = yaml.Unmarshal(data, &root) // what cannot be read has been reported
	for i, err := range problems {
		var p *Problem
		if !errors.As(err, &p) {
			continue
		}
		if line := lineOf(&root, strings.Split(p.Key, ".")); line > 0 {
			problems[i] = &Problem{Key: p.Key, Text: p.Text, File: file, Line: line}
		}
	}
	return errors.Join(problems...)
}

// lineOf returns the line of a key, 0 if it is not there.
func lineOf(n *yaml.Node, path []string) int {
	switch {
	case n.Kind == yaml.DocumentNode && len(n.Content) > 0:
		return lineOf(n.Content[0], path)
	case n.Kind != yaml.MappingNode:
		return 0
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		switch {
		case n.Content[i].Value != path[0]:
		case len(path) == 1:
			return n.Content[i].Line
		default:
			return lineOf(n.Content[i+1], path[1:])
		}
	}
	return 0
}
