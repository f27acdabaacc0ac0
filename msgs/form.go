package msgs

// Form is one of the two shapes that ROS gives a message. They share most fields;
// a struct here holds the union, and a field of one form alone says so in its
// tag. A message is written in one form and read in either.
type Form uint8

// The forms. ROS 2 is the default wherever nothing was asked for.
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
