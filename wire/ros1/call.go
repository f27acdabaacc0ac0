package ros1

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"time"

	"poise/msgs"
	"poise/msgs/codec"
	"poise/msgs/registry"
	"poise/wire/ros1/tcpros"
)

// CallService calls a service of another node, by its name in ROS.
func (n *Node) CallService(ctx context.Context, service string, t *registry.Service, request any) (any, error) {
	code, v, err := n.callMaster(ctx, "lookupService", service)
	if err != nil {
		return nil, err
	}
	address, _ := v.(string)
	u, err := url.Parse(address)
	if code != success || err != nil || u.Scheme != "rosrpc" {
		return nil, fmt.Errorf("there is no ROS 1 service %s", service)
	}
	c, err := n.c.dial(ctx, "tcp", u.Host)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	if deadline, ok := ctx.Deadline(); ok {
		_ = c.SetDeadline(deadline)
	}
	response, err := n.exchange(c, service, t, request)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return response, err
}

// exchange makes one call on a connection.
func (n *Node) exchange(c net.Conn, service string, t *registry.Service, request any) (any, error) {
	if err := tcpros.WriteHeader(c, tcpros.Header{"callerid": n.self, "service": service, "md5sum": t.MD5(), "type": t.Name(msgs.ROS1)}); err != nil {
		return nil, err
	}
	h, err := tcpros.ReadHeader(c, tcpros.MaxHeader)
	if err != nil {
		return nil, err
	}
	if why := h["error"]; why != "" {
		return nil, fmt.Errorf("%s refuses the call: %.500s", service, why)
	}
	// not before the other side's header: rospy loses what comes with ours
	if _, err := c.Write(tcpros.AppendBody(nil, func(b []byte) []byte { return codec.For(t.Request, msgs.ROS1).Append(b, request) })); err != nil {
		return nil, err
	}
	var ok [1]byte
	if _, err := io.ReadFull(c, ok[:]); err != nil {
		return nil, err
	}
	size, err := tcpros.ReadLength(c)
	if err != nil {
		return nil, err
	}
	if limit := n.c.Limits.MessageBytes; int64(size) > int64(limit) {
		return nil, &tcpros.LengthError{What: "the answer of " + service, Length: size, Limit: limit}
	}
	data := make([]byte, size)
	_ = c.SetReadDeadline(time.Now().Add(callWithin))
	if _, err := io.ReadFull(c, data); err != nil {
		return nil, err
	}
	if ok[0] == 0 {
		return nil, fmt.Errorf("%s: %s", service, data)
	}
	response := t.Response.New()
	return response, codec.For(t.Response, msgs.ROS1).Decode(data, response)
}
