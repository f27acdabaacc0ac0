package robot

import (
	"poise/problem"
	"poise/urdf"
)

// checkSemantics reports links that an SRDF names and the robot does not have,
// apart from those of groups. What hangs on such a link cannot be: an error. A
// pair whose collision does not matter is only worth a word: a file may serve
// several variants of a robot.
func (t *tree) checkSemantics(s *urdf.Semantics, r *problem.Report) {
	if s.Name != t.Doc.Name {
		r.Warnf(Ignored, s.Pos, "", "the SRDF is of robot %q, the description of %q", s.Name, t.Doc.Name)
	}
	hint := func(link string) string { return r.Hint(link, t.LinkNames()) }
	need := func(link string, at problem.Pos, thing, key string) {
		if _, ok := t.LinkIndex[link]; !ok {
			r.Errorf(UnknownLink, at, thing, "%s: link %q does not exist%s", key, link, hint(link))
		}
	}
	for _, e := range s.EndEffectors {
		need(e.ParentLink, e.Pos, problem.Named("end effector", e.Name), "parent_link")
	}
	for _, v := range s.VirtualJoints {
		need(v.ChildLink, v.Pos, problem.Named("virtual joint", v.Name), "child_link")
	}
	told := map[string]bool{}
	mention := func(link string, at problem.Pos) {
		if _, ok := t.LinkIndex[link]; !ok && !told[link] {
			told[link] = true
			r.Warnf(UnknownLink, at, problem.Link(link), "its collisions are spoken of, but it does not exist%s", hint(link))
		}
	}
	for _, pairs := range [][]urdf.LinkPair{s.Disabled, s.Enabled} {
		for _, p := range pairs {
			mention(p.Link1, p.Pos)
			mention(p.Link2, p.Pos)
		}
	}
	for _, l := range s.NoDefaultCollision {
		mention(l.Name, l.Pos)
	}
	for _, m := range s.Spheres {
		mention(m.Link, m.Pos)
	}
}
