package main

import (
	"strings"
	"testing"
)

const lines = `
goos: linux
BenchmarkPoise/v1/Sincos12-2         100  140 ns/op
BenchmarkPoise/v1/Sincos12-2         100  150 ns/op
BenchmarkPoise/v1/Inverse/panda7-2   100  280 ns/op  0 B/op
BenchmarkPoise/v1/MassMatrix/panda7-2   100  420 ns/op  0 B/op
BenchmarkPoise/v1/Line/panda-2       10  1500000 ns/op  2.0 iterations/step  1500 ns/step  0 B/op
BenchmarkPeer/pinocchio-O2/inverse/panda7 100 1000.0 ns/op
BenchmarkPeer/pinocchio-native/mass/world/panda7 100 700.0 ns/op
BenchmarkPeer/pinocchio-native/mass/local/panda7 100 500.0 ns/op
BenchmarkPeer/kdl/line-wdls/panda7 1001 15000.0 ns/op 0 failed
PASS
`

func TestTableTakesTheBestOfEach(t *testing.T) {
	times, err := read(strings.NewReader(lines))
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	write(&out, times)
	for _, want := range []string{
		"| inverse dynamics | panda7 | pinocchio-O2 inverse | 1000 | 280 | 0.28 | 2.00 | – | – | – |",
		"| mass matrix | panda7 | pinocchio-native mass/local | 500 | 420 | 0.84 | 3.00 | – | – | – |",
		"| inverse kinematics along a line | panda7 | kdl line-wdls | 15000 | 1500 | 0.10 | 10.71 | – | – | – |",
		"| positions | panda7 | pinocchio not measured | – | – | – | – | – | – | – |",
	} {
		if !strings.Contains(out.String(), want+"\n") {
			t.Errorf("no line %q in\n%s", want, out.String())
		}
	}
}

func TestBrokenNumberIsAnError(t *testing.T) {
	if _, err := read(strings.NewReader("BenchmarkX 1 x ns/op")); err == nil {
		t.Error("no error")
	}
}
