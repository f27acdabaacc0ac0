package expr

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"poise/urdf/xacro/value"
)

// Method returns a method of v bound to it, nil if there is not one of that name.
// None of them changes anything.
func Method(v value.Value, name string) value.Value {
	var do func(b *value.Budget, a []value.Value) (value.Value, error)
	low, high := 0, 0
	switch v := v.(type) {
	case string:
		m, ok := stringMethods[name]
		if !ok {
			return nil
		}
		low, high = m.min, m.max
		do = func(b *value.Budget, a []value.Value) (value.Value, error) {
			if err := b.Spend(1 + len(v)/16); err != nil {
				return nil, err
			}
			return m.do(b, v, a)
		}
	case *value.Dict:
		m, ok := dictMethods[name]
		if !ok {
			return nil
		}
		low, high = m.min, m.max
		do = func(b *value.Budget, a []value.Value) (value.Value, error) { return m.do(b, v, a) }
	case value.List, value.Tuple:
		count, ok := map[string]bool{"index": false, "count": true}[name]
		if !ok {
			return nil
		}
		low, high = 1, 1
		do = func(b *value.Budget, a []value.Value) (value.Value, error) { return search(b, v, a[0], count) }
	default:
		return nil
	}
	return &Func{Name: name, Min: low, Max: high, Do: func(b *value.Budget, a Args) (value.Value, error) {
		return do(b, a.Pos)
	}}
}

// search counts an element or finds its first place.
func search(b *value.Budget, list, wanted value.Value, count bool) (value.Value, error) {
	items, err := value.Items(b, list)
	if err != nil {
		return nil, err
	}
	n := 0
	for i, v := range items {
		same, err := value.Equal(b, v, wanted)
		if err != nil {
			return nil, err
		}
		if same && !count {
			return value.Int(i), nil
		}
		if same {
			n++
		}
	}
	if !count {
		return nil, errors.New("value is not in the list")
	}
	return value.Int(n), nil
}

type dictMethod struct {
	min, max int
	do       func(b *value.Budget, d *value.Dict, a []value.Value) (value.Value, error)
}

var dictMethods = map[string]dictMethod{
	"keys": {0, 0, func(_ *value.Budget, d *value.Dict, _ []value.Value) (value.Value, error) {
		return value.List(d.Keys()), nil
	}},
	"values": {0, 0, func(_ *value.Budget, d *value.Dict, _ []value.Value) (value.Value, error) {
		return value.List(d.Values()), nil
	}},
	"items": {0, 0, func(b *value.Budget, d *value.Dict, _ []value.Value) (value.Value, error) {
		return zip(b, []value.Value{value.List(d.Keys()), value.List(d.Values())})
	}},
	"get": {1, 2, func(b *value.Budget, d *value.Dict, a []value.Value) (value.Value, error) {
		v, ok, err := d.Get(b, a[0])
		if !ok && len(a) == 2 {
			return a[1], err
		}
		return v, err
	}},
}

type stringMethod struct {
	min, max int
	do       func(b *value.Budget, s string, a []value.Value) (value.Value, error)
}

// plain wraps what needs no argument.
func plain(do func(string) string) stringMethod {
	return stringMethod{0, 0, func(b *value.Budget, s string, _ []value.Value) (value.Value, error) {
		return do(s), nil
	}}
}

// every wraps a test that a string passes if it has letters and all pass.
func every(test func(rune) bool) stringMethod {
	return stringMethod{0, 0, func(_ *value.Budget, s string, _ []value.Value) (value.Value, error) {
		return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !test(r) }), nil
	}}
}

// with wraps what takes one string.
func with(do func(s, x string) value.Value) stringMethod {
	return stringMethod{1, 1, func(_ *value.Budget, s string, a []value.Value) (value.Value, error) {
		x, ok := a[0].(string)
		if !ok {
			return nil, fmt.Errorf("%s where a string is needed", value.TypeName(a[0]))
		}
		return do(s, x), nil
	}}
}

// trim wraps strip and its kin: white space, or the characters given.
func trim(left, right bool) stringMethod {
	return stringMethod{0, 1, func(_ *value.Budget, s string, a []value.Value) (value.Value, error) {
		cut := unicode.IsSpace
		if len(a) == 1 && a[0] != nil {
			set, ok := a[0].(string)
			if !ok {
				return nil, errors.New("strip needs a string")
			}
			cut = func(r rune) bool { return strings.ContainsRune(set, r) }
		}
		if left {
			s = strings.TrimLeftFunc(s, cut)
		}
		if right {
			s = strings.TrimRightFunc(s, cut)
		}
		return s, nil
	}}
}

// either wraps startswith and endswith, which take a string or a tuple of them.
func either(test func(s, x string) bool) stringMethod {
	return stringMethod{1, 1, func(_ *value.Budget, s string, a []value.Value) (value.Value, error) {
		options, ok := a[0].(value.Tuple)
		if !ok {
			options = value.Tuple{a[0]}
		}
		for _, o := range options {
			x, ok := o.(string)
			if !ok {
				return nil, fmt.Errorf("%s where a string is needed", value.TypeName(o))
			}
			if test(s, x) {
				return true, nil
			}
		}
		return false, nil
	}}
}

