package urdf

import (
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"poise/internal/golden"
)

// plainRobot is URDF as encoding/xml reads it by itself, every attribute a
// text: a second, independent reading of the parts that make a robot move.
type plainRobot struct {
	Name  string `xml:"name,attr"`
	Links []struct {
		Name     string `xml:"name,attr"`
		Inertial *struct {
			Origin  plainOrigin `xml:"origin"`
			Mass    plainValue  `xml:"mass"`
			Inertia struct {
				XX string `xml:"ixx,attr"`
				XY string `xml:"ixy,attr"`
				XZ string `xml:"ixz,attr"`
				YY string `xml:"iyy,attr"`
				YZ string `xml:"iyz,attr"`
				ZZ string `xml:"izz,attr"`
			} `xml:"inertia"`
		} `xml:"inertial"`
		Visuals    []plainShape `xml:"visual"`
		Collisions []plainShape `xml:"collision"`
	} `xml:"link"`
	Joints []struct {
		Name   string      `xml:"name,attr"`
		Type   string      `xml:"type,attr"`
		Parent plainLink   `xml:"parent"`
		Child  plainLink   `xml:"child"`
		Origin plainOrigin `xml:"origin"`
		Axis   *struct {
			XYZ string `xml:"xyz,attr"`
		} `xml:"axis"`
		Limit *struct {
			Lower    string `xml:"lower,attr"`
			Upper    string `xml:"upper,attr"`
			Effort   string `xml:"effort,attr"`
			Velocity string `xml:"velocity,attr"`
		} `xml:"limit"`
		Mimic *struct {
			Joint      string `xml:"joint,attr"`
			Multiplier string `xml:"multiplier,attr"`
			Offset     string `xml:"offset,attr"`
		} `xml:"mimic"`
	} `xml:"joint"`
}

type plainLink struct {
	Link string `xml:"link,attr"`
}

type plainValue struct {
	Value string `xml:"value,attr"`
}

type plainOrigin struct {
	XYZ string `xml:"xyz,attr"`
	RPY string `xml:"rpy,attr"`
}

type plainShape struct {
	Origin   plainOrigin `xml:"origin"`
	Geometry struct {
		Mesh *struct {
			File string `xml:"filename,attr"`
		} `xml:"mesh"`
	} `xml:"geometry"`
}

// say writes numbers of texts, each with its default.
func say(t *testing.T, pairs ...string) string {
	t.Helper()
	var b strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		text := pairs[i]
		if text == "" {
			text = pairs[i+1]
		}
		for _, word := range strings.Fields(text) {
			var x float64
			if _, err := fmt.Sscan(word, &x); err != nil {
				t.Fatalf("%q: %v", text, err)
			}
			fmt.Fprint(&b, " ", x)
		}
	}
	return b.String()
}

func (p *plainRobot) lines(t *testing.T) (lines []string) {
	const zero = "0 0 0"
	shape := func(kind string, s plainShape) {
		mesh := ""
		if s.Geometry.Mesh != nil {
			mesh = s.Geometry.Mesh.File
		}
		lines = append(lines, kind+say(t, s.Origin.XYZ, zero, s.Origin.RPY, zero)+" "+mesh)
	}
	for _, l := range p.Links {
		lines = append(lines, "link "+l.Name)
		if in := l.Inertial; in != nil {
			I := in.Inertia
			lines = append(lines, "inertial"+say(t, in.Origin.XYZ, zero, in.Origin.RPY, zero, in.Mass.Value, "",
				I.XX, "", I.XY, "", I.XZ, "", I.YY, "", I.YZ, "", I.ZZ, ""))
		}
		for _, s := range l.Visuals {
			shape("visual", s)
		}
		for _, s := range l.Collisions {
			shape("collision", s)
		}
	}
	for _, j := range p.Joints {
		axis := "1 0 0"
		if j.Axis != nil {
			axis = j.Axis.XYZ
		}
		lines = append(lines, "joint "+j.Name+" "+j.Type+" "+j.Parent.Link+" "+j.Child.Link+
			say(t, j.Origin.XYZ, zero, j.Origin.RPY, zero, axis, ""))
		if l := j.Limit; l != nil {
			lines = append(lines, "limit"+say(t, l.Lower, "0", l.Upper, "0", l.Effort, "0", l.Velocity, "0"))
		}
		if m := j.Mimic; m != nil {
			lines = append(lines, "mimic "+m.Joint+say(t, m.Multiplier, "1", m.Offset, "0"))
		}
	}
	return lines
}

// lines says the same of a document.
func (d *Document) lines() (lines []string) {
	f := func(x ...float64) string {
		var b strings.Builder
		for i := range x {
			fmt.Fprint(&b, " ", x[i])
		}
		return b.String()
	}
	origin := func(o Origin) string { return f(o.XYZ.X, o.XYZ.Y, o.XYZ.Z, o.RPY.X, o.RPY.Y, o.RPY.Z) }
	for _, l := range d.Links {
		lines = append(lines, "link "+l.Name)
		if in := l.Inertial; in != nil {
			lines = append(lines, "inertial"+origin(in.Origin)+f(in.Mass, in.I.XX, in.I.XY, in.I.XZ, in.I.YY, in.I.YZ, in.I.ZZ))
		}
		for _, v := range l.Visuals {
			lines = append(lines, "visual"+origin(v.Origin)+" "+v.Geometry.Mesh)
		}
		for _, v := range l.Collisions {
			lines = append(lines, "collision"+origin(v.Origin)+" "+v.Geometry.Mesh)
		}
	}
	for _, j := range d.Joints {
		lines = append(lines, fmt.Sprint("joint ", j.Name, " ", j.Type, " ", j.Parent, " ", j.Child, origin(j.Origin), f(j.Axis.X, j.Axis.Y, j.Axis.Z)))
		if l := j.Limit; l != nil {
			lines = append(lines, "limit"+f(l.Lower, l.Upper, l.Effort, l.Velocity))
		}
		if m := j.Mimic; m != nil {
			lines = append(lines, "mimic "+m.Joint+f(m.Multiplier, m.Offset))
		}
	}
	return lines
}

func TestRealRobotsAgreeWithAnIndependentReading(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(golden.Path(t, "robots"), "*", "*.urdf"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		d, _, err := Parse(data, filepath.Base(path))
		if err != nil {
			t.Fatal(err)
		}
		var plain plainRobot
		if err := xml.Unmarshal(data, &plain); err != nil {
			t.Fatal(err)
		}
		got, want := d.lines(), plain.lines(t)
		if d.Name != plain.Name || len(got) != len(want) {
			t.Errorf("%s: %d lines of %s, want %d of %s", path, len(got), d.Name, len(want), plain.Name)
			continue
		}
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("%s:\n got %s\nwant %s", path, got[i], want[i])
			}
		}
	}
}
