package rosgoal

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"poise/control/follow"
)

// Write returns a goal as JSON, laid out as motions were stored: four spaces, a number
// to a line, secs and nsecs. Events have no place in this message.
func Write(g *follow.Goal) []byte {
	w := &writer{}
	w.open("{")
	w.key("trajectory").open("{")
	w.key("header").open("{")
	w.key("seq").raw("0")
	w.key("stamp").duration(0)
	w.key("frame_id").raw(`""`)
	w.close("}")
	w.key("joint_names").open("[")
	for _, name := range g.Joints {
		w.text(name)
	}
	w.close("]")
	w.key("points").open("[")
	for _, p := range g.Points {
		w.open("{")
		w.key("positions").open("[")
		for _, q := range p.Position {
			w.number(q)
		}
		w.close("]")
		for _, absent := range []string{"velocities", "accelerations", "effort"} {
			w.key(absent).open("[").close("]")
		}
		w.key("time_from_start").duration(p.Time)
		w.close("}")
	}
	w.close("]").close("}")
	w.key("path_tolerance").tolerances(g.Path)
	w.key("goal_tolerance").tolerances(g.Final)
	w.key("goal_time_tolerance").duration(g.GoalTime)
	w.close("}")
	w.out.WriteByte('\n')
	return w.out.Bytes()
}

// writer prints JSON with one value to a line.
type writer struct {
	out   bytes.Buffer
	depth int
	began bool // something stands before in this object or list
	keyed bool // a key has been printed, its value follows
}

// next goes to where the next value or key begins.
func (w *writer) next() {
	if w.keyed {
		w.keyed = false
		return
	}
	if w.began {
		w.out.WriteByte(',')
	}
	w.line()
}

func (w *writer) line() {
	if w.depth > 0 {
		w.out.WriteByte('\n')
		w.out.WriteString(strings.Repeat("    ", w.depth))
	}
}

func (w *writer) raw(s string) *writer {
	w.next()
	w.out.WriteString(s)
	w.began = true
	return w
}

func (w *writer) open(bracket string) *writer {
	w.raw(bracket)
	w.depth++
	w.began = false
	return w
}

func (w *writer) close(bracket string) *writer {
	w.depth--
	if w.began {
		if w.depth == 0 {
			w.out.WriteByte('\n')
		} else {
			w.line()
		}
	}
	w.out.WriteString(bracket)
	w.began = true
	return w
}

func (w *writer) key(name string) *writer {
	w.raw(`"` + name + `": `)
	w.keyed = true
	return w
}

func (w *writer) text(s string) {
	b := &bytes.Buffer{}
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic(err) // a text can always be written
	}
	w.raw(strings.TrimSuffix(b.String(), "\n"))
}

func (w *writer) number(x float64) { w.raw(number(x)) }

func (w *writer) duration(t float64) {
	secs, nsecs := DurationOf(t)
	w.open("{")
	w.key("secs").raw(strconv.FormatInt(secs, 10))
	w.key("nsecs").raw(strconv.FormatInt(nsecs, 10))
	w.close("}")
}

func (w *writer) tolerances(list []follow.Tolerance) {
	w.open("[")
	for _, t := range list {
		w.open("{")
		w.key("name").text(t.Joint)
		w.key("position").number(t.Position)
		w.key("velocity").number(t.Velocity)
		w.key("acceleration").number(t.Acceleration)
		w.close("}")
	}
	w.close("]")
}

// number prints the shortest decimal that reads back as the same number, with the
// point that tells a real number from an integer, as Python writes it.
func number(x float64) string {
	if a := math.Abs(x); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(x, 'e', -1, 64)
	}
	s := strconv.FormatFloat(x, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}
