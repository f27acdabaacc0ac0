package xmltree

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"poise/problem"
)

// Warning is something in a document that is passed over or looks wrong.
type Warning struct {
	Pos   problem.Pos // of the first
	Msg   string
	Count int // how often it is in the document
}

func (w Warning) String() string {
	if w.Count > 1 {
		return fmt.Sprintf("%s: %s (and %d more)", w.Pos, w.Msg, w.Count-1)
	}
	return fmt.Sprintf("%s: %s", w.Pos, w.Msg)
}

// How many different problems of one document a Reader tells.
const (
	maxReadErrors = 1000
	maxWarnings   = 200
	maxMessage    = 300 // bytes of a warning
)

// Reader collects what is wrong with a document while the values are taken out
// of its tree: errors all at once, warnings with equal ones counted. A value
// that could not be read is zero, so that reading can go on.
type Reader struct {
	Warnings []Warning

	space  string // of the root element, the document's own whatever its name
	errs   []*problem.Problem
	unsaid int            // errors beyond maxReadErrors
	byMsg  map[string]int // index of a warning
}

// NewReader starts on a root element, which must have that name and belong to
// no name space but the default one.
func NewReader(root *Node, name string) *Reader {
	r := &Reader{space: root.Space, byMsg: map[string]int{}}
	if root.Name != name || root.Prefix != "" {
		r.Errorf(root.Pos, "<"+root.QName()+">", "root element is not <%s>", name)
	}
	return r
}

// Errorf adds an error.
func (r *Reader) Errorf(pos problem.Pos, text, format string, args ...any) {
	if len(r.errs) == maxReadErrors {
		r.unsaid++
		return
	}
	r.errs = append(r.errs, &problem.Problem{Pos: pos, Excerpt: excerpt(text), Text: fmt.Sprintf(format, args...)})
}

// Warnf adds a warning, or counts it if there is an equal one.
func (r *Reader) Warnf(pos problem.Pos, format string, args ...any) {
	msg := cut(fmt.Sprintf(format, args...), maxMessage)
	i, told := r.byMsg[msg]
	if !told && len(r.Warnings) >= maxWarnings {
		msg = "further warnings are left out"
		i, told = r.byMsg[msg]
	}
	if !told {
		i = len(r.Warnings)
		r.byMsg[msg] = i
		r.Warnings = append(r.Warnings, Warning{Pos: pos, Msg: msg})
	}
	r.Warnings[i].Count++
}

// Err joins all errors, in the order of their places.
func (r *Reader) Err() error {
	slices.SortStableFunc(r.errs, func(a, b *problem.Problem) int {
		return cmp.Or(cmp.Compare(a.Pos.File, b.Pos.File), cmp.Compare(a.Pos.Line, b.Pos.Line))
	})
	var errs []error
	for _, e := range r.errs {
		errs = append(errs, e)
	}
	if r.unsaid > 0 {
		errs = append(errs, fmt.Errorf("and %d more errors", r.unsaid))
	}
	return errors.Join(errs...)
}

// Failed returns a function that tells whether there were errors since.
func (r *Reader) Failed() func() bool {
	before := len(r.errs) + r.unsaid
	return func() bool { return len(r.errs)+r.unsaid > before }
}

// Own tells whether an element belongs to the document's own name space.
func (r *Reader) Own(n *Node) bool { return n.Space == "" || n.Space == r.space }

// Attributes warns of the attributes of n that are not known. Those in a name
// space belong to other programs.
func (r *Reader) Attributes(n *Node, known ...string) {
	for i := range n.Attrs {
		if a := &n.Attrs[i]; a.Space == "" && !slices.Contains(known, a.Name) {
			r.Warnf(a.Pos, "unknown attribute %s of <%s>%s", excerpt(a.Name), n.Name, problem.Hint(a.Name, known))
		}
	}
}

// Children yields the elements of n, without those of other name spaces, and
// warns of text. An element named in once is yielded once, a second is an error.
func (r *Reader) Children(n *Node, once ...string) iter.Seq[*Node] {
	return func(yield func(*Node) bool) {
		first := make([]*Node, len(once))
		for _, c := range n.Children {
			if c.IsText() {
				r.Warnf(c.Pos, "text in <%s> is not read: %q", n.Name, excerpt(strings.Trim(c.Text, spaces)))
				continue
			}
			if !r.Own(c) {
				// other name spaces are ignored, but without its macros a robot is not whole
				if strings.Contains(c.Space, "xacro") {
					r.Warnf(c.Pos, "<%s> in <%s> is not expanded", excerpt(c.QName()), n.Name)
				}
				continue
			}
			if i := slices.Index(once, c.Name); i >= 0 {
				if first[i] != nil {
					r.Errorf(c.Pos, tag(c), "<%s> has one already on line %d", n.Name, first[i].Pos.Line)
					continue
				}
				first[i] = c
			}
			if !yield(c) {
				return
			}
		}
	}
}

// Unknown warns of an element that has no meaning where it stands.
func (r *Reader) Unknown(parent, n *Node, known ...string) {
	r.Warnf(n.Pos, "unknown element <%s> in <%s>%s", excerpt(n.QName()), parent.Name, problem.Hint(n.Name, known))
}

