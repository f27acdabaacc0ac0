// Package track finds the joint positions that make a link follow a path.
//
// A path is tool geometry X(s). Where the arm is not singular its joints follow
// it as smooth functions with exact derivatives,
//
//	J·q′ = X′,     J·q″ = X″ − J̇·q′                                       (1)
//
// so between two places on the path the quintic through (q, q′, q″) at both is
// good to the sixth power of their distance. Follow walks along the path in
// steps as long as that quintic keeps the link within Fit of it, measured half
// way; each place is found from the one before by Taylor's series and Newton's
// method. Walking never changes to another solution: where the joints would have
// to jump, or no solution exists, the path is refused at that distance. Near a
// singularity steps get short and q′ large, and nothing else happens: it is for
// timing to slow down there.
//
// An arm with more joints than the path needs gets as many further conditions,
//
//	wᵀ·(q − r(s)) = 0                                                     (2)
//
// with w across the motion that leaves the link in place, and r at the start, or
// on the straight way to a wanted end. Then its joints are functions of s too,
// and the same path is always followed in the same way. With fewer joints (1) is
// solved as well as can be, and the link checked.
package track
