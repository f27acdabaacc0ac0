package frame

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"unicode/utf8"
)

// Bounds of a binary frame, besides its size.
const (
	maxNesting = 32
	maxBignum  = 64 // bytes
	// maxText is by which factor the text of a frame may be longer than the frame: a list
	// of numbers of 64 bits is, by 3. Short frames may have maxShortText.
	maxText      = 4
	maxShortText = 64 << 10
)

// ParseCBOR reads a binary frame: the same object as a text frame, in CBOR. Typed
// arrays become lists of numbers. The text is written as the frame is read: nothing else
// is built from it, whatever it claims to hold.
func ParseCBOR(data []byte) (*Message, error) {
	data = unmarked(data, true)
	t := transcoder{rest: data, most: max(maxText*len(data), maxShortText), text: make([]byte, 0, 3*len(data)+16)}
	t.value(0)
	if t.broken == nil && len(t.rest) > 0 {
		t.fall("%d bytes follow the value", len(t.rest))
	}
	if err := errors.Join(t.problem, t.broken); err != nil {
		// what was written begins as the frame does, so the refusal can carry its id
		return Sniff(t.text), err
	}
	return Parse(t.text)
}

// transcoder writes CBOR as JSON text in one pass. What is not a finite number becomes
// null, a byte string a list of numbers, a typed array of RFC 8746 a list.
type transcoder struct {
	rest    []byte
	text    []byte
	most    int   // bytes of text
	problem error // the first value that a message cannot hold; null stands in for it
	broken  error // set once: the frame is not CBOR from here on
}

func (t *transcoder) fall(format string, a ...any) {
	if t.broken == nil {
		t.broken = fmt.Errorf("not CBOR: "+format, a...)
		t.rest = nil
	}
}

// fits reports whether so many more bytes of text are within the bound.
func (t *transcoder) fits(more int) bool {
	if len(t.text)+more > t.most {
		t.fall("its text would be longer than %d bytes, %d times the frame", t.most, maxText)
	}
	return t.broken == nil
}

// quote writes a string.
func (t *transcoder) quote(s string) {
	long := len(s)
	for i := range len(s) {
		if s[i] < ' ' {
			long += len(`\u001f`) - 1
		}
	}
	if t.fits(long) {
		t.text = AppendString(t.text, s)
	}
}

// unfit notes a value that a message cannot hold.
func (t *transcoder) unfit(format string, a ...any) {
	if t.problem == nil {
		t.problem = fmt.Errorf(format, a...)
	}
	t.text = append(t.text, "null"...)
}

// Parts of an item's head, RFC 8949 section 3.
const (
	majorMask  = 7 << 5
	infoMask   = 31
	indefinite = 31
	breakStop  = 0xff
	majorOther = 7 << 5
)

// head reads the major type of an item, and its argument. Indefinite lengths have open set.
func (t *transcoder) head() (major byte, info byte, n uint64, open bool) {
	if len(t.rest) == 0 {
		t.fall("unexpected end")
		return 0, 0, 0, false
	}
	first := t.rest[0]
	t.rest = t.rest[1:]
	major, info = first&majorMask, first&infoMask
	switch {
	case info < 24:
		return major, info, uint64(info), false
	case info <= 27:
		return major, info, bigEndian(t.take(1 << (info - 24))), false
	case info == indefinite && major != majorUint && major != majorNegInt && major != majorTag:
		return major, info, 0, true
	}
	t.fall("byte %#x begins no item", first)
	return 0, 0, 0, false
}

func bigEndian(raw []byte) (n uint64) {
	for _, b := range raw {
		n = n<<8 | uint64(b)
	}
	return n
}

// take cuts n bytes off.
func (t *transcoder) take(n uint64) []byte {
	if n > uint64(len(t.rest)) {
		t.fall("unexpected end")
		return nil
	}
	raw := t.rest[:n]
	t.rest = t.rest[n:]
	return raw
}

// value reads one item and writes it.
func (t *transcoder) value(depth int) {
	t.fits(0)
	if depth > maxNesting {
		t.fall("nested deeper than %d", maxNesting)
	}
	major, info, n, open := t.head()
	if t.broken != nil {
		return
	}
	switch major {
	case majorUint:
		t.text = strconv.AppendUint(t.text, n, 10)
	case majorNegInt:
		t.negative(n)
	case majorBytes:
		t.bytes(n, open)
	case majorText:
		if s, ok := t.textItem(n, open); ok {
			t.quote(s)
		}
	case majorArray:
		t.list(n, open, depth)
	case majorMap:
		t.object(n, open, depth)
	case majorTag:
		t.tag(n, depth)
	default:
		t.other(info, n, open)
	}
}

// negative writes -1-n, which may not fit into 64 bits.
func (t *transcoder) negative(n uint64) {
	if n <= math.MaxInt64 {
		t.text = strconv.AppendInt(t.text, -1-int64(n), 10)
		return
	}
	big := new(big.Int).SetUint64(n)
	t.text = append(t.text, big.Not(big).String()...)
}

// bytes writes a byte string as a list of numbers.
func (t *transcoder) bytes(n uint64, open bool) {
	t.text = append(t.text, '[')
	first := true
	t.chunks(majorBytes, n, open, func(raw []byte) {
		for _, b := range raw {
			if !first {
				t.text = append(t.text, ',')
			}
			first = false
			t.text = strconv.AppendUint(t.text, uint64(b), 10)
		}
	})
	t.text = append(t.text, ']')
}

// chunks hands over a string's bytes: at once, or chunk by chunk if its length is open.
func (t *transcoder) chunks(major byte, n uint64, open bool, use func([]byte)) {
	if !open {
		use(t.take(n))
		return
	}
	for t.broken == nil && !t.ended() {
		m, _, n, nested := t.head()
		if m != major || nested {
			t.fall("a chunk of a string is of another kind")
			return
		}
		use(t.take(n))
	}
}

