// Plays a stored motion on a running server and prints what happens on the way:
//
//	poise serve &
//	go run ./examples/03-play [URL [MOTION]]
//
// It is a client like any other: the same WebSocket, the same messages.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/wire/rosbridge/client"
)

func main() {
	url, name := "ws://127.0.0.1:8080/rosbridge", "nod"
	if len(os.Args) > 1 {
		url = os.Args[1]
	}
	if len(os.Args) > 2 {
		name = os.Args[2]
	}
	if err := play(url, name); err != nil {
		fmt.Fprintln(os.Stderr, "03-play:", err)
		os.Exit(1)
	}
}

func play(url, name string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c, err := client.Dial(ctx, url, client.Options{})
	if err != nil {
		return err
	}
	defer c.Close()

	// events leave with the motion: a player of sounds and lights listens here
	events, err := c.Subscribe("/events", "poise_msgs/msg/Event", client.SubscribeOptions{})
	if err != nil {
		return err
	}
	go func() {
		for {
			text, _, err := events.Next(ctx)
			if err != nil {
				return
			}
			var e poisemsgs.Event
			if client.Read(text, &e) == nil {
				fmt.Printf("event %s %s at %.2f s\n", e.Command.Type, e.Command.Command, e.Time)
			}
		}
	}()

	// approach: go to the first point before, wherever the robot is now
	goal := msgs.TextActionGoal{Command: msgs.TextCommand{Type: "motion", Command: name, Options: "approach"}}
	g, err := c.SendGoal(ctx, "/play_motion", "text_msgs/action/TextAction", client.Text(&goal, msgs.ROS2))
	if err != nil {
		return err
	}
	for {
		u, err := g.Next(ctx)
		switch {
		case err != nil:
			return err
		case u.Rejected:
			return fmt.Errorf("refused: %s", u.Text)
		case u.Done:
			fmt.Printf("over, status %d %s\n", u.Status, u.Result)
			return nil
		}
		var f struct{ Status string }
		if err := json.Unmarshal(u.Feedback, &f); err != nil {
			return err
		}
		fmt.Println(f.Status)
	}
}
