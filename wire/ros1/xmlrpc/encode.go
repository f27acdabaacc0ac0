package xmlrpc

import (
	"encoding/base64"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

// Fault is an answer that says why a call failed.
type Fault struct {
	Code int
	Text string
}

func (f *Fault) Error() string { return fmt.Sprintf("fault %d: %s", f.Code, f.Text) }

const head = `<?xml version="1.0"?>` + "\n"

// appendCall appends a call. There is no space between tags: roscpp's parser wants none.
func appendCall(b []byte, method string, args []any) ([]byte, error) {
	b = append(b, head+"<methodCall><methodName>"...)
	b = appendText(b, method)
	b = append(b, "</methodName><params>"...)
	var err error
	for _, a := range args {
		b = append(b, "<param>"...)
		if b, err = appendValue(b, a, 0); err != nil {
			return nil, err
		}
		b = append(b, "</param>"...)
	}
	return append(b, "</params></methodCall>\n"...), nil
}

// appendAnswer appends an answer.
func appendAnswer(b []byte, v any) ([]byte, error) {
	b = append(b, head+"<methodResponse><params><param>"...)
	b, err := appendValue(b, v, 0)
	return append(b, "</param></params></methodResponse>\n"...), err
}

// appendFault appends the answer of a call that failed.
func appendFault(b []byte, f *Fault) []byte {
	b = append(b, head+"<methodResponse><fault>"...)
	b, _ = appendValue(b, faultValue(f), 0) // a number and a text always can be written
	return append(b, "</fault></methodResponse>\n"...)
}

func faultValue(f *Fault) map[string]any {
	return map[string]any{"faultCode": f.Code, "faultString": f.Text}
}

// Check returns why a value cannot be sent, or nil.
func Check(v any) error {
	_, err := appendValue(nil, v, 0)
	return err
}

func appendValue(b []byte, v any, depth int) ([]byte, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("values nest deeper than %d", maxDepth)
	}
	b = append(b, "<value>"...)
	var err error
	switch value := v.(type) {
	case nil:
		b = append(b, "<nil/>"...)
	case bool:
		digit := byte('0')
		if value {
			digit = '1'
		}
		b = append(append(append(b, "<boolean>"...), digit), "</boolean>"...)
	case int:
		if value < math.MinInt32 || value > math.MaxInt32 {
			return nil, fmt.Errorf("%d does not fit: XML-RPC has integers of 32 bits", value)
		}
		b = append(strconv.AppendInt(append(b, "<int>"...), int64(value), 10), "</int>"...)
	case float64:
		b = append(append(append(b, "<double>"...), number(value)...), "</double>"...)
	case string:
		b = append(appendText(append(b, "<string>"...), value), "</string>"...)
	case []byte:
		b = append(base64.StdEncoding.AppendEncode(append(b, "<base64>"...), value), "</base64>"...)
	case time.Time:
		b = append(value.UTC().AppendFormat(append(b, "<dateTime.iso8601>"...), timeForm), "</dateTime.iso8601>"...)
	case []any:
		b = append(b, "<array><data>"...)
		for _, item := range value {
			if b, err = appendValue(b, item, depth+1); err != nil {
				return nil, err
			}
		}
		b = append(b, "</data></array>"...)
	case []string:
		b = append(b, "<array><data>"...)
		for _, item := range value {
			b = append(appendText(append(b, "<value><string>"...), item), "</string></value>"...)
		}
		b = append(b, "</data></array>"...)
	case map[string]any:
		b = append(b, "<struct>"...)
		for _, name := range slices.Sorted(maps.Keys(value)) {
			b = append(appendText(append(b, "<member><name>"...), name), "</name>"...)
			if b, err = appendValue(b, value[name], depth+1); err != nil {
				return nil, err
			}
			b = append(b, "</member>"...)
		}
		b = append(b, "</struct>"...)
	default:
		return nil, fmt.Errorf("a Go %T is no value of XML-RPC", v)
	}
	return append(b, "</value>"...), nil
}

// number writes a float. For those that are not finite XML-RPC has no words; these are
// Python's.
func number(x float64) string {
	switch {
	case math.IsNaN(x):
		return "nan"
	case math.IsInf(x, 1):
		return "inf"
	case math.IsInf(x, -1):
		return "-inf"
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

const timeForm = "20060102T15:04:05"

// appendText escapes a text. What XML cannot hold becomes U+FFFD.
func appendText(b []byte, s string) []byte {
	for _, r := range s {
		switch {
		case r == '&':
			b = append(b, "&amp;"...)
		case r == '<':
			b = append(b, "&lt;"...)
		case r == '>':
			b = append(b, "&gt;"...)
		case r == '\r':
			b = append(b, "&#13;"...) // parsers turn a plain one into a line feed
		case r == '\t', r == '\n', r >= 0x20 && r <= 0xD7FF, r >= 0xE000 && r <= 0xFFFD, r >= 0x10000:
			b = utf8.AppendRune(b, r)
		default:
			b = utf8.AppendRune(b, utf8.RuneError)
		}
	}
	return b
}
