package server

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"poise/executive"
)

// commandCounts says how many commands each robot got since the start. The zero value is ready.
type commandCounts struct {
	mu       sync.Mutex
	commands map[commandKey]uint64
}

type commandKey struct{ robot, what, result string }

// count counts a command or goal and what became of it.
func (c *commandCounts) count(robot string, a executive.Audit) {
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
		c.commands = map[commandKey]uint64{}
	}
	c.commands[commandKey{robot, what, result}]++
}

// writeTo writes how many commands there were, and what became of them.
func (c *commandCounts) writeTo(p *metricsText) {
	c.mu.Lock()
	defer c.mu.Unlock()
	keys := slices.SortedFunc(maps.Keys(c.commands), func(a, b commandKey) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	p.family("poise_commands_total", "counter", "commands and goals, and what became of them")
	for _, k := range keys {
		p.value(label("robot", k.robot)+","+label("what", k.what)+","+label("result", k.result), float64(c.commands[k]))
	}
}
