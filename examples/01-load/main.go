// Loads a robot and asks it a few things.
//
//	go run ./examples/01-load [pony | arm6 | FILE | FOLDER]
package main

import (
	"fmt"
	"log"
	"os"

	"poise/robot/load"
)

func main() {
	log.SetFlags(0)
	name := "pony"
	if len(os.Args) > 1 {
		name = os.Args[1]
	}
	bot, err := load.Robot(name, load.Options{})
	if err != nil {
		log.Fatal(err) // every problem at once, each with file and line
	}
	for _, w := range bot.Warnings {
		log.Println("warning:", w)
	}

	// what is it?
	m := bot.Model
	fmt.Printf("%s weighs %.2f kg and has %d joints\n", m.Name(), m.Mass(), len(m.Joints()))

	// what may a controller own, and how far does each joint go (rad or m)?
	for _, g := range m.Groups() {
		fmt.Printf("\n%s\n", g.Name)
		for _, id := range g.Joints {
			j := m.Joints()[id]
			fmt.Printf("  %-18s", j.Name)
			if l := j.Limits; l.Lower.Has && l.Upper.Has {
				fmt.Printf(" %7.4g … %6.4g", l.Lower.Value, l.Upper.Value)
			}
			if s := m.Servo(id); s.Assigned {
				fmt.Printf("  servo %d", s.ID)
			}
			fmt.Println()
		}
	}

	// which poses have a name?
	fmt.Println()
	for _, p := range m.Poses() {
		fmt.Printf("pose %-10s of %2d joints\n", p.Name, len(p.Joints))
	}
}
