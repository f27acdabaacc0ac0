package server

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"poise/robot/load"
)

// TestOnlyMeshesOfTheRobotAreServed: under names of the page's own, and nothing else of
// the folder or the machine.
func TestOnlyMeshesOfTheRobotAreServed(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "box.urdf")
	for name, text := range map[string]string{
		file:                                `<robot name="box"><link name="a"><visual><geometry><mesh filename="box.stl"/></geometry></visual></link></robot>`,
		filepath.Join(folder, "box.stl"):    "solid box",
		filepath.Join(folder, "secret.stl"): "secret",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r, err := load.Robot(file, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f := &meshFolder{Robot: r, Since: time.Unix(1, 0)}
	found := regexp.MustCompile(`filename="(/mesh/[0-9a-f]+\.stl)"`).FindStringSubmatch(f.URDF())
	if found == nil || strings.Contains(f.URDF(), folder) {
		t.Fatalf("the page reads %s", f.URDF())
	}
	mux := http.NewServeMux()
	mux.Handle("GET /mesh/{name...}", f)
	for path, want := range map[string]int{found[1]: http.StatusOK, "/mesh/box.stl": http.StatusNotFound, "/mesh/secret.stl": http.StatusNotFound, "/mesh/%2e%2e/box.urdf": http.StatusNotFound} {
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		if w.Code != want || want == http.StatusOK && w.Body.String() != "solid box" {
			t.Errorf("%s answers %d %q, want %d", path, w.Code, w.Body.String(), want)
		}
	}
}

// TestAMissingMeshIsNamed: the page is told which meshes are not there and where they were
// looked for, and does not ask for them.
func TestAMissingMeshIsNamed(t *testing.T) {
	folder, packages := t.TempDir(), t.TempDir()
	file := filepath.Join(folder, "box.urdf")
	text := `<robot name="box"><link name="a"><visual><geometry><mesh filename="package://arms/gone.stl"/></geometry></visual></link></robot>`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := load.Robot(file, load.Options{PackagePath: []string{packages}})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Missing) != 1 || r.Missing[0] != "package://arms/gone.stl" || !slices.Contains(r.Places, filepath.ToSlash(packages)) {
		t.Fatalf("missing %q, looked for in %q", r.Missing, r.Places)
	}
	f := &meshFolder{Robot: r, Since: time.Unix(1, 0)}
	if !strings.Contains(f.URDF(), `"/mesh/missing/`) {
		t.Errorf("the page reads %s", f.URDF())
	}
	// with the package it is found
	if err := os.MkdirAll(filepath.Join(packages, "arms"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(packages, "arms", "gone.stl"), []byte("solid box"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r, err = load.Robot(file, load.Options{PackagePath: []string{packages}}); err != nil || len(r.Missing) != 0 {
		t.Errorf("missing %q, %v", r.Missing, err)
	}
}

// TestAMeshNeverRunsAsScript: files of other kinds are not served, and those that are go
// out by fixed types in a box of their own, whatever is in them.
func TestAMeshNeverRunsAsScript(t *testing.T) {
	const script = `<html xmlns="http://www.w3.org/1999/xhtml"><script>new WebSocket("ws://" + location.host + "/rosbridge")</script></html>`
	folder := t.TempDir()
	names := map[string]string{"a.html": "", "a.htm": "", "a.xhtml": "", "a.svg": "", "a.xml": "", "a.js": "", "a.pdf": "", "a": "", "a.stl.html": "", "a.STL": "model/stl",
		"a.dae": "application/octet-stream", "a.obj": "model/obj", "a.png": "image/png", "a.glb": "model/gltf-binary"}
	var links strings.Builder
	for name := range names {
		fmt.Fprintf(&links, `<link name="l_%s"><visual><geometry><mesh filename="%s"/></geometry></visual></link>`, name, name)
		if err := os.WriteFile(filepath.Join(folder, name), []byte(script), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	i := 0
	for name := range names {
		if i++; i > 1 {
			fmt.Fprintf(&links, `<joint name="j%d" type="fixed"><parent link="root"/><child link="l_%s"/></joint>`, i, name)
		} else {
			fmt.Fprintf(&links, `<link name="root"/><joint name="j%d" type="fixed"><parent link="root"/><child link="l_%s"/></joint>`, i, name)
		}
	}
	file := filepath.Join(folder, "x.urdf")
	if err := os.WriteFile(file, []byte(`<robot name="x">`+links.String()+`</robot>`), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := load.Robot(file, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /mesh/{name...}", &meshFolder{Robot: r, Since: time.Unix(1, 0)})
	for name, typ := range names {
		w := httptest.NewRecorder()
		withHeaders(mux).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/mesh/"+meshKey(name), nil))
		if typ == "" {
			if w.Code != http.StatusUnsupportedMediaType || strings.Contains(w.Body.String(), "<script") {
				t.Errorf("%s answers %d %q", name, w.Code, w.Body.String())
			}
			continue
		}
		h := w.Result().Header
		if w.Code != http.StatusOK || h.Get("Content-Type") != typ || h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s answers %d as %q, %q", name, w.Code, h.Get("Content-Type"), h.Get("X-Content-Type-Options"))
		}
		if csp := h.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") || !strings.Contains(csp, "sandbox") || !strings.Contains(csp, "frame-ancestors 'none'") {
			t.Errorf("%s may do %q", name, csp)
		}
	}
}
