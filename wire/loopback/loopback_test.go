package loopback

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestAllowedHostsAndOrigins(t *testing.T) {
	for _, tc := range []struct {
		name, host, origin string
		why                string // empty: may come
	}{
		{"a program", "127.0.0.1:8080", "", ""},
		{"a program by name", "localhost:8080", "", ""},
		{"a program without a port", "localhost", "", ""},
		{"IPv6", "[::1]:8080", "", ""},
		{"IPv6 without a port", "[::1]", "", ""},
		{"another loopback address", "127.3.2.1:1", "", ""},
		{"our page", "127.0.0.1:8080", "http://127.0.0.1:8080", ""},
		{"a page of another port", "127.0.0.1:8080", "http://localhost:3000", ""},
		{"a page by TLS", "localhost:8080", "https://studio.localhost:443", ""},
		{"a page that the owner allows", "localhost:8080", "https://studio.example", ""},
		{"a page from outside", "127.0.0.1:8080", "https://evil.example", "evil.example"},
		{"a look-alike", "127.0.0.1:8080", "http://localhost.evil.example", "localhost.evil.example"},
		{"a user in front", "127.0.0.1:8080", "http://localhost@evil.example", "evil.example"},
		{"a sandboxed frame", "127.0.0.1:8080", "null", `"null"`},
		{"a file", "127.0.0.1:8080", "file://", "file://"},
		{"a name that was bent here", "evil.example:8080", "", `host "evil.example:8080"`},
		{"an outer address", "192.168.1.5:8080", "", "192.168.1.5"},
		{"the unspecified address", "0.0.0.0:8080", "", "0.0.0.0"},
		{"no host", "", "", `host ""`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := httptest.NewRequest("GET", "/", nil)
			r.Host = tc.host
			if tc.origin != "" {
				r.Header.Set("Origin", tc.origin)
			}
			w := httptest.NewRecorder()
			guard := Guard{Origins: []string{"https://studio.example"}}
			guard.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusTeapot)
			})).ServeHTTP(w, r)
			switch {
			case tc.why == "" && w.Code != http.StatusTeapot:
				t.Errorf("refused: %d %s", w.Code, w.Body)
			case tc.why != "" && (w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), tc.why)):
				t.Errorf("answer %d %q, want 403 and %q", w.Code, w.Body, tc.why)
			}
		})
	}
}
