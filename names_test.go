package poise_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// byName finds comparisons with the usual names of robots. What a robot can do is said by the
// capabilities of its driver: "virtual" and "real" are names that a configuration may change.
// A constant that has one of them (config.Second) does not get around that.
var byName = regexp.MustCompile(`(?:[=!]=\s*|\bcase\s+(?:"\w+",\s*)*)(?:["'](?:virtual|real)["']|config\.Second\b)|(?:["'](?:virtual|real)["']|\bconfig\.Second)\s*[=!]=`)

func TestNoRobotIsJudgedByItsName(t *testing.T) {
	files := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == "dist" || d.Name() == "testdata" || path != "." && strings.HasPrefix(d.Name(), ".")):
			return filepath.SkipDir
		case strings.HasSuffix(path, "_test.go") || strings.Contains(path, ".test."):
			return nil
		}
		switch filepath.Ext(path) {
		case ".go", ".ts", ".svelte":
		default:
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		for i, line := range strings.Split(string(text), "\n") {
			if byName.MatchString(line) {
				t.Errorf("%s:%d compares with the name of a robot: %s", path, i+1, strings.TrimSpace(line))
			}
		}
		return nil
	})
	if err != nil || files < 500 {
		t.Fatalf("%d files read, %v", files, err)
	}
}
