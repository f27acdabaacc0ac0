// The program wag is an external controller (in a process of its own): it wags the tail, loses it to a
// yawn, and gets it back.
//
//	poise serve &
//	go run ./examples/04-wag [URL]
//
// Package requester speaks to the arbiter; docs/controllers.md has the rules.
package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"time"

	"poise/msgs"
	"poise/wire/rosbridge/client"
	"poise/wire/rosbridge/requester"
)

func main() {
	url := "ws://127.0.0.1:8080/rosbridge"
	if len(os.Args) > 1 {
		url = os.Args[1]
	}
	if err := run(context.Background(), url); err != nil {
		fmt.Fprintln(os.Stderr, "wag:", err)
		os.Exit(1)
	}
	fmt.Println("wagged, yawned and wagged again")
}

func run(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	// the ears keep the wag operational while the tail is away
	wag, err := join(ctx, url, requester.Config{Name: "wag", Wanted: []string{"tail", "ears"}})
	if err != nil {
		return err
	}
	defer wag.Close()
	yawn, err := join(ctx, url, requester.Config{Name: "yawn", Needed: []string{"tail"}, Pending: []float32{60}, Operational: []float32{60}})
	if err != nil {
		return err
	}
	defer yawn.Close()

	if err := wag.Request(ctx); err != nil {
		return err
	}
	go stream(ctx, wag)
	time.Sleep(time.Second)
	if err := yawn.Request(ctx); err != nil {
		return err
	}
	time.Sleep(500 * time.Millisecond)
	yawn.Quit()
	for !slices.Contains(wag.Owned(), "tail") {
		if err := ctx.Err(); err != nil {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
	time.Sleep(500 * time.Millisecond)
	return nil
}

// join registers a controller by a connection of its own.
func join(ctx context.Context, url string, cfg requester.Config) (*requester.Requester, error) {
	c, err := client.Dial(ctx, url, client.Options{})
	if err != nil {
		return nil, err
	}
	cfg.Lease = time.Second
	cfg.Changed = func(owned []string) bool {
		fmt.Println(cfg.Name, "has", owned)
		return true
	}
	return requester.New(c, cfg)
}

// stream publishes 50 values a second: they are followed without a staircase.
func stream(ctx context.Context, r *requester.Requester) {
	const w = 2 * math.Pi // rad/s
	for tick := time.NewTicker(20 * time.Millisecond); ctx.Err() == nil; <-tick.C {
		t := float64(time.Now().UnixNano()) * 1e-9
		_ = r.Send(&msgs.JointState{Name: []string{"tail_joint1"}, Position: []float64{0.15 * math.Sin(w*t)}, Velocity: []float64{0.15 * w * math.Cos(w*t)}})
	}
}
