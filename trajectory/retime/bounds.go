package retime

import (
	"math"

	"poise/trajectory"
)

// bounds are the limits of all rows, ready for use: inverses are 0 where there is
// no limit. Each set of limits takes Rows places.
type bounds struct {
	Rows                             int
	Acc, Dec                         []float64
	InvVel2, InvAcc, InvDec, InvJerk []float64
	InvVel                           []float64 // √InvVel2
	Jerky                            bool      // some row has a jerk limit

	sets   int
	weight []float64 // by which rows are compared
}

// Set returns where the limits of a piece begin in the arrays.
func (b *bounds) Set(piece int) int {
	if b.sets == 1 {
		return 0
	}
	return piece * b.Rows
}

// Free reports whether the row at a place in the arrays has no limit at all.
func (b *bounds) Free(i int) bool {
	return b.InvVel2[i] == 0 && b.InvAcc[i] == 0 && b.InvDec[i] == 0 && b.InvJerk[i] == 0
}

// read takes the limits over.
func (b *bounds) read(limits []trajectory.Limits, rows int) {
	n := len(limits) * rows
	b.Rows, b.sets, b.Jerky = rows, len(limits), false
	b.Acc, b.Dec, b.weight = sized(b.Acc, n), sized(b.Dec, n), sized(b.weight, n)
	b.InvVel2, b.InvAcc, b.InvDec, b.InvJerk = sized(b.InvVel2, n), sized(b.InvAcc, n), sized(b.InvDec, n), sized(b.InvJerk, n)
	b.InvVel = sized(b.InvVel, n)
	for k := range limits {
		for r := range rows {
			_, _, vel, acc, dec, jerk := limits[k].Of(r)
			i := k*rows + r
			b.Acc[i], b.Dec[i] = acc, dec
			b.weight[i] = max(1/vel, 1/acc, 1/dec)
			b.Jerky = b.Jerky || !math.IsInf(jerk, 1)
			b.InvVel2[i], b.InvAcc[i], b.InvDec[i], b.InvJerk[i] = 1/(vel*vel), 1/acc, 1/dec, 1/jerk
			b.InvVel[i] = math.Sqrt(b.InvVel2[i])
		}
	}
}

// sized returns a slice of length n that keeps the memory, and the contents, of x.
func sized[T any](x []T, n int) []T {
	if cap(x) < n {
		grown := make([]T, n, n+n/4)
		copy(grown, x)
		return grown
	}
	return x[:n]
}
