package poisemsgs

import "poise/msgs"

// PhysicsContact is poise_msgs/PhysicsContact: a force of the ground, or of another link, on
// a link.
type PhysicsContact struct {
	Link  string       `json:"link"`
	Other string       `json:"other"`
	Point msgs.Point   `json:"point"`
	Force msgs.Vector3 `json:"force"`
}

// PhysicsState is poise_msgs/PhysicsState: the simulated robot as it is.
type PhysicsState struct {
	Header   msgs.Header      `json:"header"`
	Paused   bool             `json:"paused"`
	Speed    float64          `json:"speed"`
	Achieved float64          `json:"achieved"`
	Base     msgs.Pose        `json:"base"`
	Odometry msgs.Pose        `json:"odometry"` // where tf has the base
	Twist    msgs.Twist       `json:"twist"`
	CoM      msgs.Vector3     `json:"com"`
	ZMP      msgs.Vector3     `json:"zmp"`
	Carried  bool             `json:"carried"`
	Mass     float64          `json:"mass"`
	Fallen   bool             `json:"fallen"`
	Contacts []PhysicsContact `json:"contacts"`
	Pushes   []PhysicsContact `json:"pushes"`
	Grabbed  bool             `json:"grabbed"`
	Friction float64          `json:"friction"`
	Roll     float64          `json:"roll"`
	Pitch    float64          `json:"pitch"`
	Voltage  float64          `json:"voltage"`
	Payload  float64          `json:"payload"`
	Fault    string           `json:"fault"`
}

// PhysicsBox is poise_msgs/PhysicsBox: a box that does not move.
type PhysicsBox struct {
	Pose msgs.Pose    `json:"pose"`
	Size msgs.Vector3 `json:"size"`
}

// PhysicsWorld is poise_msgs/PhysicsWorld: what of the ground stays as it is. Heights are
// those of a field on the plane, rows of constant x, columns numbers each; the first is at
// origin, the next a cell on.
type PhysicsWorld struct {
	Header  msgs.Header  `json:"header"`
	Boxes   []PhysicsBox `json:"boxes"`
	Origin  msgs.Point   `json:"origin"`
	Cell    float64      `json:"cell"`
	Columns uint32       `json:"columns"`
	Heights []float32    `json:"heights"`
}

// PhysicsPushRequest is poise_msgs/PhysicsPush's request.
type PhysicsPushRequest struct {
	Link     string       `json:"link"`
	Force    msgs.Vector3 `json:"force"`
	Point    []msgs.Point `json:"point" bound:"1"`
	Duration float64      `json:"duration"`
}

// PhysicsPushResponse is poise_msgs/PhysicsPush's response.
type PhysicsPushResponse struct {
	Success      bool          `json:"success"`
	Message      string        `json:"message"`
	Explanations []Explanation `json:"explanations"`
}

// PhysicsGrabRequest is poise_msgs/PhysicsGrab's request.
type PhysicsGrabRequest struct {
	Link      string       `json:"link"`
	Point     []msgs.Point `json:"point" bound:"1"`
	Target    msgs.Point   `json:"target"`
	Stiffness float64      `json:"stiffness"`
}

// PhysicsGrabResponse is poise_msgs/PhysicsGrab's response.
type PhysicsGrabResponse struct {
	Success      bool          `json:"success"`
	Message      string        `json:"message"`
	Explanations []Explanation `json:"explanations"`
}

// PhysicsReleaseRequest is poise_msgs/PhysicsRelease's request.
type PhysicsReleaseRequest struct{}

// PhysicsReleaseResponse is poise_msgs/PhysicsRelease's response.
type PhysicsReleaseResponse struct {
	Success      bool          `json:"success"`
	Message      string        `json:"message"`
	Explanations []Explanation `json:"explanations"`
}

// PhysicsPayloadRequest is poise_msgs/PhysicsPayload's request.
type PhysicsPayloadRequest struct {
	Link string     `json:"link"`
	Mass float64    `json:"mass"`
	At   msgs.Point `json:"at"`
}

// PhysicsPayloadResponse is poise_msgs/PhysicsPayload's response.
type PhysicsPayloadResponse struct {
	Success      bool          `json:"success"`
	Message      string        `json:"message"`
	Explanations []Explanation `json:"explanations"`
}

