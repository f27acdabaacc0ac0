package shipped_test

import (
	"bytes"
	"flag"
	"io/fs"
	"os"
	"testing"

	"poise/robot/load"
	"poise/robot/shipped"
)

var update = flag.Bool("update", false, "write the .urdf of each robot from its .urdf.xacro")

// go test ./robot/shipped -update brings them together again.
func TestURDFIsTheXacroExpanded(t *testing.T) {
	for _, name := range load.Shipped() {
		base := name + "/" + name + ".urdf"
		bot, err := load.File(shipped.FS, base+".xacro", load.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := bot.Model.Document().Print()
		if *update {
			if err := os.WriteFile(base, got, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := fs.ReadFile(shipped.FS, base)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not %s.xacro expanded: run go test ./robot/shipped -update", base, base)
		}
	}
}
