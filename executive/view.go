package executive

import (
	"poise/robot"
)

// look takes a view of the robot and of what is being done.
func (e *Executive) look() *view {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.view()
}

// view is look with everything locked.
func (e *Executive) view() *view {
	v := &view{cfg: &e.cfg, words: e.words}
	if e.snap != nil {
		v.now = copyOf(e.snap)
	}
	for _, j := range e.live {
		if j.number != 0 {
			v.running = append(v.running, j.work)
		}
	}
	return v
}

// operate makes the work of a continuous controller on some leaves, now.
func (e *Executive) operate(s *seat, set robot.Set) (*work, []Explanation) {
	v := &view{cfg: &e.cfg, words: e.words, now: e.snap}
	return v.operate(s.Controller, set)
}
