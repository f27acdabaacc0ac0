package file

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"poise/motion"
	"poise/trajectory"
)

// perLine is how many joints stand on a line: a fixed number, so that a longer number
// does not move its neighbours to other lines.
const perLine = 6

// Write returns a document as a file. The comments of the file that it replaces, nil
// if there is none, are kept where what they speak of is still there.
func Write(d *motion.Document, previous []byte) []byte {
	w := &writer{kept: comments(previous, d)}
	w.head(d)
	w.joints(d)
	w.lists(d)
	w.points(d)
	w.events(d)
	w.rest()
	return w.out.Bytes()
}

// writer prints line by line and puts comments back.
type writer struct {
	out  bytes.Buffer
	kept map[string]*comment
}

// item prints a line, or several, with the comments of a path around it.
func (w *writer) item(path, indent, text string) {
	c := w.kept[path]
	delete(w.kept, path)
	if c != nil {
		for _, line := range c.head {
			w.line(indent, line)
		}
	}
	switch {
	case c == nil || c.tail == "":
	case strings.Contains(text, ": |"): // it would become part of the text
		w.line(indent, c.tail)
	default:
		text += " " + c.tail
	}
	w.line(indent, text)
}

func (w *writer) line(indent, text string) {
	if text != "" {
		w.out.WriteString(indent)
		w.out.WriteString(text)
	}
	w.out.WriteByte('\n')
}

// section leaves a line free before a block.
func (w *writer) section() {
	if w.out.Len() > 0 {
		w.out.WriteByte('\n')
	}
}

func (w *writer) head(d *motion.Document) {
	if d.Description != "" {
		w.item("description", "", "description: "+paragraph(d.Description))
	}
	if len(d.Tags) > 0 {
		w.item("tags", "", "tags: "+list(d.Tags))
	}
	if d.StartPose != "" {
		w.item("start_pose", "", "start_pose: "+scalar(d.StartPose, blockSafe))
	}
	if d.Loop {
		w.item("loop", "", "loop: true")
	}
	if d.GoalTimeTolerance != 0 {
		w.item("goal_time_tolerance", "", "goal_time_tolerance: "+Number(d.GoalTimeTolerance))
	}
}

func (w *writer) joints(d *motion.Document) {
	if len(d.Joints) == 0 {
		return
	}
	w.section()
	w.item("joints", "", "joints:")
	for _, j := range d.Joints {
		var fields []string
		if j.Path != nil {
			fields = append(fields, "path_tolerance: "+toleranceText(j.Path))
		}
		if j.Goal != nil {
			fields = append(fields, "goal_tolerance: "+toleranceText(j.Goal))
		}
		if !j.Enabled {
			fields = append(fields, "enabled: false")
		}
		w.item("joints/"+j.Name, "  ", scalar(j.Name, flowSafe)+": {"+strings.Join(fields, ", ")+"}")
	}
}

func toleranceText(t *trajectory.Tolerance) string {
	if t.Velocity == 0 && t.Acceleration == 0 && !math.Signbit(t.Velocity) && !math.Signbit(t.Acceleration) {
		return Number(t.Position)
	}
	return fmt.Sprintf("{position: %s, velocity: %s, acceleration: %s}", Number(t.Position), Number(t.Velocity), Number(t.Acceleration))
}

// lists prints the orders that the reader could not find by itself.
func (w *writer) lists(d *motion.Document) {
	var columns, chains []string
	for _, p := range d.Points {
		columns, chains = captured(columns, d.Columns, p.Positions), captured(chains, d.Chains, p.Supports)
	}
	for _, l := range []struct {
		key   string
		names []string
		found []string
	}{{"columns", d.Columns, columns}, {"support_chains", d.Chains, chains}, {"goal_order", d.Order, nil}} {
		if !slices.Equal(l.names, l.found) {
			w.section()
			w.item(l.key, "", l.key+": "+list(l.names))
		}
	}
}

func captured(found, names []string, values []float64) []string {
	if len(found) == len(names) {
		return found
	}
	for i, v := range values {
		if !math.IsNaN(v) && !slices.Contains(found, names[i]) {
			found = append(found, names[i])
		}
	}
	return found
}

func (w *writer) points(d *motion.Document) {
	if len(d.Points) == 0 {
		return
	}
	w.section()
	w.item("points", "", "points:")
	for i := range d.Points {
		p := &d.Points[i]
		path := fmt.Sprintf("points/%d", i)
		fields := [][2]string{{"time", Number(p.Time)}}
		if p.Label != "" {
			fields = append(fields, [2]string{"label", scalar(p.Label, blockSafe)})
		}
		if p.Mark != motion.NoMark {
			fields = append(fields, [2]string{"mark", string(p.Mark)})
		}
		if !p.Enabled {
			fields = append(fields, [2]string{"enabled", "false"})
		}
		if text := mapping(d.Columns, p.Positions); text != "" {
			fields = append(fields, [2]string{"positions", text})
		}
		if text := mapping(d.Chains, p.Supports); text != "" {
			fields = append(fields, [2]string{"supports", text})
		}
		w.settle(path, fields)
		for k, f := range fields {
			begin, indent := "", "    "
			if k == 0 {
				begin, indent = "- ", "  "
			}
			w.item(path+"/"+f[0], indent, begin+f[0]+": "+f[1])
		}
	}
}

