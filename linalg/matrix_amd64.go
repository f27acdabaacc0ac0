package linalg

import "golang.org/x/sys/cpu"

// wide tells whether the processor has the instructions of matrix_amd64.s.
// GODEBUG=cpu.avx2=off does without them.
var wide = cpu.X86.HasAVX2 && cpu.X86.HasFMA

//go:noescape
func mulRows(y, a, x *float64, rows, k, stride int)

//go:noescape
func addRows(y, k, a *float64, rows, n, stride int)

//go:noescape
func addOuter(a, k, v *float64, rows, n, stride int)
