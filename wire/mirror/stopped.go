package mirror

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// stopped is how far a stop of another server is. It is a stop.Progress.
type stopped struct {
	category uint8
	brief    bool   // it is not waited for until the robots stand
	settled  func() // called once it is taken; set before it begins

	mu                       sync.Mutex
	isTaken, isOver, isEnded bool
	text                     string // what the server answers
	why                      error  // it has not answered yet
}

// taken notes that the other cycles have taken the stop.
func (s *stopped) taken(text string) {
	s.mu.Lock()
	if !s.isTaken {
		s.isTaken, s.text = true, text
	}
	s.mu.Unlock()
	s.settled()
}

// over notes that the robots stand.
func (s *stopped) over(text string) {
	s.mu.Lock()
	s.isTaken, s.isOver, s.text = true, true, text
	s.mu.Unlock()
	s.settled()
}

// late notes why there is no answer yet.
func (s *stopped) late(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.why = why
}

// ended notes that no more will come.
func (s *stopped) ended(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isEnded = true; why != nil {
		s.why = why
	}
}

func (s *stopped) Taken() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.isTaken
}

func (s *stopped) Over() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.isOver
}

func (s *stopped) Failed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.isEnded && !s.isOver
}

func (s *stopped) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	reason := ""
	if s.why != nil {
		reason = ": " + strings.ReplaceAll(s.why.Error(), "\n", "; ")
	}
	switch {
	case s.isOver, s.isTaken && !s.isEnded:
		return s.text
	case s.isTaken && s.brief:
		return s.text + " (so many stops are under way that this one does not wait for it)"
	case s.isTaken:
		return s.text + " (and it was not told when it stood" + reason + ")"
	case s.isEnded:
		return "was NOT reached" + reason
	}
	return fmt.Sprintf("is told to stop by category %d, and has not answered yet%s", s.category, reason)
}

// stopTexts collects what several robots answer.
type stopTexts struct {
	mu   sync.Mutex
	list []string
}

func (t *stopTexts) add(service, text string, named bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if robot, ok := strings.CutSuffix(service, "/stop"); ok && named {
		text = robot + " " + text
	}
	t.list = append(t.list, text)
}

func (t *stopTexts) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	slices.Sort(t.list)
	return strings.Join(t.list, ", ")
}
