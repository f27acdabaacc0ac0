package topics

import (
	"context"

	"github.com/coder/websocket"
)

// longest message that is read, bytes.
const longest = 1 << 20

// socket is a Link over WebSocket.
type socket struct{ c *websocket.Conn }

// dial connects to a rosbridge.
func dial(ctx context.Context, url string) (Link, error) {
	c, _, err := websocket.Dial(ctx, url, nil)
	if err != nil {
		return nil, err
	}
	c.SetReadLimit(longest)
	return socket{c}, nil
}

func (s socket) Send(ctx context.Context, text []byte) error {
	return s.c.Write(ctx, websocket.MessageText, text)
}

func (s socket) Receive(ctx context.Context) ([]byte, error) {
	_, text, err := s.c.Read(ctx)
	return text, err
}

func (s socket) Close() error { return s.c.CloseNow() }
