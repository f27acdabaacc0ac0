package xacro

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"poise/internal/xmltree"
	"poise/urdf/locate"
	"poise/urdf/xacro/expr"
	"poise/urdf/xacro/value"
)

// Config is what an expansion depends on besides the file.
type Config struct {
	locate.Files
	Args   map[string]string // name:=value
	Env    map[string]string // what $(env) and $(optenv) see: nothing if nil
	Limits Limits
}

// Limits bound an expansion; the zero value of a field means its default.
type Limits struct {
	Steps int // operations of expressions and of the expansion itself; 10,000,000
	Nodes int // elements, attributes and texts made; 500,000
	Depth int // elements, macros, conditions and includes within each other; 3,000
	Bytes int // of all files read together; 32 MiB
}

func (l Limits) withDefaults() Limits {
	set := func(field *int, missing int) {
		if *field == 0 {
			*field = missing
		}
	}
	set(&l.Steps, 10_000_000)
	set(&l.Nodes, 500_000)
	set(&l.Depth, 3_000)
	set(&l.Bytes, 32<<20)
	return l
}

// Result is an expanded document.
type Result struct {
	Root     *xmltree.Node // each node with the place where it was written
	Warnings []*Error
	Files    []string // that were read, the first being the one asked for
}

// Error is a mistake in a file, and how the expansion came there.
type Error struct {
	Pos  xmltree.Pos
	Text string // the offending text
	Msg  string
	Via  []string // macros, includes and properties on the way, innermost first

	missing bool // a file does not exist, which an optional include forgives
}

func (e *Error) Error() string {
	s := e.Unwrap().Error()
	if len(e.Via) > 0 {
		s += " (" + strings.Join(e.Via, ", ") + ")"
	}
	return s
}

// Unwrap returns the mistake without the way.
func (e *Error) Unwrap() error { return &xmltree.Error{Pos: e.Pos, Text: e.Text, Msg: e.Msg} }

// Expand reads a file and everything it includes, and returns the document
// without macros. The error joins all mistakes that were found: each an *Error,
// or the *xmltree.Error of a file that is not XML.
func Expand(file string, c Config) (*Result, error) {
	lim := c.Limits.withDefaults()
	x := &expander{
		Config: c, lim: lim, budget: value.NewBudget(lim.Steps),
		args: map[string]string{}, used: map[string]bool{},
		documents: map[string]*xmltree.Node{}, yamls: map[string]value.Value{}, programs: map[string]*expr.Program{},
	}
	for name, v := range c.Args {
		x.args[name] = v
	}
	x.builtins = x.functions()
	source, err := x.document(file, xmltree.Pos{File: file, Line: 1})
	if err != nil {
		return nil, err
	}
	x.stack = []string{file}
	root := x.root(source)
	x.unusedArgs(source)
	if len(x.errs) > 0 {
		return nil, errors.Join(x.errs...)
	}
	bindSpaces(root, nil)
	return &Result{Root: root, Warnings: x.warnings, Files: x.read}, nil
}

// Needed tells whether a document has to be expanded before it is read: by its
// name, or by a declaration of the name space xacro.
func Needed(name string, data []byte) bool {
	return path.Ext(name) == ".xacro" || bytes.Contains(data, []byte("xmlns:xacro"))
}

// ParseArgs reads arguments as the command line has them: name:=value.
func ParseArgs(args []string) (map[string]string, error) {
	out := map[string]string{}
	var errs []error
	for _, a := range args {
		name, v, ok := strings.Cut(a, ":=")
		switch name = strings.TrimSpace(name); {
		case !ok || name == "" || strings.ContainsAny(name, " \t"):
			errs = append(errs, fmt.Errorf("argument %q is not of the form name:=value", a))
		case strings.Contains(v, ":="):
			errs = append(errs, fmt.Errorf("argument %q has more than one :=", a))
		default:
			if _, twice := out[name]; twice {
				errs = append(errs, fmt.Errorf("argument %q is given twice", name))
			}
			out[name] = strings.TrimSpace(v)
		}
	}
	return out, errors.Join(errs...)
}

// expander is the state of one expansion.
type expander struct {
	Config
	lim      Limits
	budget   *value.Budget
	args     map[string]string
	used     map[string]bool // arguments that were declared or read
	builtins map[string]value.Value

	stack     []string // files being read, the innermost last
	via       []string // macros, includes, properties being expanded, likewise
	depth     int
	nodes     int
	bytes     int
	read      []string
	documents map[string]*xmltree.Node // by absolute name
	yamls     map[string]value.Value
	programs  map[string]*expr.Program

	errs     []error
	warnings []*Error
	halted   bool // a bound is reached: only the way out is left
}

// maxErrors and maxVia bound what is reported.
const (
	maxErrors = 100
	maxVia    = 4
)

// at makes an error at a place.
func (x *expander) at(pos xmltree.Pos, text, format string, args ...any) *Error {
	e := &Error{Pos: pos, Text: excerpt(text), Msg: fmt.Sprintf(format, args...)}
	for i := len(x.via) - 1; i >= 0 && len(e.Via) < maxVia; i-- {
		e.Via = append(e.Via, x.via[i])
	}
	return e
}

// fail collects an error; the same mistake met again on another way counts once.
func (x *expander) fail(err error) {
	if err == nil || x.halted {
		return
	}
	same := func(old error) bool {
		a, ok1 := old.(*Error)
		b, ok2 := err.(*Error)
		return ok1 && ok2 && a.Pos == b.Pos && a.Text == b.Text && a.Msg == b.Msg
	}
	if !slices.ContainsFunc(x.errs, same) {
		x.errs = append(x.errs, err)
	}
	if errors.Is(err, value.ErrBudget) || len(x.errs) >= maxErrors {
		x.halted = true
	}
}

func (x *expander) warn(pos xmltree.Pos, text, format string, args ...any) {
	w := x.at(pos, text, format, args...)
	if len(x.warnings) < maxErrors {
		x.warnings = append(x.warnings, w)
	}
}

// halt stops the expansion at a bound.
func (x *expander) halt(pos xmltree.Pos, format string, args ...any) {
	x.fail(x.at(pos, "", format, args...))
	x.halted = true
}

// spend charges the expansion's own work.
func (x *expander) spend(n int, pos xmltree.Pos) {
	if err := x.budget.Spend(n); err != nil {
		x.halt(pos, "%v", err)
	}
}

// enter goes one level deeper; leave must follow in any case.
func (x *expander) enter(pos xmltree.Pos) {
	if x.depth++; x.depth > x.lim.Depth {
		x.halt(pos, "elements, macros and includes nest deeper than %d; does a macro call itself without end?", x.lim.Depth)
	}
	x.spend(1, pos)
}

func (x *expander) leave() { x.depth-- }

// made counts what the expansion produces.
func (x *expander) made(n int, pos xmltree.Pos) {
	if x.nodes += n; x.nodes > x.lim.Nodes {
		x.halt(pos, "expansion makes more than %d elements, attributes and texts", x.lim.Nodes)
	}
}

// file is the file being read: relative names start at its folder.
func (x *expander) file() string { return x.stack[len(x.stack)-1] }

func (x *expander) unusedArgs(root *xmltree.Node) {
	names := make([]string, 0, len(x.Args))
	for name := range x.Args {
		if !x.used[name] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		x.warn(root.Pos, name, "argument is not used by the file")
	}
}

// excerpt shortens text to what fits on a line.
func excerpt(s string) string {
	const most = 80
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= most {
		return s
	}
	cut := most
	for cut > 0 && s[cut]&0xC0 == 0x80 {
		cut--
	}
	return s[:cut] + "…"
}
