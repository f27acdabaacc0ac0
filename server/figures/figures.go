package figures

import (
	"fmt"
	"strings"
)

// Writer writes families of figures in the text format of Prometheus. The zero value
// is ready.
type Writer struct {
	strings.Builder
	name string
}

// Family begins a figure: its name, what kind it is and what it counts.
func (p *Writer) Family(name, kind, help string) {
	p.name = name
	fmt.Fprintf(p, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

// Value writes a value of the family, with labels.
func (p *Writer) Value(labels string, v float64) { p.Named("", labels, v) }

// Named is Value for a part of the family, such as _sum.
func (p *Writer) Named(suffix, labels string, v float64) {
	if labels != "" {
		labels = "{" + labels + "}"
	}
	fmt.Fprintf(p, "%s%s%s %g\n", p.name, suffix, labels, v)
}

// Label writes a label.
func Label(key, value string) string { return fmt.Sprintf("%s=%q", key, value) }

// Flag is 1 for true.
func Flag(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
