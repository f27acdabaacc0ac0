package main

// Where the hobby arm is in the poses "home" and "rest", and how far its jaw opens.
const (
	soLift, soRestLift   = -0.5, -1.7 // shoulder_lift
	soElbow, soRestElbow = 0.6, 1.6   // elbow_flex
	soWrist, soRestWrist = 1.2, 1.1   // wrist_flex
	soOpen, soGrip       = 1.2, 0.35  // gripper
)

// The hobby arm is light and a little springy: it eases in and out.
var soScores = []score{
	{
		name: "wave", description: "Stretches up, opens its jaws and waves", tags: []string{"greeting"}, start: "home",
		tracks: tracks{
			"shoulder_pan":  {0, 0, 1.4, 0.3, 5, 0.3, 6.6, 0},
			"shoulder_lift": {0, soLift, 1.8, -0.1, 4.8, -0.1, 6.6, soLift},
			"elbow_flex":    {0, soElbow, 1.8, -0.9, 4.8, -0.9, 6.6, soElbow},
			"wrist_flex":    {0, soWrist, 1.8, -0.4, 4.8, -0.4, 6.6, soWrist},
			"wrist_roll":    {0, 0, 1.6, 0, 2.4, 0.5, 3.2, -0.5, 4, 0.5, 4.8, -0.5, 5.6, 0, 6.6, 0},
			"gripper":       {0, 0, 1.2, 0, 2, 0.8, 4.6, 0.8, 5.6, 0, 6.6, 0},
		},
		labels: map[float64]string{0: "home", 1.8: "up", 6.6: "home"},
		events: say(words(1.8, "hello")),
	},
	{
		name: "nod", description: "Nods twice: yes", tags: []string{"answer"}, start: "home",
		tracks: tracks{
			"wrist_flex":    {0, soWrist, 0.8, 0.7, 1.4, 1.25, 2, 0.7, 2.8, soWrist},
			"shoulder_lift": {0, soLift, 1.4, soLift + 0.1, 2.8, soLift},
		},
		labels: map[float64]string{0: "home", 2.8: "home"},
	},
	{
		name: "pick", description: "Reaches down to the table, closes its jaws and lifts what is between them", tags: []string{"gripper", "work"}, start: "home",
		tracks: tracks{
			"shoulder_lift": {0, soLift, 1.6, 0.35, 3, 0.35, 4.6, soLift},
			"elbow_flex":    {0, soElbow, 1.6, 0.85, 3, 0.85, 4.6, soElbow},
			"wrist_flex":    {0, soWrist, 1.6, 0.35, 3, 0.35, 4.6, soWrist},
			"gripper":       {0, 0, 1.2, soOpen, 1.8, soOpen, 2.6, soGrip, 5, soGrip, 5.8, soGrip, 7, 0},
		},
		labels: map[float64]string{0: "home", 1.6: "at the thing", 2.6: "grips", 4.6: "lifted", 7: "home"},
		events: say(event(2.6, "gripper/grasped", "thing"), event(6.4, "gripper/released", "thing")),
	},
	{
		name: "look_around", description: "Turns left and right and looks", tags: []string{"attention"}, start: "home",
		tracks: tracks{
			"shoulder_pan": {0, 0, 1.4, 0.9, 2, 0.9, 4.2, -0.9, 4.8, -0.9, 6.2, 0},
			"wrist_flex":   {0, soWrist, 1.4, 0.4, 4.8, 0.4, 6.2, soWrist},
			"wrist_roll":   {0, 0, 1.8, 0.3, 4.4, -0.3, 6.2, 0},
		},
		labels: map[float64]string{0: "home", 1.4: "left", 4.2: "right", 6.2: "home"},
	},
	{
		name: "fold", description: "Folds itself up, so that it can be switched off", tags: []string{"transport"}, start: "home",
		tracks: tracks{
			"shoulder_lift": {0, soLift, 2.4, soRestLift},
			"elbow_flex":    {0, soElbow, 2.4, soRestElbow},
			"wrist_flex":    {0, soWrist, 2.4, soRestWrist},
		},
		labels: map[float64]string{0: "home", 2.4: "rest"},
	},
	{
		name: "unfold", description: "Gets up from its rest", tags: []string{"transport"}, start: "rest",
		tracks: tracks{
			"shoulder_lift": {0, soRestLift, 2.4, soLift},
			"elbow_flex":    {0, soRestElbow, 2.4, soElbow},
			"wrist_flex":    {0, soRestWrist, 2.4, soWrist},
		},
		labels: map[float64]string{0: "rest", 2.4: "home"},
	},
}
