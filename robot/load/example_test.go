package load_test

import (
	"fmt"

	"poise/robot/load"
)

func ExampleRobot() {
	bot, err := load.Robot("pony", load.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	m := bot.Model
	leg, _ := m.Group("leg1")
	for _, j := range m.Groups()[leg].Joints {
		fmt.Print(m.Joints()[j].Name, " ")
	}
	// Output: joint11 joint12 joint13 joint14 joint15 joint16
}
