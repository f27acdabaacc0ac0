package motions

import (
	"strings"
	"sync"

	"poise/motion/library"
)

// complaints remembers which files of motions were warned of, so that each is told
// once, and again when it has changed.
type complaints struct {
	mu   sync.Mutex
	told map[string]string // reason by name
}

// Warn tells the log of the motions that cannot be read and that it has not heard of.
func (s *Services) Warn(all []*library.Motion) {
	c := &s.complaints
	c.mu.Lock()
	defer c.mu.Unlock()
	now := map[string]string{}
	for _, m := range all {
		if m.Err == nil {
			continue
		}
		now[m.Name] = strings.ReplaceAll(m.Err.Error(), "\n", "; ")
		if c.told[m.Name] != now[m.Name] {
			s.Log.Warn("a motion cannot be read", "motion", m.Name, "why", now[m.Name])
		}
	}
	c.told = now
}
