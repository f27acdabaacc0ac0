package urdf

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"poise/internal/xmltree"
)

func FuzzURDF(f *testing.F) {
	f.Add([]byte(complete))
	f.Add([]byte("\ufeff" + wrap(twoLinks+inertial)))
	f.Add([]byte(jointWith("<limit lower='-1' upper='1e999'/><axis xyz='0 0 0'/><mimic joint='j'/>")))
	f.Add([]byte(shapeWith("<capsule radius='1' length='-0'/><x:y xmlns:x='u'/>")))
	f.Add([]byte("<robot name='r' xmlns='u'><transmission>a<b xmlns='v'/>c<d/></transmission><link name='&#10;'/></robot>"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if d, _, err := Parse(data, "f.urdf"); err == nil {
			checkPrinted(t, d)
		}
	})
}

func FuzzSRDF(f *testing.F) {
	f.Add([]byte(completeSRDF))
	f.Add([]byte(wrap("<group name='a'><group name='b'/></group><group name='b'><group name='a'/></group>")))
	f.Fuzz(func(t *testing.T, data []byte) {
		if s, _, err := ParseSRDF(data, "f.srdf"); err == nil {
			checkPrintedSRDF(t, s)
		}
	})
}

// nasty are values that files have where they should not.
var nasty = []string{
	"", " ", "0", "-1", "1 2 3", "0 0 0", "NaN", "1e999", "j", "arm", "base", "fixed", "floating", "\x0a", "<&>\"'", "é",
}

// mutate makes one small change somewhere in a tree.
func mutate(r *rand.Rand, root *xmltree.Node) {
	n := root
	for len(n.Children) > 0 && r.IntN(4) > 0 {
		n = n.Children[r.IntN(len(n.Children))]
	}
	value := nasty[r.IntN(len(nasty))]
	child, attr := -1, -1
	if len(n.Children) > 0 {
		child = r.IntN(len(n.Children))
	}
	if len(n.Attrs) > 0 {
		attr = r.IntN(len(n.Attrs))
	}
	switch action := r.IntN(7); {
	case n.IsText():
		n.Text = "x" + value
	case action == 0 && child >= 0:
		n.Children = slices.Delete(n.Children, child, child+1)
	case action == 1 && child >= 0:
		n.Children = append(n.Children, n.Children[child].Clone())
	case action == 2 && child >= 0 && !n.Children[child].IsText():
		root.Children = append(root.Children, n.Children[child].Clone())
	case action == 3 && attr >= 0:
		n.Attrs = slices.Delete(n.Attrs, attr, attr+1)
	case action == 4 && attr >= 0:
		n.Attrs[attr].Name += "x"
	case attr >= 0:
		n.Attrs[attr].Value = value
	}
}

// Byte-wise fuzzing seldom gets past XML; this changes documents from within.
func TestMutatedDocumentsAreRefusedOrReadBack(t *testing.T) {
	kinds := []struct {
		name, doc string
		read      func(t *testing.T, root *xmltree.Node) bool
	}{
		{"URDF", complete, func(t *testing.T, root *xmltree.Node) bool {
			d, _, err := FromTree(root)
			if err == nil {
				checkPrinted(t, d)
			}
			return err == nil
		}},
		{"SRDF", completeSRDF, func(t *testing.T, root *xmltree.Node) bool {
			s, _, err := semanticsFromTree(root)
			if err == nil {
				checkPrintedSRDF(t, s)
			}
			return err == nil
		}},
	}
	const runs = 3000
	for _, kind := range kinds {
		whole, err := xmltree.Parse([]byte(kind.doc), "f", xmltree.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		accepted := 0
		for seed := range uint64(runs) {
			r := rand.New(rand.NewPCG(seed, 3))
			root := whole.Clone()
			for range 1 + r.IntN(4) {
				mutate(r, root)
			}
			t.Run(fmt.Sprint(kind.name, " seed ", seed), func(t *testing.T) {
				if kind.read(t, root) {
					accepted++
				}
			})
		}
		if accepted < runs/20 || accepted > runs*19/20 {
			t.Errorf("%s: %d of %d mutations accepted: too easy or too hard", kind.name, accepted, runs)
		}
	}
}
