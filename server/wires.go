package server

import (
	"context"
	"fmt"
	"sync"

	"poise/wire"
	"poise/wire/ros1"
	"poise/wire/ros1/raw"
	"poise/wire/rosbridge"
)

// newWires makes what shows the graph to programs outside. rosbridge is always there: the
// page and the command line are its clients.
func (s *Server) newWires(o *Options) ([]wire.Wire, error) {
	l := &s.cfg.Limits
	wires := []wire.Wire{
		rosbridge.New(s.graph, rosbridge.Config{Address: s.Address(), Log: s.log, Budget: s.budget, Stop: s.stops, Origins: s.cfg.Origins, Limits: rosbridge.Limits{
			Connections: l.Connections, MessageBytes: l.MessageSize, MessageRate: l.MessageRate,
			Subscriptions: l.Subscriptions, Goals: l.Goals, Queue: l.Queue,
		}}),
	}
	if o.ROS2 != nil {
		n, err := s.newROS2(o.ROS2)
		if err != nil {
			return nil, err
		}
		wires = append(wires, n)
	}
	if o.ROS1 == nil {
		return wires, nil
	}
	c := *o.ROS1
	c.Core, c.Program = s.ros.core, &s.ros.program
	c.Budget, c.Stop, c.Log, c.Level = s.budget, s.stops, s.log, s.level
	c.Limits = ros1.Limits{Nodes: l.Connections, MessageBytes: l.MessageSize, MessageRate: l.MessageRate, Queue: l.Queue}
	c.Topics, c.Params = s.ros1Topics(), s.ros1Params(&c)
	c.Shutdown = func(why string) {
		select {
		case s.ordered <- why:
		default: // it ends already
		}
	}
	c.Imports = true
	n, err := ros1.New(s.graph, c)
	if err != nil {
		return nil, fmt.Errorf("ROS 1: %w", err)
	}
	if c.OwnMaster {
		s.gather = func(ctx context.Context) { raw.GatherLogs(ctx, n.Config()) }
	}
	return append(wires, n), nil
}

// closeWires ends wires that are not run.
func (s *Server) closeWires() {
	for _, w := range s.wires {
		if c, ok := w.(interface{ Close() }); ok {
			c.Close()
		}
	}
}

// runWires runs all wires, and returns what ends them. A wire that fails is told; the
// robots and the other wires go on.
func (s *Server) runWires() (end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for _, w := range s.wires {
		running.Go(func() {
			if err := w.Run(ctx); err != nil {
				s.log.Error("a wire has failed", "wire", w.Name(), "why", err)
			}
		})
	}
	gathering, endGather := context.WithCancel(ctx)
	gathered := make(chan struct{})
	go func() {
		defer close(gathered)
		if s.gather != nil {
			s.gather(gathering)
		}
	}()
	return func() {
		endGather() // while the master is there, which it takes its names back from
		<-gathered
		cancel()
		running.Wait()
	}
}

// Wires lists for people where the graph is, and for whom.
func (s *Server) Wires() (all []string) {
	for _, w := range s.wires {
		for _, a := range w.Addresses() {
			all = append(all, a.URL+" ("+a.Peers+")")
		}
	}
	return all
}

// wireMetrics tells what goes over the wires.
func (s *Server) wireMetrics(p *metricsText) {
	var sum wire.Stats
	p.family("poise_wire_up", "gauge", "1 if peers can reach the graph")
	for _, w := range s.wires {
		sum.Add(w.Stats())
		p.value(label("wire", w.Name()), flag(w.Health() == nil))
	}
	for _, m := range []struct {
		name, kind, help string
		value            float64
	}{
		{"poise_clients", "gauge", "connected now", float64(sum.Clients)},
		{"poise_clients_connected_total", "counter", "ever", float64(sum.Connected)},
		{"poise_clients_refused_total", "counter", "not let in", float64(sum.Refused)},
		{"poise_messages_received_total", "counter", "from clients", float64(sum.Received)},
		{"poise_messages_sent_total", "counter", "to clients", float64(sum.Sent)},
		{"poise_messages_lost_total", "counter", "for which clients were too slow", float64(sum.Lost)},
	} {
		p.family(m.name, m.kind, m.help)
		p.value("", m.value)
	}
}
