package controllers

import (
	"fmt"

	"poise/control"
	"poise/graph"
	"poise/msgs"
	"poise/msgs/registry"
	"poise/robot"
	"poise/servo"
)

// Stream is a topic whose messages lead a controller while it is active.
type Stream struct {
	Topic string   // below controllers/NAME/
	Short string   // what its messages say, for the documentation
	Type  string   // of the messages, as ROS 2 writes it
	Also  []string // further names of the topic

	subscribe func(g *graph.Graph, name string, admit graph.Admission) (*graph.Subscription, error)
	read      func(m *robot.Model, now servo.Tick, message any) (control.Program, error)
}

// StreamOf declares a stream of messages; read turns one into a value for the
// controller, whose time is that of now unless the message has a stamp of its own.
func StreamOf[T any](topic, short string, read func(m *robot.Model, now servo.Tick, message *T) (control.Program, error), also ...string) Stream {
	typ, ok := registry.For[T]()
	if !ok {
		panic(fmt.Sprintf("controllers: %T is no message of the registry", *new(T)))
	}
	return Stream{Topic: topic, Short: short, Type: typ.Name(msgs.ROS2), Also: also,
		subscribe: func(g *graph.Graph, name string, admit graph.Admission) (*graph.Subscription, error) {
			l, err := graph.Listen[T](g, name, graph.SubscribeOptions{QoS: graph.QoS{Depth: 1}, Admit: admit}) // only the newest value counts
			return l.Subscription, err
		},
		read: func(m *robot.Model, now servo.Tick, message any) (control.Program, error) {
			return read(m, now, message.(*T))
		},
	}
}

// Subscribe listens to the topic under a name, to what is admitted there.
func (s *Stream) Subscribe(g *graph.Graph, name string, admit graph.Admission) (*graph.Subscription, error) {
	return s.subscribe(g, name, admit)
}

// Read turns a message of the topic into a value for the controller.
func (s *Stream) Read(m *robot.Model, now servo.Tick, message any) (control.Program, error) {
	return s.read(m, now, message)
}
