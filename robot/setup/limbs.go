package setup

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"poise/robot"
)

// segment is a run of independent joints without a fork.
type segment struct {
	bodies   []robot.BodyID // that they move, from the root on
	children []*segment
	kind     string
	side     string // left, right, front_left …, "" if its joints say none or several
	name     string
}

// limbs finds the branches of the tree and names them.
func (b *maker) limbs() []Limb {
	var all []*segment
	for _, s := range b.segments() {
		all = append(all, b.divide(s)...)
	}
	all = b.hands(all)
	b.nameAll(all)
	var limbs []Limb
	for _, s := range all {
		limbs = append(limbs, b.limb(s))
	}
	return limbs
}

// segments cuts the tree where it forks into parts that move.
func (b *maker) segments() []*segment {
	bodies := b.m.Bodies()
	children := make([][]robot.BodyID, len(bodies))
	moves := make([]bool, len(bodies)) // the body or one behind it moves by a joint of its own
	for i := len(bodies) - 1; i > 0; i-- {
		body := &bodies[i]
		moves[i] = moves[i] || body.Joint != robot.NoJoint && !body.Mimic
		if moves[i] {
			children[body.Parent] = append(children[body.Parent], robot.BodyID(i))
			moves[body.Parent] = true
		}
	}
	for _, c := range children {
		slices.Sort(c)
	}
	var found []*segment
	var walk func(at robot.BodyID, s *segment)
	walk = func(at robot.BodyID, s *segment) {
		if body := &bodies[at]; at != robot.World && body.Joint != robot.NoJoint && !body.Mimic {
			s.bodies = append(s.bodies, at)
		}
		if len(children[at]) == 1 {
			walk(children[at][0], s)
			return
		}
		for _, c := range children[at] {
			next := &segment{}
			s.children = append(s.children, next)
			found = append(found, next)
			walk(c, next)
		}
	}
	root := &segment{}
	walk(robot.World, root)
	if len(root.bodies) > 0 {
		found = append([]*segment{root}, found...)
	}
	return found
}

// kinds are the words by which limbs are known, in the order in which they count.
var kinds = []struct {
	kind  string
	words []string
}{
	{"gripper", []string{"finger", "fingers", "gripper", "thumb", "knuckle", "claw", "jaw", "2f85"}},
	{"leg", []string{"leg", "hip", "thigh", "calf", "shank", "knee", "ankle", "foot", "toe", "hoof", "haa", "hfe", "kfe", "coxa", "femur", "tibia"}},
	{"arm", []string{"arm", "shoulder", "elbow", "wrist", "forearm", "upperarm"}},
	{"head", []string{"head", "neck"}},
	{"torso", []string{"torso", "waist", "back", "spine", "trunk", "chest"}},
	{"wheel", []string{"wheel", "caster"}},
	{"tail", []string{"tail"}},
}

