package file_test

import (
	"testing"

	"poise/motion"
	"poise/motion/file"
)

// recording is a motion of 38 joints and 200 rows.
func recording() *motion.Document {
	d := &motion.Document{Description: "recorded"}
	for j := range 38 {
		name := "joint" + string(rune('a'+j/26)) + string(rune('a'+j%26))
		d.Columns = append(d.Columns, name)
		d.Joints = append(d.Joints, motion.Joint{Name: name, Enabled: true})
	}
	for i := range 200 {
		p := motion.Point{Time: float64(i) / 50, Enabled: true, Positions: make([]float64, 38)}
		for j := range p.Positions {
			p.Positions[j] = 1 / float64(1+i+j)
		}
		d.Points = append(d.Points, p)
	}
	return d
}

func BenchmarkRead(b *testing.B) {
	text := file.Write(recording(), nil)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := file.Read(text, "x"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWrite(b *testing.B) {
	d := recording()
	b.SetBytes(int64(len(file.Write(d, nil))))
	b.ReportAllocs()
	for b.Loop() {
		file.Write(d, nil)
	}
}
