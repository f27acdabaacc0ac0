package strictyaml

import (
	"math"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// number reads a number as people write it. YAML 1.1 takes 017 for fifteen and 08
// for eight; here digits are decimal, whatever zeros stand before them, and another
// base has to be written: 0x1F, 0o17, 0b11. Digits may be grouped, 1_000. False for
// everything else, for what is in quotes, and for what is not finite.
func number(y *yaml.Node) (number float64, ok bool) {
	if tag := y.ShortTag(); tag != "!!int" && tag != "!!float" {
		return 0, false
	}
	digits, ok := ungrouped(y.Value)
	if !ok {
		return 0, false
	}
	if n, based := inBase(digits); based {
		return float64(n), true
	}
	// the package strconv knows hexadecimal fractions and words that YAML does not
	if strings.Trim(digits, "+-.0123456789eE") != "" {
		return 0, false
	}
	number, err := strconv.ParseFloat(digits, 64)
	return number, err == nil && !math.IsInf(number, 0)
}

// integer reads a number that is whole, by the rules of number.
func integer(y *yaml.Node) (n int, ok bool) {
	if y.ShortTag() != "!!int" {
		// 08 and 09 are no octal numbers, so the library has them as fractions
		if strings.Trim(y.Value, "+-_0123456789") != "" {
			return 0, false
		}
	}
	if _, ok = number(y); !ok {
		return 0, false
	}
	digits, _ := ungrouped(y.Value)
	if n, based := inBase(digits); based {
		return int(n), true
	}
	n, err := strconv.Atoi(digits)
	return n, err == nil
}

// ungrouped takes out underscores, which must stand between two digits.
func ungrouped(s string) (string, bool) {
	if !strings.Contains(s, "_") {
		return s, true
	}
	digit := func(i int) bool {
		return i >= 0 && i < len(s) && strings.IndexByte("0123456789abcdefABCDEF", s[i]) >= 0
	}
	for i := range len(s) {
		if s[i] == '_' && !(digit(i-1) && digit(i+1)) {
			return "", false
		}
	}
	return strings.ReplaceAll(s, "_", ""), true
}

// inBase reads an integer whose base is written before it.
func inBase(s string) (int64, bool) {
	unsigned := strings.TrimLeft(s, "+-")
	if len(unsigned) < 2 || unsigned[0] != '0' || strings.IndexByte("xob", unsigned[1]) < 0 {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 0, 64)
	return n, err == nil
}
