package motion_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"poise/motion"
)

// TestDocumentationHasEveryOperation keeps the table of operations in the documentation
// equal to the one that Apply goes by, line by line.
func TestDocumentationHasEveryOperation(t *testing.T) {
	text, err := os.ReadFile("../docs/motions.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(text), "| operation | reads | does |\n|---|---|---|\n")
	if !ok {
		t.Fatal("docs/motions.md has no table of operations")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	var want []string
	for _, v := range motion.Operations() {
		want = append(want, fmt.Sprintf("| `%s` | %s | %s |", v.Op, v.Reads, v.Does))
	}
	if got := strings.TrimSpace(table); got != strings.Join(want, "\n") {
		t.Errorf("docs/motions.md says\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}
