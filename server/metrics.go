package server

import (
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"

	"poise/executive"
)

// counts are what has happened since the start, by robot.
type counts struct {
	mu       sync.Mutex
	commands map[countKey]uint64
}

type countKey struct{ robot, what, result string }

// command counts a command or goal and what became of it.
func (c *counts) command(robot string, a executive.Audit) {
	what, _, _ := strings.Cut(a.What, " ")
	result, _, _ := strings.Cut(a.Result, ":")
	switch result {
	case "ok", "asked", "succeeded", "aborted", "preempted", "recalled", "lost":
	default:
		result = "refused"
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.commands == nil {
		c.commands = map[countKey]uint64{}
	}
	c.commands[countKey{robot, what, result}]++
}

// metrics answers in the text format of Prometheus.
func (s *Server) metrics(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	p := &metricWriter{}
	p.family("poise_uptime_seconds", "gauge", "since the server began")
	p.value("", s.uptime().Seconds())
	s.cycleMetrics(p)
	s.robotMetrics(p)
	wire := s.wire.Stats()
	for _, m := range []struct {
		name, kind, help string
		value            float64
	}{
		{"poise_clients", "gauge", "connected now", float64(wire.Clients)},
		{"poise_clients_connected_total", "counter", "ever", float64(wire.Connected)},
		{"poise_clients_refused_total", "counter", "not let in", float64(wire.Refused)},
		{"poise_messages_received_total", "counter", "from clients", float64(wire.Received)},
		{"poise_messages_sent_total", "counter", "to clients", float64(wire.Sent)},
		{"poise_messages_lost_total", "counter", "for which clients were too slow", float64(wire.Lost)},
	} {
		p.family(m.name, m.kind, m.help)
		p.value("", m.value)
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	p.family("poise_heap_bytes", "gauge", "memory in use")
	p.value("", float64(memory.HeapAlloc))
	p.family("poise_goroutines", "gauge", "goroutines")
	p.value("", float64(runtime.NumGoroutine()))
	fmt.Fprint(w, p.String())
}

// cycleMetrics tells how well the cycle keeps its time.
func (s *Server) cycleMetrics(p *metricWriter) {
	all, _, realtime := s.runner.Stats()
	p.family("poise_realtime", "gauge", "1 if real-time priority was granted")
	p.value("", flag(realtime))
	p.family("poise_cycle_ticks_total", "counter", "cycles")
	for _, one := range all {
		p.value(label("robot", one.Name), float64(one.Ticks))
	}
	p.family("poise_cycle_overruns_total", "counter", "cycles that were not done when the next was due")
	for _, one := range all {
		p.value(label("robot", one.Name), float64(one.Overruns))
	}
	p.family("poise_cycle_missed_total", "counter", "periods that passed without a cycle")
	for _, one := range all {
		p.value(label("robot", one.Name), float64(one.Missed))
	}
	for _, h := range []struct{ name, help string }{
		{"poise_cycle_lateness_seconds", "from deadline to start"}, {"poise_cycle_work_seconds", "from start to end"},
	} {
		p.family(h.name, "summary", h.help)
		for _, one := range all {
			histogram := &one.Lateness
			if strings.Contains(h.name, "work") {
				histogram = &one.Work
			}
			for _, q := range []float64{0.5, 0.99, 0.999, 1} {
				p.value(label("robot", one.Name)+","+label("quantile", fmt.Sprint(q)), float64(histogram.Quantile(q))/1e9)
			}
		}
		for _, one := range all {
			histogram := &one.Lateness
			if strings.Contains(h.name, "work") {
				histogram = &one.Work
			}
			p.named("_sum", label("robot", one.Name), histogram.Mean()*float64(histogram.Count())/1e9)
			p.named("_count", label("robot", one.Name), float64(histogram.Count()))
		}
	}
}

// robotMetrics tells what the robots do.
func (s *Server) robotMetrics(p *metricWriter) {
	robots := []*instance{s.virtual}
	if s.real != nil {
		robots = append(robots, s.real)
	}
	states := make([]executive.State, len(robots))
	for i, in := range robots {
		states[i] = in.exec.State()
	}
	p.family("poise_power", "gauge", "1 for the state that the power is in")
	for i, in := range robots {
		p.value(label("robot", in.name)+","+label("state", states[i].Power.String()), 1)
	}
	p.family("poise_faults", "gauge", "that are there")
	for i, in := range robots {
		p.value(label("robot", in.name), float64(len(states[i].Faults)))
	}
	p.family("poise_goals", "gauge", "that are not over")
	for i, in := range robots {
		p.value(label("robot", in.name), float64(len(states[i].Goals)))
	}
	p.family("poise_reports_lost_total", "counter", "reports of the cycle that found no room")
	for i, in := range robots {
		p.value(label("robot", in.name), float64(states[i].Lost))
	}
	s.counts.mu.Lock()
	defer s.counts.mu.Unlock()
	keys := make([]countKey, 0, len(s.counts.commands))
	for k := range s.counts.commands {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b countKey) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	p.family("poise_commands_total", "counter", "commands and goals, and what became of them")
	for _, k := range keys {
		p.value(label("robot", k.robot)+","+label("what", k.what)+","+label("result", k.result), float64(s.counts.commands[k]))
	}
}

// metricWriter writes families of figures.
type metricWriter struct {
	strings.Builder
	name string
}

func (p *metricWriter) family(name, kind, help string) {
	p.name = name
	fmt.Fprintf(p, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

func (p *metricWriter) value(labels string, v float64) { p.named("", labels, v) }

func (p *metricWriter) named(suffix, labels string, v float64) {
	if labels != "" {
		labels = "{" + labels + "}"
	}
	fmt.Fprintf(p, "%s%s%s %g\n", p.name, suffix, labels, v)
}

func label(key, value string) string { return fmt.Sprintf("%s=%q", key, value) }

func flag(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
