//go:build !amd64

package linalg

// wide is for processors that have kernels of their own.
const wide = false

func mulRows(y, a, x *float64, rows, k, stride int)  {}
func addRows(y, k, a *float64, rows, n, stride int)  {}
func addOuter(a, k, v *float64, rows, n, stride int) {}
