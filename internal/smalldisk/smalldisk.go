// Package smalldisk gives tests a file system that is soon full.
package smalldisk

import (
	"fmt"
	"testing"
)

// Mount mounts a file system of some megabytes for the time of a test, and returns its folder.
// Where that is not allowed the test is skipped, and says so.
func Mount(t testing.TB, megabytes int) (folder string) {
	t.Helper()
	folder = t.TempDir()
	if err := mount(folder, fmt.Sprintf("size=%dm", megabytes)); err != nil {
		t.Skipf("a file system of %d MB cannot be mounted here: %v", megabytes, err)
	}
	t.Cleanup(func() {
		if err := unmount(folder); err != nil {
			t.Errorf("%s is still mounted: %v", folder, err)
		}
	})
	return folder
}
