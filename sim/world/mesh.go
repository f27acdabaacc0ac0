package world

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"poise/spatial"
)

// Meshes reads corners by the name of a mesh. What cannot be read has none: robots are
// simulated without meshes that are not there, as poise check says.
func Meshes(read func(name string) ([]byte, error)) func(name string) []spatial.Vec3 {
	if read == nil {
		return nil
	}
	known := map[string][]spatial.Vec3{}
	return func(name string) []spatial.Vec3 {
		if corners, ok := known[name]; ok {
			return corners
		}
		var corners []spatial.Vec3
		if data, err := read(name); err == nil {
			corners = cornersOf(name, data)
		}
		known[name] = corners
		return corners
	}
}

// cornersOf reads the corners of an STL or OBJ file.
func cornersOf(name string, data []byte) []spatial.Vec3 {
	if strings.HasSuffix(strings.ToLower(name), ".obj") {
		return wordCorners(data, "v %g %g %g")
	}
	const head, facet = 84, 50
	if len(data) >= head {
		n := binary.LittleEndian.Uint32(data[80:])
		if uint64(len(data)-head) == uint64(n)*facet {
			return binaryCorners(data[head:], int(n))
		}
	}
	return wordCorners(data, "vertex %g %g %g")
}

func binaryCorners(data []byte, n int) []spatial.Vec3 {
	corners := make([]spatial.Vec3, 0, 3*n)
	for i := range n {
		for k := range 3 {
			at := data[i*50+12+12*k:]
			number := func(j int) float64 {
				return float64(math.Float32frombits(binary.LittleEndian.Uint32(at[4*j:])))
			}
			if p := (spatial.Vec3{X: number(0), Y: number(1), Z: number(2)}); p.Finite() {
				corners = append(corners, p)
			}
		}
	}
	return corners
}

// wordCorners reads the lines that have three numbers after a word.
func wordCorners(data []byte, format string) (corners []spatial.Vec3) {
	for line := range bytes.Lines(data) {
		var p spatial.Vec3
		if n, _ := fmt.Sscanf(string(bytes.TrimSpace(line)), format, &p.X, &p.Y, &p.Z); n == 3 && p.Finite() {
			corners = append(corners, p)
		}
	}
	return corners
}
