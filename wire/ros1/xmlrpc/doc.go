// Package xmlrpc is XML-RPC as ROS 1 uses it between a master and its nodes: calls over
// HTTP whose arguments and answers are small trees of values.
//
//	c := xmlrpc.NewClient(nil)
//	v, err := c.Call(ctx, "http://127.0.0.1:11311", "getPid", "/poise")
//
//	h := &xmlrpc.Handler{Methods: map[string]xmlrpc.Method{"getPid": …}}
//
// Values are bool, int, float64, string, []byte, time.Time, []any, map[string]any and, as
// an extension that some peers send, nil. What is read is bounded: bytes, depth and number
// of values. An answer that says why a call failed is a Fault.
//
// Reference: xmlrpc.com/spec.md, and what rosmaster, rospy and roscpp send.
package xmlrpc
