package msgs

// Form is the definition of a message in ROS 1 or in ROS 2. They share most fields; a
// struct here has the fields of both, and a tag on a field that only one of them has. A
// message is written in one form; JSON is read in either.
//
// CDR has no names of fields, so that peers of ROS 2 must agree on the distribution: a field
// that came later has the tag since. JSON knows ROS2 and ROS1 alone.
type Form uint8

// The forms. ROS 2, with everything that its newest distribution has, is the default.
const (
	ROS2 Form = iota // Rolling, and JSON
	ROS1
	Jazzy
	Humble
	NumForms

	NumTextForms = Jazzy // the forms of JSON are those before it
)

func (f Form) String() string {
	switch f {
	case ROS1:
		return "ROS 1"
	case Jazzy:
		return "ROS 2 Jazzy"
	case Humble:
		return "ROS 2 Humble"
	}
	return "ROS 2"
}

// IsROS2 reports whether the form is one of ROS 2.
func (f Form) IsROS2() bool { return f != ROS1 }
