package robot

import "poise/problem"

// What a robot must obey: the codes of its problems. errors.Is asks for them.
const (
	BadName           problem.Code = "bad_name" // missing, or used twice
	UnknownLink       problem.Code = "unknown_link"
	Loop              problem.Code = "loop"
	TwoRoots          problem.Code = "two_roots"
	NotFinite         problem.Code = "not_finite"
	NegativeMass      problem.Code = "negative_mass"
	IndefiniteInertia problem.Code = "indefinite_inertia"
	ZeroAxis          problem.Code = "zero_axis"
	MissingLimit      problem.Code = "missing_limit"
	InvertedLimits    problem.Code = "inverted_limits"
	NegativeLimit     problem.Code = "negative_limit"
	LooserLimit       problem.Code = "looser_limit" // than the URDF's
	BadLimit          problem.Code = "bad_limit"    // of the wrong sign or kind
	BadMimic          problem.Code = "bad_mimic"
	SharedResource    problem.Code = "shared_resource"
	TooManyLeaves     problem.Code = "too_many_leaves"
)

// What is worth a second look: the codes of warnings.
const (
	ZeroMass           problem.Code = "zero_mass"
	ZeroInertia        problem.Code = "zero_inertia"
	TriangleInequality problem.Code = "triangle_inequality"
	MissingMesh        problem.Code = "missing_mesh"
	UnsetLimit         problem.Code = "unset_limit" // written as zero
	EmptyRange         problem.Code = "empty_range"
	UnusedLimit        problem.Code = "unused_limit"
	FollowerLimit      problem.Code = "follower_limit" // a follower is driven past it
	UnknownJoint       problem.Code = "unknown_joint"
	PoseOutOfLimits    problem.Code = "pose_out_of_limits"
	UnevenMirror       problem.Code = "uneven_mirror"
	Ignored            problem.Code = "ignored"
)
