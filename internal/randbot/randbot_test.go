package randbot

import (
	"math"
	"reflect"
	"testing"

	"poise/robot"
	"poise/urdf"
)

func TestRandomRobotsBuildWithoutWarning(t *testing.T) {
	for seed := range uint64(200) {
		cfg := Config{Bodies: 1 + int(seed%30), Fixed: int(seed % 7), Serial: seed%3 == 0, Floating: seed%2 == 0}
		doc := Document(New(seed), cfg)
		base := robot.BaseFixed
		if cfg.Floating {
			base = robot.BaseFloating
		}
		m, warnings, err := robot.Build(doc, robot.Options{Base: base})
		if err != nil || len(warnings) > 0 {
			t.Fatalf("seed %d: error %v, warnings %v", seed, err, warnings)
		}
		if got := len(m.Joints()); got != cfg.Bodies {
			t.Errorf("seed %d: %d joints, want %d", seed, got, cfg.Bodies)
		}
		if got := len(m.Frames()); got != 1+cfg.Bodies+cfg.Fixed {
			t.Errorf("seed %d: %d frames, want %d", seed, got, 1+cfg.Bodies+cfg.Fixed)
		}
	}
}

func TestMimicsAreMade(t *testing.T) {
	types := []urdf.JointType{urdf.Revolute, urdf.Prismatic}
	for seed := range uint64(50) {
		m := Model(t, New(seed), Config{Bodies: 12, Mimics: 5, Types: types})
		followers := 0
		for _, b := range m.Bodies() {
			if b.Mimic {
				followers++
			}
		}
		if followers != 5 || len(m.Joints()) != 7 {
			t.Errorf("seed %d: %d followers and %d joints, want 5 and 7", seed, followers, len(m.Joints()))
		}
	}
}

func TestSameSeedSameRobot(t *testing.T) {
	cfg := Config{Bodies: 20, Fixed: 3, Mimics: 2}
	if a, b := Document(New(7), cfg), Document(New(7), cfg); !reflect.DeepEqual(a, b) {
		t.Error("two robots of one seed differ")
	}
}

func TestPositionIsValid(t *testing.T) {
	for seed := range uint64(50) {
		rng := New(seed)
		m := Model(t, rng, Config{Bodies: 15, Floating: true})
		q := Position(rng, m)
		unit := func(what string, q []float64) {
			n := math.Hypot(math.Hypot(q[3], q[4]), math.Hypot(q[5], q[6]))
			if math.Abs(n-1) > 1e-12 {
				t.Errorf("seed %d: quaternion of %s has length %g", seed, what, n)
			}
		}
		unit("base", q)
		for _, j := range m.Joints() {
			if j.Kind == robot.Floating {
				unit(j.Name, q[j.Q:])
			} else if !j.Limits.Contains(q[j.Q]) {
				t.Errorf("seed %d: %s at %g is outside its limits", seed, j.Name, q[j.Q])
			}
		}
	}
}