// place turns the byte offset of a find into code points.
func place(find func(s, x string) int) stringMethod {
	return with(func(s, x string) value.Value {
		i := find(s, x)
		if i < 0 {
			return value.Int(-1)
		}
		return value.Int(len([]rune(s[:i])))
	})
}

var stringMethods = map[string]stringMethod{
	"lower": plain(strings.ToLower),
	"upper": plain(func(s string) string { return strings.ReplaceAll(strings.ToUpper(s), "ß", "SS") }),
	"capitalize": plain(func(s string) string {
		_, first := utf8.DecodeRuneInString(s)
		return strings.ToUpper(s[:first]) + strings.ToLower(s[first:])
	}),
	"title":   plain(title),
	"isdigit": every(unicode.IsDigit), "isalpha": every(unicode.IsLetter), "isspace": every(unicode.IsSpace),
	"isalnum": every(func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }),
	"strip":   trim(true, true), "lstrip": trim(true, false), "rstrip": trim(false, true),
	"startswith": either(strings.HasPrefix), "endswith": either(strings.HasSuffix),
	"removeprefix": with(func(s, x string) value.Value { return strings.TrimPrefix(s, x) }),
	"removesuffix": with(func(s, x string) value.Value { return strings.TrimSuffix(s, x) }),
	"find":         place(strings.Index), "rfind": place(strings.LastIndex),
	"count":   with(func(s, x string) value.Value { return value.Int(strings.Count(s, x)) }),
	"split":   {0, 2, split},
	"join":    {1, 1, join},
	"replace": {2, 3, replace},
	"zfill":   {1, 1, fill},
	"splitlines": {0, 0, func(b *value.Budget, s string, _ []value.Value) (value.Value, error) {
		return texts(b, strings.Split(strings.TrimSuffix(strings.ReplaceAll(s, "\r\n", "\n"), "\n"), "\n"))
	}},
}

func title(s string) string {
	inside := false
	return strings.Map(func(r rune) rune {
		first := !inside
		inside = unicode.IsLetter(r)
		if first {
			return unicode.ToUpper(r)
		}
		return unicode.ToLower(r)
	}, s)
}

func texts(b *value.Budget, parts []string) (value.Value, error) {
	if len(parts) > value.MaxItems {
		return nil, fmt.Errorf("list is longer than %d elements", value.MaxItems)
	}
	out := make(value.List, len(parts))
	for i, p := range parts {
		out[i] = p
	}
	return out, b.Spend(len(out))
}

// split(sep=None, maxsplit=-1); without a separator at any white space.
func split(b *value.Budget, s string, a []value.Value) (value.Value, error) {
	most := -1
	if len(a) == 2 {
		n, err := value.AsInt(a[1])
		if err != nil {
			return nil, err
		}
		most = n
	}
	if len(a) > 0 && a[0] != nil {
		sep, ok := a[0].(string)
		if !ok || sep == "" {
			return nil, errors.New("split needs a separator that is a string and not empty")
		}
		if most < 0 {
			return texts(b, strings.Split(s, sep))
		}
		return texts(b, strings.SplitN(s, sep, most+1))
	}
	parts := []string{}
	for s = strings.TrimLeftFunc(s, unicode.IsSpace); s != ""; s = strings.TrimLeftFunc(s, unicode.IsSpace) {
		i := strings.IndexFunc(s, unicode.IsSpace)
		if i < 0 || len(parts) == most {
			parts = append(parts, s)
			break
		}
		parts = append(parts, s[:i])
		s = s[i:]
	}
	return texts(b, parts)
}

func join(b *value.Budget, s string, a []value.Value) (value.Value, error) {
	items, err := value.Items(b, a[0])
	if err != nil {
		return nil, err
	}
	var out strings.Builder
	for i, v := range items {
		x, ok := v.(string)
		if !ok {
			return nil, fmt.Errorf("join needs strings, not %s", value.TypeName(v))
		}
		if i > 0 {
			out.WriteString(s)
		}
		out.WriteString(x)
		if out.Len() > value.MaxBytes {
			return nil, fmt.Errorf("string is longer than %d bytes", value.MaxBytes)
		}
	}
	return out.String(), b.Spend(out.Len() / 16)
}

func replace(b *value.Budget, s string, a []value.Value) (value.Value, error) {
	from, ok1 := a[0].(string)
	to, ok2 := a[1].(string)
	if !ok1 || !ok2 {
		return nil, errors.New("replace needs strings")
	}
	most := -1
	if len(a) == 3 {
		n, err := value.AsInt(a[2])
		if err != nil {
			return nil, err
		}
		most = n
	}
	times := strings.Count(s, from)
	if most >= 0 {
		times = min(times, most)
	}
	if size := len(s) + times*(len(to)-len(from)); size > value.MaxBytes {
		return nil, fmt.Errorf("string is longer than %d bytes", value.MaxBytes)
	}
	s = strings.Replace(s, from, to, most)
	return s, b.Spend(len(s) / 16)
}

func fill(_ *value.Budget, s string, a []value.Value) (value.Value, error) {
	n, err := value.AsInt(a[0])
	if err != nil || n > value.MaxBytes {
		return nil, errors.New("zfill needs a width that is not too large")
	}
	sign := ""
	if s != "" && (s[0] == '-' || s[0] == '+') {
		sign, s = s[:1], s[1:]
	}
	return sign + strings.Repeat("0", max(0, n-len(sign)-len([]rune(s)))) + s, nil
}
