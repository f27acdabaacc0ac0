package figures

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"poise/executive"
)

// Counts are what has happened since the start, by robot. The zero value is ready.
type Counts struct {
	mu       sync.Mutex
	commands map[key]uint64
}

type key struct{ robot, what, result string }

// Command counts a command or goal and what became of it.
func (c *Counts) Command(robot string, a executive.Audit) {
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
		c.commands = map[key]uint64{}
	}
	c.commands[key{robot, what, result}]++
}

// WriteTo writes how many commands there were, and what became of them.
func (c *Counts) WriteTo(p *Writer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	keys := slices.SortedFunc(maps.Keys(c.commands), func(a, b key) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	p.Family("poise_commands_total", "counter", "commands and goals, and what became of them")
	for _, k := range keys {
		p.Value(Label("robot", k.robot)+","+Label("what", k.what)+","+Label("result", k.result), float64(c.commands[k]))
	}
}