// Leaf warns of everything in an element but the attributes known.
func (r *Reader) Leaf(n *Node, known ...string) {
	r.Attributes(n, known...)
	for c := range r.Children(n) {
		r.Unknown(n, c)
	}
}

// Need reports an element that is missing in n.
func (r *Reader) Need(n *Node, child string, has bool) {
	if !has {
		r.Errorf(n.Pos, tag(n), "element <%s> is missing", child)
	}
}

// tag shows an element: its name, and that of the thing it stands for.
func tag(n *Node) string {
	if a := n.Attr("name"); a != nil {
		return fmt.Sprintf("<%s name='%s'>", n.QName(), excerpt(a.Value))
	}
	return "<" + n.QName() + ">"
}

// missing reports an attribute that must be there.
func (r *Reader) missing(n *Node, attr string) {
	r.Errorf(n.Pos, tag(n), "attribute %s is missing", attr)
}

// Name returns an attribute that must be there and not be blank.
func (r *Reader) Name(n *Node, attr string) string {
	v := r.Text(n, attr)
	if a := n.Attr(attr); a != nil && blank(v) {
		r.Errorf(a.Pos, attr+`="`+v+`"`, "attribute of <%s> is empty", n.Name)
	}
	return v
}

// Text returns an attribute that must be there.
func (r *Reader) Text(n *Node, attr string) string {
	if n.Attr(attr) == nil {
		r.missing(n, attr)
	}
	return n.Value(attr)
}

// Number returns an attribute that must be there.
func (r *Reader) Number(n *Node, attr string) float64 {
	var x [1]float64
	r.Numbers(n, attr, x[:])
	return x[0]
}

// NumberOr returns an attribute that may be absent.
func (r *Reader) NumberOr(n *Node, attr string, absent float64) float64 {
	if x := r.Optional(n, attr); x != nil {
		return *x
	}
	return absent
}

// Optional returns nil for an attribute that is absent.
func (r *Reader) Optional(n *Node, attr string) *float64 {
	var x [1]float64
	if n.Attr(attr) == nil || !r.Numbers(n, attr, x[:]) {
		return nil
	}
	return &x[0]
}

// Size returns an attribute that must be there and not be negative.
func (r *Reader) Size(n *Node, attr string) float64 {
	x := r.Number(n, attr)
	r.NotNegative(n, attr, x)
	return x
}

// NotNegative refuses negative values of an attribute.
func (r *Reader) NotNegative(n *Node, attr string, values ...float64) {
	if slices.Min(values) < 0 {
		a := n.Attr(attr)
		r.Errorf(a.Pos, a.Value, "%s of <%s> is negative", attr, n.Name)
	}
}

// Choice returns the index in names of an attribute that must be one of them.
func (r *Reader) Choice(n *Node, attr string, names []string) (i int, ok bool) {
	a := n.Attr(attr)
	if a == nil {
		r.missing(n, attr)
		return 0, false
	}
	if i = slices.Index(names, strings.Trim(a.Value, spaces)); i < 0 {
		r.Errorf(a.Pos, a.Value, "%s of <%s> is not one of %s", attr, n.Name, strings.Join(names, ", "))
		return 0, false
	}
	return i, true
}

// Numbers fills dst from an attribute that must hold exactly that many, finite
// and separated by white space. If it does not, dst is zero.
func (r *Reader) Numbers(n *Node, attr string, dst []float64) bool {
	a := n.Attr(attr)
	if a == nil {
		r.missing(n, attr)
		return false
	}
	count := 0
	for word := range Words(a.Value) {
		if count == len(dst) {
			count++
			break
		}
		x, why := parseNumber(word)
		if why != "" {
			r.Errorf(a.Pos, a.Value, "%s of <%s>: %s %s", attr, n.Name, excerpt(word), why)
			clear(dst)
			return false
		}
		dst[count] = x
		count++
	}
	if count != len(dst) {
		r.Errorf(a.Pos, a.Value, "%s of <%s> must be %s", attr, n.Name, problem.Count(len(dst), "number"))
		clear(dst)
		return false
	}
	return true
}

// Words yields what white space separates, without cutting all of it first.
func Words(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for s = strings.TrimLeft(s, spaces); s != ""; s = strings.TrimLeft(s, spaces) {
			end := strings.IndexAny(s, spaces)
			if end < 0 {
				end = len(s)
			}
			if !yield(s[:end]) {
				return
			}
			s = s[end:]
		}
	}
}

// parseNumber reads a decimal number; why tells what is wrong with it.
func parseNumber(s string) (number float64, why string) {
	switch strings.ToLower(strings.TrimLeft(s, "+-")) {
	case "nan", "inf", "infinity":
		return 0, "is not finite"
	}
	// strconv would read hexadecimal and more words
	if strings.IndexFunc(s, func(c rune) bool { return !strings.ContainsRune("0123456789+-.eE", c) }) >= 0 {
		return 0, "is not a number"
	}
	number, err := strconv.ParseFloat(s, 64)
	if math.IsInf(number, 0) {
		return 0, "is too large"
	}
	if err != nil {
		return 0, "is not a number"
	}
	return number, ""
}
