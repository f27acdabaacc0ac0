package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"poise/arbiter"
	"poise/arbiter/scenario"
	"poise/internal/plot"
)

// arbitrateCommand plays a script of requests and faults on the arbiter and prints
// every change of owner or state as a line of JSON.
func arbitrateCommand(e *env, fs *pflag.FlagSet) func(args []string) error {
	picture := fs.String("plot", "", "draw ownership over time to this .png or .svg `file`")
	return func(args []string) error { return arbitrate(e, args, *picture) }
}

func arbitrate(e *env, rest []string, picture string) error {
	if len(rest) != 1 {
		return usagef("one SCENARIO is wanted, %d are given", len(rest))
	}
	if ext := filepath.Ext(picture); picture != "" && ext != ".png" && ext != ".svg" {
		return usagef("--plot %q must end in .png or .svg", picture)
	}
	data, err := readFileOr(e.in, rest[0])
	if err != nil {
		return err
	}
	s, err := scenario.Parse(data, rest[0])
	if err != nil {
		return err
	}

	out := bufio.NewWriter(e.out)
	var frames []scenario.Frame
	var line []byte
	s.Run(func(f scenario.Frame) {
		frames = append(frames, f)
		line = append(s.AppendJSON(line[:0], f), '\n')
		out.Write(line)
	})
	if err := out.Flush(); err != nil {
		return err
	}
	if picture != "" {
		if err := ownership(s, frames).Save(picture); err != nil {
			return err
		}
	}
	if e.json {
		return encode(e.out, answered{true, fmt.Sprintf("%d changes", len(frames))})
	}
	return nil
}

// readFileOr reads a file, or in for "-".
func readFileOr(in io.Reader, name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(in)
	}
	return os.ReadFile(name)
}

// ownership draws a bar for each time a controller owned a resource.
func ownership(s *scenario.Scenario, frames []scenario.Frame) *plot.Gantt {
	end := 1.05 * float64(max(s.End(), frames[len(frames)-1].At)) / 1e9 // room for what stands at the end
	if end == 0 {
		end = 1
	}
	g := &plot.Gantt{Title: "who owns what", XLabel: "time in s", Rows: s.Resources, End: end}
	for row := range s.Resources {
		for i := 0; i < len(frames); {
			c, from := frames[i].Owner[row], i
			for i < len(frames) && frames[i].Owner[row] == c {
				i++
			}
			to := end
			if i < len(frames) {
				to = float64(frames[i].At) / 1e9
			}
			begin := float64(frames[from].At) / 1e9
			if c != arbiter.NoClient && to > begin {
				g.Spans = append(g.Spans, plot.Span{Row: row, From: begin, To: to, Label: s.Controllers[c].Name, Color: int(c)})
			}
		}
	}
	return g
}
