package xacro

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"poise/internal/xmltree"
	"poise/problem"
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
	Warnings []*problem.Problem
	Files    []string // that were read, the first being the one asked for
}

// Expand reads a file and everything it includes, and returns the document
// without macros. The error joins all mistakes that were found: each a *problem.Problem,
// also those of a file that is not XML.
func Expand(file string, c Config) (*Result, error) {
	lim := c.Limits.withDefaults()
	ex := &expander{
		Config: c, Reader: locate.NewReader(c.Files, lim.Bytes), lim: lim, budget: value.NewBudget(lim.Steps),
		args: map[string]string{}, used: map[string]bool{},
		documents: map[string]parsed{}, yamls: map[string]value.Value{}, programs: map[string]*expr.Program{},
	}
	for name, v := range c.Args {
		ex.args[name] = v
	}
	ex.builtins = ex.functions()
	source, err := ex.document(file, problem.Pos{File: file, Line: 1})
	if err != nil {
		return nil, err
	}
	ex.stack = []string{file}
	root := ex.root(source)
	ex.unusedArgs(source)
	if err := ex.Err(); err != nil {
		return nil, err
	}
	xmltree.Rebind(root)
	return &Result{Root: root, Warnings: ex.Warnings, Files: ex.Names}, nil
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
	*locate.Reader
	log
	lim      Limits
	budget   *value.Budget
	args     map[string]string
	used     map[string]bool // arguments that were declared or read
	builtins map[string]value.Value

	place     problem.Pos // of the expression being evaluated
	stack     []string    // files being read, the innermost last
	depth     int
	nodes     int
	documents map[string]parsed      // by absolute name
	yamls     map[string]value.Value // likewise
	programs  map[string]*expr.Program
	kept      int // bytes of the sources of programs
}

// halt stops the expansion at a bound.
func (ex *expander) halt(pos problem.Pos, format string, args ...any) {
	ex.Halt(ex.At(pos, "", format, args...))
}

// spend charges the expansion's own work.
func (ex *expander) spend(n int, pos problem.Pos) {
	if err := ex.budget.Spend(n); err != nil {
		ex.halt(pos, "%v", err)
	}
}

// enter goes one level deeper; leave must follow in any case.
func (ex *expander) enter(pos problem.Pos) {
	if ex.depth++; ex.depth > ex.lim.Depth {
		ex.halt(pos, "elements, macros and includes nest deeper than %d; does a macro call itself without end?", ex.lim.Depth)
	}
	ex.spend(1, pos)
}

func (ex *expander) leave() { ex.depth-- }

// made counts what the expansion produces.
func (ex *expander) made(n int, pos problem.Pos) {
	if ex.nodes += n; ex.nodes > ex.lim.Nodes {
		ex.halt(pos, "expansion makes more than %d elements, attributes and texts", ex.lim.Nodes)
	}
}

// file is the file being read: relative names start at its folder.
func (ex *expander) file() string { return ex.stack[len(ex.stack)-1] }

func (ex *expander) unusedArgs(root *xmltree.Node) {
	names := make([]string, 0, len(ex.Args))
	for name := range ex.Args {
		if !ex.used[name] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		ex.Warn(root.Pos, name, "argument is not used by the file")
	}
}
