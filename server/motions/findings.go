package motions

import (
	"sync"

	"poise/motion/library"
	"poise/motion/lint"
	"poise/robot"
)

// findings remembers what is wrong with each version of a motion: judging one takes
// longer than listing a hundred.
type findings struct {
	mu    sync.Mutex
	known map[string]judged
}

type judged struct {
	version string
	texts   []string
}

func (f *findings) of(m *library.Motion, model *robot.Model) []string {
	f.mu.Lock()
	if j, ok := f.known[m.Name]; ok && j.version == m.Version {
		f.mu.Unlock()
		return j.texts
	}
	f.mu.Unlock()
	var texts []string
	for _, one := range lint.Check(m.Document, model, lint.Options{}) {
		texts = append(texts, one.Error())
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.known == nil {
		f.known = map[string]judged{}
	}
	f.known[m.Name] = judged{m.Version, texts}
	return texts
}
