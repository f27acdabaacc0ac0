package xacro

import (
	"fmt"
	"strings"
	"unicode"

	"poise/urdf/xacro/value"
)

// literal turns text that is a number or a truth into one, and takes single
// quotes off: they keep a number text, until it is evaluated again.
func literal(v value.Value) value.Value {
	s, ok := v.(string)
	if !ok {
		return v
	}
	if len(s) >= 2 && s[0] == '\'' && s[len(s)-1] == '\'' {
		return s[1 : len(s)-1]
	}
	if strings.Contains(s, "_") {
		return s
	}
	if n, err := value.ParseInt(s, 10); err == nil {
		return n
	}
	if f, err := value.ParseFloat(s); err == nil {
		return f
	}
	switch s {
	case "true", "True":
		return true
	case "false", "False":
		return false
	}
	return s
}

// truth is the value of a condition: Python's truth, but of texts only numbers
// and the words true and false have one.
func truth(v value.Value) (bool, error) {
	s, ok := v.(string)
	if !ok {
		return value.Truth(v), nil
	}
	switch s {
	case "true", "True":
		return true, nil
	case "false", "False":
		return false, nil
	}
	n, err := value.ParseInt(s, 10)
	if err != nil {
		return false, fmt.Errorf("%q is neither true nor false", s)
	}
	return n.Sign() != 0, nil
}

// argumentValue reads an argument for $(eval …): a number, a truth, or text.
func argumentValue(s string) value.Value {
	if strings.Contains(s, ".") {
		if f, err := value.ParseFloat(s); err == nil {
			return f
		}
	} else if n, err := value.ParseInt(s, 10); err == nil {
		return n
	}
	switch strings.ToLower(s) {
	case "true":
		return true
	case "false":
		return false
	}
	return s
}

// xmlName splits a qualified name, if it is one.
func xmlName(s string) (prefix, local string, ok bool) {
	prefix, local, found := strings.Cut(s, ":")
	if !found {
		prefix, local = "", s
	}
	return prefix, local, isXMLName(local) && (!found || isXMLName(prefix))
}

func isXMLName(s string) bool {
	for i, r := range s {
		if r != '_' && !unicode.IsLetter(r) && (i == 0 || r != '-' && r != '.' && !unicode.IsDigit(r)) {
			return false
		}
	}
	return s != ""
}
