package robot_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"poise/problem"
	"poise/robot"
	"poise/robot/description"
	"poise/urdf"
)

// maxWaste is what building a hostile robot of some thousand names may allocate
// in all, bytes: far more than its size, far less than names × joints.
const maxWaste = 512 << 20

// allocated returns the bytes that do allocates in all.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// snake is a chain of n turning joints l0 … ln.
func snake(n int) *urdf.Document {
	doc := &urdf.Document{Name: "snake", Links: []urdf.Link{{Name: "l0"}}}
	for i := range n {
		doc.Links = append(doc.Links, urdf.Link{Name: fmt.Sprintf("l%d", i+1)})
		j := revolute(fmt.Sprintf("j%d", i), fmt.Sprintf("l%d", i), fmt.Sprintf("l%d", i+1))
		j.Type, j.Limit = urdf.Continuous, nil
		doc.Joints = append(doc.Joints, j)
	}
	return doc
}

// TestManyLongWaysAreRefusedOnce: a short file can name thousands of chains
// that each pass the whole robot.
func TestManyLongWaysAreRefusedOnce(t *testing.T) {
	const joints, names = 2000, 6000
	srdf := &urdf.Semantics{Name: "snake"}
	yaml := &description.Description{}
	for i := range names {
		srdf.Groups = append(srdf.Groups, urdf.Group{Name: fmt.Sprintf("g%d", i), Chains: []urdf.Chain{{Base: "l0", Tip: fmt.Sprintf("l%d", joints)}}})
		yaml.Chains = append(yaml.Chains, description.Chain{Name: fmt.Sprintf("c%d", i), Base: "l0", Tip: fmt.Sprintf("l%d", joints)})
	}
	for name, opts := range map[string]robot.Options{"SRDF": {SRDF: srdf}, "robot.yaml": {Description: yaml}} {
		var err error
		waste := allocated(func() { _, _, err = robot.Build(snake(joints), opts) })
		if err == nil || strings.Count(err.Error(), "\n") > 0 || !strings.Contains(err.Error(), "bodies together") {
			t.Errorf("%s: %.300s", name, fmt.Sprint(err))
		}
		if waste > maxWaste {
			t.Errorf("%s: %d bytes allocated, at most %d are allowed", name, waste, maxWaste)
		}
	}
}

// TestTipsBehindFollowersAreBounded: followers count in the length of a way,
// although they are no joints of a group.
func TestTipsBehindFollowersAreBounded(t *testing.T) {
	const n = 5000
	doc := snake(n)
	for i := range n {
		if i > 0 {
			doc.Joints[i].Mimic = &urdf.Mimic{Joint: "j0", Multiplier: 1}
		}
		tip := fmt.Sprintf("t%d", i)
		doc.Links = append(doc.Links, urdf.Link{Name: tip})
		doc.Joints = append(doc.Joints, urdf.Joint{Name: tip, Type: urdf.Fixed, Parent: fmt.Sprintf("l%d", i+1), Child: tip})
	}
	var warnings []*problem.Problem
	var err error
	waste := allocated(func() { _, warnings, err = robot.Build(doc, robot.Options{}) })
	if err != nil {
		t.Fatal(err)
	}
	if last := warnings[len(warnings)-1].Error(); !strings.Contains(last, "no group is made for") {
		t.Errorf("last warning %q", last)
	}
	if waste > maxWaste {
		t.Errorf("%d bytes allocated, at most %d are allowed", waste, maxWaste)
	}
}

// TestLastLinkOfAGroup: the tip of joints that lie on one way down, in whatever
// order they are listed; joints of two branches have none.
func TestLastLinkOfAGroup(t *testing.T) {
	doc := snake(6)
	side := revolute("side", "l2", "s")
	doc.Links, doc.Joints = append(doc.Links, urdf.Link{Name: "s"}), append(doc.Joints, side)
	for listed, want := range map[string]string{
		"j0": "l1", "j5 j0": "l6", "j3 j1 j2": "l4", "side j1": "s", "side j0 j1": "s", "side j2": "", "j5 side": "", "j2 side j0": "",
	} {
		d := &description.Description{Groups: []description.Group{{Name: "g", Joints: strings.Fields(listed)}}}
		m, _, err := robot.Build(doc, robot.Options{Description: d})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if tip := m.Groups()[0].Tip; tip != robot.NoFrame {
			got = m.Frames()[tip].Name
		}
		if got != want {
			t.Errorf("joints %s: tip %q, want %q", listed, got, want)
		}
	}
}
