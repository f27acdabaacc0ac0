package graph

import (
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"poise/problem"
)

// hints bounds how often names are looked for that may have been meant: that compares with
// every name there is, and any client can ask for unknown names all the time.
type hints struct {
	now func() time.Time

	mu   sync.Mutex
	used float64 // of hintBurst
	last time.Time
}

// Rates of hints.
const (
	hintBurst = 50
	hintRate  = 10 // per second, when the burst is used up
)

// take reports whether a hint may be looked for now.
func (h *hints) take() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.now()
	h.used = math.Max(0, h.used-hintRate*now.Sub(h.last).Seconds())
	if h.last = now; h.used+1 > hintBurst {
		return false
	}
	h.used++
	return true
}

// hinted returns the names of a map, for a hint; none if there were too many hints.
func hinted[V any](h *hints, of map[string]V) []string {
	if !h.take() {
		return nil
	}
	return slices.Sorted(maps.Keys(of))
}

// NearTopics asks whether a topic was meant that there is, at the end of a sentence.
func (g *Graph) NearTopics(name string) string {
	if !g.hints.take() {
		return ""
	}
	g.mu.RLock()
	names := make([]string, 0, len(g.topics))
	for own := range g.topics {
		names = append(append(names, own), g.secondNames(own)...)
	}
	g.mu.RUnlock()
	slices.Sort(names)
	clean, err := Clean(name)
	if err != nil {
		clean = name
	}
	return problem.Hint(clean, names)
}
