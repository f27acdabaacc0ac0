package server

import (
	"strings"

	"poise/loop"
	"poise/robot"
	"poise/servo"
)

// confirming is a robot whose servos can be silent.
type confirming struct {
	*loop.Loop
	of     *robot.Model
	driver servo.Releaser
}

// confirms says which servos have not answered, if they are some that can be silent.
func (bot *servedRobot) confirms() loop.Confirmer {
	if d, ok := bot.driver.(servo.Releaser); ok {
		return &confirming{bot.loop, bot.model, d}
	}
	return nil
}

// Servos implements loop.Confirmer.
func (c *confirming) Servos(joints robot.Set) string {
	var all []string
	for leaf := range joints.All {
		all = append(all, c.of.Joints()[leaf].Name+" ("+c.driver.Servo(int(leaf))+")")
	}
	return strings.Join(all, ", ")
}
