package frame

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"

	"github.com/fxamacker/cbor/v2"
)

// Bounds of a binary frame, besides its size: a few bytes can announce many items.
const (
	maxNesting = 32
	maxItems   = 4 << 20
)

var decoder = func() cbor.DecMode {
	mode, err := cbor.DecOptions{
		DupMapKey:        cbor.DupMapKeyEnforcedAPF,
		MaxNestedLevels:  maxNesting,
		MaxArrayElements: maxItems,
		MaxMapPairs:      maxItems,
		UTF8:             cbor.UTF8RejectInvalid,
		IntDec:           cbor.IntDecConvertNone,
	}.DecMode()
	if err != nil {
		panic(err) // the options are constants
	}
	return mode
}()

// ParseCBOR reads a binary frame: the same object as a text frame, in CBOR. Typed
// arrays become lists of numbers.
func ParseCBOR(data []byte) (*Message, error) {
	var v any
	if err := decoder.Unmarshal(data, &v); err != nil {
		return &Message{}, fmt.Errorf("not CBOR: %w", err)
	}
	text, err := appendValue(nil, v)
	if err != nil {
		return cborHead(v), err
	}
	return Parse(text)
}

// cborHead returns op, id and names of a frame whose values cannot be read, so that
// the refusal can carry them.
func cborHead(v any) *Message {
	members, _ := v.(map[any]any)
	head := map[any]any{}
	for _, name := range []string{"op", "id", "topic", "service", "action"} {
		if value, ok := members[name]; ok {
			head[name] = value
		}
	}
	text, err := appendMap(nil, head)
	if err != nil {
		return &Message{}
	}
	m, _ := Parse(text) // the frame is refused anyway
	return m
}

// appendValue appends a CBOR value as JSON text. What is not a finite number becomes
// null, a byte string a list of numbers, a typed array of RFC 8746 a list.
func appendValue(b []byte, v any) ([]byte, error) {
	switch x := v.(type) {
	case nil:
		return append(b, "null"...), nil
	case bool:
		return strconv.AppendBool(b, x), nil
	case uint64:
		return strconv.AppendUint(b, x, 10), nil
	case int64:
		return strconv.AppendInt(b, x, 10), nil
	case float64:
		return AppendFloat(b, x), nil
	case string:
		return AppendString(b, x), nil
	case []byte:
		return appendNumbers(b, len(x), func(i int) []byte { return strconv.AppendUint(nil, uint64(x[i]), 10) }), nil
	case []any:
		return appendList(b, x)
	case map[any]any:
		return appendMap(b, x)
	case cbor.Tag:
		return appendTag(b, x)
	case big.Int:
		return append(b, x.String()...), nil
	}
	return nil, fmt.Errorf("CBOR holds a %T, which a message cannot", v)
}

// AppendFloat appends a number as JSON text, null if it is not finite.
func AppendFloat(b []byte, x float64) []byte {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return append(b, "null"...)
	}
	return strconv.AppendFloat(b, x, 'g', -1, 64)
}

func appendList(b []byte, items []any) (_ []byte, err error) {
	b = append(b, '[')
	for i, item := range items {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = appendValue(b, item); err != nil {
			return nil, err
		}
	}
	return append(b, ']'), nil
}

// appendMap writes members by name: a map has no order, and an output must have.
func appendMap(b []byte, m map[any]any) (_ []byte, err error) {
	names := make([]string, 0, len(m))
	for k := range m {
		name, ok := k.(string)
		if !ok {
			return nil, fmt.Errorf("a member's name is a %T, want a string", k)
		}
		names = append(names, name)
	}
	slices.Sort(names)
	b = append(b, '{')
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(AppendString(b, name), ':')
		if b, err = appendValue(b, m[name]); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

// The bits of a typed array's tag, RFC 8746 section 2.1: 0b010_f_s_e_ll.
const (
	typedFirst = 64
	typedLast  = 87
	bitFloat   = 1 << 4
	bitSigned  = 1 << 3
	bitLittle  = 1 << 2
	clampedTag = 68 // uint8, clamped arithmetic: the bits would say little-endian
	unusedTag  = 76
	maskLength = 3
)

func appendTag(b []byte, t cbor.Tag) ([]byte, error) {
	if t.Number < typedFirst || t.Number > typedLast || t.Number == unusedTag {
		return nil, fmt.Errorf("CBOR tag %d is not known here", t.Number)
	}
	raw, ok := t.Content.([]byte)
	if !ok {
		return nil, fmt.Errorf("CBOR tag %d: a typed array is a byte string, not a %T", t.Number, t.Content)
	}
	width := 1 << (t.Number & maskLength)
	if t.Number&bitFloat != 0 {
		width = 2 << (t.Number & maskLength)
	}
	if width > 8 {
		return nil, fmt.Errorf("CBOR tag %d: floats of 128 bits do not fit into a message", t.Number)
	}
	if len(raw)%width != 0 {
		return nil, fmt.Errorf("CBOR tag %d: %d bytes are not a whole number of %d-byte numbers", t.Number, len(raw), width)
	}
	item := func(i int) []byte { return typedItem(t.Number, raw[i*width:(i+1)*width]) }
	return appendNumbers(b, len(raw)/width, item), nil
}

// typedItem writes one number of a typed array.
func typedItem(tag uint64, raw []byte) []byte {
	var order binary.ByteOrder = binary.BigEndian
	if tag&bitLittle != 0 {
		order = binary.LittleEndian
	}
	var bits uint64
	switch len(raw) {
	case 1:
		bits = uint64(raw[0])
	case 2:
		bits = uint64(order.Uint16(raw))
	case 4:
		bits = uint64(order.Uint32(raw))
	default:
		bits = order.Uint64(raw)
	}
	switch {
	case tag&bitFloat != 0:
		return AppendFloat(nil, floatOf(bits, len(raw)))
	case tag&bitSigned != 0:
		shift := 64 - 8*len(raw)
		return strconv.AppendInt(nil, int64(bits<<shift)>>shift, 10)
	}
	return strconv.AppendUint(nil, bits, 10)
}

// floatOf returns the number with the given IEEE 754 bits.
func floatOf(bits uint64, width int) float64 {
	switch width {
	case 8:
		return math.Float64frombits(bits)
	case 4:
		return float64(math.Float32frombits(uint32(bits)))
	}
	// half precision: 1 sign, 5 exponent, 10 fraction
	sign := 1.0
	if bits&0x8000 != 0 {
		sign = -1
	}
	exponent, fraction := int(bits>>10&0x1f), float64(bits&0x3ff)
	switch exponent {
	case 0:
		return sign * math.Ldexp(fraction, -24)
	case 0x1f:
		if fraction != 0 {
			return math.NaN()
		}
		return math.Inf(int(sign))
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
}

func appendNumbers(b []byte, n int, item func(int) []byte) []byte {
	b = append(b, '[')
	for i := range n {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, item(i)...)
	}
	return append(b, ']')
}
