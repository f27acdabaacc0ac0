package main

// Where the arm is in the poses "home" and "folded", and how far fingers open.
const (
	lean, foldedLean   = -0.3, -1.5 // joint_2
	elbow, foldedElbow = 0.5, 1.2   // joint_3
	wrist, foldedWrist = -0.2, -1.2 // joint_5
	open               = 0.035      // finger_left_joint, m
	grip               = 0.012      // around a thing of 24 mm
)

// The arm moves like something heavy: it swings its trunk first, and what is light
// comes last.
var armScores = []score{
	{
		name: "wave", description: "Raises its forearm, opens the gripper and waves", tags: []string{"greeting"}, start: "home",
		tracks: tracks{
			"joint_1":           {0, 0, 1.6, 0.25, 5.2, 0.25, 7, 0},
			"joint_2":           {0, lean, 1.8, 0, 5.2, 0, 7, lean},
			"joint_3":           {0, elbow, 1.8, -1.2, 5.2, -1.2, 7, elbow},
			"joint_4":           {0, 0, 1.6, 0, 2.4, 0.55, 3.2, -0.55, 4, 0.55, 4.8, -0.55, 5.6, 0, 7, 0},
			"joint_5":           {0, wrist, 1.8, -1, 5.2, -1, 7, wrist},
			"finger_left_joint": {0, 0, 1.2, 0, 1.8, open, 5.2, open, 6, 0, 7, 0},
		},
		labels: map[float64]string{0: "home", 1.8: "raised", 2.4: "left", 3.2: "right", 4: "left", 4.8: "right", 7: "home"},
		events: say(words(1.8, "hello")),
	},
	{
		name: "pick_and_place", description: "Picks a thing up at its left and puts it down at its right, upright all the way", tags: []string{"gripper", "work"}, start: "home",
		tracks: tracks{
			"arm y":             {0, 0, 1.8, 0.24, 5, 0.24, 7.4, -0.24, 10.6, -0.24, 12.4, 0},
			"arm x":             {0, 0, 1.8, 0.06, 5, 0.06, 6.2, 0.1, 7.4, 0.06, 10.6, 0.06, 12.4, 0},
			"arm z":             {0, 0, 1.2, 0, 2.8, -0.44, 3.6, -0.44, 5.2, -0.1, 7.2, -0.1, 8.6, -0.44, 9.4, -0.44, 11, 0, 12.4, 0},
			"finger_left_joint": {0, 0, 0.6, 0, 1.4, open, 2.8, open, 3.4, grip, 8.8, grip, 9.4, open, 10.8, open, 11.8, 0, 12.4, 0},
		},
		labels: map[float64]string{0: "home", 1.4: "opens", 2.8: "at the thing", 3.4: "grips", 5: "lifted", 7.4: "over the place", 8.6: "put down", 9.4: "lets go", 12.4: "home"},
		events: say(event(3.4, "gripper/grasped", "thing"), event(9.4, "gripper/released", "thing")),
	},
	{
		name: "inspect", description: "Looks with the tool from four sides at a place on the table", tags: []string{"tool", "attention"}, start: "home",
		tracks: tracks{
			"arm x":     {0, 0, 1.4, 0.05, 2.8, 0.05, 4.2, -0.08, 5.6, 0.05, 7, 0.14, 8.4, 0},
			"arm y":     {0, 0, 1.4, 0.2, 2, 0.2, 4.2, 0, 5.6, -0.2, 6.2, -0.2, 7.4, 0, 8.4, 0},
			"arm z":     {0, 0, 1.4, -0.12, 7, -0.12, 8.4, 0},
			"arm roll":  {0, 0, 1.4, -0.5, 2, -0.5, 4.2, 0, 5.6, 0.5, 6.2, 0.5, 7.4, 0, 8.4, 0},
			"arm pitch": {0, 0, 2, 0, 4.2, -0.3, 5.6, 0, 7, 0.3, 8.4, 0},
			"arm yaw":   {0, 0, 1.4, 0.3, 2, 0.3, 4.2, 0, 5.6, -0.3, 6.2, -0.3, 8.4, 0},
		},
		labels: map[float64]string{0: "home", 1.4: "from the left", 4.2: "from behind", 5.6: "from the right", 7: "from the front", 8.4: "home"},
		events: say(event(2, "camera/take", "left"), event(4.2, "camera/take", "back"), event(6.2, "camera/take", "right"), event(7, "camera/take", "front")),
	},
	{
		name: "stretch", description: "Stretches up as far as it can, and a little to each side", tags: []string{"play"}, start: "home",
		tracks: tracks{
			"joint_1":           {0, 0, 0.8, 0.1, 2.6, -0.15, 4, 0.7, 5.4, -0.7, 7.6, 0},
			"joint_2":           {0, lean, 0.8, -0.5, 2.8, 0.05, 4, 0.15, 4.7, 0.05, 5.4, 0.15, 7.6, lean},
			"joint_3":           {0, elbow, 0.8, 0.75, 2.8, -1.35, 5.6, -1.35, 7.6, elbow},
			"joint_4":           {0, 0, 2.8, 0, 4, 0.5, 5.4, -0.5, 7, 0},
			"joint_5":           {0, wrist, 0.8, -0.1, 2.8, -1.45, 5.6, -1.45, 7.6, wrist},
			"joint_6":           {0, 0, 2.8, 0, 4, 0.8, 5.4, -0.8, 7, 0},
			"finger_left_joint": {0, 0, 2.4, 0, 3, open, 3.6, 0.005, 4.4, open, 5.2, 0.005, 5.8, open, 6.8, 0, 7.6, 0},
		},
		labels: map[float64]string{0: "home", 0.8: "gathers itself", 2.8: "stretched", 4: "to the left", 5.4: "to the right", 7.6: "home"},
	},
	{
		name: "bow", description: "Bows before its guest and comes up again", tags: []string{"greeting", "polite"}, start: "home",
		tracks: tracks{
			"joint_2":           {0, lean, 1.2, -0.55, 2.8, 0.35, 3.8, 0.35, 5.6, lean},
			"joint_3":           {0, elbow, 1.2, -0.2, 2.8, 0.45, 3.8, 0.45, 5.6, elbow},
			"joint_5":           {0, wrist, 1.2, -1.3, 2.8, -0.3, 3.8, -0.3, 5.6, wrist},
			"joint_6":           {0, 0, 1.2, 0, 2.8, 1.5708, 3.8, 1.5708, 5.6, 0},
			"finger_left_joint": {0, 0, 0.6, 0, 1.4, 0.02, 2.8, 0, 5.6, 0},
		},
		labels: map[float64]string{0: "home", 1.2: "rises", 2.8: "bowed", 3.8: "stays", 5.6: "home"},
		events: say(words(1.2, "at your service")),
	},
	{
		name: "fold", description: "Folds itself for transport; unfold brings it back", tags: []string{"pose"}, start: "home",
		tracks: tracks{
			"joint_2": {0, lean, 2.6, foldedLean, 3, foldedLean},
			"joint_3": {0, elbow, 0.4, elbow, 3, foldedElbow},
			"joint_5": {0, wrist, 2.4, foldedWrist, 3, foldedWrist},
		},
		labels: map[float64]string{0: "home", 3: "folded"},
	},
	{
		name: "unfold", description: "Comes from transport to the pose home, ready to work", tags: []string{"pose"}, start: "folded",
		tracks: tracks{
			"joint_2":           {0, foldedLean, 0.4, foldedLean, 3, lean, 4.4, lean},
			"joint_3":           {0, foldedElbow, 2.6, elbow, 4.4, elbow},
			"joint_5":           {0, foldedWrist, 0.6, foldedWrist, 3, wrist, 4.4, wrist},
			"finger_left_joint": {0, 0, 3, 0, 3.6, open, 4.4, 0},
		},
		labels: map[float64]string{0: "folded", 3: "unfolded", 3.6: "tries its fingers", 4.4: "home"},
	},
}