// ended takes the mark that ends an item of open length, if it is next.
func (t *transcoder) ended() bool {
	if len(t.rest) == 0 {
		t.fall("unexpected end")
		return true
	}
	if t.rest[0] != breakStop {
		return false
	}
	t.rest = t.rest[1:]
	return true
}

func (t *transcoder) textItem(n uint64, open bool) (string, bool) {
	var s []byte
	t.chunks(majorText, n, open, func(raw []byte) {
		if !utf8.Valid(raw) {
			t.fall("a text is not UTF-8")
		}
		if !open {
			s = raw
			return
		}
		s = append(s, raw...)
	})
	return string(s), t.broken == nil
}

// members calls item for each member of a list or an object.
func (t *transcoder) members(n uint64, open bool, item func()) {
	if !open && n > uint64(len(t.rest)) {
		t.fall("%d members in %d bytes", n, len(t.rest))
	}
	for i := uint64(0); t.broken == nil; i++ {
		if open && t.ended() || !open && i == n {
			return
		}
		if i > 0 {
			t.text = append(t.text, ',')
		}
		item()
	}
}

func (t *transcoder) list(n uint64, open bool, depth int) {
	t.text = append(t.text, '[')
	t.members(n, open, func() { t.value(depth + 1) })
	t.text = append(t.text, ']')
}

func (t *transcoder) object(n uint64, open bool, depth int) {
	t.text = append(t.text, '{')
	t.members(n, open, func() {
		major, _, n, chunked := t.head()
		if t.broken != nil {
			return
		}
		if major != majorText {
			t.fall("a member's name is no string, want a string")
			return
		}
		name, _ := t.textItem(n, chunked)
		t.quote(name)
		t.text = append(t.text, ':')
		t.value(depth + 1)
	})
	t.text = append(t.text, '}')
}

// other reads numbers with a fraction, and words.
func (t *transcoder) other(info byte, n uint64, open bool) {
	switch {
	case open:
		t.fall("a break outside of an open item")
	case info == 20 || info == 21:
		t.text = strconv.AppendBool(t.text, info == 21)
	case info == 22 || info == 23: // null, undefined
		t.text = append(t.text, "null"...)
	case info >= 25:
		t.text = appendFloat(t.text, floatOf(n, 1<<(info-24)))
	default:
		t.unfit("CBOR holds the simple value %d, which a message cannot", n)
	}
}

// appendFloat appends a number as JSON text, null if it is not finite.
func appendFloat(b []byte, x float64) []byte {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return append(b, "null"...)
	}
	return strconv.AppendFloat(b, x, 'g', -1, 64)
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

// Tags of numbers that do not fit into 64 bits.
const (
	bignumTag         = 2
	negativeBignumTag = 3
)

// tag reads a tagged item: a typed array, or a long whole number.
func (t *transcoder) tag(number uint64, depth int) {
	if number == bignumTag || number == negativeBignumTag {
		t.bignum(number, depth)
		return
	}
	if number < typedFirst || number > typedLast || number == unusedTag {
		t.skip(depth + 1)
		t.unfit("CBOR tag %d is not known here", number)
		return
	}
	if len(t.rest) > 0 && t.rest[0]&majorMask != majorBytes {
		t.skip(depth + 1)
		t.unfit("CBOR tag %d: a typed array is a byte string", number)
		return
	}
	_, _, n, open := t.head()
	if open {
		t.fall("CBOR tag %d: a typed array of open length", number)
	}
	raw := t.take(n)
	width := 1 << (number & maskLength)
	if number&bitFloat != 0 {
		width = 2 << (number & maskLength)
	}
	switch {
	case t.broken != nil:
	case width > 8:
		t.unfit("CBOR tag %d: floats of 128 bits do not fit into a message", number)
	case len(raw)%width != 0:
		t.unfit("CBOR tag %d: %d bytes are not a whole number of %d-byte numbers", number, len(raw), width)
	default:
		t.typed(number, raw, width)
	}
}

// typed writes a typed array as a list.
func (t *transcoder) typed(tag uint64, raw []byte, width int) {
	t.text = append(t.text, '[')
	for i := 0; i < len(raw); i += width {
		if i > 0 {
			t.text = append(t.text, ',')
		}
		if !t.fits(0) {
			return
		}
		t.text = appendTyped(t.text, tag, raw[i:i+width])
	}
	t.text = append(t.text, ']')
}

func (t *transcoder) bignum(tag uint64, depth int) {
	if len(t.rest) == 0 || t.rest[0]&majorMask != majorBytes {
		t.skip(depth + 1)
		t.unfit("CBOR tag %d: a long number is a byte string", tag)
		return
	}
	_, _, n, open := t.head()
	raw := t.take(n)
	if open || n > maxBignum {
		t.fall("a number of %d bytes, at most %d are read", n, maxBignum)
		return
	}
	x := new(big.Int).SetBytes(raw)
	if tag == negativeBignumTag {
		x.Not(x)
	}
	t.text = append(t.text, x.String()...)
}

// skip reads an item and writes nothing.
func (t *transcoder) skip(depth int) {
	at := len(t.text)
	t.value(depth)
	t.text = t.text[:min(at, len(t.text))]
}

// appendTyped writes one number of a typed array.
func appendTyped(b []byte, tag uint64, raw []byte) []byte {
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
		return appendFloat(b, floatOf(bits, len(raw)))
	case tag&bitSigned != 0:
		shift := 64 - 8*len(raw)
		return strconv.AppendInt(b, int64(bits<<shift)>>shift, 10)
	}
	return strconv.AppendUint(b, bits, 10)
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
