package main

import (
	"strings"
	"testing"
)

func TestMedians(t *testing.T) {
	in := `goos: linux
BenchmarkA-2   	 100	 30.0 ns/op	 8 B/op
BenchmarkA-2   	 100	 10.0 ns/op	 0 B/op
BenchmarkB/x-2 	 1	 7 ns/op
BenchmarkA-2   	 100	 20.0 ns/op	 0 B/op
PASS
ok  	poise/a	1.0s
BenchmarkA-2   	 100	 4 ns/op
BenchmarkA-2   	 100	 6 ns/op
`
	want := []string{"goos: linux", "BenchmarkA-2 3 runs 20 ns/op 0 B/op", "BenchmarkB/x-2 1 runs 7 ns/op", "PASS", "ok poise/a 1.0s", "BenchmarkA-2 2 runs 5 ns/op"}
	var out strings.Builder
	if err := medians(strings.NewReader(in), &out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	for i, line := range lines {
		lines[i] = strings.Join(strings.Fields(line), " ")
	}
	if strings.Join(lines, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
}
