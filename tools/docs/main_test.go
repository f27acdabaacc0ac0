package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTablesAreWritten: the tables in docs are what the code says.
func TestTablesAreWritten(t *testing.T) {
	files, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	marks := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		marks += len(mark.FindAllString(string(text), -1))
		want, err := fill(string(text))
		if err != nil {
			t.Errorf("%s: %v", file, err)
		}
		if want != string(text) {
			t.Errorf("the tables of %s are not what the code says: run make docs", filepath.Base(file))
		}
	}
	if marks != len(tables) {
		t.Errorf("%d tables are in docs, there are %d", marks, len(tables))
	}
}

func TestUnknownTablesAreNamed(t *testing.T) {
	if _, err := fill("<!-- table gaits: make docs writes it -->\n<!-- end -->\n"); err == nil || !strings.Contains(err.Error(), "gaits") {
		t.Errorf("%v", err)
	}
}
