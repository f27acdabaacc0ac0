// Package loopback restricts a server to clients on the same machine.
//
// A socket on 127.0.0.1 is not enough: a page from anywhere, open in a browser
// here, can connect to it (the browser then sends its Origin), and a name that
// resolves to 127.0.0.1 makes the same page look like ours (then the Host is not
// a loopback name). So both are checked, for every request.
package loopback

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// Guard checks requests.
type Guard struct {
	Origins []string // besides pages on loopback names: "https://studio.example"
}

// OriginError refuses a page of another origin.
type OriginError struct{ Origin string }

func (e *OriginError) Error() string {
	return fmt.Sprintf("origin %q may not connect: only pages served from this machine (localhost, 127.0.0.1, [::1]) may", e.Origin)
}

// HostError refuses a host name that may not mean this machine.
type HostError struct{ Host string }

func (e *HostError) Error() string {
	return fmt.Sprintf("host %q is not a name of this machine: use localhost, 127.0.0.1 or [::1]", e.Host)
}

// Check returns why a request may not be served, or nil.
func (g Guard) Check(r *http.Request) error {
	if !IsName(hostname(r.Host)) {
		return &HostError{Host: r.Host}
	}
	for _, origin := range r.Header.Values("Origin") {
		if !g.allows(origin) {
			return &OriginError{Origin: origin}
		}
	}
	return nil
}

func (g Guard) allows(origin string) bool {
	if slices.Contains(g.Origins, origin) {
		return true
	}
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
		return false // "null" too: a sandboxed frame of any page has that origin
	}
	return IsName(u.Hostname())
}

// Handler refuses with 403 what Check refuses, and says why.
func (g Guard) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := g.Check(r); err != nil {
			http.Error(w, err.Error(), http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// IsName reports whether a host, without its port, can only mean this machine.
func IsName(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.Unmap().IsLoopback()
}

// hostname cuts the port off.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
}
