package file

import (
	"bytes"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"poise/motion"
)

// foot is the path of what stands after everything else.
const foot = "#"

// comment is what a file says beside an item: lines above it, and the end of its line.
type comment struct {
	head []string // each with its #, or empty
	tail string
}

func (c *comment) lines() []string {
	lines := c.head
	if c.tail != "" {
		lines = append(lines, c.tail)
	}
	return lines
}

// place is where an item begins.
type place struct {
	path string
	line int
}

// comments finds the comments of a file by the paths of their items in a new
// document. A file that cannot be read has none.
func comments(previous []byte, d *motion.Document) map[string]*comment {
	g := &gatherer{kept: map[string]*comment{}}
	previous = bytes.TrimPrefix(previous, []byte("\ufeff")) // of editors that mark files as Unicode
	if !bytes.ContainsRune(previous, '#') {
		return g.kept
	}
	old, err := Read(previous, "")
	var tree yaml.Node
	if err != nil || yaml.Unmarshal(previous, &tree) != nil {
		return g.kept
	}
	if len(tree.Content) > 0 {
		g.places = itemsOf(tree.Content[0])
	}
	g.rename = renaming(old, d)
	lines := strings.Split(string(previous), "\n")
	hashes := hashesOf(lines)
	for i, line := range lines {
		g.line(i+1, line, hashes[i])
	}
	for len(g.above) > 0 && g.above[len(g.above)-1] == "" {
		g.above = g.above[:len(g.above)-1]
	}
	if len(g.above) > 0 {
		g.at(foot).head = g.above
	}
	return g.kept
}

// gatherer goes through a file line by line and gives comments to items.
type gatherer struct {
	kept   map[string]*comment
	places []place
	rename func(string) string
	above  []string // lines that wait for the item below them
}

// at returns the comment of an item of the old file.
func (g *gatherer) at(path string) *comment {
	path = g.rename(path)
	if g.kept[path] == nil {
		g.kept[path] = &comment{}
	}
	return g.kept[path]
}

// line takes a line, with the column where its comment begins, −1 if it has none.
func (g *gatherer) line(number int, line string, hash int) {
	blank, text := strings.TrimSpace(line) == "", ""
	if hash >= 0 {
		text = printable(line[hash:])
	}
	switch {
	case blank && len(g.above) > 0:
		g.above = append(g.above, "")
		return
	case hash >= 0 && strings.TrimSpace(line[:hash]) == "":
		g.above = append(g.above, text)
		return
	}
	if p, ok := first(g.places, number); ok && len(g.above) > 0 && !blank {
		c := g.at(p)
		c.head, g.above = append(c.head, g.above...), nil
	}
	if hash < 0 {
		return
	}
	if c := g.at(last(g.places, number)); c.tail != "" {
		c.head = append(c.head, text)
	} else {
		c.tail = text
	}
}

// printable leaves out what a comment of YAML must not have.
func printable(text string) string {
	return strings.TrimRight(strings.Map(func(r rune) rune {
		if r == '\r' || r == '\uFEFF' || r < ' ' && r != '\t' || r == '\u0085' || r == '\u2028' || r == '\u2029' {
			return -1
		}
		return r
	}, text), " \t")
}

// itemsOf lists the items that comments may belong to, in the order of the file.
func itemsOf(top *yaml.Node) (all []place) {
	for i := 0; i+1 < len(top.Content); i += 2 {
		key, value := top.Content[i], top.Content[i+1]
		all = append(all, place{key.Value, key.Line})
		switch {
		case value.Kind == yaml.MappingNode:
			for k := 0; k+1 < len(value.Content); k += 2 {
				all = append(all, place{key.Value + "/" + value.Content[k].Value, value.Content[k].Line})
			}
		case value.Kind == yaml.SequenceNode && (key.Value == "points" || key.Value == "events"):
			for n, element := range value.Content {
				path := fmt.Sprintf("%s/%d", key.Value, n)
				all = append(all, place{path, element.Line})
				for k := 0; k+1 < len(element.Content) && key.Value == "points"; k += 2 {
					all = append(all, place{path + "/" + element.Content[k].Value, element.Content[k].Line})
				}
			}
		}
	}
	return all
}

// first returns the outermost item that begins on a line or after it.
func first(places []place, line int) (string, bool) {
	for _, p := range places {
		if p.line >= line {
			return p.path, true
		}
	}
	return "", false
}

// last returns the innermost item that has begun by the end of a line.
func last(places []place, line int) string {
	path := foot
	for _, p := range places {
		if p.line <= line {
			path = p.path
		}
	}
	return path
}

// renaming maps the paths of rows and events of an old document to those of a new
// one: a row is the same if its time is, else its label, else its place in a table of
// the same length. What is gone gets a path that is never printed.
func renaming(old, d *motion.Document) func(string) string {
	to := map[string]string{}
	taken := map[int]bool{}
	match := func(kind string, from, n int, same ...func(k int) bool) {
		for _, is := range same {
			for k := range n {
				if !taken[k] && is(k) {
					taken[k] = true
					to[fmt.Sprintf("%s/%d", kind, from)] = fmt.Sprintf("%s/%d", kind, k)
					return
				}
			}
		}
		to[fmt.Sprintf("%s/%d", kind, from)] = "gone"
	}
	for i, p := range old.Points {
		match("points", i, len(d.Points),
			func(k int) bool { return d.Points[k].Time == p.Time },
			func(k int) bool { return p.Label != "" && d.Points[k].Label == p.Label },
			func(k int) bool { return k == i && len(old.Points) == len(d.Points) })
	}
	clear(taken)
	for i, e := range old.Events {
		match("events", i, len(d.Events),
			func(k int) bool { return d.Events[k] == e },
			func(k int) bool { return k == i && len(old.Events) == len(d.Events) })
	}
	return func(path string) string {
		kind, rest, _ := strings.Cut(path, "/")
		number, key, deeper := strings.Cut(rest, "/")
		new, ok := to[kind+"/"+number]
		switch {
		case !ok:
			return path
		case deeper:
			return new + "/" + key
		}
		return new
	}
}
