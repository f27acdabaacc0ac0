package raw

import (
	"context"
	"time"

	"poise/msgs"
	"poise/msgs/registry"
	"poise/wire/ros1"
	"poise/wire/ros1/tcpros"
)

const (
	rosout  = "/rosout" // the node, as roscore calls it
	maxLine = 64 << 10  // bytes of one line; a longer one is left out
	retry   = time.Second
)

// GatherLogs is the node that roscore starts beside a master: it publishes the lines of all nodes
// from /rosout as /rosout_agg, where rqt_console and others read them over one connection, until
// ctx is done, or until ROS ends the node. While the master is not reached it
// is tried again.
func GatherLogs(ctx context.Context, c ros1.Config) {
	for ctx.Err() == nil {
		if err := gatherLogs(ctx, c); err == nil {
			return
		} else if c.Log != nil {
			c.Log.Debug("lines of ROS 1 nodes are not gathered yet", "why", err)
		}
		select {
		case <-time.After(retry):
		case <-ctx.Done():
		}
	}
}

func gatherLogs(ctx context.Context, c ros1.Config) error {
	typ, _, err := registry.Message("rosgraph_msgs/Log")
	if err != nil {
		return err
	}
	n, err := Join(ctx, c, rosout)
	if err != nil {
		return err
	}
	defer n.Close()
	out, err := n.Advertise(ctx, "/rosout_agg", Kind{Type: typ.Name(msgs.ROS1), MD5: typ.MD5(), Definition: typ.FullText(msgs.ROS1)})
	if err != nil {
		return err
	}
	n.LimitMessages(maxLine)
	if err := n.Subscribe(ctx, rosout, func(from tcpros.Header, data []byte) {
		if from["md5sum"] == typ.MD5() {
			out.Publish(data)
		}
	}); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
	case <-n.Killed():
	}
	return nil
}
