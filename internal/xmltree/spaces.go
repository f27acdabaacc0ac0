package xmltree

// Declare binds the prefix d.Name to d.Value at n, unless n binds it already, and
// reports whether the prefix now means that URI.
func (n *Node) Declare(d Attr) bool {
	for _, old := range n.Spaces {
		if old.Name == d.Name {
			return old.Value == d.Value
		}
	}
	d.Prefix, d.Space = "xmlns", xmlnsSpace
	n.Spaces = append(n.Spaces, d)
	return true
}

// Rebind gives every element and attribute of a tree that was put together from
// others the name space that its prefix has at the place where it stands now. A
// prefix whose declaration got lost is declared again.
func Rebind(root *Node) { rebind(root, nil) }

func rebind(n *Node, bound map[string]string) {
	if n.IsText() {
		return
	}
	if len(n.Spaces) > 0 {
		inner := make(map[string]string, len(bound)+len(n.Spaces))
		for prefix, uri := range bound {
			inner[prefix] = uri
		}
		for _, d := range n.Spaces {
			inner[d.Name] = d.Value
		}
		bound = inner
	}
	resolve := func(prefix, was string) string {
		uri, ok := bound[prefix]
		if !ok && prefix != "" && was != "" {
			if prefix != "xml" {
				n.Declare(Attr{Name: prefix, Value: was, Pos: n.Pos})
			}
			return was
		}
		return uri
	}
	n.Space = resolve(n.Prefix, n.Space)
	for i := range n.Attrs {
		if a := &n.Attrs[i]; a.Prefix != "" {
			a.Space = resolve(a.Prefix, a.Space)
		}
	}
	for _, c := range n.Children {
		rebind(c, bound)
	}
}
