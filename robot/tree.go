package robot

import (
	"cmp"
	"slices"
	"strings"

	"poise/urdf"
)

// tree is a document whose links and joints have been put together. Links and
// joints are indices of the document's slices.
type tree struct {
	doc        *urdf.Document
	linkIndex  map[string]int
	jointIndex map[string]int
	up         []int   // joint above each link, −1 for the root
	parent     []int   // parent link of each joint
	child      []int   // child link of each joint
	down       [][]int // joints below each link, sorted by name
	order      []int   // links depth first from the root
}

// newTree connects the document and reports what keeps it from being a tree;
// ok is false then.
func newTree(doc *urdf.Document, ps *problems) (t *tree, ok bool) {
	before := len(ps.errs)
	t = &tree{
		doc:        doc,
		linkIndex:  make(map[string]int, len(doc.Links)),
		jointIndex: make(map[string]int, len(doc.Joints)),
	}
	t.nameLinks(ps)
	t.nameJoints(ps)
	t.connect(ps)
	if len(doc.Links) == 0 {
		ps.errorf(UnknownLink, doc.Pos, "", "robot %q has no link", doc.Name)
		return t, false
	}
	t.walk(ps)
	return t, len(ps.errs) == before
}

func (t *tree) nameLinks(ps *problems) {
	for i, l := range t.doc.Links {
		if first, twice := t.linkIndex[l.Name]; twice {
			ps.errorf(BadName, l.Pos, link(l.Name), "name used twice, first at %s", t.doc.Links[first].Pos)
			continue
		}
		if l.Name == "" {
			ps.errorf(BadName, l.Pos, "link", "name is empty")
		}
		t.linkIndex[l.Name] = i
	}
}

func (t *tree) nameJoints(ps *problems) {
	for i, j := range t.doc.Joints {
		if first, twice := t.jointIndex[j.Name]; twice {
			ps.errorf(BadName, j.Pos, joint(j.Name), "name used twice, first at %s", t.doc.Joints[first].Pos)
			continue
		}
		if j.Name == "" {
			ps.errorf(BadName, j.Pos, "joint", "name is empty")
		}
		t.jointIndex[j.Name] = i
	}
}

func (t *tree) linkNames() []string {
	names := make([]string, len(t.doc.Links))
	for i, l := range t.doc.Links {
		names[i] = l.Name
	}
	return names
}

func (t *tree) jointNames() []string {
	names := make([]string, len(t.doc.Joints))
	for i, j := range t.doc.Joints {
		names[i] = j.Name
	}
	return names
}

// connect finds the parent and the child of each joint.
func (t *tree) connect(ps *problems) {
	t.up = make([]int, len(t.doc.Links))
	for i := range t.up {
		t.up[i] = -1
	}
	t.down = make([][]int, len(t.doc.Links))
	t.parent = make([]int, len(t.doc.Joints))
	t.child = make([]int, len(t.doc.Joints))
	for i, j := range t.doc.Joints {
		parent, okParent := t.find("parent", j.Parent, j, ps)
		child, okChild := t.find("child", j.Child, j, ps)
		t.parent[i], t.child[i] = parent, child
		if !okParent || !okChild {
			continue
		}
		if above := t.up[child]; above >= 0 {
			ps.errorf(Loop, j.Pos, joint(j.Name), "link %q already hangs on joint %q (%s): a loop, and Poise reads trees",
				j.Child, t.doc.Joints[above].Name, t.doc.Joints[above].Pos)
			continue
		}
		t.up[child] = i
		t.down[parent] = append(t.down[parent], i)
	}
	for _, below := range t.down {
		slices.SortFunc(below, func(a, b int) int { return cmp.Compare(t.doc.Joints[a].Name, t.doc.Joints[b].Name) })
	}
}

func (t *tree) find(role, name string, j urdf.Joint, ps *problems) (int, bool) {
	i, ok := t.linkIndex[name]
	if !ok {
		ps.errorf(UnknownLink, j.Pos, joint(j.Name), "%s link %q does not exist%s", role, name, didYouMean(name, t.linkNames()))
	}
	return i, ok
}

// walk orders the links depth first and finds superfluous roots and rings.
func (t *tree) walk(ps *problems) {
	visited := make([]bool, len(t.doc.Links))
	var roots []string
	for i, l := range t.doc.Links {
		if t.up[i] >= 0 || t.linkIndex[l.Name] != i {
			continue
		}
		roots = append(roots, l.Name)
		stack := []int{i}
		for len(stack) > 0 {
			at := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			visited[at] = true
			t.order = append(t.order, at)
			for k := len(t.down[at]) - 1; k >= 0; k-- {
				stack = append(stack, t.child[t.down[at][k]])
			}
		}
	}
	if len(roots) > 1 {
		at := t.doc.Links[t.linkIndex[roots[1]]].Pos
		ps.errorf(TwoRoots, at, "", "%d links have no parent: %s; a robot has one root", len(roots), list(roots))
	}
	t.findRings(visited, ps)
}

// findRings reports each ring of joints once: whatever no root reaches hangs on
// one.
func (t *tree) findRings(visited []bool, ps *problems) {
	for i, l := range t.doc.Links {
		if visited[i] || t.linkIndex[l.Name] != i {
			continue
		}
		// upwards from here until a link comes twice
		on := map[int]int{}
		var path []int
		at := i
		for !visited[at] {
			visited[at] = true
			on[at] = len(path)
			path = append(path, at)
			at = t.parent[t.up[at]]
		}
		from, ring := on[at]
		if !ring {
			continue // hangs on a ring that has been reported
		}
		var names []string
		for _, k := range path[from:] {
			names = append(names, t.doc.Links[k].Name)
		}
		ps.errorf(Loop, t.doc.Links[at].Pos, link(t.doc.Links[at].Name), "is its own ancestor: %s form a ring", list(names))
	}
}

// list joins names for a message, and cuts long ones.
func list(names []string) string {
	const most = 8
	quoted := make([]string, 0, most+1)
	for i, n := range names {
		if i == most {
			quoted = append(quoted, "…")
			break
		}
		quoted = append(quoted, `"`+n+`"`)
	}
	return strings.Join(quoted, ", ")
}

// didYouMean returns a hint naming the candidates nearest to a name that does
// not exist, "" if none is near.
func didYouMean(name string, candidates []string) string {
	best := 1 + len(name)/3 // letters that may differ
	var near []string
	for _, c := range candidates {
		switch d := distance(name, c, best); {
		case d < best:
			best, near = d, []string{c}
		case d == best && c != "":
			near = append(near, c)
		}
	}
	if len(near) == 0 || len(near) > 4 {
		return ""
	}
	return "; did you mean " + list(near) + "?"
}

// distance counts the letters to insert, delete or change between a and b
// (Levenshtein); beyond most it returns most+1.
func distance(a, b string, most int) int {
	if len(a)-len(b) > most || len(b)-len(a) > most || len(a) > 200 {
		return most + 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return min(row[len(b)], most+1)
}
