package registry

import (
	"crypto/md5"
	"encoding/hex"
	"strconv"
	"strings"

	"poise/msgs"
)

// Text returns the definition as a .msg file holds it: constants, then fields.
func (t *Type) Text(f msgs.Form) string {
	var b strings.Builder
	for _, c := range t.Constants(f) {
		b.WriteString(c.Type + " " + c.Name + "=" + c.Value + "\n")
	}
	for _, x := range t.Fields(f) {
		b.WriteString(t.nearName(&x, f) + x.brackets(f) + " " + x.Name + "\n")
	}
	return b.String()
}

// nearName returns the name of a field's type as it is written inside t: without the
// package if it is the same one, and never with "msg".
func (t *Type) nearName(x *Field, f msgs.Form) string {
	m := x.message
	switch {
	case m == nil:
		return strings.Replace(x.TypeName(f), "/msg/", "/", 1)
	case f == msgs.ROS1 && m.pkg == "std_msgs" && m.name == "Header":
		return "Header"
	case m.pkg == t.pkg && (f == msgs.ROS1 || m.section == t.section):
		return m.shortName(f)
	}
	return m.home(f) + "/" + m.shortName(f)
}

func (t *Type) shortName(f msgs.Form) string {
	if f.IsROS2() && t.ros2name != "" {
		return t.ros2name
	}
	return t.name
}

func (x *Field) brackets(f msgs.Form) string {
	switch {
	case x.List == Scalar && x.Max > 0 && f.IsROS2():
		return "<=" + strconv.Itoa(x.Max)
	case x.List == Scalar:
		return ""
	case x.List > 0:
		return "[" + strconv.Itoa(x.List) + "]"
	case x.Max > 0 && f.IsROS2():
		return "[<=" + strconv.Itoa(x.Max) + "]"
	}
	return "[]"
}

// MD5 returns the sum by which ROS 1 peers compare types: over the ROS 1 definition,
// constants first, with the sum of each nested message in place of its name.
func (t *Type) MD5() string { return t.sum }

func (t *Type) sumText() string {
	var lines []string
	for _, c := range t.Constants(msgs.ROS1) {
		lines = append(lines, c.Type+" "+c.Name+"="+c.Value)
	}
	for _, x := range t.Fields(msgs.ROS1) {
		if x.message != nil {
			lines = append(lines, x.message.sum+" "+x.Name)
			continue
		}
		lines = append(lines, x.TypeName(msgs.ROS1)+x.brackets(msgs.ROS1)+" "+x.Name)
	}
	return strings.Join(lines, "\n")
}

func sumOf(texts ...string) string {
	sum := md5.Sum([]byte(strings.Join(texts, "")))
	return hex.EncodeToString(sum[:])
}

// FullText returns the definition followed by those of all messages inside it,
// each under a line of 80 "=" and "MSG: pkg/T": what a ROS 1 peer sends in its
// handshake and a recording keeps with its channel.
func (t *Type) FullText(f msgs.Form) string {
	var b strings.Builder
	b.WriteString(t.Text(f))
	for _, m := range t.Parts(f) {
		b.WriteString(strings.Repeat("=", 80) + "\nMSG: " + m.home(f) + "/" + m.shortName(f) + "\n" + m.Text(f))
	}
	return b.String()
}

// Parts returns the message types inside t, each once, in order of appearance.
func (t *Type) Parts(f msgs.Form) (parts []*Type) {
	seen := map[*Type]bool{t: true}
	var walk func(m *Type)
	walk = func(m *Type) {
		for _, x := range m.Fields(f) {
			if x.message != nil && !seen[x.message] {
				seen[x.message] = true
				parts = append(parts, x.message)
				walk(x.message)
			}
		}
	}
	walk(t)
	return parts
}
