package xmltree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"poise/internal/golden"
)

func TestRealRobotsRoundTrip(t *testing.T) {
	root := golden.Path(t, "robots")
	files := 0
	err := filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".urdf") && !strings.HasSuffix(path, ".srdf") {
			return err
		}
		files++
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		tree, err := Parse(data, filepath.Base(path), Limits{})
		if err != nil {
			t.Errorf("%s: %v", path, err)
			return nil
		}
		again, err := Parse(Print(tree), "printed", Limits{})
		if err != nil || !Equal(tree, again) {
			t.Errorf("%s: reads back differently (%v)", path, err)
		}
		return nil
	})
	if err != nil || files == 0 {
		t.Fatalf("%d files, %v", files, err)
	}
}
