// Package value holds the values that xacro's expressions compute with: Python's
// numbers, strings, lists, tuples and dictionaries, with Python's meaning and
// Python's way of writing them.
//
// A Value is one of
//
//	nil                None
//	bool               True, False
//	*big.Int           int, of at most MaxBits bits
//	float64            float
//	string             str, counted in code points
//	List, Tuple        list, tuple
//	*Dict              dict, in order of insertion
//	Range              range
//	Object             a function or a name space: opaque here
//
// Values never change once they are made: there is no append and no update, and
// a value may be shared by all who hold it. Everything that could grow is
// bounded: single values by MaxBits, MaxBytes and MaxItems, all of them
// together, and the time to work on them, by a Budget that is spent and never
// refilled.
//
// The meaning of operators follows the Python language reference, chapter 6;
// the text of numbers follows its repr.
package value
