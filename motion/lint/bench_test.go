package lint_test

import (
	"testing"

	"poise/motion"
	"poise/motion/lint"
)

// BenchmarkCheck judges ten seconds of a robot that crouches on four legs.
func BenchmarkCheck(b *testing.B) {
	m := model(b, "pony")
	d := legsOf(b, m, standing(b, m, 0, 2.5, 5, 7.5, 10))
	d = apply(b, m, d, motion.Operation{Op: "apply_pose", Rows: []int{1, 3}, Texts: []string{"crouched"}})
	b.ReportAllocs()
	for b.Loop() {
		if all := lint.Check(d, m, lint.Options{}); len(all) > 0 {
			b.Fatal(all)
		}
	}
}
