// Package shape draws the paths that commands ask for: a line, an arc about a
// centre or through points, a polyline with rounded corners, and the bends that
// join paths inside a sphere.
//
// A bend continues both paths in tangent, curvature and rotation and does not
// leave its sphere; outside of it nothing changes.
package shape
