// Command median reads what go test -bench -count=5 prints and writes one line for each
// benchmark: the median of every figure. A busy machine disturbs single runs; two of
// five do not change the median much.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
)

func main() {
	if err := medians(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "median:", err)
		os.Exit(1)
	}
}

// benchmark is the figures of all runs of one benchmark, by unit.
type benchmark struct {
	name    string
	units   []string // in the order of the first line
	figures map[string][]float64
}

// medians copies lines that are no results, and writes those of a package at its end.
func medians(input io.Reader, out io.Writer) error {
	var all []*benchmark
	flush := func() {
		for _, b := range all {
			fmt.Fprintf(out, "%-56s %d runs", b.name, len(b.figures[b.units[0]]))
			for _, unit := range b.units {
				fmt.Fprintf(out, "  %.4g %s", median(b.figures[unit]), unit)
			}
			fmt.Fprintln(out)
		}
		all = nil
	}
	lines := bufio.NewScanner(input)
	for lines.Scan() {
		name, units, figures := parse(lines.Text())
		if name == "" {
			flush()
			fmt.Fprintln(out, lines.Text())
			continue
		}
		i := slices.IndexFunc(all, func(b *benchmark) bool { return b.name == name })
		if i < 0 {
			i = len(all)
			all = append(all, &benchmark{name: name, units: units, figures: map[string][]float64{}})
		}
		for k, unit := range units {
			all[i].figures[unit] = append(all[i].figures[unit], figures[k])
		}
	}
	flush()
	return lines.Err()
}

// parse reads a result such as "BenchmarkX-2  1000  12.5 ns/op  0 B/op"; other lines
// have no name.
func parse(line string) (name string, units []string, figures []float64) {
	fields := strings.Fields(line)
	if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") {
		return "", nil, nil
	}
	for i := 2; i+1 < len(fields); i += 2 {
		x, err := strconv.ParseFloat(fields[i], 64)
		if err != nil {
			return "", nil, nil
		}
		units, figures = append(units, fields[i+1]), append(figures, x)
	}
	return fields[0], units, figures
}

func median(x []float64) float64 {
	slices.Sort(x)
	if n := len(x); n%2 == 0 {
		return (x[n/2-1] + x[n/2]) / 2
	}
	return x[len(x)/2]
}
