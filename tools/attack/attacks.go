package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// attack is something that clients do to a server until the context ends.
type attack struct {
	name string
	free bool // no attack: it has no bound
	run  func(ctx context.Context, s *process)
}

var attacks = []attack{
	{"nothing", true, func(ctx context.Context, _ *process) { <-ctx.Done() }},
	{"two burners", true, func(ctx context.Context, _ *process) { burners(ctx, 2) }},
	{"6 CBOR frames of empty maps", false, func(ctx context.Context, s *process) {
		data := emptyMaps(8<<20 - 100)
		s.crowd(ctx, 6, func(c *client) { c.loop(websocket.MessageBinary, data) })
	}},
	{"6 of 700,000 keys", false, func(ctx context.Context, s *process) {
		data := manyKeys(8<<20 - 100)
		s.crowd(ctx, 6, func(c *client) { c.loop(websocket.MessageText, data) })
	}},
	{"12 goals of 6 MB", false, func(ctx context.Context, s *process) {
		data := longGoal(6 << 20)
		s.crowd(ctx, 12, func(c *client) { c.loop(websocket.MessageText, data) })
	}},
	{"250 latched topics of 8 MB", false, func(ctx context.Context, s *process) {
		text := strings.Repeat("x", 8<<20-200)
		s.crowd(ctx, 5, func(c *client) {
			for i := 0; ctx.Err() == nil && i < 50; i++ {
				topic := fmt.Sprintf("/x%d/t%d", c.number, i)
				c.write(websocket.MessageText, fmt.Appendf(nil, `{"op":"advertise","topic":%q,"type":"std_msgs/String","latch":true}`, topic))
				c.write(websocket.MessageText, fmt.Appendf(nil, `{"op":"publish","topic":%q,"msg":{"data":%q}}`, topic, text))
			}
			<-ctx.Done()
		})
	}},
	{"50 × 16 fragments", false, func(ctx context.Context, s *process) {
		s.crowd(ctx, 50, func(c *client) {
			for i := 0; ctx.Err() == nil; i++ {
				c.write(websocket.MessageText, fmt.Appendf(nil, `{"op":"fragment","id":"f%d","data":"x","num":1,"total":500000}`, i%16))
				time.Sleep(5 * time.Millisecond)
			}
		})
	}},
	{"all names, then unknown ones", false, func(ctx context.Context, s *process) {
		s.crowd(ctx, 9, func(c *client) {
			for i := 0; ctx.Err() == nil && i < 1000; i++ {
				c.write(websocket.MessageText, fmt.Appendf(nil, `{"op":"advertise","topic":"/x%d/t%d","type":"std_msgs/String"}`, c.number, i))
			}
			for ctx.Err() == nil {
				c.write(websocket.MessageText, []byte(`{"op":"publish","topic":"/x0/tt/goal","msg":{}}`))
				time.Sleep(2 * time.Millisecond)
			}
		})
	}},
	{"3,000 idle keep-alives", false, func(ctx context.Context, s *process) {
		var open []net.Conn
		for len(open) < 3000 && ctx.Err() == nil {
			if c, err := net.Dial("tcp", s.address); err == nil {
				fmt.Fprintf(c, "GET /healthz HTTP/1.1\r\nHost: %s\r\n\r\n", s.address)
				open = append(open, c)
			}
			time.Sleep(500 * time.Microsecond)
		}
		<-ctx.Done()
		for _, c := range open {
			c.Close()
		}
	}},
	{"metrics flood", false, func(ctx context.Context, s *process) {
		var all sync.WaitGroup
		for range 16 {
			all.Go(func() {
				for ctx.Err() == nil {
					c, err := net.Dial("tcp", s.address)
					if err != nil {
						continue
					}
					_ = c.SetDeadline(time.Now().Add(2 * time.Second))
					fmt.Fprintf(c, "GET /metrics HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", s.address)
					_, _ = io.Copy(io.Discard, c)
					c.Close()
				}
			})
		}
		all.Wait()
	}},
	{"answers that are not read", false, func(ctx context.Context, s *process) {
		s.crowd(ctx, 20, func(c *client) {
			c.deaf = true
			for ctx.Err() == nil {
				c.write(websocket.MessageText, []byte(`{"op":"call_service","service":"/robot_info"}`))
				time.Sleep(5 * time.Millisecond)
			}
		})
	}},
}

// burners burns cores in processes of their own.
func burners(ctx context.Context, n int) {
	var all sync.WaitGroup
	for range n {
		all.Go(func() { _ = exec.CommandContext(ctx, os.Args[0], "-burn").Run() })
	}
	all.Wait()
}

// client is an attacker's connection.
type client struct {
	ctx    context.Context
	conn   *websocket.Conn
	number int
	deaf   bool // reads nothing
}

// crowd runs clients until the context ends; who is cut off comes back.
func (s *process) crowd(ctx context.Context, n int, do func(c *client)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			for ctx.Err() == nil {
				conn, _, err := websocket.Dial(ctx, "ws://"+s.address+"/rosbridge", nil)
				if err != nil {
					time.Sleep(50 * time.Millisecond)
					continue
				}
				conn.SetReadLimit(-1)
				inner, cancel := context.WithCancel(ctx)
				c := &client{ctx: inner, conn: conn, number: i}
				go func() {
					time.Sleep(100 * time.Millisecond) // do decides whether it reads
					for !c.deaf {
						if _, _, err := conn.Read(inner); err != nil {
							cancel()
							return
						}
					}
				}()
				do(c)
				cancel()
				conn.CloseNow()
			}
		})
	}
	all.Wait()
}

func (c *client) write(kind websocket.MessageType, data []byte) bool {
	return c.conn.Write(c.ctx, kind, data) == nil
}

// loop sends the same frame until the connection ends.
func (c *client) loop(kind websocket.MessageType, data []byte) {
	for c.ctx.Err() == nil && c.write(kind, data) {
	}
}

// emptyMaps is a publish in CBOR whose message is a list of empty maps.
func emptyMaps(size int) []byte {
	var b bytes.Buffer
	b.WriteString("\xa3\x62op\x67publish\x65topic\x69/joints_x\x63msg\x9a")
	b.Write([]byte{byte(size >> 24), byte(size >> 16), byte(size >> 8), byte(size)})
	b.Write(bytes.Repeat([]byte{0xa0}, size))
	return b.Bytes()
}

// manyKeys is a call whose request has keys that no service knows.
func manyKeys(size int) []byte {
	b := []byte(`{"op":"call_service","service":"/robot_info","args":{"k":0`)
	for i := 0; len(b) < size-20; i++ {
		b = fmt.Appendf(b, `,"k%06d":0`, i)
	}
	return append(b, "}}"...)
}

// longGoal is a goal with very many points.
func longGoal(size int) []byte {
	b := []byte(`{"op":"send_action_goal","action":"/follow_joint_trajectory","action_type":"control_msgs/action/FollowJointTrajectory","args":{"trajectory":{"joint_names":["joint52"],"points":[{}`)
	for i := 1; len(b) < size-100; i++ {
		b = fmt.Appendf(b, `,{"positions":[0.%06d],"time_from_start":{"sec":%d,"nanosec":0}}`, i%1000000, i)
	}
	return append(b, "]}}}"...)
}
