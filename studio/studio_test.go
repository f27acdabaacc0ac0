package studio

import (
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

func get(t *testing.T, path string) *http.Response {
	t.Helper()
	w := httptest.NewRecorder()
	Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w.Result()
}

// TestThePageIsWhole: everything that the page names is served, by its type, and none of
// it comes from elsewhere.
func TestThePageIsWhole(t *testing.T) {
	page := get(t, "/")
	text, err := io.ReadAll(page.Body)
	if err != nil || page.StatusCode != http.StatusOK {
		t.Fatalf("the page answers %d, %v", page.StatusCode, err)
	}
	assets := regexp.MustCompile(`(?:src|href)="([^"]+)"`).FindAllSubmatch(text, -1)
	if len(assets) < 2 {
		t.Fatalf("the page names %d files: %s", len(assets), text)
	}
	types := map[string]string{".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
	for _, a := range assets {
		name := string(a[1])
		if strings.Contains(name, "//") {
			t.Errorf("%s comes from elsewhere", name)
			continue
		}
		r := get(t, "/"+strings.TrimLeft(name, "./"))
		want := types[name[strings.LastIndexByte(name, '.'):]]
		if r.StatusCode != http.StatusOK || want == "" || !strings.HasPrefix(r.Header.Get("Content-Type"), want) {
			t.Errorf("%s answers %d as %q, want 200 as %q", name, r.StatusCode, r.Header.Get("Content-Type"), want)
		}
	}
}

func TestBrowsersAreToldWhatTheyMayDo(t *testing.T) {
	for path, status := range map[string]int{"/": 200, "/favicon.ico": 200, "/no/such/file.js": 404, "/../studio.go": 404} {
		r := get(t, path)
		if r.StatusCode != status {
			t.Errorf("%s answers %d, want %d", path, r.StatusCode, status)
		}
		if status != http.StatusOK {
			continue
		}
		if got := r.Header.Get("Cache-Control"); got != "no-cache" {
			t.Errorf("%s may be kept: %q", path, got)
		}
		if got := r.Header.Get("Content-Security-Policy"); !strings.Contains(got, "default-src 'self'") || !strings.Contains(got, "frame-ancestors 'none'") || strings.Contains(got, " ws: ") {
			t.Errorf("%s may load from anywhere: %q", path, got)
		}
	}
}
