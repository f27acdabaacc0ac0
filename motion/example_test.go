package motion_test

import (
	"fmt"

	"poise/motion"
)

// A motion of one joint is taught, edited and made a goal.
func ExampleList() {
	l, err := motion.NewList(nil, &motion.Document{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, op := range []motion.Operation{
		{Op: "add_joints", Names: []string{"elbow"}},
		{Op: "add_point", Time: 0, Names: []string{"elbow", "wrist"}, Values: []float64{0, 0.1}, Texts: []string{"low"}},
		{Op: "add_point", Time: 1, Names: []string{"elbow", "wrist"}, Values: []float64{1.5, 0.2}, Texts: []string{"high"}},
		{Op: "scale_times", Value: 2},
		{Op: "add_joints", Names: []string{"wrist"}}, // was captured
		{Op: "add_joints", Names: []string{"finger"}},
	} {
		if err := l.Do(op); err != nil {
			fmt.Println("refused:", err)
		}
	}
	g, _ := l.Goal(motion.Part{Backward: true})
	fmt.Println(g.Joints)
	for _, p := range g.Points {
		fmt.Println(p.Time, p.Position)
	}
	l.Undo()
	fmt.Println(len(l.Document().Joints), "joint takes part")
	// Output:
	// refused: row 1: did not capture joint "finger" (nor did rows 2): give it one value, or its present one
	// [elbow wrist]
	// 0 [1.5 0.2]
	// 2 [0 0.1]
	// 1 joint takes part
}
