package server

import (
	"fmt"
	"strings"
)

// metricsText writes families of figures in the text format of Prometheus. The zero value
// is ready.
type metricsText struct {
	strings.Builder
	name string
}

// family begins a metric: its name, what kind it is and what it counts.
func (p *metricsText) family(name, kind, help string) {
	p.name = name
	fmt.Fprintf(p, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

// value writes a value of the family, with labels.
func (p *metricsText) value(labels string, v float64) { p.part("", labels, v) }

// part is value for a part of the family, such as _sum.
func (p *metricsText) part(suffix, labels string, v float64) {
	if labels != "" {
		labels = "{" + labels + "}"
	}
	fmt.Fprintf(p, "%s%s%s %g\n", p.name, suffix, labels, v)
}

// label writes a label.
func label(key, value string) string { return fmt.Sprintf("%s=%q", key, value) }

// flag is 1 for true.
func flag(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
