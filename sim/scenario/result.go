package scenario

import "math"

// Result is what became of a run: its report.
type Result struct {
	Seed           uint64             `json:"seed"`
	Fallen         bool               `json:"fallen"`
	FellAt         *float64           `json:"fell_at"` // s, null if it stands
	RealtimeFactor float64            `json:"realtime_factor"`
	Criteria       []Outcome          `json:"criteria"`
	Figures        map[string]Figures `json:"figures"`
	Notes          []string           `json:"notes,omitempty"` // what became of motions that did not end well

	series *series
}

// Figures summarise a quantity over a run.
type Figures struct {
	Least    float64 `json:"least"`
	Greatest float64 `json:"greatest"`
	Mean     float64 `json:"mean"`
	RMS      float64 `json:"rms"`
	Last     float64 `json:"last"`
}

// Pass reports whether every criterion is met.
func (r *Result) Pass() bool {
	for _, c := range r.Criteria {
		if !c.Pass {
			return false
		}
	}
	return true
}

// Series returns a quantity over time, for pictures; NaN where it was not measured.
func (r *Result) Series(name string) (t, values []float64) {
	for i, q := range quantities {
		if q == name {
			return r.series.t, r.series.values[i]
		}
	}
	return nil, nil
}

func (r *run) result() *Result {
	res := &Result{Seed: r.seed, Fallen: r.fallen, Criteria: []Outcome{}, Figures: map[string]Figures{}, series: r.series, Notes: r.notes}
	if r.fallen {
		at := r.fellAt
		res.FellAt = &at
	}
	for i := range r.p.s.Expect {
		res.Criteria = append(res.Criteria, r.series.judge(&r.p.s.Expect[i]))
	}
	for i, name := range quantities {
		f := Figures{Least: math.Inf(1), Greatest: math.Inf(-1)}
		n := 0.0
		for _, x := range r.series.values[i] {
			if math.IsNaN(x) {
				continue
			}
			n++
			f.Least, f.Greatest, f.Last = math.Min(f.Least, x), math.Max(f.Greatest, x), x
			f.Mean += x
			f.RMS += x * x
		}
		if n > 0 {
			f.Mean, f.RMS = f.Mean/n, math.Sqrt(f.RMS/n)
			res.Figures[name] = f
		}
	}
	return res
}

// Worst joins the results of several seeds: fallen if one fell, of each criterion the worst
// outcome, and the figures over all.
func Worst(results []*Result) Result {
	w := *results[0]
	w.Criteria = append([]Outcome{}, w.Criteria...)
	w.Figures = map[string]Figures{}
	for _, r := range results {
		if r.Fallen && (w.FellAt == nil || *r.FellAt < *w.FellAt) {
			w.Fallen, w.FellAt = true, r.FellAt
		}
		w.RealtimeFactor = math.Min(w.RealtimeFactor, r.RealtimeFactor)
		for i, c := range r.Criteria {
			if c.worse(&w.Criteria[i]) {
				w.Criteria[i] = c
			}
		}
		for name, f := range r.Figures {
			all, ok := w.Figures[name]
			if !ok {
				w.Figures[name] = f
				continue
			}
			all.Least, all.Greatest = math.Min(all.Least, f.Least), math.Max(all.Greatest, f.Greatest)
			w.Figures[name] = all
		}
	}
	for name, all := range w.Figures {
		sum, square, n := 0.0, 0.0, 0.0
		for _, r := range results {
			if f, ok := r.Figures[name]; ok {
				sum, square, n = sum+f.Mean, square+f.RMS*f.RMS, n+1
			}
		}
		all.Mean, all.RMS = sum/n, math.Sqrt(square/n)
		w.Figures[name] = all
	}
	return w
}
