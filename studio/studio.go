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
		w.Header().Set("Content-Security-Policy", "default-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self' ws: wss:; img-src 'self' data: blob:")
		server.ServeHTTP(w, r)
	})
}
