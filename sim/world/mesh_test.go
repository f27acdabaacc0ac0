package world

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"poise/spatial"
)

// facet is a triangle of numbers that every form of file keeps as they are.
var facet = []spatial.Vec3{{X: 0.5, Y: -2, Z: 1024}, {X: -0.125}, {Z: 1e-3}}

// binarySTL writes triangles as an STL file whose header begins with some text.
func binarySTL(header string, corners []spatial.Vec3) []byte {
	data := append([]byte(header), make([]byte, 80-len(header))...)
	data = binary.LittleEndian.AppendUint32(data, uint32(len(corners)/3))
	for i, p := range corners {
		if i%3 == 0 {
			data = append(data, make([]byte, 12)...) // the normal
		}
		for _, x := range [3]float64{p.X, p.Y, p.Z} {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(x)))
		}
		if i%3 == 2 {
			data = append(data, 0, 0)
		}
	}
	return data
}

// words writes corners as lines of text.
func words(word string, corners []spatial.Vec3) []byte {
	var b bytes.Buffer
	for _, p := range corners {
		fmt.Fprintf(&b, "%s %g %g %g\n", word, p.X, p.Y, p.Z)
	}
	return b.Bytes()
}

// TestCornersOfMeshes in the forms in which programs write them.
func TestCornersOfMeshes(t *testing.T) {
	single := slices.Clone(facet)
	for i := range single {
		single[i].Z = float64(float32(single[i].Z))
	}
	stl := "solid foot\n facet normal 0 0 1\n  outer loop\n" + string(words("   vertex", facet)) + "  endloop\n endfacet\nendsolid foot\n"
	for _, c := range []struct {
		what, name string
		data       []byte
		want       []spatial.Vec3
	}{
		{"binary", "foot.stl", binarySTL("", facet), single},
		{"binary, with the header of a text", "foot.STL", binarySTL("solid foot", facet), single},
		{"binary, cut off", "foot.stl", binarySTL("", facet)[:100], nil},
		{"binary, with more facets than there are", "foot.stl", slices.Concat(make([]byte, 80), []byte{255, 255, 255, 255}, make([]byte, 50)), nil},
		{"binary, without a number", "foot.stl", binarySTL("", []spatial.Vec3{{X: math.NaN()}, {Y: math.Inf(1)}, {Z: 1}}), []spatial.Vec3{{Z: 1}}},
		{"text", "foot.stl", []byte(stl), facet},
		{"text of Windows, with tabs", "foot.stl", []byte(strings.ReplaceAll(strings.ReplaceAll(stl, "\n", "\r\n"), "   ", "\t")), facet},
		{"OBJ", "foot.obj", []byte("# a foot\nmtllib foot.mtl\n" + string(words("v", facet)) + "vt 0 0 0\nvn 0 0 1\nf 1/1/1 2/2/1 3/3/1\n"), facet},
		{"OBJ with double spaces and colours", "foot.OBJ", []byte("v  0.5 -2 1024 1 0 0\nv  -0.125 0 0 1 0 0\nv  0 0 1e-3 1 0 0"), facet},
		{"OBJ with a face of many corners", "foot.obj", slices.Concat(words("v", facet[:1]), []byte("f"+strings.Repeat(" 1", 100_000)+"\n"), words("v", facet[1:])), facet},
		{"OBJ with corners that are none", "foot.obj", []byte("v 1 2\nv a b c\nv NaN 0 0\nv 1e999 0 0\nvertex 1 2 3\n"), nil},
		{"neither", "foot.dae", []byte("<COLLADA/>"), nil},
		{"nothing", "foot.stl", nil, nil},
	} {
		if got := cornersOf(c.name, c.data); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
	}
}

// TestMeshesAreReadOnce, also those that are not there, which have no corners.
func TestMeshesAreReadOnce(t *testing.T) {
	asked := map[string]int{}
	corners := Meshes(func(name string) ([]byte, error) {
		if asked[name]++; name == "foot.obj" {
			return words("v", facet), nil
		}
		return nil, errors.New("there is no such file")
	})
	for range 2 {
		if got := corners("foot.obj"); !slices.Equal(got, facet) {
			t.Errorf("%v, want %v", got, facet)
		}
		if got := corners("hand.obj"); got != nil {
			t.Errorf("a mesh that is not there has the corners %v", got)
		}
	}
	if asked["foot.obj"] != 1 || asked["hand.obj"] != 1 {
		t.Errorf("read as often as %v", asked)
	}
	if Meshes(nil) != nil {
		t.Error("there are meshes though nothing reads them")
	}
}

// FuzzMeshes: of any file all corners are finite, none is invented, and written again they are read again, bit by bit.
func FuzzMeshes(f *testing.F) {
	for _, data := range [][]byte{binarySTL("", facet), binarySTL("solid", facet), words("vertex", facet), words("v", facet), []byte("v 0x1p-2 1_0 -0\r\nv\t1 2 3 4")} {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, form := range []struct {
			name, word string
			least      int // bytes of a corner
		}{{"a.stl", "vertex", 12}, {"a.obj", "v", 6}} {
			corners := cornersOf(form.name, data)
			if len(corners) > (len(data)+1)/form.least {
				t.Fatalf("%s: %d corners in %d bytes", form.name, len(corners), len(data))
			}
			for _, p := range corners {
				if !p.Finite() {
					t.Fatalf("%s: %v", form.name, p)
				}
			}
			if again := cornersOf(form.name, words(form.word, corners)); fmt.Sprintf("%x", again) != fmt.Sprintf("%x", corners) {
				t.Fatalf("%s: %x, read again %x", form.name, corners, again)
			}
		}
	})
}
