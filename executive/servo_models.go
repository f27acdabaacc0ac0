package executive

import (
	"fmt"

	"poise/control"
	"poise/loop"
)

// SetServoModels lets the cycle take models of servos over, gradually. They have been checked.
func (e *Executive) SetServoModels(who string, p *control.ServoModels) *Answer {
	return e.ask(func() *Answer {
		return e.command(&command{who: who, what: fmt.Sprintf("servo models, version %d", p.Version)}, loop.Order{Kind: loop.SetModels, Program: p})
	})
}
