package server

import (
	"fmt"
	"maps"
	"os"
	"strings"

	"poise/msgs"
	"poise/rtps"
	"poise/wire"
	"poise/wire/ros2"
)

// newROS2 makes the node that shows the graph to ROS 2.
func (s *Server) newROS2(given *ros2.Config) (wire.Wire, error) {
	c, l := *given, &s.cfg.Limits
	c.Budget, c.Stop, c.Log = s.budget, s.stops, s.log
	c.Limits = ros2.Limits{Participants: l.Connections, MessageBytes: l.MessageSize, Queue: l.Queue}
	c.Topics, c.Imports, c.Program = s.ros2Topics(), true, s.ros.domain
	c.Params = s.ros2Params()
	maps.Copy(c.Params, given.Params)
	n, err := ros2.New(s.graph, c)
	if err != nil {
		return nil, fmt.Errorf("ROS 2: %w", err)
	}
	return n, nil
}

// ros2Node returns the configuration of a node of this server that looks for robots in a domain,
// by its address. It speaks the distribution that the server does, and is as open as it.
func (s *Server) ros2Node(address, name string) (ros2.Config, error) {
	var c ros2.Config
	c.Form = msgs.Jazzy
	if given := s.ros.given2; given != nil {
		c.Form, c.Open, c.Peers, c.Dial = given.Form, given.Open, given.Peers, given.Dial
	}
	var err error
	if c.Domain, err = rtps.DomainOf(address); err != nil {
		return c, err
	}
	l := &s.cfg.Limits
	c.Program, c.Log = s.ros.domain, s.log
	c.Names = ros2.Names{Namespace: "/", Node: fmt.Sprintf("poise_%s_%d", name, os.Getpid())}
	c.Limits = ros2.Limits{Participants: l.Connections, MessageBytes: l.MessageSize, Queue: l.Queue}
	return c, nil
}

// ros2Topics returns the topics that ROS 2 has by other names than the graph: those of ROS 1,
// but for MoveIt's action, which MoveIt 2 calls as the graph does.
func (s *Server) ros2Topics() map[string]string {
	names := s.ros1Topics()
	maps.DeleteFunc(names, func(ros, _ string) bool { return strings.Contains(ros, "/move_group/") })
	return names
}

// ros2Params returns the parameters of the node: what MoveIt 2 and robot_state_publisher look for,
// and what the node is. A dot stands between a name and what is below it.
func (s *Server) ros2Params() map[string]any {
	_, simulated := s.graph.TopicInfo("clock")
	params := map[string]any{"robot_description": string(s.robot.URDF), "use_sim_time": simulated, "period": s.cfg.Loop.Period}
	if s.robot.SRDFText != nil {
		params["robot_description_semantic"] = string(s.robot.SRDFText)
	}
	names := make([]string, len(s.robots))
	for i, bot := range s.robots {
		names[i] = bot.name
	}
	params["robots"] = names
	for joint, limits := range jointLimits(s.robot.Model) {
		for name, value := range limits.(map[string]any) {
			params["robot_description_planning.joint_limits."+joint+"."+name] = value
		}
	}
	return params
}
