package expr

import (
	"errors"
	"strings"
	"unicode/utf8"

	"poise/urdf/xacro/value"
)

// Tokenize is xacro.tokenize(s, sep=',; ', skip_empty=True): it cuts a string at
// any of the characters of sep.
var Tokenize = &Func{Name: "tokenize", Min: 1, Max: 3, Named: []string{"sep", "skip_empty"}, Do: tokenize}

func tokenize(b *value.Budget, a Args) (value.Value, error) {
	s, ok1 := a.Pos[0].(string)
	sep, ok2 := a.optional(1, "sep", ",; ").(string)
	skip := value.Truth(a.optional(2, "skip_empty", true))
	if !ok1 || !ok2 {
		return nil, errors.New("tokenize needs strings")
	}
	if err := b.Spend(1 + len(s)); err != nil {
		return nil, err
	}
	out := value.List{}
	for {
		i := strings.IndexAny(s, sep)
		token := s
		if i >= 0 {
			token = s[:i]
		}
		if token != "" || !skip {
			out = append(out, token)
		}
		if i < 0 {
			return out, nil
		}
		_, size := utf8.DecodeRuneInString(s[i:])
		s = s[i+size:]
	}
}