// PhysicsFrictionRequest is poise_msgs/PhysicsFriction's request.
type PhysicsFrictionRequest struct {
	Friction float64 `json:"friction"`
}

// PhysicsFrictionResponse is poise_msgs/PhysicsFriction's response.
type PhysicsFrictionResponse struct {
	Success      bool          `json:"success"`
	Message      string        `json:"message"`
	Explanations []Explanation `json:"explanations"`
}

// PhysicsSlopeRequest is poise_msgs/PhysicsSlope's request.
type PhysicsSlopeRequest struct {
	Roll  float64 `json:"roll"`
	Pitch float64 `json:"pitch"`
}

// PhysicsSlopeResponse is poise_msgs/PhysicsSlope's response.
type PhysicsSlopeResponse struct {
	Success      bool          `json:"success"`
	Message      string        `json:"message"`
	Explanations []Explanation `json:"explanations"`
}

// PhysicsVoltageRequest is poise_msgs/PhysicsVoltage's request.
type PhysicsVoltageRequest struct {
	Voltage float64 `json:"voltage"`
}

// PhysicsVoltageResponse is poise_msgs/PhysicsVoltage's response.
type PhysicsVoltageResponse struct {
	Success      bool          `json:"success"`
	Message      string        `json:"message"`
	Explanations []Explanation `json:"explanations"`
}

// PhysicsLossRequest is poise_msgs/PhysicsLoss's request.
type PhysicsLossRequest struct {
	Loss float64 `json:"loss"`
}

// PhysicsLossResponse is poise_msgs/PhysicsLoss's response.
type PhysicsLossResponse struct {
	Success      bool          `json:"success"`
	Message      string        `json:"message"`
	Explanations []Explanation `json:"explanations"`
}

// PhysicsDropRequest is poise_msgs/PhysicsDrop's request.
type PhysicsDropRequest struct {
	Height float64 `json:"height"`
}

// PhysicsDropResponse is poise_msgs/PhysicsDrop's response.
type PhysicsDropResponse struct {
	Success      bool          `json:"success"`
	Message      string        `json:"message"`
	Explanations []Explanation `json:"explanations"`
}

// PhysicsPutBackRequest is poise_msgs/PhysicsPutBack's request.
type PhysicsPutBackRequest struct{}

// PhysicsPutBackResponse is poise_msgs/PhysicsPutBack's response.
type PhysicsPutBackResponse struct {
	Success      bool          `json:"success"`
	Message      string        `json:"message"`
	Explanations []Explanation `json:"explanations"`
}

// PhysicsPauseRequest is poise_msgs/PhysicsPause's request.
type PhysicsPauseRequest struct{}

// PhysicsPauseResponse is poise_msgs/PhysicsPause's response.
type PhysicsPauseResponse struct {
	Success      bool          `json:"success"`
	Message      string        `json:"message"`
	Explanations []Explanation `json:"explanations"`
}

// PhysicsResumeRequest is poise_msgs/PhysicsResume's request.
type PhysicsResumeRequest struct{}

// PhysicsResumeResponse is poise_msgs/PhysicsResume's response.
type PhysicsResumeResponse struct {
	Success      bool          `json:"success"`
	Message      string        `json:"message"`
	Explanations []Explanation `json:"explanations"`
}

// PhysicsStepRequest is poise_msgs/PhysicsStep's request.
type PhysicsStepRequest struct {
	Steps uint32 `json:"steps"`
}

// PhysicsStepResponse is poise_msgs/PhysicsStep's response.
type PhysicsStepResponse struct {
	Success      bool          `json:"success"`
	Message      string        `json:"message"`
	Explanations []Explanation `json:"explanations"`
}

// PhysicsSetSpeedRequest is poise_msgs/PhysicsSetSpeed's request.
type PhysicsSetSpeedRequest struct {
	Speed float64 `json:"speed"`
}

// PhysicsSetSpeedResponse is poise_msgs/PhysicsSetSpeed's response.
type PhysicsSetSpeedResponse struct {
	Success      bool          `json:"success"`
	Message      string        `json:"message"`
	Explanations []Explanation `json:"explanations"`
}
