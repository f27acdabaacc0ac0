// Package urdf reads and writes robot descriptions: URDF and SRDF documents.
//
// A document is what the file says, checked for form and nothing more; package
// robot gives it meaning. Reading is strict: every problem is reported, all at
// once, each with file, line and the offending text; elements that URDF does
// not know are warnings, and elements of other name spaces are passed over.
// Macros are expanded before by package urdf/xacro.
package urdf
