package server

import (
	"fmt"
	"net/http"
	"runtime"
	"runtime/metrics"
	"sync"
	"time"

	"poise/executive"
	"poise/internal/budget"
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
	p.family("poise_log_lines_dropped_total", "counter", "log lines that were not read in time")
	p.value("", float64(s.lines.Dropped()))
	s.budgetMetrics(p)
	// not runtime.ReadMemStats, which stops the world
	memory := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(memory)
	p.family("poise_heap_bytes", "gauge", "memory in use")
	p.value("", float64(memory[0].Value.Uint64()))
	p.family("poise_memory_bytes", "gauge", "memory taken from the system")
	p.value("", float64(memory[1].Value.Uint64()-memory[2].Value.Uint64()))
	p.family("poise_goroutines", "gauge", "goroutines")
	p.value("", float64(runtime.NumGoroutine()))
	fmt.Fprint(w, p.String())
}

// recentState is the state of a robot for those who must not hang when its executive does.
type recentState struct {
	mu     sync.Mutex
	asking chan struct{} // closed when the state that is asked for is there; nil if none is
	last   executive.State
}

// statePatience is how long the state of a robot is waited for.
const statePatience = 100 * time.Millisecond

// get asks for the state, and returns the last one and false if it does not come.
func (r *recentState) get(ask func() executive.State) (executive.State, bool) {
	r.mu.Lock()
	asking := r.asking
	if asking == nil {
		asking = make(chan struct{})
		r.asking = asking
		go func() {
			state := ask()
			r.mu.Lock()
			defer r.mu.Unlock()
			r.last, r.asking = state, nil
			close(asking)
		}()
	}
	r.mu.Unlock()
	timer := time.NewTimer(statePatience)
	defer timer.Stop()
	now := true
	select {
	case <-asking:
	case <-timer.C:
		now = false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last, now
}

// budgetMetrics writes what clients hold, and may.
func (s *Server) budgetMetrics(p *metricsText) {
	p.family("poise_budget_bytes", "gauge", "that all kinds together can come to")
	p.value("", float64(budget.Standard.Bytes(s.cfg.Limits.Connections)))
	lines := s.budget.Lines()
	for _, m := range []struct {
		name, kind, help string
		value            func(l *budget.Line) float64
	}{
		{"poise_budget_held", "gauge", "by all clients, in the unit of the kind", func(l *budget.Line) float64 { return float64(l.Held) }},
		{"poise_budget_peak", "gauge", "the most that was ever held", func(l *budget.Line) float64 { return float64(l.Peak) }},
		{"poise_budget_client_limit", "gauge", "of one client", func(l *budget.Line) float64 { return float64(l.Client) }},
		{"poise_budget_limit", "gauge", "of all clients, beyond what is sure to each", func(l *budget.Line) float64 { return float64(l.All) }},
		{"poise_budget_refused_total", "counter", "refusals", func(l *budget.Line) float64 { return float64(l.Refused) }},
	} {
		p.family(m.name, m.kind, m.help)
		for i := range lines {
			p.value(label("kind", lines[i].Name)+","+label("unit", lines[i].Unit), m.value(&lines[i]))
		}
	}
}

// robotMetrics writes power, faults and goals of every robot.
func (s *Server) robotMetrics(p *metricsText) {
	states, now := make([]executive.State, len(s.robots)), make([]bool, len(s.robots))
	for i, bot := range s.robots {
		states[i], now[i] = bot.recent.get(bot.exec.State)
	}
	p.family("poise_state_fresh", "gauge", "0 if the executive hangs and the figures of the robot are the last known")
	for i, bot := range s.robots {
		p.value(label("robot", bot.name), flag(now[i]))
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
