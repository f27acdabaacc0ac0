package msgs

// Point is geometry_msgs/Point.
type Point struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
	Z float64 `json:"z"`
}

// Vector3 is geometry_msgs/Vector3.
type Vector3 struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
	Z float64 `json:"z"`
}

// Quaternion is geometry_msgs/Quaternion.
type Quaternion struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
	Z float64 `json:"z"`
	W float64 `json:"w"`
}

// Pose is geometry_msgs/Pose.
type Pose struct {
	Position    Point      `json:"position"`
	Orientation Quaternion `json:"orientation"`
}

// PoseStamped is geometry_msgs/PoseStamped.
type PoseStamped struct {
	Header Header `json:"header"`
	Pose   Pose   `json:"pose"`
}

// Transform is geometry_msgs/Transform.
type Transform struct {
	Translation Vector3    `json:"translation"`
	Rotation    Quaternion `json:"rotation"`
}

// Twist is geometry_msgs/Twist.
type Twist struct {
	Linear  Vector3 `json:"linear"`
	Angular Vector3 `json:"angular"`
}

// Wrench is geometry_msgs/Wrench.
type Wrench struct {
	Force  Vector3 `json:"force"`
	Torque Vector3 `json:"torque"`
}
