package server

import (
	"fmt"
	"net/http"
	"runtime"

	"poise/executive"
)

// metrics answers in the text format of Prometheus.
func (s *Server) metrics(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	p := &metricsText{}
	p.family("poise_uptime_seconds", "gauge", "since the server began")
	p.value("", s.uptime().Seconds())
	all, _, realtime := s.runner.Stats()
	p.cycle(all, realtime)
	s.robotMetrics(p)
	s.wireMetrics(p)
	s.recorderMetrics(p)
	p.family("poise_log_lines_dropped_total", "counter", "log lines that nobody read in time")
	p.value("", float64(s.lines.Dropped()))
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	p.family("poise_heap_bytes", "gauge", "memory in use")
	p.value("", float64(memory.HeapAlloc))
	p.family("poise_goroutines", "gauge", "goroutines")
	p.value("", float64(runtime.NumGoroutine()))
	fmt.Fprint(w, p.String())
}

// robotMetrics writes power, faults and goals of every robot.
func (s *Server) robotMetrics(p *metricsText) {
	states := make([]executive.State, len(s.robots))
	for i, bot := range s.robots {
		states[i] = bot.exec.State()
	}
	p.family("poise_power", "gauge", "1 for the state that the power is in")
	for i, bot := range s.robots {
		p.value(label("robot", bot.name)+","+label("state", states[i].Power.String()), 1)
	}
	p.family("poise_faults", "gauge", "that are there")
	for i, bot := range s.robots {
		p.value(label("robot", bot.name), float64(len(states[i].Faults)))
	}
	p.family("poise_goals", "gauge", "that are not over")
	for i, bot := range s.robots {
		p.value(label("robot", bot.name), float64(len(states[i].Goals)))
	}
	p.family("poise_reports_lost_total", "counter", "reports of the cycle that found no room")
	for i, bot := range s.robots {
		p.value(label("robot", bot.name), float64(states[i].Lost))
	}
	s.counts.writeTo(p)
}
