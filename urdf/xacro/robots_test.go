package xacro

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"poise/internal/golden"
	"poise/internal/xmltree"
	"poise/urdf/locate"
)

// TestPlainRobotsPassThrough: a description without macros expands to itself.
func TestPlainRobotsPassThrough(t *testing.T) {
	dir := golden.Path(t, "robots")
	names, err := filepath.Glob(filepath.Join(dir, "*", "*.urdf"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no robots in %s: %v", dir, err)
	}
	files := locate.Files{FS: os.DirFS(dir)}
	for _, name := range names {
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		want, err := xmltree.Parse(data, rel, xmltree.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := Expand(rel, Config{Files: files})
		if err != nil {
			t.Errorf("%s: %v", rel, err)
			continue
		}
		if d := difference(canonical(r.Root), canonical(want)); d != "" {
			t.Errorf("%s: expanded it differs at %s", rel, d)
		}
	}
}

// TestShippedRobotsEqualXacro: the robots inside of the binary are written in
// xacro, and ROS xacro makes the same of them.
func TestShippedRobotsEqualXacro(t *testing.T) {
	names, err := filepath.Glob(filepath.Join(golden.Root(t), "robot/shipped/*/*.xacro"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no shipped robots: %v", err)
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "cases"), 0o755); err != nil {
		t.Fatal(err)
	}
	var cases []testCase
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		base := filepath.Base(name)
		if err := os.WriteFile(filepath.Join(dir, "cases", base), data, 0o644); err != nil {
			t.Fatal(err)
		}
		cases = append(cases, testCase{Name: strings.TrimSuffix(base, ".xacro"), File: base})
	}
	list, err := json.Marshal(cases)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "cases.json"), list, 0o644); err != nil {
		t.Fatal(err)
	}
	results := runXacro(t, dir)
	for _, tc := range cases {
		want, err := xmltree.Parse([]byte(*results[tc.Name]), tc.Name, xmltree.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := Expand("/cases/"+tc.File, Config{Files: locate.Files{FS: os.DirFS(dir)}})
		if err != nil {
			t.Fatal(err)
		}
		if d := difference(canonical(r.Root), canonical(want)); d != "" {
			t.Errorf("%s differs from ROS xacro at %s", tc.Name, d)
		}
	}
}