// settle moves the comments of a row, and of those of its keys that are not written
// any more, to its first key.
func (w *writer) settle(path string, fields [][2]string) {
	first := path + "/" + fields[0][0]
	c := &comment{}
	if row := w.kept[path]; row != nil {
		c.head, c.tail = row.head, row.tail
		delete(w.kept, path)
	}
	for _, key := range []string{"label", "mark", "enabled", "positions", "supports"} {
		written := slices.ContainsFunc(fields, func(f [2]string) bool { return f[0] == key })
		if gone := w.kept[path+"/"+key]; gone != nil && !written {
			c.head = append(c.head, gone.lines()...)
			delete(w.kept, path+"/"+key)
		}
	}
	if own := w.kept[first]; own != nil {
		c.head = append(c.head, own.head...)
		if c.tail != "" && own.tail != "" {
			c.head = append(c.head, c.tail)
		}
		if own.tail != "" {
			c.tail = own.tail
		}
	}
	w.kept[first] = c
}

// mapping prints the values that were captured, some to a line.
func mapping(names []string, values []float64) string {
	var b strings.Builder
	n := 0
	for i, v := range values {
		if math.IsNaN(v) {
			continue
		}
		switch {
		case n == 0:
			b.WriteByte('{')
		case n%perLine == 0:
			b.WriteString(",\n      ")
		default:
			b.WriteString(", ")
		}
		b.WriteString(scalar(names[i], flowSafe))
		b.WriteString(": ")
		b.WriteString(Number(v))
		n++
	}
	if n > 0 {
		b.WriteByte('}')
	}
	return b.String()
}

func (w *writer) events(d *motion.Document) {
	if len(d.Events) == 0 {
		return
	}
	w.section()
	w.item("events", "", "events:")
	for i, e := range d.Events {
		fields := "time: " + Number(e.Time) + ", type: " + scalar(e.Type, flowSafe)
		if e.Command != "" {
			fields += ", command: " + scalar(e.Command, flowSafe)
		}
		if e.Options != "" {
			fields += ", options: " + scalar(e.Options, flowSafe)
		}
		w.item(fmt.Sprintf("events/%d", i), "  ", "- {"+fields+"}")
	}
}

// rest prints what stood at the end of the file, and the comments of keys at the top
// that are not written any more.
func (w *writer) rest() {
	var lines []string
	for _, key := range []string{"description", "tags", "start_pose", "loop", "goal_time_tolerance", "joints", "columns", "support_chains", "goal_order", "points", "events", foot} {
		if c := w.kept[key]; c != nil {
			lines = append(lines, c.lines()...)
		}
	}
	if len(lines) > 0 {
		w.section()
	}
	for _, l := range lines {
		w.line("", l)
	}
}

// Number prints the shortest decimal that reads back as the same number.
func Number(x float64) string {
	if x == 0 && math.Signbit(x) {
		return "-0.0" // -0 would be read as an integer, which has no such zero
	}
	plain, power := strconv.FormatFloat(x, 'f', -1, 64), strconv.FormatFloat(x, 'e', -1, 64)
	if len(power) < len(plain) {
		return power
	}
	return plain
}

func list(names []string) string {
	all := make([]string, len(names))
	for i, n := range names {
		all[i] = scalar(n, flowSafe)
	}
	return "[" + strings.Join(all, ", ") + "]"
}

// scalar prints a text as it is where that is safe, else in quotes.
func scalar(s string, safe func(string) bool) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if safe(s) {
		return s
	}
	return strconv.Quote(s) // its escapes are those of YAML
}

// notWords are texts that YAML, or a reader of an older YAML, takes for something else.
var notWords = []string{"true", "false", "null", "yes", "no", "on", "off", "y", "n", "inf", "nan"}

// flowSafe tells texts that mean themselves between brackets: they begin with a
// letter and hold nothing but letters, digits and a few harmless signs.
func flowSafe(s string) bool {
	if s == "" || slices.Contains(notWords, strings.ToLower(s)) || strings.HasSuffix(s, " ") {
		return false
	}
	for i, r := range s {
		switch {
		case unicode.IsLetter(r):
		case i > 0 && (unicode.IsDigit(r) || strings.ContainsRune("_-./ ", r)):
		default:
			return false
		}
	}
	return true
}

// blockSafe tells texts that mean themselves to the end of a line: commas and the
// like too, but no colon and no hash, which may begin something else.
func blockSafe(s string) bool {
	bare := strings.Map(func(r rune) rune {
		if strings.ContainsRune(",;()'!?+=%", r) {
			return '_'
		}
		return r
	}, s)
	return flowSafe(bare) && !slices.Contains(notWords, strings.ToLower(s))
}

// paragraph prints a text of several lines as lines.
func paragraph(s string) string {
	body, ends := strings.CutSuffix(s, "\n")
	lines := strings.Split(body, "\n")
	if len(lines) < 2 || strings.HasPrefix(s, " ") {
		return scalar(s, blockSafe)
	}
	for i, l := range lines {
		plain := !strings.ContainsFunc(l, func(r rune) bool { return r == unicode.ReplacementChar || !unicode.IsPrint(r) })
		if !plain || strings.TrimSpace(l) != l || l == "" && (i == 0 || i == len(lines)-1) {
			return scalar(s, blockSafe)
		}
		if l != "" {
			lines[i] = "  " + l
		}
	}
	mark := "|-\n"
	if ends {
		mark = "|\n"
	}
	return mark + strings.Join(lines, "\n")
}
