// Package linalg holds small dense kernels on slices: factorisations, solves
// and elementwise functions that the algorithms above it need inside a cycle.
//
// Matrices are row-major slices; an n×n matrix a has element (i, j) at
// a[i*n+j]. What is written is the first argument and the name then ends in To;
// it may not alias an input unless the function says so. Nothing allocates:
// every function here is loop-safe. Wrong lengths are programmer's mistakes and
// panic.
package linalg
