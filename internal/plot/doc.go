// Package plot draws what a person wants to look at: curves over time with their
// limits, and who held what when. A picture is SVG or PNG by the end of its name.
//
// It is small on purpose: panels one below the other on one time axis, lines,
// dashed limits, bars. Colours are told apart also by people who see few.
package plot
