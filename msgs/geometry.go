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

// Point32 is geometry_msgs/Point32.
type Point32 struct {
	X float32 `json:"x"`
	Y float32 `json:"y"`
	Z float32 `json:"z"`
}

// Polygon is geometry_msgs/Polygon.
type Polygon struct {
	Points []Point32 `json:"points"`
}

// PointStamped is geometry_msgs/PointStamped.
type PointStamped struct {
	Header Header `json:"header"`
	Point  Point  `json:"point"`
}

// PoseArray is geometry_msgs/PoseArray.
type PoseArray struct {
	Header Header `json:"header"`
	Poses  []Pose `json:"poses"`
}

// TransformStamped is geometry_msgs/TransformStamped.
type TransformStamped struct {
	Header       Header    `json:"header"`
	ChildFrameID string    `json:"child_frame_id"`
	Transform    Transform `json:"transform"`
}

// TwistStamped is geometry_msgs/TwistStamped.
type TwistStamped struct {
	Header Header `json:"header"`
	Twist  Twist  `json:"twist"`
}

// WrenchStamped is geometry_msgs/WrenchStamped.
type WrenchStamped struct {
	Header Header `json:"header"`
	Wrench Wrench `json:"wrench"`
}

// Vector3Stamped is geometry_msgs/Vector3Stamped.
type Vector3Stamped struct {
	Header Header  `json:"header"`
	Vector Vector3 `json:"vector"`
}

// QuaternionStamped is geometry_msgs/QuaternionStamped.
type QuaternionStamped struct {
	Header     Header     `json:"header"`
	Quaternion Quaternion `json:"quaternion"`
}

// PolygonStamped is geometry_msgs/PolygonStamped.
type PolygonStamped struct {
	Header  Header  `json:"header"`
	Polygon Polygon `json:"polygon"`
}

// TFMessage is tf2_msgs/TFMessage.
type TFMessage struct {
	Transforms []TransformStamped `json:"transforms"`
}

// PoseWithCovariance is geometry_msgs/PoseWithCovariance.
type PoseWithCovariance struct {
	Pose       Pose        `json:"pose"`
	Covariance [36]float64 `json:"covariance"`
}

// TwistWithCovariance is geometry_msgs/TwistWithCovariance.
type TwistWithCovariance struct {
	Twist      Twist       `json:"twist"`
	Covariance [36]float64 `json:"covariance"`
}

// Odometry is nav_msgs/Odometry: the pose in the frame of the header, the twist in that of
// the child.
type Odometry struct {
	Header       Header              `json:"header"`
	ChildFrameID string              `json:"child_frame_id"`
	Pose         PoseWithCovariance  `json:"pose"`
	Twist        TwistWithCovariance `json:"twist"`
}
