package retime

import (
	"errors"
	"fmt"
)

// What can be refused; errors.Is finds them.
var (
	ErrPath   = errors.New("bad path")       // *PathError
	ErrSpeed  = errors.New("speed too high") // *SpeedError
	ErrFree   = errors.New("nothing limits") // *FreeError
	ErrBroken = errors.New("cannot be kept") // *BrokenError
)

// PathError says what is wrong with a path.
type PathError struct {
	What  string // "break", "position", "first derivative", "second derivative"
	Row   int    // −1 if it is about none
	S     float64
	Value float64
}

func (e *PathError) Error() string {
	if e.Row < 0 {
		return fmt.Sprintf("%s at s = %g is %g", e.What, e.S, e.Value)
	}
	return fmt.Sprintf("%s of row %d at s = %g is %g", e.What, e.Row, e.S, e.Value)
}

// Is matches ErrPath.
func (e *PathError) Is(target error) bool { return target == ErrPath }

// SpeedError says that a given path speed cannot be kept, and what could.
type SpeedError struct {
	End        bool // it is the end speed
	Speed, Max float64
}

func (e *SpeedError) Error() string {
	word := "start"
	if e.End {
		word = "end"
	}
	if !(e.Speed >= 0) {
		return fmt.Sprintf("%s speed %g is not possible, want at least 0", word, e.Speed)
	}
	return fmt.Sprintf("%s speed %g is not possible, at most %g", word, e.Speed, e.Max)
}

// Is matches ErrSpeed.
func (e *SpeedError) Is(target error) bool { return target == ErrSpeed }

// SizeError says that a limit is a number with which products would overflow.
type SizeError struct {
	Quantity string // "velocity", …
	Joint    int    // or, after them, a measure
	Value    float64
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("%s limit of joint %d is %g, want %g to %g, or +Inf for none", e.Quantity, e.Joint, e.Value, 1/huge, huge)
}

// FreeError says that on a part of the path no row with an acceleration limit
// moves: its time would be arbitrary.
type FreeError struct{ From, To float64 }

func (e *FreeError) Error() string {
	return fmt.Sprintf("from s = %g to %g no row with an acceleration limit moves", e.From, e.To)
}

// Is matches ErrFree.
func (e *FreeError) Is(target error) bool { return target == ErrFree }

// BrokenError says that a limit is exceeded with the given start or end speed
// and cannot be mended by time.
type BrokenError struct {
	S     float64
	Ratio float64 // how many times the limit
}

func (e *BrokenError) Error() string {
	return fmt.Sprintf("at s = %g the given end speeds lead to %g times a limit", e.S, e.Ratio)
}

// Is matches ErrBroken.
func (e *BrokenError) Is(target error) bool { return target == ErrBroken }
