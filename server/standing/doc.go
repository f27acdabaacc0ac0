// Package standing knows where a robot on its feet stands: the base follows from the
// joints and from the feet that carry. While a motion says which these are, they are
// believed; when people drag joints about, it is judged which feet left the ground.
package standing
