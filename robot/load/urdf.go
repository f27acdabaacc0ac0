package load

import (
	"fmt"
	"strings"

	"poise/urdf"
)

// readURDF reads the robot description, nil on an error.
func (l *loader) readURDF(name string, at urdf.Pos) *urdf.Document {
	data := l.content(name, at)
	if data == nil {
		return nil
	}
	if strings.HasSuffix(name, ".xacro") {
		l.fail(fmt.Errorf("%s: xacro files are not read yet", name))
		return nil
	}
	doc, warnings, err := urdf.Parse(data, name)
	l.warn(warnings)
	l.fail(err)
	return doc // beside an error what could be read: the robot may have more of them
}
