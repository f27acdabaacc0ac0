package ros1

import (
	"context"
	"errors"
	"fmt"

	"poise/graph"
	"poise/msgs"
)

// loggerName is what rospy and roscpp call their log.
const loggerName = "ros.poise"

// serveLoggers serves what rqt_logger_level asks of every node: ~get_loggers and
// ~set_logger_level.
func (n *Node) serveLoggers() (all []*graph.ServiceServer) {
	if n.c.Mirror != "" {
		return nil // it offers nothing
	}
	level := func() string {
		if n.c.Level == nil {
			return "info"
		}
		return n.c.Level.Level()
	}
	get, err := graph.Service(n.g, n.c.Names.Node+"/get_loggers", func(context.Context, *msgs.GetLoggersRequest) (*msgs.GetLoggersResponse, error) {
		return &msgs.GetLoggersResponse{Loggers: []msgs.Logger{{Name: loggerName, Level: level()}}}, nil
	}, graph.ServiceOptions{})
	set, err2 := graph.Service(n.g, n.c.Names.Node+"/set_logger_level", func(_ context.Context, q *msgs.SetLoggerLevelRequest) (*msgs.SetLoggerLevelResponse, error) {
		switch {
		case q.Logger != loggerName && q.Logger != "ros" && q.Logger != "":
			return nil, fmt.Errorf("there is no logger %q: the one here is %s", q.Logger, loggerName)
		case n.c.Level == nil:
			return nil, errors.New("the level of this log cannot be set")
		}
		return &msgs.SetLoggerLevelResponse{}, n.c.Level.SetLevel(q.Level)
	}, graph.ServiceOptions{})
	if err := errors.Join(err, err2); err != nil {
		n.c.Log.Warn("ROS 1's services of the log are not served", "why", err)
	}
	for _, s := range []*graph.ServiceServer{get, set} {
		if s != nil {
			all = append(all, s)
		}
	}
	return all
}
