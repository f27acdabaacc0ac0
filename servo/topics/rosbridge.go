package topics

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/coder/websocket"
)

// longest message that is read, bytes.
const longest = 1 << 20

// Socket carries the texts of a rosbridge.
type Socket interface {
	Send(ctx context.Context, text []byte) error
	Receive(ctx context.Context) ([]byte, error)
	Close() error
}

// webSocket is a Socket.
type webSocket struct{ c *websocket.Conn }

func (s webSocket) Send(ctx context.Context, text []byte) error {
	return s.c.Write(ctx, websocket.MessageText, text)
}

func (s webSocket) Receive(ctx context.Context) ([]byte, error) {
	_, text, err := s.c.Read(ctx)
	return text, err
}

func (s webSocket) Close() error { return s.c.CloseNow() }

// dial connects to a rosbridge.
func dial(ctx context.Context, s Settings) (Link, error) {
	c, _, err := websocket.Dial(ctx, s.URL, nil)
	if err != nil {
		return nil, err
	}
	c.SetReadLimit(longest)
	return Bridge(ctx, webSocket{c}, s)
}

// bridge is a Link by way of a rosbridge.
type bridge struct {
	Socket
	s Settings
}

const jointState = "sensor_msgs/JointState"

// Bridge makes a link of a socket of a rosbridge: it announces the commands and asks for the
// states.
func Bridge(ctx context.Context, socket Socket, s Settings) (Link, error) {
	for _, op := range []map[string]any{
		{"op": "advertise", "topic": s.Commands, "type": jointState},
		{"op": "subscribe", "topic": s.States, "type": jointState, "queue_length": 1},
	} {
		text, err := json.Marshal(op)
		if err == nil {
			err = socket.Send(ctx, text)
		}
		if err != nil {
			return nil, errors.Join(err, socket.Close())
		}
	}
	return &bridge{socket, s}, nil
}

// message is what a rosbridge publishes of joints; null is NaN.
type message struct {
	Op    string `json:"op"`
	Topic string `json:"topic"`
	Msg   struct {
		Name     []string   `json:"name"`
		Position []*float64 `json:"position"`
		Velocity []*float64 `json:"velocity"`
		Effort   []*float64 `json:"effort"`
	} `json:"msg"`
}

// Receive returns the next states; other messages are left out.
func (b *bridge) Receive(ctx context.Context) (*Joints, error) {
	for {
		text, err := b.Socket.Receive(ctx)
		if err != nil {
			return nil, err
		}
		var m message
		if json.Unmarshal(text, &m) == nil && m.Op == "publish" && strings.TrimPrefix(m.Topic, "/") == strings.TrimPrefix(b.s.States, "/") {
			return &Joints{Names: m.Msg.Name, Position: numbers(m.Msg.Position), Velocity: numbers(m.Msg.Velocity), Effort: numbers(m.Msg.Effort)}, nil
		}
	}
}

func numbers(list []*float64) []float64 {
	out := make([]float64, len(list))
	for i, v := range list {
		if out[i] = math.NaN(); v != nil {
			out[i] = *v
		}
	}
	return out
}

// Send publishes setpoints.
func (b *bridge) Send(ctx context.Context, c *Joints) error {
	text, err := json.Marshal(map[string]any{"op": "publish", "topic": b.s.Commands,
		"msg": map[string]any{"name": c.Names, "position": c.Position, "velocity": c.Velocity, "effort": []float64{}}})
	if err != nil {
		return fmt.Errorf("the setpoints have no text: %w", err)
	}
	return b.Socket.Send(ctx, text)
}
