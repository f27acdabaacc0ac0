package poisemsgs

// MotionTolerance is poise_msgs/MotionTolerance.
type MotionTolerance struct {
	Position     float64 `json:"position"`
	Velocity     float64 `json:"velocity"`
	Acceleration float64 `json:"acceleration"`
}

// MotionJoint is poise_msgs/MotionJoint.
type MotionJoint struct {
	Name          string            `json:"name"`
	Enabled       bool              `json:"enabled"`
	PathTolerance []MotionTolerance `json:"path_tolerance" bound:"1"`
	GoalTolerance []MotionTolerance `json:"goal_tolerance" bound:"1"`
}

// MotionPoint is poise_msgs/MotionPoint.
type MotionPoint struct {
	Time      float64   `json:"time"`
	Label     string    `json:"label"`
	Enabled   bool      `json:"enabled"`
	Mark      string    `json:"mark"`
	Positions []float64 `json:"positions"`
	Supports  []float64 `json:"supports"`
}

// MotionEvent is poise_msgs/MotionEvent.
type MotionEvent struct {
	Time    float64 `json:"time"`
	Type    string  `json:"type"`
	Command string  `json:"command"`
	Options string  `json:"options"`
}

// Motion is poise_msgs/Motion.
type Motion struct {
	Name              string        `json:"name"`
	Description       string        `json:"description"`
	Tags              []string      `json:"tags"`
	StartPose         string        `json:"start_pose"`
	Loop              bool          `json:"loop"`
	Joints            []MotionJoint `json:"joints"`
	GoalTimeTolerance float64       `json:"goal_time_tolerance"`
	Columns           []string      `json:"columns"`
	Chains            []string      `json:"chains"`
	Order             []string      `json:"order"`
	Points            []MotionPoint `json:"points"`
	Events            []MotionEvent `json:"events"`
}

// MotionInfo is poise_msgs/MotionInfo.
type MotionInfo struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Tags        []string `json:"tags"`
	Joints      []string `json:"joints"`
	Duration    float64  `json:"duration"`
	Points      uint32   `json:"points"`
	Events      uint32   `json:"events"`
	Loop        bool     `json:"loop"`
	Shipped     bool     `json:"shipped"`
	Version     string   `json:"version"`
	Error       string   `json:"error"`
	Findings    []string `json:"findings"`
}

// MotionOperation is poise_msgs/MotionOperation.
type MotionOperation struct {
	Op     string    `json:"op"`
	Rows   []int32   `json:"rows"`
	Time   float64   `json:"time"`
	Value  float64   `json:"value"`
	Names  []string  `json:"names"`
	Values []float64 `json:"values"`
	Texts  []string  `json:"texts"`
}

// Finding is poise_msgs/Finding.
type Finding struct {
	Rule      string  `json:"rule"`
	Text      string  `json:"text"`
	Joint     string  `json:"joint"`
	Row       int32   `json:"row"`
	FromTime  float64 `json:"from_time"`
	ToTime    float64 `json:"to_time"`
	Value     float64 `json:"value"`
	Limit     float64 `json:"limit"`
	WorstTime float64 `json:"worst_time"`
}

// Curve is poise_msgs/Curve.
type Curve struct {
	Joint           string    `json:"joint"`
	Position        []float64 `json:"position"`
	Velocity        []float64 `json:"velocity"`
	Acceleration    []float64 `json:"acceleration"`
	Lower           float64   `json:"lower"`
	Upper           float64   `json:"upper"`
	MaxVelocity     float64   `json:"max_velocity"`
	MaxAcceleration float64   `json:"max_acceleration"`
}

// EffortCurve is poise_msgs/EffortCurve.
type EffortCurve struct {
	Joint  string    `json:"joint"`
	Effort []float64 `json:"effort"`
	Least  []float64 `json:"least"`
	Most   []float64 `json:"most"`
}

// FootCurve is poise_msgs/FootCurve.
type FootCurve struct {
	Chain string    `json:"chain"`
	Force []float64 `json:"force"`
}

// MotionForces is poise_msgs/MotionForces.
type MotionForces struct {
	Known   bool          `json:"known"`
	Message string        `json:"message"`
	Joints  []EffortCurve `json:"joints"`
	Margin  []float64     `json:"margin"`
	Feet    []FootCurve   `json:"feet"`
	Weight  float64       `json:"weight"`
}

// MotionsListRequest is poise_msgs/MotionsList's request.
type MotionsListRequest struct{}

// MotionsListResponse is poise_msgs/MotionsList's response.
type MotionsListResponse struct {
	Success      bool          `json:"success"`
	Message      string        `json:"message"`
	Explanations []Explanation `json:"explanations"`
	Motions      []MotionInfo  `json:"motions"`
}

// MotionsGetRequest is poise_msgs/MotionsGet's request.
type MotionsGetRequest struct {
	Name string `json:"name"`
}

// MotionsGetResponse is poise_msgs/MotionsGet's response.
type MotionsGetResponse struct {
	Success      bool          `json:"success"`
	Message      string        `json:"message"`
	Explanations []Explanation `json:"explanations"`
	Motion       Motion        `json:"motion"`
	Version      string        `json:"version"`
	Text         string        `json:"text"`
}

// MotionsPutRequest is poise_msgs/MotionsPut's request.
type MotionsPutRequest struct {
	Motion  Motion `json:"motion"`
	Version string `json:"version"`
}

