package plot

import (
	"math"
	"strconv"
)

// Series is one curve.
type Series struct {
	Name   string
	Y      []float64 // at the chart's times; NaN leaves a gap
	Limits []float64 // of this curve: dashed lines in its colour
}

// Panel is curves with one scale.
type Panel struct {
	Title  string
	Series []Series
	Limits []float64 // dashed lines
}

// Chart is panels over one axis.
type Chart struct {
	Title, XLabel string
	X             []float64
	Panels        []Panel
}

// Sizes of a chart, in pixels.
const (
	chartWidth  = 960
	panelHeight = 200
	leftMargin  = 70
	rightMargin = 170
	topMargin   = 36
	gap         = 34
	small       = 11
)

// Save draws the chart to a file that ends in .png or .svg.
func (c *Chart) Save(name string) error {
	height := topMargin + len(c.Panels)*(panelHeight+gap) + 24
	return save(name, chartWidth, height, func(v canvas) {
		v.text(leftMargin, 22, 15, left, ink, c.Title)
		for i := range c.Panels {
			c.panel(v, &c.Panels[i], topMargin+float64(i)*(panelHeight+gap))
		}
		v.text(leftMargin+plotWidth/2, float64(height-8), small, middle, ink, c.XLabel)
	})
}

const plotWidth = chartWidth - leftMargin - rightMargin

func (c *Chart) panel(v canvas, p *Panel, top float64) {
	top += 14
	x := newScale(c.X, nil, leftMargin, leftMargin+plotWidth)
	var all []float64
	limits := append([]float64(nil), p.Limits...)
	for _, s := range p.Series {
		all, limits = append(all, s.Y...), append(limits, s.Limits...)
	}
	y := newScale(all, limits, top+panelHeight-14, top)
	v.text(leftMargin, top-5, 12, left, ink, p.Title)
	for _, t := range y.ticks {
		v.line([]float64{leftMargin, leftMargin + plotWidth}, []float64{y.at(t), y.at(t)}, faint, 1, 0)
		v.text(leftMargin-6, y.at(t)+4, small, right, ink, number(t, y.step))
	}
	for _, t := range x.ticks {
		v.line([]float64{x.at(t), x.at(t)}, []float64{top, top + panelHeight - 14}, faint, 1, 0)
		v.text(x.at(t), top+panelHeight+2, small, middle, ink, number(t, x.step))
	}
	for _, l := range p.Limits {
		v.line([]float64{leftMargin, leftMargin + plotWidth}, []float64{y.at(l), y.at(l)}, alarm, 1, 5)
	}
	for i, s := range p.Series {
		for _, l := range s.Limits {
			v.line([]float64{leftMargin, leftMargin + plotWidth}, []float64{y.at(l), y.at(l)}, Color(i), 1, 5+float64(i%3)*2)
		}
		curve(v, &x, &y, c.X, s.Y, i)
		at := top + 8 + float64(i)*15
		if at < top+panelHeight {
			v.line([]float64{leftMargin + plotWidth + 10, leftMargin + plotWidth + 28}, []float64{at, at}, Color(i), 2, 0)
			v.text(leftMargin+plotWidth+34, at+4, small, left, ink, clip(s.Name, 22))
		}
	}
}

// curve draws one series, broken where it has no value.
func curve(v canvas, x, y *scale, xs, ys []float64, colour int) {
	var px, py []float64
	flush := func() {
		if len(px) > 1 {
			v.line(px, py, Color(colour), 1.6, 0)
		}
		px, py = nil, nil
	}
	for i, value := range ys {
		if i >= len(xs) {
			break
		}
		if math.IsNaN(value) || math.IsInf(value, 0) {
			flush()
			continue
		}
		X, Y := x.at(xs[i]), y.at(value)
		// of many points in one place, the outer ones are what is seen
		if n := len(px); n > 2 && X-px[n-3] < 0.5 && (Y-py[n-1])*(py[n-1]-py[n-2]) >= 0 {
			px[n-1], py[n-1] = X, Y
			continue
		}
		px, py = append(px, X), append(py, Y)
	}
	flush()
}

// scale maps values to pixels.
type scale struct {
	low, high, from, to float64
	ticks               []float64
	step                float64
}

// newScale covers the values and the extra ones, with round ticks.
func newScale(values, extra []float64, from, to float64) scale {
	low, high := math.Inf(1), math.Inf(-1)
	for _, list := range [][]float64{values, extra} {
		for _, v := range list {
			if !math.IsNaN(v) && !math.IsInf(v, 0) {
				low, high = min(low, v), max(high, v)
			}
		}
	}
	if low > high {
		low, high = 0, 1
	}
	if high-low < 1e-12*(1+math.Abs(low)) {
		low, high = low-0.5, high+0.5
	}
	room := 0.04 * (high - low)
	if from < to { // a time axis needs none
		room = 0
	}
	s := scale{low: low - room, high: high + room, from: from, to: to}
	s.step = roundStep((high - low) / 5)
	for k := math.Ceil(s.low / s.step); k*s.step <= s.high+1e-9*s.step; k++ {
		s.ticks = append(s.ticks, k*s.step)
	}
	return s
}

// roundStep returns 1, 2 or 5 times a power of ten, not below x.
func roundStep(x float64) float64 {
	ten := math.Pow(10, math.Floor(math.Log10(x)))
	for _, f := range []float64{1, 2, 5} {
		if f*ten >= x*(1-1e-9) {
			return f * ten
		}
	}
	return 10 * ten
}

func (s *scale) at(v float64) float64 {
	return s.from + (v-s.low)/(s.high-s.low)*(s.to-s.from)
}

// number prints a tick with as many digits as its step has.
func number(v, step float64) string {
	digits := max(0, int(math.Ceil(-math.Log10(step)-1e-9)))
	if v == 0 {
		v = 0 // no minus zero
	}
	return strconv.FormatFloat(v, 'f', min(digits, 9), 64)
}

// Span is a bar of a Gantt chart.
type Span struct {
	Row      int
	From, To float64
	Label    string
	Color    int
}

// Gantt shows who held what when.
type Gantt struct {
	Title, XLabel string
	Rows          []string
	Spans         []Span
	End           float64 // of the axis; 0 fits
}

// Save draws the chart to a file that ends in .png or .svg.
func (g *Gantt) Save(name string) error {
	const row, names = 26, 150
	height := topMargin + len(g.Rows)*row + 44
	return save(name, chartWidth, height, func(v canvas) {
		ends := []float64{0, g.End}
		for _, s := range g.Spans {
			ends = append(ends, s.From, s.To)
		}
		x := newScale(ends, nil, names, chartWidth-20)
		bottom := float64(topMargin + len(g.Rows)*row)
		v.text(20, 22, 15, left, ink, g.Title)
		for _, t := range x.ticks {
			v.line([]float64{x.at(t), x.at(t)}, []float64{topMargin, bottom}, faint, 1, 0)
			v.text(x.at(t), bottom+16, small, middle, ink, number(t, x.step))
		}
		for i, n := range g.Rows {
			v.text(names-8, topMargin+float64(i)*row+17, 12, right, ink, clip(n, 20))
		}
		for _, s := range g.Spans {
			y := topMargin + float64(s.Row)*row + 3
			w := max(x.at(s.To)-x.at(s.From), 1)
			v.rect(x.at(s.From), y, w, row-6, Color(s.Color))
			if w > 30 {
				v.text(x.at(s.From)+4, y+14, small, left, white, clip(s.Label, int(w/7)))
			}
		}
		v.text(names+(chartWidth-20-names)/2, float64(height-8), small, middle, ink, g.XLabel)
	})
}
