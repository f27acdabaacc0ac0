package main

import (
	"poise/control/follow"
)

// Positions to which the pony returns: neck and head in the pose "stand".
const (
	neck = -0.3
	head = 0.3
)

// From the pose "stand" to the pose "crouched" the body goes down and forward, m.
const (
	crouchDepth = 0.0203
	crouchShift = 0.0041
)

// say lists the events of a motion.
func say(all ...follow.Event) []follow.Event { return all }

func event(t float64, kind, command string) follow.Event {
	return follow.Event{Time: t, Type: kind, Command: command}
}

func emotion(t float64, look string) follow.Event { return event(t, "eyes/emotion", look) }
func eyes(t float64, action string) follow.Event  { return event(t, "eyes/action", action) }
func sound(t float64, wav string) follow.Event    { return event(t, "voice/play_wav", wav) }
func words(t float64, text string) follow.Event   { return event(t, "voice/say", text) }

// Heads bow before they rise, ears come a little later than what moves them, and
// every gesture has a moment in which it rests. Keys lie on the grid of the rows.
var ponyScores = []score{
	{
		name: "nod", description: "Nods twice: yes", tags: []string{"head", "answer"}, start: "stand",
		tracks: tracks{
			"joint51":     {0, neck, 0.4, -0.26, 1, -0.5, 1.6, -0.32, 2.2, -0.46, 2.8, neck},
			"joint53":     {0, head, 0.4, 0.36, 1, 0, 1.6, 0.28, 2.2, 0.02, 2.8, head},
			"ear_l_joint": {0, 0, 0.6, 0.05, 1.2, -0.4, 1.8, 0.05, 2.4, -0.3, 3, 0},
			"ear_r_joint": {0, 0, 0.6, 0.05, 1.2, -0.4, 1.8, 0.05, 2.4, -0.3, 3, 0},
		},
		labels: map[float64]string{0: "rest", 0.4: "takes a swing", 1: "down", 1.6: "up", 2.2: "down again", 3: "rest"},
		events: say(eyes(0.4, "blink"), eyes(2.2, "blink")),
	},
	{
		name: "shake_head", description: "Shakes its head: no", tags: []string{"head", "answer"}, start: "stand",
		tracks: tracks{
			"joint51":     {0, neck, 0.6, -0.38, 3, -0.38, 3.8, neck},
			"joint52":     {0, 0, 0.6, 0.3, 1.4, -0.32, 2.2, 0.3, 3, -0.2, 3.6, 0},
			"joint53":     {0, head, 0.6, 0.18, 3, 0.18, 3.8, head},
			"joint54":     {0, 0, 0.6, -0.1, 1.4, 0.1, 2.2, -0.1, 3, 0.06, 3.6, 0},
			"eyes_yaw":    {0, 0, 0.4, 0.4, 1.2, -0.4, 2, 0.4, 2.8, -0.2, 3.4, 0},
			"ear_l_joint": {0, 0, 0.8, -0.6, 3, -0.6, 3.8, 0},
			"ear_r_joint": {0, 0, 0.8, -0.6, 3, -0.6, 3.8, 0},
		},
		labels: map[float64]string{0: "rest", 0.6: "left", 1.4: "right", 2.2: "left", 3: "right", 3.8: "rest"},
		events: say(emotion(0.2, "unamused_look"), emotion(3.6, "normal")),
	},
	{
		name: "yawn", description: "Yawns, stretches its neck and smacks its lips", tags: []string{"head", "mouth", "sleepy"}, start: "stand",
		tracks: tracks{
			"joint51":     {0, neck, 1, -0.5, 2.4, -0.02, 3.6, 0.04, 4.8, -0.38, 5.6, neck},
			"joint53":     {0, head, 1, 0.1, 2.4, 0.66, 3.6, 0.72, 4.8, 0.2, 5.6, head},
			"joint54":     {0, 0, 2.4, 0.1, 3.6, -0.16, 4.8, 0},
			"mouth_joint": {0, 0, 1, 0, 2.2, -0.44, 3.2, -0.5, 3.6, -0.48, 4.4, 0, 4.6, -0.14, 4.8, 0, 5, -0.1, 5.2, 0, 5.8, 0},
			"ear_l_joint": {0, 0, 1.2, -0.25, 2.6, -0.95, 3.8, -1, 5, -0.1, 5.6, 0},
			"ear_r_joint": {0, 0, 1.2, -0.25, 2.8, -0.95, 3.8, -1, 5.2, -0.1, 5.8, 0},
			"eyes_pitch":  {0, 0, 1, -0.3, 2.4, 0.2, 3.6, 0.2, 4.6, -0.2, 5.4, 0},
			"tail_joint2": {0, 0, 1.2, 0, 2.6, 0.5, 3.6, 0.55, 5, 0},
		},
		labels: map[float64]string{0: "rest", 1: "breathes in", 2.2: "mouth opens", 3.2: "wide", 4.4: "shut", 5: "smacks", 5.8: "rest"},
		events: say(eyes(0.6, "slow_blink"), sound(1.2, "yawn"), emotion(1.4, "pleasure_look"), eyes(4.6, "blink"), emotion(5.4, "normal")),
	},
	{
		name: "wag_tail", description: "Wags its tail, for as long as it is glad", tags: []string{"tail", "happy"}, start: "stand", loop: true,
		tracks: tracks{
			"tail_joint1": {0, 0, 0.4, 0.4, 1, -0.5, 1.6, 0.5, 2.2, -0.5, 2.8, 0.5, 3.4, -0.4, 3.8, 0},
			"tail_joint2": {0, 0, 0.6, 0.3, 3.2, 0.3, 3.8, 0},
			"tail_joint3": {0, 0, 0.6, 0.4, 1.2, -0.45, 1.8, 0.45, 2.4, -0.45, 3, 0.4, 3.8, 0},
		},
		labels: map[float64]string{0: "middle", 0.4: "right", 1: "left", 1.6: "right", 2.2: "left", 2.8: "right", 3.4: "left", 3.8: "middle"},
		events: say(emotion(0, "happy_look")),
	},
	{
		name: "perk_ears", description: "Pricks up its ears, listens to one side and to the other", tags: []string{"ears", "attention"}, start: "stand",
		tracks: tracks{
			"ear_l_joint": {0, 0, 0.4, -0.25, 1, 0.4, 2.2, 0.4, 2.6, 0.1, 3, 0.45, 4.2, 0.45, 5, 0},
			"ear_r_joint": {0, 0, 0.4, -0.25, 1, 0.4, 1.2, 0.4, 1.6, 0.1, 2, 0.45, 3.4, 0.45, 3.8, 0.15, 4.2, 0.4, 5, 0},
			"joint51":     {0, neck, 0.4, -0.34, 1, -0.18, 4.2, -0.18, 5, neck},
			"joint52":     {0, 0, 1, 0, 1.8, -0.3, 2.4, -0.3, 3.4, 0.3, 4.2, 0.3, 5, 0},
			"joint53":     {0, head, 1, 0.3, 4.2, 0.3, 5, head},
			"joint54":     {0, 0, 1, 0, 1.8, 0.24, 2.4, 0.24, 3.4, -0.24, 4.2, -0.24, 5, 0},
			"eyes_yaw":    {0, 0, 1, 0, 1.4, 0.5, 2.4, 0.4, 2.8, -0.5, 4.2, -0.4, 4.8, 0},
		},
		labels: map[float64]string{0: "rest", 1: "alert", 1.8: "listens to the right", 3.4: "listens to the left", 5: "rest"},
		events: say(emotion(0.4, "surprised_look"), eyes(1.2, "blink"), eyes(2.8, "blink"), emotion(4.6, "normal")),
	},
	{
		name: "look_around", description: "Looks to the left, to the right and up, eyes first", tags: []string{"head", "eyes", "attention"}, start: "stand",
		tracks: tracks{
			"eyes_yaw":    {0, 0, 0.4, -0.7, 1.4, -0.35, 2.2, -0.35, 2.6, 0.8, 4.2, 0.35, 5, 0.35, 5.4, -0.2, 6.2, 0, 8, 0},
			"eyes_pitch":  {0, 0, 1, 0, 2, -0.05, 5, 0, 5.4, 0.6, 6.2, 0.3, 7, 0.3, 7.4, 0, 8, 0},
			"joint52":     {0, 0, 0.2, 0, 1.4, 0.75, 2.4, 0.75, 4.4, -0.75, 5.2, -0.75, 6.4, 0, 8, 0},
			"joint51":     {0, neck, 1.4, -0.2, 2.4, -0.2, 3.4, -0.38, 4.4, -0.2, 5.2, -0.2, 6.4, -0.1, 7, -0.1, 8, neck},
			"joint53":     {0, head, 1.4, 0.26, 2.4, 0.26, 3.4, 0.18, 4.4, 0.26, 5.2, 0.26, 6.4, 0.52, 7, 0.52, 8, head},
			"joint54":     {0, 0, 1.4, -0.14, 2.4, -0.14, 4.4, 0.14, 5.2, 0.14, 6.4, 0, 8, 0},
			"ear_l_joint": {0, 0, 1.4, 0.3, 2.4, 0.3, 4.4, -0.2, 5.2, -0.2, 6.4, 0.35, 7, 0.35, 7.8, 0},
			"ear_r_joint": {0, 0, 1.4, -0.2, 2.4, -0.2, 4.4, 0.3, 5.2, 0.3, 6.4, 0.35, 7, 0.35, 7.8, 0},
		},
		labels: map[float64]string{0: "rest", 1.4: "left", 4.4: "right", 6.4: "up", 8: "rest"},
		events: say(eyes(0.2, "blink"), eyes(2.4, "blink"), emotion(5.4, "raised_left_eyebrow_look"), emotion(7.4, "normal")),
	},
	{
		name: "sad", description: "Hangs its head, ears and tail, and sighs", tags: []string{"head", "ears", "tail", "feeling"}, start: "stand",
		tracks: tracks{
			"body z":      {0, 0, 0.6, 0, 2.2, -0.021, 3.2, -0.021, 3.8, -0.016, 4.6, -0.026, 5.6, -0.026, 7.2, 0},
			"body pitch":  {0, 0, 0.6, 0, 2.2, 0.06, 5.6, 0.06, 7.2, 0},
			"joint51":     {0, neck, 0.6, -0.26, 2.2, -0.92, 3.2, -0.95, 3.8, -0.88, 4.6, -1, 5.6, -1, 7.2, neck},
			"joint53":     {0, head, 0.6, 0.32, 2.2, 0.16, 3.2, 0.12, 3.8, 0.22, 4.6, 0.08, 5.6, 0.08, 7.2, head},
			"joint52":     {0, 0, 2.2, 0.12, 3.6, 0.12, 4.6, -0.15, 5.6, -0.15, 7, 0},
			"ear_l_joint": {0, 0, 0.8, 0, 2.4, -0.9, 3.2, -0.95, 3.8, -0.8, 4.6, -1, 5.8, -1, 7.2, 0},
			"ear_r_joint": {0, 0, 0.8, 0, 2.4, -0.9, 3.2, -0.95, 3.8, -0.8, 4.6, -1, 5.8, -1, 7.2, 0},
			"eyes_pitch":  {0, 0, 0.6, -0.1, 1.8, -0.6, 5.6, -0.6, 6.8, 0},
			"tail_joint2": {0, 0, 1, 0, 2.6, -0.45, 5.8, -0.5, 7.2, 0},
		},
		labels: map[float64]string{0: "rest", 2.2: "hangs its head", 3.8: "breathes in", 4.6: "sighs", 7.2: "rest"},
		events: say(emotion(0.4, "sad_look"), eyes(2.8, "slow_blink"), sound(3.8, "sigh"), emotion(6.6, "normal")),
	},
	{
		name: "laugh", description: "Throws its head back and laughs, body and all", tags: []string{"head", "mouth", "happy"}, start: "stand",
		tracks: tracks{
			"body z":      {0, 0, 0.8, -0.014, 1.2, -0.01, 1.6, -0.015, 2, -0.01, 2.4, -0.015, 2.8, -0.01, 3.2, -0.014, 4.2, 0},
			"body pitch":  {0, 0, 1, -0.06, 3.2, -0.06, 4.2, 0},
			"joint51":     {0, neck, 0.4, -0.4, 1.2, -0.06, 3.2, -0.06, 3.8, -0.34, 4.4, neck},
			"joint53":     {0, head, 0.4, 0.22, 1.2, 0.6, 1.4, 0.55, 1.6, 0.6, 1.8, 0.55, 2, 0.6, 2.2, 0.55, 2.4, 0.6, 2.6, 0.55, 2.8, 0.6, 3, 0.56, 3.2, 0.58, 3.8, 0.26, 4.4, head},
			"joint54":     {0, 0, 1.2, 0.1, 2.2, -0.12, 3.2, 0.06, 4, 0},
			"mouth_joint": {0, 0, 0.6, 0, 1.2, -0.45, 1.4, -0.28, 1.6, -0.45, 1.8, -0.28, 2, -0.45, 2.2, -0.28, 2.4, -0.45, 2.6, -0.28, 2.8, -0.42, 3, -0.25, 3.2, -0.35, 3.6, -0.05, 3.8, -0.12, 4.2, 0},
			"ear_l_joint": {0, 0, 0.4, 0.2, 1.2, -0.45, 3.2, -0.45, 4, 0},
			"ear_r_joint": {0, 0, 0.4, 0.2, 1.2, -0.45, 3.2, -0.45, 4, 0},
			"tail_joint1": {0, 0, 0.8, 0, 1.2, 0.4, 1.8, -0.4, 2.4, 0.4, 3, -0.4, 3.6, 0},
			"tail_joint2": {0, 0, 1, 0.5, 3.2, 0.5, 4.2, 0},
		},
		labels: map[float64]string{0: "rest", 0.4: "takes a swing", 1.2: "head back", 3.2: "runs out of breath", 4.4: "rest"},
		events: say(emotion(0.4, "happy_look"), sound(1, "laugh"), eyes(3.6, "blink"), emotion(4.2, "normal")),
	},
	{
		name: "crouch", description: "Goes down into the pose crouched; stand_up brings it back", tags: []string{"legs", "pose"}, start: "stand",
		tracks: tracks{
			"body z":      {0, 0, 0.2, 0, 1.6, -crouchDepth, 2.2, -crouchDepth},
			"body x":      {0, 0, 0.2, 0, 1.6, crouchShift, 2.2, crouchShift},
			"joint51":     {0, neck, 0.4, -0.26, 1.2, -0.48, 2.2, neck},
			"joint53":     {0, head, 0.4, 0.3, 1.2, 0.44, 2.2, head},
			"ear_l_joint": {0, 0, 0.4, 0, 1.2, -0.4, 2.2, 0},
			"ear_r_joint": {0, 0, 0.4, 0, 1.2, -0.4, 2.2, 0},
			"tail_joint2": {0, 0, 0.4, 0, 1.4, 0.5, 2.2, 0},
		},
		labels: map[float64]string{0: "stand", 1.6: "down", 2.2: "crouched"},
		events: say(eyes(0.4, "blink")),
	},
	{
		name: "stand_up", description: "Gets up from the pose crouched", tags: []string{"legs", "pose"}, start: "crouched",
		tracks: tracks{
			"body z":      {0, 0, 0.4, -0.004, 2, crouchDepth, 2.4, crouchDepth},
			"body x":      {0, 0, 0.4, 0, 2, -crouchShift, 2.4, -crouchShift},
			"joint51":     {0, neck, 0.6, -0.44, 1.6, -0.18, 2.4, neck},
			"joint53":     {0, head, 0.6, 0.34, 1.6, 0.24, 2.4, head},
			"ear_l_joint": {0, 0, 0.6, -0.3, 1.6, 0.35, 2.4, 0},
			"ear_r_joint": {0, 0, 0.6, -0.3, 1.6, 0.35, 2.4, 0},
		},
		labels: map[float64]string{0: "crouched", 0.4: "takes a swing", 2: "up", 2.4: "stand"},
		events: say(eyes(0.6, "blink")),
	},
	{
		name: "bow", description: "Bows: goes down in front, bends its neck, stays, and comes up", tags: []string{"greeting", "polite"}, start: "stand",
		tracks: tracks{
			"body x":      {0, 0, 1.8, -0.035, 3, -0.035, 4.6, 0},
			"body z":      {0, 0, 1.8, -0.036, 3, -0.036, 4.6, 0},
			"body pitch":  {0, 0, 0.2, 0, 1.8, 0.32, 3, 0.32, 4.6, 0},
			"joint51":     {0, neck, 0.4, -0.24, 2, -0.8, 3, -0.8, 4.6, neck},
			"joint53":     {0, head, 0.4, 0.34, 2, 0.2, 3, 0.2, 4.6, head},
			"eyes_pitch":  {0, 0, 1.6, -0.4, 3, -0.4, 4, 0.2, 4.8, 0},
			"ear_l_joint": {0, 0, 0.6, 0, 2, -0.6, 3, -0.6, 4.6, 0},
			"ear_r_joint": {0, 0, 0.6, 0, 2, -0.6, 3, -0.6, 4.6, 0},
			"tail_joint2": {0, 0, 0.6, 0, 2, 0.8, 3, 0.8, 4.6, 0},
		},
		labels: map[float64]string{0: "stand", 2: "bowed", 3: "stays", 4.8: "stand"},
		events: say(eyes(1.2, "slow_blink"), emotion(1.8, "tender_look"), emotion(4.4, "normal")),
	},
	{
		name: "brohoof", description: "Shifts its weight, lifts the left front hoof and holds it out", tags: []string{"greeting", "legs"}, start: "stand",
		tracks: tracks{
			"body x":      {0, 0, 1.2, -0.03, 5.6, -0.03, 7, 0},
			"body y":      {0, 0, 1.2, -0.026, 5.6, -0.026, 7, 0},
			"body z":      {0, 0, 1.2, -0.014, 5.6, -0.014, 7, 0},
			"body pitch":  {0, 0, 1.4, 0, 2.8, -0.06, 3.8, -0.06, 5.2, 0},
			"leg1 z":      {0, 0, 1.2, 0, 3, 0.1, 3.8, 0.1, 5.4, 0, 7, 0},
			"leg1 x":      {0, 0, 1.4, 0, 3, 0.1, 3.4, 0.106, 3.8, 0.1, 5.2, 0, 7, 0},
			"leg1 pitch":  {0, 0, 1.4, 0, 3, -1.1, 3.8, -1.1, 5.2, 0, 7, 0},
			"joint51":     {0, neck, 1.2, -0.36, 2.8, -0.2, 3.8, -0.2, 5.2, neck, 7, neck},
			"joint53":     {0, head, 1.2, 0.2, 2.8, 0.36, 3.8, 0.36, 5.2, head, 7, head},
			"joint52":     {0, 0, 1.2, 0.25, 2.8, 0.05, 3.8, 0.05, 4.6, 0.2, 5.8, 0, 7, 0},
			"eyes_pitch":  {0, 0, 0.8, -0.3, 1.8, -0.2, 2.8, 0.1, 3.8, 0.1, 4.6, -0.2, 6, 0},
			"ear_l_joint": {0, 0, 1.4, 0, 2.8, 0.35, 3.8, 0.35, 5.2, 0},
			"ear_r_joint": {0, 0, 1.4, 0, 2.8, 0.35, 3.8, 0.35, 5.2, 0},
			"mouth_joint": {0, 0, 2.6, 0, 3, -0.25, 3.8, -0.2, 4.4, 0},
		},
		labels: map[float64]string{0: "stand", 1.2: "weight shifted", 3: "holds it out", 3.4: "bump", 3.8: "takes it back", 5.4: "hoof down", 7: "stand"},
		events: say(emotion(1.4, "happy_look"), words(2.8, "brohoof"), sound(3.4, "bump"), emotion(5.6, "normal")),
	},
	{
		name: "paw", description: "Paws the floor with its right front hoof, impatient", tags: []string{"legs", "feeling"}, start: "stand",
		tracks: tracks{
			"body x":      {0, 0, 1.2, -0.03, 7.4, -0.03, 8.6, 0},
			"body y":      {0, 0, 1.2, 0.026, 7.4, 0.026, 8.6, 0},
			"body z":      {0, 0, 1.2, -0.014, 7.4, -0.014, 8.6, 0},
			"leg2 z":      {0, 0, 1.2, 0, 2.2, 0.035, 3, 0.012, 4, 0.012, 4.8, 0.034, 5.6, 0.012, 6.6, 0.012, 7.4, 0, 8.6, 0},
			"leg2 x":      {0, 0, 1.2, 0, 2.4, 0.035, 3, 0.032, 4.2, -0.024, 5.2, 0.034, 5.6, 0.032, 6.6, -0.02, 7.2, 0, 8.6, 0},
			"leg2 pitch":  {0, 0, 1.2, 0, 2.4, -0.12, 4.2, 0.15, 5.2, -0.12, 6.6, 0.1, 7.2, 0, 8.6, 0},
			"joint51":     {0, neck, 1.4, -0.5, 6.8, -0.5, 8.2, neck},
			"joint53":     {0, head, 1.4, 0.22, 3, 0.12, 4.2, 0.26, 5.4, 0.12, 6.6, 0.26, 8.2, head},
			"joint52":     {0, 0, 1.4, -0.2, 6.8, -0.2, 8, 0},
			"ear_l_joint": {0, 0, 1.4, -0.65, 6.8, -0.65, 8.2, 0},
			"ear_r_joint": {0, 0, 1.4, -0.65, 6.8, -0.65, 8.2, 0},
			"tail_joint1": {0, 0, 1.8, 0, 2.8, 0.5, 4, -0.5, 5.2, 0.5, 6.4, -0.5, 7.4, 0},
		},
		labels: map[float64]string{0: "stand", 1.2: "weight shifted", 2.2: "lifts", 4.2: "paws", 6.6: "paws again", 7.4: "hoof down", 8.6: "stand"},
		events: say(emotion(0.8, "evil_look"), sound(3.2, "scrape"), sound(5.6, "scrape"), emotion(8, "normal")),
	},
	{
		name: "greet", description: "Lifts its head, says hello and dips before its guest", tags: []string{"greeting", "head", "happy"}, start: "stand",
		tracks: tracks{
			"body z":      {0, 0, 0.8, -0.009, 1.6, -0.004, 2.2, -0.004, 3.2, -0.023, 3.8, -0.023, 5, 0},
			"body pitch":  {0, 0, 0.6, 0.02, 1.6, -0.03, 2.2, -0.03, 3.2, 0.12, 3.8, 0.12, 5, 0},
			"joint51":     {0, neck, 0.6, -0.44, 1.4, -0.12, 2.2, -0.12, 3.2, -0.5, 3.8, -0.5, 4.8, neck},
			"joint53":     {0, head, 0.6, 0.22, 1.4, 0.42, 2.2, 0.42, 3.2, 0.1, 3.8, 0.1, 4.8, head},
			"joint54":     {0, 0, 0.6, 0, 1.4, 0.26, 2.2, 0.26, 3.2, -0.06, 4.8, 0},
			"ear_l_joint": {0, 0, 0.6, -0.3, 1.4, 0.4, 2.2, 0.4, 3.2, -0.4, 4, -0.4, 4.8, 0},
			"ear_r_joint": {0, 0, 0.6, -0.3, 1.4, 0.4, 2.2, 0.4, 3.2, -0.4, 4, -0.4, 4.8, 0},
			"mouth_joint": {0, 0, 1.2, 0, 1.6, -0.28, 1.8, -0.12, 2, -0.28, 2.4, 0, 4.8, 0},
			"tail_joint1": {0, 0, 1, 0, 1.4, 0.5, 2, -0.5, 2.6, 0.5, 3.2, -0.5, 3.8, 0.5, 4.4, 0},
			"tail_joint2": {0, 0, 1.2, 0.4, 3.8, 0.4, 4.8, 0},
		},
		labels: map[float64]string{0: "stand", 0.6: "takes a swing", 1.4: "hello", 3.2: "dips", 5: "stand"},
		events: say(emotion(0.4, "happy_look"), words(1.4, "hello"), eyes(3, "blink"), emotion(4.8, "normal")),
	},
	{
		name: "dance", description: "Dances on the spot, hooves where they are, for as long as there is music", tags: []string{"body", "happy"}, start: "stand", loop: true, step: 0.25,
		tracks: tracks{
			"body y":      {0, 0, 1, 0.026, 2, -0.026, 3, 0.026, 4, -0.026, 5, 0.026, 6, -0.026, 7, 0},
			"body z":      {0, 0, 1, -0.018, 1.5, -0.023, 2, -0.018, 2.5, -0.023, 3, -0.018, 3.5, -0.023, 4, -0.018, 4.5, -0.023, 5, -0.018, 5.5, -0.023, 6, -0.018, 7, 0},
			"body roll":   {0, 0, 1, 0.06, 2, -0.06, 3, 0.06, 4, -0.06, 5, 0.06, 6, -0.06, 7, 0},
			"body yaw":    {0, 0, 1, 0, 2, 0.08, 4, -0.08, 6, 0.08, 7, 0},
			"joint51":     {0, neck, 1, -0.2, 1.5, -0.3, 2, -0.2, 2.5, -0.3, 3, -0.2, 3.5, -0.3, 4, -0.2, 4.5, -0.3, 5, -0.2, 5.5, -0.3, 6, -0.2, 7, neck},
			"joint53":     {0, head, 1, 0.38, 1.5, 0.24, 2, 0.38, 2.5, 0.24, 3, 0.38, 3.5, 0.24, 4, 0.38, 4.5, 0.24, 5, 0.38, 5.5, 0.24, 6, 0.38, 7, head},
			"joint54":     {0, 0, 1, -0.22, 2, 0.22, 3, -0.22, 4, 0.22, 5, -0.22, 6, 0.22, 7, 0},
			"joint52":     {0, 0, 1, 0, 2, -0.18, 4, 0.18, 6, -0.18, 7, 0},
			"ear_l_joint": {0, 0, 1.25, 0.2, 2.25, -0.35, 3.25, 0.2, 4.25, -0.35, 5.25, 0.2, 6.25, -0.35, 7, 0},
			"ear_r_joint": {0, 0, 1.25, -0.35, 2.25, 0.2, 3.25, -0.35, 4.25, 0.2, 5.25, -0.35, 6.25, 0.2, 7, 0},
			"tail_joint1": {0, 0, 1, 0.5, 2, -0.5, 3, 0.5, 4, -0.5, 5, 0.5, 6, -0.5, 7, 0},
			"tail_joint2": {0, 0, 1, 0.4, 6, 0.4, 7, 0},
		},
		labels: map[float64]string{0: "stand", 1: "left", 2: "right", 3: "left", 4: "right", 5: "left", 6: "right", 7: "stand"},
		events: say(emotion(0, "happy_look"), eyes(3, "blink"), eyes(5, "blink")),
	},
	{
		name: "shake_off", description: "Shakes itself from head to tail, as if it were wet", tags: []string{"body", "head", "tail"}, start: "stand",
		tracks: tracks{
			"body z":      {0, 0, 1, -0.024, 4.2, -0.024, 5.2, 0},
			"body roll":   {0, 0, 1.2, 0, 1.8, 0.08, 2.4, -0.08, 3, 0.08, 3.6, -0.06, 4.2, 0, 5.2, 0},
			"joint51":     {0, neck, 1, -0.58, 3.4, -0.55, 4.6, neck},
			"joint53":     {0, head, 1, 0.3, 3.4, 0.3, 4.6, head},
			"joint54":     {0, 0, 0.8, 0, 1.4, -0.18, 2, 0.18, 2.6, -0.18, 3.2, 0.16, 3.8, 0},
			"ear_l_joint": {0, 0, 0.8, -0.5, 1.4, -0.15, 2, -0.75, 2.6, -0.15, 3.2, -0.7, 3.8, -0.2, 4.6, 0},
			"ear_r_joint": {0, 0, 0.8, -0.5, 1.4, -0.75, 2, -0.15, 2.6, -0.75, 3.2, -0.2, 3.8, -0.3, 4.6, 0},
			"tail_joint1": {0, 0, 1.4, 0, 1.8, 0.4, 2.4, -0.5, 3, 0.5, 3.6, -0.5, 4.2, 0.25, 4.8, 0},
			"tail_joint3": {0, 0, 1.4, 0, 2, 0.4, 2.6, -0.5, 3.2, 0.5, 3.8, -0.5, 4.4, 0.2, 5, 0},
		},
		labels: map[float64]string{0: "stand", 1: "braces itself", 1.8: "head, then body", 3.6: "comes to rest", 5.2: "stand"},
		events: say(eyes(0.6, "slow_blink"), sound(1.4, "shake"), emotion(4, "pleasure_look"), emotion(5, "normal")),
	},
}