// words splits a name: at what is no letter or digit, and where small letters meet large
// ones.
func words(name string) []string {
	var b strings.Builder
	var before rune
	for _, c := range name {
		if unicode.IsUpper(c) && unicode.IsLower(before) {
			b.WriteByte(' ')
		}
		before = c
		if !unicode.IsLetter(c) && !unicode.IsDigit(c) {
			c = ' '
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return strings.Fields(b.String())
}

// kindOf returns what most of the names speak of, "" if none speaks of anything.
func kindOf(names ...string) string {
	best, most := "", 0
	for _, k := range kinds {
		count := 0
		for _, name := range names {
			if slices.ContainsFunc(words(name), func(w string) bool { return slices.Contains(k.words, w) }) {
				count++
			}
		}
		if count > most {
			best, most = k.kind, count
		}
	}
	return best
}

func (b *maker) jointName(body robot.BodyID) string { return b.m.Bodies()[body].Name }

func (b *maker) names(s *segment) []string {
	var names []string
	for _, body := range s.bodies {
		names = append(names, b.jointName(body))
	}
	return names
}

// divide parts a gripper from the arm that it is on where the tree does not fork.
func (b *maker) divide(s *segment) []*segment {
	names := b.names(s)
	s.kind = kindOf(names...)
	at := slices.IndexFunc(names, func(n string) bool { return kindOf(n) == "gripper" })
	if at <= 0 || len(s.children) > 0 {
		return []*segment{s}
	}
	hand := &segment{bodies: s.bodies[at:], kind: "gripper"}
	s.bodies, s.children = s.bodies[:at], []*segment{hand}
	s.kind = kindOf(names[:at]...)
	return []*segment{s, hand}
}

// hands makes one limb of the fingers of a hand.
func (b *maker) hands(all []*segment) []*segment {
	merged := map[*segment]bool{}
	for _, s := range all {
		var hand *segment
		for _, c := range s.children {
			if c.kind != "gripper" || len(c.children) > 0 {
				continue
			}
			if hand == nil {
				hand = c
				continue
			}
			hand.bodies = append(hand.bodies, c.bodies...)
			merged[c] = true
		}
		if hand != nil {
			s.children = slices.DeleteFunc(s.children, func(c *segment) bool { return merged[c] })
		}
	}
	return slices.DeleteFunc(all, func(s *segment) bool { return merged[s] })
}

// sides are the words and letters that say where a limb is.
var sides = map[string]string{
	"left": "left", "l": "left", "right": "right", "r": "right",
	"fl": "front_left", "lf": "front_left", "fr": "front_right", "rf": "front_right",
	"rl": "rear_left", "lh": "rear_left", "hl": "rear_left", "rr": "rear_right", "rh": "rear_right", "hr": "rear_right",
	"lr": "rear_left", "lm": "middle_left", "ml": "middle_left", "rm": "middle_right", "mr": "middle_right",
}

// sideOf returns the side that the first word with one says.
func sideOf(name string) string {
	for _, w := range words(name) {
		if s := sides[w]; s != "" {
			return s
		}
	}
	return ""
}

// nameAll gives every limb a name of its own.
func (b *maker) nameAll(all []*segment) {
	taken := map[string]bool{}
	alike := map[[2]string]int{} // limbs of a kind and side
	for _, s := range all {
		s.side = b.side(s)
		if s.kind == "" && b.alone(s, all) {
			s.kind = "arm" // of a robot that is one chain
		}
		alike[[2]string{s.kind, s.side}]++
	}
	for _, s := range all {
		name := b.suggest(s, alike[[2]string{s.kind, s.side}])
		for n := 2; taken[name]; n++ {
			name = strings.TrimRight(name, "0123456789") + strconv.Itoa(n)
		}
		taken[name] = true
		s.name = name
		if s.kind == "" {
			s.kind = "limb"
		}
	}
}

// side returns the side that all joints of a limb say.
func (b *maker) side(s *segment) string {
	names := b.names(s)
	side := sideOf(names[0])
	for _, n := range names {
		if sideOf(n) != side {
			return ""
		}
	}
	return side
}

// suggest returns the name that a limb would best have, of which kind and side there are
// some: side and kind, what the names of its joints share, or the link at its end.
func (b *maker) suggest(s *segment, alike int) string {
	shared := common(b.names(s))
	switch {
	case s.kind != "" && s.side != "" && (alike <= 1 || shared == ""):
		return s.side + "_" + s.kind
	case s.kind != "" && alike <= 1:
		return s.kind
	case len(shared) > 1:
		return shared
	}
	return plainName(b.m.Frames()[b.m.Bodies()[s.bodies[len(s.bodies)-1]].Link].Name)
}

// alone tells whether a segment is all that moves, apart from what it carries.
func (b *maker) alone(s *segment, all []*segment) bool {
	for _, other := range all {
		if other != s && other.kind != "gripper" {
			return false
		}
	}
	return len(s.bodies) > 1
}

var notPlain = regexp.MustCompile(`[^A-Za-z0-9_]+`)

// plainName makes a name that needs no quotes anywhere.
func plainName(name string) string {
	name = strings.Trim(notPlain.ReplaceAllString(name, "_"), "_")
	name = strings.TrimSuffix(strings.TrimSuffix(name, "_link"), "_joint")
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		return "limb"
	}
	return name
}

// common returns the words with which all names begin, without "joint".
func common(names []string) string {
	first := words(names[0])
	n := len(first)
	for _, other := range names[1:] {
		w := words(other)
		i := 0
		for i < min(n, len(w)) && w[i] == first[i] {
			i++
		}
		n = i
	}
	shared := slices.DeleteFunc(slices.Clone(first[:n]), func(w string) bool { return w == "joint" || w == "link" })
	if len(shared) == 0 {
		return ""
	}
	return plainName(strings.Join(shared, "_"))
}

// tools are the words of links at which a limb is best held, the best first.
var tools = []string{"tool0", "tcp", "tool", "ee", "effector", "tip", "foot", "sole", "toe", "hand", "palm", "flange", "gripper"}

// limb describes a segment: where it begins and ends.
func (b *maker) limb(s *segment) Limb {
	l := Limb{Name: s.name, Kind: s.kind, Joints: b.names(s)}
	first, last := s.bodies[0], s.bodies[len(s.bodies)-1]
	l.Base = b.parents[b.jointName(first)]
	best := len(tools) + 1
	for _, id := range b.frames[last] {
		name := b.m.Frames()[id].Name
		l.Tips = append(l.Tips, name)
		rank := slices.IndexFunc(tools, func(t string) bool { return slices.Contains(words(name), t) })
		if rank < 0 {
			rank = len(tools)
		}
		if rank < best {
			best, l.Tip = rank, name
		}
	}
	if !b.isChain(&l) {
		l.Base, l.Tip, l.Tips = "", "", nil
	}
	return l
}

// isChain tells whether the way from base to tip passes the joints of a limb and no
// others.
func (b *maker) isChain(l *Limb) bool {
	base, ok := b.m.Frame(l.Base)
	tip, ok2 := b.m.Frame(l.Tip)
	if !ok || !ok2 {
		return false
	}
	way, down := b.m.Path(base, tip)
	if !down || len(way) != len(l.Joints) {
		return false
	}
	for i, id := range way {
		if j := &b.m.Joints()[id]; j.Name != l.Joints[i] || j.Kind.NumQ() != 1 {
			return false
		}
	}
	return true
}
