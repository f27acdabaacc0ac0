// Package builtin holds the functions of xacro's expressions: those of Python
// that ROS xacro offers, Python's module math, and the methods of strings,
// lists and dictionaries that change nothing.
//
// A function is a value too, for map and sorted want one. What Python computes
// lazily (map, zip, the items of a dict) is a list here: it is bounded, and
// nobody sees the difference but by printing it.
package builtin
