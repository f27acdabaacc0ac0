package server

import (
	"encoding/json"
	"html/template"
	"net/http"
	"time"

	"poise/wire"
	"poise/wire/ros2"
)

// routes lists what the server answers over HTTP. What is neither its own nor a wire's is
// the page's.
func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", s.healthz)
	mux.HandleFunc("GET /readyz", s.readyz)
	mux.HandleFunc("GET /metrics", limitRate(metricsRate, metricsWithin, s.metrics))
	mux.HandleFunc("GET /network", limitRate(metricsRate, metricsWithin, s.network))
	mux.Handle("GET /mesh/{name...}", s.meshes)
	page := s.page
	if page == nil {
		page = http.HandlerFunc(s.plainPage)
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		for _, one := range s.wires {
			if h, ok := one.(wire.HTTP); ok && h.Takes(r) {
				h.ServeHTTP(w, r)
				return
			}
		}
		page.ServeHTTP(w, r)
	})
	return withHeaders(s.handleStop(mux))
}

var plain = template.Must(template.New("page").Parse(`<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Poise: {{.Robot}}</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:3rem auto;padding:0 1rem}code{background:#8882;padding:.1em .3em;border-radius:.3em}</style>
<h1>Poise</h1>
<p>The robot <b>{{.Robot}}</b> is running. Its graph is at <code>ws://{{.Host}}/rosbridge</code>.</p>
<p>Try <code>poise state</code>, <code>poise play NAME</code>, <code>poise topic list</code>. Figures: <a href="/metrics">metrics</a>, <a href="/healthz">health</a>, <a href="/readyz">ready</a>.</p>
`))

func (s *Server) plainPage(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/" {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	// an error means that the client has gone
	_ = plain.Execute(w, struct{ Robot, Host string }{s.robot.Model.Name(), r.Host})
}

// network tells who else is in the networks that the server is in: of ROS 2, null without --ros2.
func (s *Server) network(w http.ResponseWriter, _ *http.Request) {
	var all struct {
		ROS2 *ros2.Network `json:"ros2"`
	}
	for _, one := range s.wires {
		if n, ok := one.(*ros2.Node); ok {
			seen := n.Network()
			all.ROS2 = &seen
		}
	}
	w.Header().Set("Content-Type", "application/json")
	// an error means that the client has gone
	_ = json.NewEncoder(w).Encode(&all)
}

// uptime returns how long the server has existed.
func (s *Server) uptime() time.Duration { return time.Since(s.started) }
