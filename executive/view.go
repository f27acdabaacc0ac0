package executive

import "poise/executive/wish"

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
