// Package crew is the list of controllers that every robot of a server has: their
// names, their priorities, what they work on, and what switching one on means.
package crew
