// Echo is a node of a ROS 1 network by Poise's own wire: what comes on /ping leaves on /pong. It
// is timed beside the same node by rospy and roscpp.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"poise/graph"
	"poise/msgs"
	"poise/wire/ros1"
)

// queue is that of the other nodes, too: a burst fits into it.
const queue = 20000

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "echo:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	g := graph.New(graph.Options{})
	defer g.Close()
	pong, err := graph.Topic[msgs.JointState](g, "pong", graph.TopicOptions{QoS: graph.QoS{Depth: queue}})
	if err != nil {
		return err
	}
	ping, err := graph.Listen[msgs.JointState](g, "ping", graph.SubscribeOptions{QoS: graph.QoS{Depth: queue}})
	if err != nil {
		return err
	}
	c := ros1.Environment(os.Getenv)
	c.Names = ros1.Names{Namespace: "/", Node: "poise_echo"}
	n, err := ros1.New(g, c)
	if err != nil {
		return err
	}
	go func() {
		for {
			m, _, err := ping.Next(ctx)
			if err != nil {
				return
			}
			out := *m
			out.Header.Seq = 0
			pong.Publish(&out)
		}
	}()
	return n.Run(ctx)
}
