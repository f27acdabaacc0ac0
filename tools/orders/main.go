// Command orders draws docs/images/orders.svg: what the pony does in both orders of levels when
// its base is asked for more and more acceleration on a slippery floor.
//
//	go run ./tools/orders docs/images/orders.svg
package main

import (
	"fmt"
	"math"
	"os"

	"poise/floatingbase"
	"poise/internal/plot"
	"poise/kinematics"
	"poise/robot"
	"poise/robot/load"
	"poise/wholebody"
)

const (
	friction = 0.3
	most     = 8.0 // m/s² that are asked for
	steps    = 80
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: orders FILE.svg")
		os.Exit(2)
	}
	if err := draw(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "orders:", err)
		os.Exit(1)
	}
}

func draw(path string) error {
	bot, err := load.Robot("pony", load.Options{})
	if err != nil {
		return err
	}
	s, err := wholebody.New(bot.Model)
	if err != nil {
		return err
	}
	q, r := standing(bot.Model)
	v := make([]float64, bot.Model.NumV())
	chart := plot.Chart{
		Title:  fmt.Sprintf("The pony on four hooves, friction %g: asked to accelerate forwards", friction),
		XLabel: "acceleration of the base that is asked for, m/s²",
		Panels: []plot.Panel{
			{Title: "acceleration of the base, m/s²"},
			{Title: "largest acceleration of a joint, rad/s²"},
		},
	}
	base := []plot.Series{{Name: "seed"}, {Name: "default"}}
	joints := []plot.Series{{Name: "seed"}, {Name: "default"}}
	for i := range steps + 1 {
		want := most * float64(i) / steps
		chart.X = append(chart.X, want)
		r.Base.Linear.X = want
		for k, order := range []wholebody.Order{wholebody.Seed, wholebody.Default} {
			var ans wholebody.Answer
			r.Order = order
			if err := s.Solve(&ans, q, v, &r); err != nil {
				return err
			}
			largest := 0.0
			for _, a := range ans.Acceleration[6:] {
				largest = max(largest, math.Abs(a))
			}
			base[k].Y = append(base[k].Y, ans.Acceleration[0])
			joints[k].Y = append(joints[k].Y, largest)
		}
	}
	chart.Panels[0].Series, chart.Panels[1].Series = base, joints
	chart.Panels[0].Limits = []float64{friction / math.Sqrt2 * bot.Model.Gravity().Norm()}
	return chart.Save(path)
}

// standing is the pony on its four hooves, its base asked to move and to turn as it is told.
func standing(m *robot.Model) (q []float64, r wholebody.Request) {
	q = make([]float64, m.NumQ())
	kinematics.NewSpace(m).NeutralTo(q)
	pose, _ := m.Pose("stand")
	for i, j := range pose.Joints {
		q[m.Joints()[j].Q] = pose.Q[i][0]
	}
	q[2] = 0.223
	r = wholebody.Request{Friction: friction, Margin: 0.01, HasLinear: true, HasAngular: true}
	for c, chain := range m.Chains() {
		if chain.Contact != robot.NoContact {
			r.Supports = append(r.Supports, floatingbase.Support{Chain: robot.ChainID(c), Contact: chain.Contact, Coefficient: 1})
		}
	}
	return q, r
}
