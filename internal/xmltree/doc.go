// Package xmltree reads an XML document into a small tree that remembers the
// line of everything, strictly and in bounded memory.
//
// It is the ground of URDF, SRDF and xacro. The scanner is our own because
// three things they need are lost behind encoding/xml: the line of each
// attribute, the difference between a line break written in an attribute (a
// space, says XML) and one written as a character reference (a line break),
// and the refusal of a document before it has cost memory.
//
// What is read is XML 1.0 with name spaces, without document types: a DOCTYPE
// and every entity beyond the five predefined ones are refused. UTF-8, UTF-16
// with a byte-order mark, US-ASCII and Latin-1 are understood. Comments,
// processing instructions and text that is only white space are dropped;
// CDATA sections are text like any other.
//
//	text ──Parse──▶ Node ──Reader──▶ values, errors, warnings
//	     ◀──Print──
package xmltree
