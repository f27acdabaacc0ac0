package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	"poise/identify"
	"poise/internal/plot"
	"poise/robot"
	"poise/servo/modelfile"
)

// save writes the accepted models, beside those that the file has already: of a joint that has a
// model there the one is kept that predicts the log better.
func (f *identFlags) save(e *env, m *robot.Model, results []*identify.Result) error {
	if f.output == "" {
		return nil
	}
	var entries []modelfile.Named
	old, err := os.ReadFile(f.output)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	default:
		set, err := modelfile.Read(old, f.output)
		if err != nil {
			return fmt.Errorf("-o does not replace a file that is not one of servo models: %w", err)
		}
		entries = set.Models
	}
	changed := false
	for _, r := range results {
		if !r.Accepted {
			continue
		}
		entry := modelfile.Named{Name: r.Joint, Model: r.Model(), Identified: f.stamp(r)}
		if m != nil {
			complete(&entry, m, r.Joint)
		}
		at := -1
		for i := range entries {
			if entries[i].Name == r.Joint {
				at = i
			}
		}
		switch {
		case at < 0:
			entries, changed = append(entries, entry), true
		case r.Worse(&entries[at].Model):
			r.Kept = true
			if !e.json {
				fmt.Fprintf(e.err, "poise: ident: %s: the model in %s predicts this log better and is kept\n", r.Joint, f.output)
			}
		default:
			entries[at], changed = entry, true
		}
	}
	if !changed {
		return nil
	}
	return writeWhole(f.output, modelfile.Write(entries))
}

// stamp says when and how a model was identified.
func (f *identFlags) stamp(r *identify.Result) modelfile.Identified {
	known := func(x identify.Number) float64 {
		if math.IsNaN(float64(x)) {
			return 0
		}
		return float64(x)
	}
	return modelfile.Identified{Date: f.now().UTC().Format("2006-01-02T15:04:05Z"), Voltage: known(r.Voltage), Temperature: known(r.Temperature),
		RMSE: known(r.RMSE), Taken: strings.Join(r.Taken, " ")}
}

// complete takes what identification does not find from the servo's type.
func complete(n *modelfile.Named, m *robot.Model, joint string) {
	id, ok := m.Joint(joint)
	if !ok || m.Servo(id).Model == nil {
		return
	}
	t := m.Servo(id).Model
	n.Model.Saturation, n.Model.Effort, n.Model.DeadZone, n.Model.Quantum = t.Saturation, t.Effort, t.DeadZone, t.Quantum
}

// draw saves a chart for each joint that was fitted.
func (f *identFlags) draw(results []*identify.Result) error {
	if f.plot == "" {
		return nil
	}
	for _, r := range results {
		name := f.plot
		if len(results) > 1 {
			ending := filepath.Ext(name)
			name = strings.TrimSuffix(name, ending) + "-" + strings.ReplaceAll(r.Joint, "/", "_") + ending
		}
		if err := identChart(r).Save(name); err != nil {
			return err
		}
	}
	return nil
}

// identChart shows goals, positions and what the model makes of the goals, and what is left.
func identChart(r *identify.Result) *plot.Chart {
	t := &r.Traces
	verdict := "accepted"
	if !r.Accepted {
		verdict = "not accepted: " + strings.Join(r.Reasons, ", ")
	}
	rest := make([]float64, len(t.Time))
	for i := range rest {
		rest[i] = t.Measured[i] - t.Predicted[i]
	}
	error := plot.Panel{Title: "measured − model, rad", Series: []plot.Series{{Name: "error", Y: rest}}}
	if x := float64(r.RMSE); x == x {
		error.Limits = []float64{-x, x}
	}
	return &plot.Chart{Title: r.Joint + ": " + verdict, XLabel: "time, s", X: t.Time, Panels: []plot.Panel{
		{Title: "position, rad", Series: []plot.Series{{Name: "goal", Y: t.Goal}, {Name: "measured", Y: t.Measured}, {Name: "model", Y: t.Predicted}}},
		error,
	}}
}
