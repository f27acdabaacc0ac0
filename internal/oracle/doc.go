// Package oracle holds truths to test against: robots and reference results of
// tools we did not write, and closed forms of simple machines, derived by hand
// and independent of the algorithms they judge. For tests only.
package oracle
