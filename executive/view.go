package executive

import (
	"poise/executive/wish"
	"poise/robot"
)

// look takes a view of the robot and of what is being done.
func (e *Executive) look() *wish.View {
	e.mu.Lock()
	defer e.mu.Unlock()
	v := &wish.View{Means: e.means}
	if e.snap != nil {
		v.Now = wish.Copy(e.snap)
	}
	for _, j := range e.live {
		if j.number != 0 {
			v.Running = append(v.Running, j.work)
		}
	}
	return v
}

// operate makes the work of a continuous controller on some leaves, now.
func (e *Executive) operate(s *seat, set robot.Set) (*wish.Work, []Explanation) {
	v := &wish.View{Means: e.means, Now: e.snap}
	return v.Operate(s.Controller, set)
}
