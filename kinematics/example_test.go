package kinematics_test

import (
	"fmt"
	"log"

	"poise/kinematics"
	"poise/robot/load"
	"poise/spatial"
)

func Example() {
	bot, err := load.Robot("arm6", load.Options{})
	if err != nil {
		log.Fatal(err)
	}
	m := bot.Model
	d := kinematics.NewData(m)
	tool0, _ := m.Frame("tool0")

	// a tool that ends 10 cm before the flange
	tip := d.At(tool0).Offset(spatial.Pose{R: spatial.Identity3, P: spatial.Vec3{Z: 0.1}})

	q := make([]float64, m.NumQ())
	d.UpdatePosition(q)
	flange, end := d.Pose(d.At(tool0)).P, d.Pose(tip).P
	fmt.Printf("the tip is %.2f m from the flange\n", end.Sub(flange).Norm())

	// the first joint alone turns the tip about the vertical
	v := make([]float64, m.NumV())
	v[0] = 1
	d.UpdateVelocity(v)
	fmt.Printf("it turns with %.0f rad/s\n", d.Twist(tip).Angular.Z)

	J := make([]float64, 6*m.NumV())
	d.JacobianTo(J, tip)
	along, want := d.Twist(tip).Linear.Y, J[m.NumV()] // row y, column of the first joint
	fmt.Println("and moves along y as the Jacobian says:", along == want)
	// Output:
	// the tip is 0.10 m from the flange
	// it turns with 1 rad/s
	// and moves along y as the Jacobian says: true
}

func ExampleSpace() {
	bot, err := load.Robot("arm6", load.Options{})
	if err != nil {
		log.Fatal(err)
	}
	space := kinematics.NewSpace(bot.Model)
	q, p := make([]float64, bot.Model.NumQ()), make([]float64, bot.Model.NumQ())
	v := make([]float64, bot.Model.NumV())
	v[0] = 0.5

	space.IntegrateTo(p, q, v, 2) // two seconds
	space.DifferenceTo(v, p, q)
	fmt.Println(p[0], v[0])
	// Output: 1 1
}
