package executive

import "poise/action"

// server is the book of one action's goals.
type server struct {
	e        *Executive
	name     string
	many     *action.Many[*job, Feedback, Result]
	jobs     map[action.ID]*job
	over     map[action.ID]int64 // when each ended, ns
	incoming *job                // being submitted
}

// maxActions is how many names of actions have a book of their own; who makes up more
// than that shares one.
const maxActions = 512

// server returns the book of an action.
func (e *Executive) server(name string) *server {
	s, ok := e.servers[name]
	if !ok && len(e.servers) >= maxActions {
		name = "other"
		s, ok = e.servers[name]
	}
	if !ok {
		s = &server{e: e, name: name, jobs: map[action.ID]*job{}, over: map[action.ID]int64{}}
		s.many = action.NewMany(handler{s}, action.Observer[Feedback, Result](observer{s}))
		if !e.closed {
			s.many.Start()
		}
		e.servers[name] = s
		e.names = append(e.names, name)
	}
	return s
}

// forget frees the names of goals that are long over.
func (s *server) forget(before int64) {
	drop := false
	for id, at := range s.over {
		if at <= before {
			delete(s.over, id)
			delete(s.jobs, id)
			drop = true
		}
	}
	if drop {
		s.many.Forget(func(id action.ID) bool { _, kept := s.over[id]; return kept })
	}
}

// handler keeps the callbacks of package action out of server's own interface.
type handler struct{ s *server }

func (x handler) Goal(h *action.Handle[*job, Feedback, Result])   { h.Goal().begin(h) }
func (x handler) Cancel(h *action.Handle[*job, Feedback, Result]) { h.Goal().cancel() }

// observer tells the outside.
type observer struct{ s *server }

func (x observer) Changed(c action.Change[Result]) {
	s := x.s
	j, known := s.jobs[c.ID]
	if !known {
		j = s.incoming
		s.jobs[c.ID] = j
		j.id = GoalID{Action: s.name, ID: c.ID}
	}
	j.changed(c)
}

func (x observer) Feedback(id action.ID, f Feedback) {
	if call := x.s.jobs[id].watch.Feedback; call != nil {
		x.s.e.out.add(func() { call(f) })
	}
}
