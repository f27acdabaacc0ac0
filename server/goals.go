package server

import "poise/edge"

// serveGoals registers the actions of the robot's controllers, each once however many
// seats serve it. One that can be switched on and off has set_operational besides.
func (bot *servedRobot) serveGoals(r *register) {
	for i := range bot.seats {
		seat := &bot.seats[i]
		for _, a := range seat.Declaration.Actions {
			if _, done := bot.actions[a.Name]; !done {
				r.addAction(a.Name, a.Action)
			}
		}
		if seat.Declaration.Operate != nil && !seat.Declaration.Outside {
			name := seat.Loop.Name
			r.addAction(setOperational(name), edge.SetOperational(name))
		}
	}
}

// setOperational names the action that switches a controller on and off.
func setOperational(controller string) string {
	return "controllers/" + controller + "/set_operational"
}
