package msgs

// Form is the definition of a message in ROS 1 or in ROS 2. They share most fields; a
// struct here has the fields of both, and a tag on a field that only one of them has. A
// message is written in one form; JSON is read in either.
type Form uint8

// The forms. ROS 2 is the default.
const (
	ROS2 Form = iota
	ROS1
	NumForms
)

func (f Form) String() string {
	if f == ROS1 {
		return "ROS 1"
	}
	return "ROS 2"
}
