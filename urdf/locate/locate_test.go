package locate

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
)

func files() Files {
	m := fstest.MapFS{}
	for name, text := range map[string]string{
		"opt/share/arm/urdf/arm.urdf":              "arm",
		"ws/src/leg_description/package.xml":       "<package><name>leg_description</name></package>",
		"ws/src/leg_description/urdf/leg.xacro":    "leg",
		"ws/src/foot_description/package.xml":      "<package><name>foot_description</name></package>",
		"ws/src/foot_description/urdf/foot.xacro":  "foot",
		"ws/src/no_package/urdf/x.xacro":           "x",
		"downloads/hand-main/package.xml":          "<package format='3'>\n<name> hand </name></package>",
		"downloads/hand-main/urdf/hand.xacro":      "hand",
		"path/arm/urdf/arm.urdf":                   "other arm",
		"path/single/meshes/a.stl":                 "solid",
		"home/robots/bare/bare.urdf":               "bare",
		"home/robots/bare/broken/package.xml":      "<package><name>broken",
		"home/robots/bare/broken/urdf/robot.xacro": "broken",
	} {
		m[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return Files{FS: m, Dir: "/home/robots", Packages: []string{"/opt", "/path", "/path/single", "/downloads/hand-main"}}
}

func TestFind(t *testing.T) {
	for _, tc := range []struct{ name, pkg, from, want string }{
		{"in the subfolder share", "arm", "", "/opt/share/arm"}, // /opt comes before /path
		{"in a folder of the search path", "single", "", "/path/single"},
		{"a folder that is the package by its package.xml", "hand", "", "/downloads/hand-main"},
		{"above the file", "leg_description", "/ws/src/leg_description/urdf/leg.xacro", "/ws/src/leg_description"},
		{"beside the package of the file", "foot_description", "/ws/src/leg_description/urdf/leg.xacro", "/ws/src/foot_description"},
		{"above a file with a relative name", "bare", "bare/bare.urdf", "/home/robots/bare"},
		{"beside, but without package.xml", "no_package", "/ws/src/leg_description/urdf/leg.xacro", ""},
		{"not installed and nowhere near", "leg_description", "bare/bare.urdf", ""},
		{"package.xml that cannot be read", "other", "bare/broken/urdf/robot.xacro", ""},
		{"no name", "", "", ""},
		{"name that climbs", "..", "", ""},
		{"name with a slash", "arm/urdf", "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := files().Find(tc.pkg, tc.from)
			if got != tc.want || (err != nil) != (tc.want == "") {
				t.Errorf("Find(%q, %q) = %q, %v, want %q", tc.pkg, tc.from, got, err, tc.want)
			}
		})
	}
}

func TestResolve(t *testing.T) {
	for _, tc := range []struct{ spec, from, want string }{
		{"leg.xacro", "/ws/src/a.xacro", "/ws/src/leg.xacro"},
		{"../leg.xacro", "bare/bare.urdf", "leg.xacro"},
		{"/a/./b.xacro", "x", "/a/b.xacro"},
		{"file:///a/b.xacro", "x", "/a/b.xacro"},
		{"package://arm/urdf/arm.urdf", "x", "/opt/share/arm/urdf/arm.urdf"},
		{"package://arm", "x", "/opt/share/arm"},
	} {
		if got, err := files().Resolve(tc.spec, tc.from); got != tc.want || err != nil {
			t.Errorf("Resolve(%s, %s) = %s, %v, want %s", tc.spec, tc.from, got, err, tc.want)
		}
	}
	if _, err := files().Resolve("package://nowhere/a", "x"); err == nil || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("error is %v", err)
	}
}

func TestRead(t *testing.T) {
	f := files()
	if data, err := f.Read("bare/bare.urdf", 4); string(data) != "bare" || err != nil {
		t.Errorf("a relative name gives %q, %v", data, err)
	}
	if _, err := f.Read("/home/robots/bare/bare.urdf", 3); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a file that is too large gives %v", err)
	}
	if _, err := f.Read("../../../../home/robots/none", 3); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file gives %v", err)
	}
	if _, err := f.Read("bare", 3); err == nil {
		t.Error("a folder is read")
	}
	got, err := f.Glob("bare/*.urdf")
	if len(got) != 1 || got[0] != "/home/robots/bare/bare.urdf" || err != nil {
		t.Errorf("Glob gives %v, %v", got, err)
	}
}

func TestReaderBoundsAllFilesTogether(t *testing.T) {
	r := NewReader(files(), 7)
	if _, err := r.Read("bare/bare.urdf"); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Read("/opt/share/arm/urdf/arm.urdf"); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Read("/path/single/meshes/a.stl"); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "7 bytes") {
		t.Errorf("reading beyond the bound gives %v", err)
	}
	if _, err := r.Read("none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file gives %v", err)
	}
	if got := strings.Join(r.Names, " "); got != "bare/bare.urdf /opt/share/arm/urdf/arm.urdf" {
		t.Errorf("files read are %s", got)
	}
}

// pipe is a file system whose one file must not be opened: a pipe would wait
// for a writer.
type pipe struct{ t *testing.T }

func (p pipe) Open(name string) (fs.File, error) {
	p.t.Errorf("%s is opened", name)
	return nil, fs.ErrPermission
}

func (p pipe) Stat(name string) (fs.FileInfo, error) {
	return fs.Stat(fstest.MapFS{name: {Mode: fs.ModeNamedPipe}}, name)
}

func TestPipesAreNotOpened(t *testing.T) {
	if _, err := (Files{FS: pipe{t}}).Read("fifo", 10); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("error is %v", err)
	}
}

func TestGlob(t *testing.T) {
	m := fstest.MapFS{}
	for _, name := range []string{"a/x.urdf", "a/y.urdf", "a/.z.urdf", "a/b/x.urdf", "c/x.urdf", "c/x.txt", ".d/x.urdf"} {
		m[name] = &fstest.MapFile{}
	}
	for _, tc := range []struct{ pattern, want string }{
		{"/a/*.urdf", "/a/x.urdf /a/y.urdf"},
		{"/a/.*.urdf", "/a/.z.urdf"},
		{"/a/[!x].urdf", "/a/y.urdf"},
		{"/*/x.urdf", "/a/x.urdf /c/x.urdf"},
		{"/*/*/x.urdf", "/a/b/x.urdf"},
		{"?.urdf", "/a/x.urdf /a/y.urdf"}, // relative to Dir
		{"/nowhere/*", ""},
		{"/a/x.urdf/*", ""},
	} {
		got, err := (Files{FS: m, Dir: "/a"}).Glob(tc.pattern)
		if err != nil || strings.Join(got, " ") != tc.want {
			t.Errorf("%s: %v, %v, want %s", tc.pattern, got, err, tc.want)
		}
	}
	if _, err := (Files{FS: m}).Glob("/a/[x"); err == nil {
		t.Error("half a pattern is taken")
	}
}

// TestGlobIsBounded: a pattern of stars could list a whole disk.
func TestGlobIsBounded(t *testing.T) {
	m := fstest.MapFS{}
	for i := range 70 {
		for j := range 1000 {
			m[fmt.Sprintf("%d/%d", i, j)] = &fstest.MapFile{}
		}
	}
	if got, err := (Files{FS: m}).Glob("/*/*"); err == nil || !strings.Contains(err.Error(), "more than 65536 files") {
		t.Errorf("%d files, %v", len(got), err)
	}
}
