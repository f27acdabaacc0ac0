package dynamics_test

import (
	"fmt"
	"log"

	"poise/dynamics"
	"poise/robot/load"
)

func Example() {
	bot, err := load.Robot("arm6", load.Options{})
	if err != nil {
		log.Fatal(err)
	}
	m := bot.Model
	d := dynamics.NewData(m)
	q, v := make([]float64, m.NumQ()), make([]float64, m.NumV())
	q[1] = 0.5

	// what holds the arm still
	hold := make([]float64, m.NumV())
	d.GravityTo(hold, q)

	// let go of it, and it falls; hold it, and it stays
	a := make([]float64, m.NumV())
	if err := d.ForwardTo(a, q, v, make([]float64, m.NumV()), dynamics.Load{}); err != nil {
		log.Fatal(err)
	}
	falls := a[1] != 0
	if err := d.ForwardTo(a, q, v, hold, dynamics.Load{}); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("falls %v, held %.3f rad/s²\n", falls, a[1]+0)
	// Output: falls true, held 0.000 rad/s²
}
