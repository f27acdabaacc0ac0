package planner

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"poise/robot"
	"poise/trajectory"
)

// Item is one request of a sequence, and how far before its goal the tool may
// leave for the next.
type Item struct {
	Request Request
	Radius  float64 // m
}

// Motion is a planned trajectory of one group. Every waypoint has the positions
// of all joints of the group, in its order.
type Motion struct {
	Group      *robot.Group
	Joints     []robot.JointID
	Start      []float64 // whole configuration at the beginning
	Trajectory *trajectory.Trajectory
	Notes      []Note // what a user should know about it, in order of time
}

// NoteKind is what a note is about.
type NoteKind uint8

// The kinds of notes.
const (
	Slowed    NoteKind = iota + 1 // a limit kept the motion below what was asked for
	Bridged                       // the start was moving elsewhere: a prefix leads to the path
	Unblended                     // a blend radius could not be used
	Finer                         // sampled more finely than asked for
	Coarser                       // sampled less finely, since it is long
)

// Note tells where a planned motion differs from what a user may expect, and why.
type Note struct {
	Kind     NoteKind
	Item     int     // of a sequence, counted from 0; None for a single request
	From, To float64 // along the path of the item, m (rad for a turn on the spot, s for PTP)
	Time     float64 // when, s
	Limit    string  // which limit it was: "velocity", …
	Joint    string  // whose limit, "" for the tool's
	Share    float64 // of the wanted speed that was left at the slowest place
	Text     string  // all of it in words
}

func (n Note) String() string {
	if n.Item != None {
		return fmt.Sprintf("item %d: %s", n.Item, n.Text)
	}
	return n.Text
}

// mostNotes is how many slowdowns a summary tells of, the worst ones.
const mostNotes = 4

// Summary words the notes of motions in one line, "" if there are none. Of many
// slowdowns it tells the worst.
func Summary(motions ...*Motion) string {
	var all, slow []Note
	for _, m := range motions {
		for _, n := range m.Notes {
			all = append(all, n)
			if n.Kind == Slowed {
				slow = append(slow, n)
			}
		}
	}
	slices.SortStableFunc(slow, func(a, b Note) int { return cmp.Compare(a.Share, b.Share) })
	left := 0
	if len(slow) > mostNotes {
		left = len(slow) - mostNotes
		slow = slow[:mostNotes]
	}
	var words []string
	for _, n := range all {
		if n.Kind != Slowed || slices.Contains(slow, n) {
			words = append(words, n.String())
		}
	}
	if left > 0 {
		words = append(words, fmt.Sprintf("and slowed less at %d more places", left))
	}
	return strings.Join(words, "; ")
}

// CheckRadii refuses blend radii that no geometry can make sense of.
func CheckRadii(items []Item) *Refusal {
	for i := range items {
		if r := items[i].Radius; !(r >= 0) || math.IsInf(r, 1) {
			why := Refuse(BadRequest, "blend_radius is %g m, and must not be negative", r)
			why.Item, why.Value = i, r
			return why
		}
	}
	if n := len(items); n > 0 && items[n-1].Radius != 0 {
		why := Refuse(BadRequest, "blend_radius of the last item is %g m, and must be 0: nothing follows it", items[n-1].Radius)
		why.Item, why.Value = n-1, items[n-1].Radius
		return why
	}
	return nil
}

// CheckStarts refuses a start state where the item before says where it starts.
func CheckStarts(items []Item) *Refusal {
	seen := map[string]bool{}
	for i := range items {
		req := &items[i].Request
		if seen[req.Group] && !req.Start.Empty() {
			why := Refuse(BadState, "a start state is given, but group %q starts where its item before ends", req.Group)
			why.Item = i
			return why.With("give a start state to the first item of a group only")
		}
		seen[req.Group] = true
	}
	return nil
}
