package robot

import (
	"cmp"
	"slices"

	"poise/problem"
	"poise/urdf"
)

// tree is a document whose links and joints have been put together. Links and
// joints are meant by their index in the document.
type tree struct {
	Doc        *urdf.Document
	LinkIndex  map[string]int
	JointIndex map[string]int
	Up         []int   // joint above each link, −1 for the root
	Parent     []int   // parent link of each joint
	Child      []int   // child link of each joint
	Down       [][]int // joints below each link, sorted by name
	Order      []int   // links depth first from the root
	Mimics     []mimic // of each joint, chains multiplied out

	linkNames, jointNames []string // once asked for
}

// newTree puts a document together and reports everything that is wrong with it.
// Without ok it is no tree; other errors leave a tree that can be walked.
func newTree(doc *urdf.Document, r *problem.Report) (t *tree, ok bool) {
	t = &tree{
		Doc:        doc,
		LinkIndex:  make(map[string]int, len(doc.Links)),
		JointIndex: make(map[string]int, len(doc.Joints)),
	}
	t.nameLinks(r)
	t.nameJoints(r)
	t.connect(r)
	t.walk(r)
	ok = len(r.Errors) == 0
	for _, l := range doc.Links {
		checkInertial(l, r)
	}
	for _, j := range doc.Joints {
		checkJoint(j, r)
	}
	t.resolveMimics(r)
	return t, ok
}

func (t *tree) nameLinks(r *problem.Report) {
	for i, l := range t.Doc.Links {
		if first, twice := t.LinkIndex[l.Name]; twice {
			r.Errorf(BadName, l.Pos, problem.Link(l.Name), "name used twice, first at %s", t.Doc.Links[first].Pos)
			continue
		}
		if l.Name == "" {
			r.Errorf(BadName, l.Pos, "link", "name is empty")
		}
		t.LinkIndex[l.Name] = i
	}
}

func (t *tree) nameJoints(r *problem.Report) {
	for i, j := range t.Doc.Joints {
		if first, twice := t.JointIndex[j.Name]; twice {
			r.Errorf(BadName, j.Pos, problem.Joint(j.Name), "name used twice, first at %s", t.Doc.Joints[first].Pos)
			continue
		}
		if j.Name == "" {
			r.Errorf(BadName, j.Pos, "joint", "name is empty")
		}
		t.JointIndex[j.Name] = i
	}
}

// LinkNames lists the links in the order of the document. The slice is shared:
// read only.
func (t *tree) LinkNames() []string {
	if t.linkNames == nil {
		for _, l := range t.Doc.Links {
			t.linkNames = append(t.linkNames, l.Name)
		}
	}
	return t.linkNames
}

// JointNames lists the joints in the order of the document. The slice is
// shared: read only.
func (t *tree) JointNames() []string {
	if t.jointNames == nil {
		for _, j := range t.Doc.Joints {
			t.jointNames = append(t.jointNames, j.Name)
		}
	}
	return t.jointNames
}

// connect finds the parent and the child of each joint.
func (t *tree) connect(r *problem.Report) {
	t.Up = make([]int, len(t.Doc.Links))
	for i := range t.Up {
		t.Up[i] = -1
	}
	t.Down = make([][]int, len(t.Doc.Links))
	t.Parent = make([]int, len(t.Doc.Joints))
	t.Child = make([]int, len(t.Doc.Joints))
	for i, j := range t.Doc.Joints {
		parent, okParent := t.find("parent", j.Parent, j, r)
		child, okChild := t.find("child", j.Child, j, r)
		t.Parent[i], t.Child[i] = parent, child
		if !okParent || !okChild {
			continue
		}
		if above := t.Up[child]; above >= 0 {
			r.Errorf(Loop, j.Pos, problem.Joint(j.Name), "link %q already hangs on joint %q (%s): a loop, and Poise reads trees",
				j.Child, t.Doc.Joints[above].Name, t.Doc.Joints[above].Pos)
			continue
		}
		t.Up[child] = i
		t.Down[parent] = append(t.Down[parent], i)
	}
	for _, below := range t.Down {
		slices.SortFunc(below, func(a, b int) int { return cmp.Compare(t.Doc.Joints[a].Name, t.Doc.Joints[b].Name) })
	}
}

func (t *tree) find(role, name string, j urdf.Joint, r *problem.Report) (int, bool) {
	i, ok := t.LinkIndex[name]
	if !ok {
		r.Errorf(UnknownLink, j.Pos, problem.Joint(j.Name), "%s link %q does not exist%s", role, name, r.Hint(name, t.LinkNames()))
	}
	return i, ok
}

// walk orders the links depth first and finds superfluous roots and rings.
func (t *tree) walk(r *problem.Report) {
	visited := make([]bool, len(t.Doc.Links))
	if len(visited) == 0 {
		r.Errorf(UnknownLink, t.Doc.Pos, "", "robot %q has no link", t.Doc.Name)
	}
	var roots []string
	for i, l := range t.Doc.Links {
		if t.Up[i] >= 0 || t.LinkIndex[l.Name] != i {
			continue
		}
		roots = append(roots, l.Name)
		stack := []int{i}
		for len(stack) > 0 {
			at := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			visited[at] = true
			t.Order = append(t.Order, at)
			for k := len(t.Down[at]) - 1; k >= 0; k-- {
				stack = append(stack, t.Child[t.Down[at][k]])
			}
		}
	}
	if len(roots) > 1 {
		at := t.Doc.Links[t.LinkIndex[roots[1]]].Pos
		r.Errorf(TwoRoots, at, "", "%d links have no parent: %s; a robot has one root", len(roots), problem.List(roots))
	}
	t.findRings(visited, r)
}

// findRings reports each ring of joints once: whatever no root reaches hangs on
// one.
func (t *tree) findRings(visited []bool, r *problem.Report) {
	for i, l := range t.Doc.Links {
		if visited[i] || t.LinkIndex[l.Name] != i {
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
			at = t.Parent[t.Up[at]]
		}
		from, ring := on[at]
		if !ring {
			continue // hangs on a ring that has been reported
		}
		var names []string
		for _, k := range path[from:] {
			names = append(names, t.Doc.Links[k].Name)
		}
		r.Errorf(Loop, t.Doc.Links[at].Pos, problem.Link(t.Doc.Links[at].Name), "is its own ancestor: %s form a ring", problem.List(names))
	}
}
