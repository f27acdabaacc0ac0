// Package roots finds zeros of functions of one variable, robustly: never an
// endless loop, never NaN for finite data, and as accurate as float64 allows.
//
// Quadratic has a closed form that loses no digits to cancellation. Rising finds
// the zero of any function that does not fall: Newton's method while it is fast,
// halving where it is not.
package roots
