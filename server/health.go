package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"poise/server/guard"
)

// watchPeriod is how often the health of the server is looked at.
const watchPeriod = 50 * time.Millisecond

// health knows what of the server moves on. It asks for counts only, and waits for no lock:
// it tells of what hangs.
type health struct {
	patience time.Duration
	frozen   func() bool // the cycles' time stands still on purpose

	mu    sync.Mutex
	beats []beat
}

// beat is a part of the server that must move on.
type beat struct {
	part  string // "cycle" or "pump"
	robot string
	count func() uint64

	last  uint64
	since time.Time // it has this count
}

// PartHealth is the health of a part of the server.
type PartHealth struct {
	Part   string `json:"part"`
	Robot  string `json:"robot,omitempty"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail,omitempty"`
}

func newHealth(s *Server) *health {
	h := &health{patience: time.Duration(s.cfg.Loop.Silence * 1e9), frozen: s.frozen}
	now := time.Now()
	for i, bot := range s.robots {
		h.beats = append(h.beats,
			beat{part: "cycle", robot: bot.name, count: func() uint64 { return s.runner.Turns(i) }, since: now},
			beat{part: "pump", robot: bot.name, count: bot.exec.Pumps, since: now})
	}
	return h
}

// look notes which counts have moved, and reports whether all cycles and all pumps have,
// since they were last reported to have.
func (h *health) look(now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range h.beats {
		b := &h.beats[i]
		if n := b.count(); n != b.last || b.part == "cycle" && h.frozen() {
			b.last, b.since = n, now
		}
	}
}

// parts tells how cycles and pumps are.
func (h *health) parts(now time.Time) (all []PartHealth) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range h.beats {
		b := &h.beats[i]
		p := PartHealth{Part: b.part, Robot: b.robot, OK: true}
		if still := now.Sub(b.since); still > h.patience {
			p.OK, p.Detail = false, fmt.Sprintf("has not moved for %.3g s, %.3g s is allowed", still.Seconds(), h.patience.Seconds())
		}
		all = append(all, p)
	}
	return all
}

// counts returns how often each cycle and each pump has moved.
func (h *health) counts() (cycles, pumps []uint64) {
	for i := range h.beats {
		if b := &h.beats[i]; b.part == "cycle" {
			cycles = append(cycles, b.count())
		} else {
			pumps = append(pumps, b.count())
		}
	}
	return cycles, pumps
}

// moved reports whether every count is another one.
func moved(before, now []uint64) bool {
	for i := range now {
		if len(before) == len(now) && before[i] == now[i] {
			return false
		}
	}
	return true
}

// watch looks at the health again and again, and feeds the guard and systemd's watchdog
// while cycles and pumps move on.
func (s *Server) watch(ctx context.Context) {
	ticker := time.NewTicker(watchPeriod)
	defer ticker.Stop()
	dog := newWatchdog()
	var fed, dogged struct{ cycles, pumps []uint64 } // counts when they were last fed
	for {
		now := time.Now()
		s.health.look(now)
		s.tellRecorders()
		cycles, pumps := s.health.counts()
		if s.frozen() { // cycles do not move, and need not
			fed.cycles, dogged.cycles = nil, nil
		}
		switch {
		case !moved(fed.cycles, cycles): // the guard hears nothing
		case !moved(fed.pumps, pumps):
			s.guard.Beat(guard.CycleOnly)
			fed.cycles = cycles
		default:
			s.guard.Beat(guard.Alive)
			fed.cycles, fed.pumps = cycles, pumps
		}
		if dog.due(now) && moved(dogged.cycles, cycles) && moved(dogged.pumps, pumps) {
			dog.feed(now)
			dogged.cycles, dogged.pumps = cycles, pumps
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// parts tells how everything is that must move on, and the recorder.
func (s *Server) parts() []PartHealth {
	return append(s.health.parts(time.Now()), s.recorderHealth()...)
}

// healthz answers whether cycle and pump move on. A recorder that cannot write is told, and
// no reason to take the server for dead.
func (s *Server) healthz(w http.ResponseWriter, r *http.Request) {
	parts := s.parts()
	writeHealth(w, r, firstTrouble(parts), parts)
}

// readyz answers whether goals are taken.
func (s *Server) readyz(w http.ResponseWriter, r *http.Request) {
	parts := s.parts()
	trouble := firstTrouble(parts)
	select {
	case <-s.ready:
	default:
		trouble = "the robot has no torque yet"
	}
	if s.ending.Load() {
		trouble = "the server is ending"
	}
	writeHealth(w, r, trouble, parts)
}

// firstTrouble says which cycle or pump hangs, "" if none does.
func firstTrouble(parts []PartHealth) string {
	for _, p := range parts {
		if !p.OK && p.Part != "recorder" {
			return fmt.Sprintf("the %s of robot %s %s", p.Part, p.Robot, p.Detail)
		}
	}
	return ""
}

// writeHealth answers as text, or as JSON to those who ask for it.
func writeHealth(w http.ResponseWriter, r *http.Request, trouble string, parts []PartHealth) {
	status := http.StatusOK
	if trouble != "" {
		status = http.StatusServiceUnavailable
	}
	w.Header().Set("Cache-Control", "no-store")
	if strings.Contains(r.Header.Get("Accept"), "application/json") {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(struct { // an error means that the client has gone
			OK    bool         `json:"ok"`
			Why   string       `json:"why,omitempty"`
			Parts []PartHealth `json:"parts"`
		}{trouble == "", trouble, parts})
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	if trouble == "" {
		trouble = "ok"
	}
	fmt.Fprintln(w, trouble)
	for _, p := range parts {
		word := "ok"
		if !p.OK {
			word = "FAILS"
		}
		fmt.Fprintln(w, strings.TrimRight(strings.Join([]string{p.Part, p.Robot, word, p.Detail}, " "), " "))
	}
}
