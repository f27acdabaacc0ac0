package motion_test

import (
	"fmt"

	"poise/motion"
)

// A motion of one joint is taught, edited and made a goal.
func ExampleApply() {
	d := &motion.Document{}
	for _, op := range []motion.Operation{
		{Op: "add_joints", Names: []string{"elbow"}},
		{Op: "add_point", Time: 0, Names: []string{"elbow", "wrist"}, Values: []float64{0, 0.1}, Texts: []string{"low"}},
		{Op: "add_point", Time: 1, Names: []string{"elbow", "wrist"}, Values: []float64{1.5, 0.2}, Texts: []string{"high"}},
		{Op: "scale_times", Value: 2},
		{Op: "add_joints", Names: []string{"wrist"}}, // was captured
		{Op: "add_joints", Names: []string{"finger"}},
	} {
		edited, err := motion.Apply(d, nil, op)
		if err != nil {
			fmt.Println("refused:", err)
			continue
		}
		d = edited
	}
	g, _ := d.Goal(motion.Part{Backward: true})
	fmt.Println(g.Joints)
	for _, p := range g.Points {
		fmt.Println(p.Time, p.Position)
	}
	// Output:
	// refused: row 1: did not capture joint "finger" (nor did rows 2): give it one value, or its present one
	// [elbow wrist]
	// 0 [1.5 0.2]
	// 2 [0 0.1]
}
