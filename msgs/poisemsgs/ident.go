package poisemsgs

// ServoIdentGoal is poise_msgs/ServoIdent's goal: the servos of some resources are identified.
type ServoIdentGoal struct {
	Resources     []string `json:"resources"` // limbs or joints
	Duration      float64  `json:"duration"`  // of the excitation, s; 0 is 30
	Amplitude     float64  `json:"amplitude"` // greatest distance from the middle of the motion, rad; 0 is 0.5
	Sweeps        bool     `json:"sweeps"`    // also sweeps of constant speed, for the Stribeck curve
	Mounting      string   `json:"mounting"`  // of a robot whose legs move: fixed or lifted
	Seed          uint32   `json:"seed"`      // of all that is drawn at random
	PreFlightOnly bool     `json:"pre_flight_only"`
	KeepModels    bool     `json:"keep_models"` // models in force stay, whatever is found
}

// ServoIdentCheck is poise_msgs/ServoIdentCheck: something that was looked at before the motion.
type ServoIdentCheck struct {
	Name  string  `json:"name"`
	Thing string  `json:"thing"`
	Value float64 `json:"value"`
	Limit float64 `json:"limit"`
	Unit  string  `json:"unit"`
	OK    bool    `json:"ok"`
	Text  string  `json:"text"`
}

// ServoIdentPlan is poise_msgs/ServoIdentPlan: what the planned motion of a joint comes to.
type ServoIdentPlan struct {
	Joint        string  `json:"joint"`
	Condition    float64 `json:"condition"`
	Way          float64 `json:"way"`   // from one end to the other, rad
	Quick        float64 `json:"quick"` // RMS of the motion above 3 Hz, rad
	Velocity     float64 `json:"velocity"`
	Acceleration float64 `json:"acceleration"`
	Effort       float64 `json:"effort"` // greatest share of what the servo can give
}

// ServoIdentJoint is poise_msgs/ServoIdentJoint: the verdict on a servo.
type ServoIdentJoint struct {
	Joint           string    `json:"joint"`
	Accepted        bool      `json:"accepted"`
	Reasons         []string  `json:"reasons"`
	Details         []string  `json:"details"`
	Parameters      []float64 `json:"parameters"` // a0 … a5, vs
	Sigma           []float64 `json:"sigma"`      // of a0 … a5, vs
	Delay           float64   `json:"delay"`      // s
	DelaySigma      float64   `json:"delay_sigma"`
	Condition       float64   `json:"condition"`
	Rmse            float64   `json:"rmse"`        // of the hold-out, rad
	RmseTorque      float64   `json:"rmse_torque"` // the same, N·m
	RmseFit         float64   `json:"rmse_fit"`    // of what was fitted, rad
	RmseBefore      float64   `json:"rmse_before"` // of the model that was in force, rad
	Autocorrelation []float64 `json:"autocorrelation"`
	Taken           []string  `json:"taken"`
	Effects         []string  `json:"effects"`
	Voltage         float64   `json:"voltage"`
	Temperature     float64   `json:"temperature"`
	Kp              float64   `json:"kp"`
	Gear            float64   `json:"gear"`
	Period          float64   `json:"period"`   // s
	Duration        float64   `json:"duration"` // s
	Readings        uint32    `json:"readings"`
	Lost            uint32    `json:"lost"`
	Published       bool      `json:"published"` // the model is in force now
	Kept            bool      `json:"kept"`      // accepted, but the model in force predicts better
	Time            []float64 `json:"time"`      // of the curves, s; readings are thinned out
	Goal            []float64 `json:"goal"`      // as the servo follows it, rad
	Position        []float64 `json:"position"`  // measured, rad
	Residual        []float64 `json:"residual"`  // measured less what the model says, rad
}

// ServoIdentResult is poise_msgs/ServoIdent's result.
type ServoIdentResult struct {
	Code    string            `json:"code"`
	Message string            `json:"message"`
	Joints  []ServoIdentJoint `json:"joints"`
	Log     string            `json:"log"`     // file on the server's machine
	Models  string            `json:"models"`  // file that has the models that were taken over
	Version uint32            `json:"version"` // of the models in force; 0 if nothing was taken over
	Checks  []ServoIdentCheck `json:"checks"`
	Plan    []ServoIdentPlan  `json:"plan"`
	Notes   []string          `json:"notes"`
}

// ServoIdentFeedback is poise_msgs/ServoIdent's feedback.
type ServoIdentFeedback struct {
	Stage     string   `json:"stage"`    // planning, approach, delay, excitation, sweeps, return, fitting
	Progress  float64  `json:"progress"` // of all, 0 … 1
	Time      float64  `json:"time"`     // of the motion, s
	Duration  float64  `json:"duration"` // of the motion, s
	Resources []string `json:"resources"`
}
