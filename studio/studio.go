// Package studio holds the page: teach, edit and play motions in the browser.
//
// It is written in TypeScript and built into dist by `make studio`; what is built is
// committed, so that the server needs nothing but Go. The page is an ordinary client
// of the rosbridge wire.
package studio

import (
	"embed"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"strings"
)

//go:embed dist
var dist embed.FS

// Handler serves the page and its assets.
func Handler() http.Handler {
	files, err := fs.Sub(dist, "dist")
	if err != nil {
		panic("studio: " + err.Error()) // dist is embedded
	}
	server := http.FileServerFS(files)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(path.Clean(r.URL.Path), "/")
		if name == "favicon.ico" { // browsers ask for it, whatever the page says
			r.URL.Path = "/favicon.svg"
		}
		// names of assets do not change with their contents: always ask again
		w.Header().Set("Cache-Control", "no-cache")
		w.Header().Set("Content-Security-Policy", policy(r.Host))
		w.Header().Set("X-Frame-Options", "DENY")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		server.ServeHTTP(w, r)
	})
}

// hostName is what a policy can name; an address of IPv6 is not.
var hostName = regexp.MustCompile(`^[A-Za-z0-9.-]+(:[0-9]+)?$`)

// policy says what the page may do: run its own script and no other, speak with its own
// server, show pictures that it made of meshes, and be in no frame.
func policy(host string) string {
	connect := "'self' blob: data:"
	if hostName.MatchString(host) {
		connect += " ws://" + host + " wss://" + host // for browsers to which 'self' is no WebSocket
	}
	return "default-src 'self'; style-src 'self' 'unsafe-inline'; connect-src " + connect +
		"; img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}
