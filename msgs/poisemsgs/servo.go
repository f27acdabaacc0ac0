package poisemsgs

// ServoModel is poise_msgs/ServoModel: a servo by its equation. Alpha is a0 … a3, or to a5; what
// else is 0 stays as it is.
type ServoModel struct {
	Name      string    `json:"name"`
	Kp        float64   `json:"kp"`
	Kgear     float64   `json:"kgear"`
	Alpha     []float64 `json:"alpha"`
	Vs        float64   `json:"vs"`
	Ks        float64   `json:"ks"`
	Lead      float64   `json:"lead"`
	DeadZone  float64   `json:"dead_zone"`
	Voltage   float64   `json:"voltage"`
	Stiffness float64   `json:"stiffness"`
}

// ServoModels is poise_msgs/ServoModels: models of some servos, or of all, and their version.
type ServoModels struct {
	Version uint32       `json:"version"`
	Models  []ServoModel `json:"models"`
}

// SetServoModelsRequest is poise_msgs/SetServoModels's request.
type SetServoModelsRequest struct {
	Version  uint32       `json:"version"`
	Models   []ServoModel `json:"models"`
	Rollback bool         `json:"rollback"`
}

// SetServoModelsResponse is poise_msgs/SetServoModels's response.
type SetServoModelsResponse struct {
	Success      bool          `json:"success"`
	Message      string        `json:"message"`
	Explanations []Explanation `json:"explanations"`
	Version      uint32        `json:"version"`
}
