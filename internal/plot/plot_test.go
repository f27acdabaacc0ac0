package plot

import (
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func sample() *Chart {
	c := &Chart{Title: "Two joints & a <limit>", XLabel: "time, s"}
	var a, b []float64
	for i := range 200 {
		t := float64(i) / 100
		c.X = append(c.X, t)
		a, b = append(a, math.Sin(3*t)), append(b, math.Cos(2*t)/2)
	}
	b[50] = math.NaN()
	c.Panels = []Panel{{Title: "position, rad", Series: []Series{{Name: "joint_1", Y: a, Limits: []float64{-1.1, 1.1}}, {Name: "joint_2", Y: b}}, Limits: []float64{-1.2, 1.2}}, {Title: "nothing"}}
	return c
}

func gantt() *Gantt {
	return &Gantt{Title: "Who has the head", XLabel: "time, s", Rows: []string{"head", "tail"},
		Spans: []Span{{0, 0, 0.5, "look_at", 0}, {0, 0.5, 0.8, "yawn", 1}, {1, 0.1, 0.9, "wag", 2}}}
}

func TestSVGIsWellFormedAndNamesEverything(t *testing.T) {
	for name, draw := range map[string]func(string) error{"chart": sample().Save, "gantt": gantt().Save} {
		file := filepath.Join(t.TempDir(), "x.svg")
		if err := draw(file); err != nil {
			t.Fatal(err)
		}
		data, _ := os.ReadFile(file)
		dec := xml.NewDecoder(strings.NewReader(string(data)))
		var words []string
		for {
			tok, err := dec.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if s, ok := tok.(xml.CharData); ok {
				words = append(words, string(s))
			}
		}
		text := strings.Join(words, "|")
		want := map[string][]string{"chart": {"Two joints & a <limit>", "joint_1", "joint_2", "time, s", "-1.0", "0.5"}, "gantt": {"Who has the head", "look_at", "yawn", "wag", "tail"}}[name]
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%s does not say %q: %s", name, w, text)
			}
		}
	}
}

func TestPNGHasInkWhereTheCurveIs(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.png")
	if err := sample().Save(file); err != nil {
		t.Fatal(err)
	}
	f, _ := os.Open(file)
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	coloured := 0
	b := img.Bounds()
	for x := b.Min.X; x < b.Max.X; x++ {
		for y := b.Min.Y; y < b.Max.Y; y++ {
			if r, g, bl, _ := img.At(x, y).RGBA(); r>>8 < 60 && g>>8 > 90 && bl>>8 > 150 {
				coloured++
			}
		}
	}
	if coloured < 300 {
		t.Errorf("%d pixels of the first curve's colour", coloured)
	}
}

func TestOtherEndingsAreRefused(t *testing.T) {
	if err := sample().Save("x.gif"); err == nil || !strings.Contains(err.Error(), "x.gif") {
		t.Errorf("%v", err)
	}
}

func TestScalesAreRoundAndCoverEverything(t *testing.T) {
	for _, tc := range []struct {
		values []float64
		step   float64
	}{{[]float64{0, 1}, 0.2}, {[]float64{-3, 7}, 2}, {[]float64{0, 0.012}, 0.005}, {[]float64{5, 5}, 0.2}, {nil, 0.2}, {[]float64{math.NaN(), 1, 2}, 0.2}} {
		s := newScale(tc.values, nil, 100, 0)
		if math.Abs(s.step-tc.step) > 1e-12 || len(s.ticks) < 3 {
			t.Errorf("%v: step %g, want %g; ticks %v", tc.values, s.step, tc.step, s.ticks)
		}
		for _, v := range tc.values {
			if p := s.at(v); p < 0 || p > 100 {
				t.Errorf("%v: %g falls outside", tc.values, v)
			}
		}
	}
	if got := number(-0.0000001, 0.5); strings.Contains(got, "-0.0") && got != "-0.0" {
		t.Errorf("%q", got)
	}
}

// Limits of a curve are in its colour, and within the panel.
func TestLimitsOfACurveAreInItsColour(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.svg")
	if err := sample().Save(file); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, l := range strings.Split(string(data), "\n") {
		if strings.Contains(l, "dasharray") && strings.Contains(l, hex(Color(0))) {
			count++
		}
	}
	if count != 2 {
		t.Errorf("%d dashed lines in the colour of the curve, want 2", count)
	}
}

// A long motion is drawn with as many points as can be seen.
func TestManyPointsAreThinnedOut(t *testing.T) {
	c := &Chart{Panels: []Panel{{Series: []Series{{Name: "x"}}}}}
	for i := range 300_000 {
		c.X = append(c.X, float64(i))
		c.Panels[0].Series[0].Y = append(c.Panels[0].Series[0].Y, math.Sin(float64(i)/3e4))
	}
	file := filepath.Join(t.TempDir(), "x.svg")
	if err := c.Save(file); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(file); err != nil || info.Size() > 1<<18 {
		t.Errorf("%v, %v", info.Size(), err)
	}
}
