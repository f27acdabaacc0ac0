package poisemsgs

import "poise/msgs"

// GaitParameters is poise_msgs/GaitParameters: how a gait is walked from one of the next steps on. Zero and empty values
// are as robot.yaml or the robot's geometry has them.
type GaitParameters struct {
	Gait   string    `json:"gait"`   // crawl, amble, trot or in_place
	Period float64   `json:"period"` // s
	Duty   float64   `json:"duty"`   // share of the period that a foot stands
	Lift   float64   `json:"lift"`   // of a foot, m
	Speed  float64   `json:"speed"`  // of a foot that stands at most, m/s
	Limbs  []string  `json:"limbs"`  // all legs, in the order of phase; without phase one after the other
	Phase  []float64 `json:"phase"`  // when each foot is lifted, as a share of the period
}

// GroundBox is poise_msgs/GroundBox: a box on the ground.
type GroundBox struct {
	X      float64 `json:"x"` // of its middle, m
	Y      float64 `json:"y"`
	Yaw    float64 `json:"yaw"`
	Length float64 `json:"length"` // along its own x, m
	Width  float64 `json:"width"`
	Height float64 `json:"height"` // of its top above the ground, m
}

// KnownGround is poise_msgs/KnownGround: what a robot that walks knows of the ground, such as stairs.
type KnownGround struct {
	Header msgs.Header `json:"header"`
	Boxes  []GroundBox `json:"boxes"`
}

// PlannedFootstep is poise_msgs/PlannedFootstep: where a foot is put down next.
type PlannedFootstep struct {
	Limb     string  `json:"limb"`
	X        float64 `json:"x"`
	Y        float64 `json:"y"`
	Z        float64 `json:"z"`
	Yaw      float64 `json:"yaw"`
	Swinging bool    `json:"swinging"` // it is on its way: the place does not change any more
}

// FootstepsState is poise_msgs/FootstepsState: the steps that are planned of a robot that walks.
type FootstepsState struct {
	Header msgs.Header       `json:"header"`
	Steps  []PlannedFootstep `json:"steps"`
}
