// Package libm computes elementary functions correctly rounded: each result is
// the float64 nearest to the true value.
//
// Go's own math is accurate to about one unit in the last place, and its last
// bit depends on the processor. A number that is printed with all its digits
// into a robot description must not: the same file has to give the same text
// everywhere, and the text that other tools give. Their C libraries round
// almost always correctly, so the correct rounding is where all can meet.
//
// The idea: compute in big.Float with some 150 bits to spare, round once.
// Direct functions are Taylor series after reduction of the argument; inverse
// functions take math's result y₀ and correct it by one Newton step in which
// the error enters squared or cubed:
//
//	ln x    = y₀ + 2·(x−e)/(x+e) + O(δ³),  e = exp y₀,  δ = x/e − 1          (1)
//	∠(x, y) = y₀ + atan((y·c−x·s)/(x·c+y·s)),  s, c = sin y₀, cos y₀         (2)
//
// That costs some microseconds a call: right for documents, wrong for a loop.
// Not-a-numbers, infinities and signed zeros are as in package math.
package libm
