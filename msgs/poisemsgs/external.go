package poisemsgs

import "poise/msgs"

// ExternalForces is poise_msgs/ExternalForces: what touches a robot, as the torques of its servos
// show it.
type ExternalForces struct {
	Header msgs.Header `json:"header"`

	Name     []string  `json:"name"`     // of each joint
	Valid    []bool    `json:"valid"`    // its servo is known, told and heard of; otherwise the rest is 0
	Servo    []float64 `json:"servo"`    // effort that its servo gives, without the rotor, N·m or N
	External []float64 `json:"external"` // what the world does to the joint: bodies need less servo, by the servo's own equation
	Momentum []float64 `json:"momentum"` // the same by the generalised momentum observer
	Residual []float64 `json:"residual"` // and of the last period alone, unfiltered
	Beyond   []float64 `json:"beyond"`   // what the servo gives beyond the reference's effort; 0 while that is not computed
	Sigma    []float64 `json:"sigma"`    // standard deviation of external
	Friction []float64 `json:"friction"` // dry friction of unknown direction in it
	Band     []float64 `json:"band"`     // friction + 3·sigma: how far external is uncertain, to either side

	Limb        []string       `json:"limb"`        // each chain
	Felt        []bool         `json:"felt"`        // all its joints are valid
	Wrench      []msgs.Wrench  `json:"wrench"`      // of the world on it, at its point, world axes
	Point       []msgs.Point   `json:"point"`       // middle of its sole, or its tip
	ForceSigma  []msgs.Vector3 `json:"force_sigma"` // standard deviations of the force
	ForceDoubt  []msgs.Vector3 `json:"force_doubt"` // how far dry friction may put it off
	Unexplained []float64      `json:"unexplained"` // length of the efforts that the wrench does not explain
	LeastLever  []float64      `json:"least_lever"` // m; near 0 some force is not felt

	Base msgs.Wrench `json:"base"` // on the whole robot, about the origin of its base, world axes
}

// ContactStates is poise_msgs/ContactStates: which feet carry, as it is felt.
type ContactStates struct {
	Header    msgs.Header `json:"header"`
	Name      []string    `json:"name"`      // chains with a contact
	State     []string    `json:"state"`     // unknown, swing, touching, stance or lifting
	Stands    []bool      `json:"stands"`    // stance or lifting
	Force     []float64   `json:"force"`     // on the sole, upwards, N
	Sigma     []float64   `json:"sigma"`     // its standard deviation
	Doubt     []float64   `json:"doubt"`     // N of it that dry friction may explain
	Threshold []float64   `json:"threshold"` // of a touch-down, N
	Since     []float64   `json:"since"`     // s of the cycle, when it last came to stand or to swing
	Early     []bool      `json:"early"`     // it stands, and is to swing
	Late      []bool      `json:"late"`      // it is to stand, and does not
}

// ContactEvent is poise_msgs/ContactEvent.
type ContactEvent struct {
	Header   msgs.Header  `json:"header"`
	Kind     string       `json:"kind"` // touch_down, lift_off or impact
	Limb     string       `json:"limb"`
	Joint    string       `json:"joint"`    // that felt an impact most
	Force    msgs.Vector3 `json:"force"`    // on the limb, world axes, N; of an impact what came suddenly
	Size     float64      `json:"size"`     // of an impact in multiples of its threshold; of others the force upwards, N
	Time     float64      `json:"time"`     // of the cycle, s
	Reaction string       `json:"reaction"` // of the robot to an impact: ignore, hold, soften or retreat
}