// MotionsPutResponse is poise_msgs/MotionsPut's response.
type MotionsPutResponse struct {
	Success      bool          `json:"success"`
	Message      string        `json:"message"`
	Explanations []Explanation `json:"explanations"`
	Version      string        `json:"version"`
}

// MotionsDeleteRequest is poise_msgs/MotionsDelete's request.
type MotionsDeleteRequest struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// MotionsDeleteResponse is poise_msgs/MotionsDelete's response.
type MotionsDeleteResponse struct {
	Success      bool          `json:"success"`
	Message      string        `json:"message"`
	Explanations []Explanation `json:"explanations"`
}

// MotionsRenameRequest is poise_msgs/MotionsRename's request.
type MotionsRenameRequest struct {
	From    string `json:"from"`
	To      string `json:"to"`
	Version string `json:"version"`
}

// MotionsRenameResponse is poise_msgs/MotionsRename's response.
type MotionsRenameResponse struct {
	Success      bool          `json:"success"`
	Message      string        `json:"message"`
	Explanations []Explanation `json:"explanations"`
	Version      string        `json:"version"`
}

// MotionsLintRequest is poise_msgs/MotionsLint's request.
type MotionsLintRequest struct {
	Name   string `json:"name"`
	Motion Motion `json:"motion"`
}

// MotionsLintResponse is poise_msgs/MotionsLint's response.
type MotionsLintResponse struct {
	Success      bool          `json:"success"`
	Message      string        `json:"message"`
	Explanations []Explanation `json:"explanations"`
	Findings     []Finding     `json:"findings"`
}

// MotionsSampleRequest is poise_msgs/MotionsSample's request.
type MotionsSampleRequest struct {
	Motion   Motion  `json:"motion"`
	Period   float64 `json:"period"`
	Part     bool    `json:"part"`
	Scale    float64 `json:"scale"`
	Backward bool    `json:"backward"`
	Forces   bool    `json:"forces"`
}

// MotionsSampleResponse is poise_msgs/MotionsSample's response.
type MotionsSampleResponse struct {
	Success      bool          `json:"success"`
	Message      string        `json:"message"`
	Explanations []Explanation `json:"explanations"`
	Times        []float64     `json:"times"`
	Curves       []Curve       `json:"curves"`
	Findings     []Finding     `json:"findings"`
	Forces       MotionForces  `json:"forces"`
}

// MotionsEditRequest is poise_msgs/MotionsEdit's request.
type MotionsEditRequest struct {
	Motion    Motion          `json:"motion"`
	Operation MotionOperation `json:"operation"`
}

// MotionsEditResponse is poise_msgs/MotionsEdit's response.
type MotionsEditResponse struct {
	Success      bool          `json:"success"`
	Message      string        `json:"message"`
	Explanations []Explanation `json:"explanations"`
	Motion       Motion        `json:"motion"`
}

// MotionsSaveLastRequest is poise_msgs/MotionsSaveLast's request.
type MotionsSaveLastRequest struct {
	Name string `json:"name"`
}

// MotionsSaveLastResponse is poise_msgs/MotionsSaveLast's response.
type MotionsSaveLastResponse struct {
	Success      bool          `json:"success"`
	Message      string        `json:"message"`
	Explanations []Explanation `json:"explanations"`
	Version      string        `json:"version"`
}

// MotionsImportRequest is poise_msgs/MotionsImport's request.
type MotionsImportRequest struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// MotionsImportResponse is poise_msgs/MotionsImport's response.
type MotionsImportResponse struct {
	Success      bool          `json:"success"`
	Message      string        `json:"message"`
	Explanations []Explanation `json:"explanations"`
	Motion       Motion        `json:"motion"`
}

// MotionsExportRequest is poise_msgs/MotionsExport's request.
type MotionsExportRequest struct {
	Name     string  `json:"name"`
	Motion   Motion  `json:"motion"`
	Format   string  `json:"format"`
	Part     bool    `json:"part"`
	Scale    float64 `json:"scale"`
	Backward bool    `json:"backward"`
}

// MotionsExportResponse is poise_msgs/MotionsExport's response.
type MotionsExportResponse struct {
	Success      bool          `json:"success"`
	Message      string        `json:"message"`
	Explanations []Explanation `json:"explanations"`
	Text         string        `json:"text"`
}

// ExecuteMotionGoal is poise_msgs/ExecuteMotion's goal.
type ExecuteMotionGoal struct {
	Name          string  `json:"name"`
	Motion        Motion  `json:"motion"`
	Part          bool    `json:"part"`
	Backward      bool    `json:"backward"`
	Speed         float64 `json:"speed"`
	Loop          bool    `json:"loop"`
	Approach      bool    `json:"approach"`
	ApproachShare float64 `json:"approach_share"`
	Resume        bool    `json:"resume"`
}

// ExecuteMotionResult is poise_msgs/ExecuteMotion's result.
type ExecuteMotionResult struct {
	Code         string        `json:"code"`
	Message      string        `json:"message"`
	Explanations []Explanation `json:"explanations"`
	Time         float64       `json:"time"`
}

// ExecuteMotionFeedback is poise_msgs/ExecuteMotion's feedback.
type ExecuteMotionFeedback struct {
	State    string  `json:"state"`
	Time     float64 `json:"time"`
	End      float64 `json:"end"`
	Progress float64 `json:"progress"`
	Rate     float64 `json:"rate"`
}
