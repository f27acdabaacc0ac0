package plot

import (
	"bytes"
	"fmt"
	"html"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// anchor says which point of a text stands where it is put.
type anchor uint8

const (
	left anchor = iota
	middle
	right
)

// canvas is what a picture is drawn on. Lengths are pixels, y grows downwards.
type canvas interface {
	line(xs, ys []float64, c color.RGBA, width, dash float64)
	rect(x, y, w, h float64, c color.RGBA)
	text(x, y, size float64, a anchor, c color.RGBA, s string)
	encode() ([]byte, error)
}

// save draws to a file: SVG or PNG by its ending.
func save(name string, width, height int, paint func(canvas)) error {
	var c canvas
	switch filepath.Ext(name) {
	case ".svg":
		c = newSVG(width, height)
	case ".png":
		c = newPNG(width, height)
	default:
		return fmt.Errorf("plot: %q must end in .png or .svg", name)
	}
	paint(c)
	data, err := c.encode()
	if err != nil {
		return err
	}
	return os.WriteFile(name, data, 0o644)
}

// svg writes vector graphics.
type svg struct {
	b bytes.Buffer
}

func newSVG(width, height int) *svg {
	s := &svg{}
	fmt.Fprintf(&s.b, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\">\n", width, height)
	fmt.Fprintf(&s.b, "<rect width=\"%d\" height=\"%d\" fill=\"white\"/>\n", width, height)
	return s
}

func hex(c color.RGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

func (s *svg) line(xs, ys []float64, c color.RGBA, width, dash float64) {
	fmt.Fprintf(&s.b, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"%g\"", hex(c), width)
	if dash > 0 {
		fmt.Fprintf(&s.b, " stroke-dasharray=\"%g\"", dash)
	}
	s.b.WriteString(" points=\"")
	for i := range xs {
		fmt.Fprintf(&s.b, "%.2f,%.2f ", xs[i], ys[i])
	}
	s.b.WriteString("\"/>\n")
}

func (s *svg) rect(x, y, w, h float64, c color.RGBA) {
	fmt.Fprintf(&s.b, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\"/>\n", x, y, w, h, hex(c))
}

func (s *svg) text(x, y, size float64, a anchor, c color.RGBA, t string) {
	where := [...]string{"start", "middle", "end"}[a]
	fmt.Fprintf(&s.b, "<text x=\"%.2f\" y=\"%.2f\" font-size=\"%g\" text-anchor=\"%s\" fill=\"%s\">%s</text>\n", x, y, size, where, hex(c), html.EscapeString(t))
}

func (s *svg) encode() ([]byte, error) { return append(s.b.Bytes(), "</svg>\n"...), nil }

// raster writes pixels.
type raster struct {
	img   *image.RGBA
	faces map[float64]font.Face
	font  *opentype.Font
}

func newPNG(width, height int) *raster {
	f, err := opentype.Parse(goregular.TTF)
	if err != nil {
		panic("plot: the font inside is broken: " + err.Error())
	}
	r := &raster{img: image.NewRGBA(image.Rect(0, 0, width, height)), faces: map[float64]font.Face{}, font: f}
	draw.Draw(r.img, r.img.Bounds(), image.White, image.Point{}, draw.Src)
	return r
}

// line fills one thin rectangle for each segment; a dashed line leaves every
// other piece out.
func (r *raster) line(xs, ys []float64, c color.RGBA, width, dash float64) {
	if dash > 0 {
		xs, ys = dashes(xs, ys, dash)
	}
	b := r.img.Bounds()
	v := vector.NewRasterizer(b.Dx(), b.Dy())
	for i := 1; i < len(xs); i++ {
		if dash > 0 && i%2 == 0 {
			continue
		}
		segment(v, xs[i-1], ys[i-1], xs[i], ys[i], width/2)
	}
	v.Draw(r.img, b, image.NewUniform(c), image.Point{})
}

func segment(v *vector.Rasterizer, x0, y0, x1, y1, half float64) {
	dx, dy := x1-x0, y1-y0
	n := math.Hypot(dx, dy)
	if n == 0 {
		return
	}
	// a little longer at both ends, so that joints have no gaps
	ux, uy := dx/n*half, dy/n*half
	x0, y0, x1, y1 = x0-ux, y0-uy, x1+ux, y1+uy
	v.MoveTo(float32(x0-uy), float32(y0+ux))
	v.LineTo(float32(x1-uy), float32(y1+ux))
	v.LineTo(float32(x1+uy), float32(y1-ux))
	v.LineTo(float32(x0+uy), float32(y0-ux))
	v.ClosePath()
}

// dashes cuts a line into pieces of one length; every second is meant to be seen.
func dashes(xs, ys []float64, length float64) (px, py []float64) {
	for i := 1; i < len(xs); i++ {
		n := max(int(math.Hypot(xs[i]-xs[i-1], ys[i]-ys[i-1])/length), 1)
		for k := range n {
			t := float64(k) / float64(n)
			px, py = append(px, xs[i-1]+t*(xs[i]-xs[i-1])), append(py, ys[i-1]+t*(ys[i]-ys[i-1]))
		}
	}
	return append(px, xs[len(xs)-1]), append(py, ys[len(ys)-1])
}

func (r *raster) rect(x, y, w, h float64, c color.RGBA) {
	area := image.Rect(int(math.Round(x)), int(math.Round(y)), int(math.Round(x+w)), int(math.Round(y+h)))
	draw.Draw(r.img, area, image.NewUniform(c), image.Point{}, draw.Src)
}

func (r *raster) text(x, y, size float64, a anchor, c color.RGBA, s string) {
	face, ok := r.faces[size]
	if !ok {
		var err error
		if face, err = opentype.NewFace(r.font, &opentype.FaceOptions{Size: size, DPI: 72, Hinting: font.HintingFull}); err != nil {
			panic("plot: " + err.Error())
		}
		r.faces[size] = face
	}
	d := font.Drawer{Dst: r.img, Src: image.NewUniform(c), Face: face}
	wide := float64(d.MeasureString(s)) / 64
	x -= [...]float64{0, wide / 2, wide}[a]
	d.Dot = fixed.Point26_6{X: fixed.Int26_6(x * 64), Y: fixed.Int26_6(y * 64)}
	d.DrawString(s)
}

func (r *raster) encode() ([]byte, error) {
	var b bytes.Buffer
	err := png.Encode(&b, r.img)
	return b.Bytes(), err
}

// palette is Okabe and Ito's, which people with any colour vision tell apart.
var palette = []color.RGBA{
	{0, 114, 178, 255}, {230, 159, 0, 255}, {0, 158, 115, 255}, {204, 121, 167, 255},
	{213, 94, 0, 255}, {86, 180, 233, 255}, {120, 120, 40, 255}, {90, 90, 90, 255},
}

var (
	ink   = color.RGBA{40, 40, 40, 255}
	faint = color.RGBA{225, 225, 225, 255}
	alarm = color.RGBA{200, 30, 30, 255}
	white = color.RGBA{255, 255, 255, 255}
)

// Color returns a colour by number; they repeat.
func Color(i int) color.RGBA { return palette[i%len(palette)] }

// clip cuts a text to a number of characters.
func clip(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return strings.TrimSpace(string(r[:most-1])) + "…"
	}
	return s
}
