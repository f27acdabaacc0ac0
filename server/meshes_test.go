package server

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
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
