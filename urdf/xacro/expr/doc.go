// Package expr is the expression language of xacro: what stands between ${ and }.
//
// It has Python's syntax and Python's meaning, and it is not Python: an
// expression computes a value from names, and can do nothing else. There are
//
//	literals        1  0x1f  1.5e-3  'text'  r"raw"  True  None  [1, 2]  (1, 2)  {'a': 1}
//	operators       + - * / // % ** & | ^ ~ << >>, comparisons and chains of them,
//	                in, not in, is, and, or, not, x if c else y
//	access          a[0]  a[-1]  a[1:3]  a['key']  a.key
//	calls           f(x), f(x, key=y), f(*list), f(**dict)
//	comprehensions  [x*2 for x in list if x > 1], also as an argument and as a dict
//
// and there are no assignments, no lambda, no sets, no complex numbers and no
// formatted string literals. a.key reads a dictionary, a name space, or one of
// the methods of strings, lists and dictionaries that change nothing. The
// functions are those that ROS xacro offers: math and its name space, len, str,
// int, float, bool, list, dict, map, min, max, round, sorted, range, and the
// rest of the name space python that makes sense without sets and types.
// Functions of the name space python may be written without it. What Python
// computes lazily (map, zip, the items of a dict) is a list here: it is bounded.
//
// Work is bounded by a value.Budget, nesting by MaxDepth, length by MaxSource;
// values are bounded by package value. Parse once, Eval often.
package expr
