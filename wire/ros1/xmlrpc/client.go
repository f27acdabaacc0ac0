package xmlrpc

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// Client calls methods of others.
type Client struct{ http *http.Client }

// Bounds of a client.
const (
	maxAnswer = 64 << 20 // bytes; a parameter may be a robot with its meshes' names
	idle      = 30 * time.Second
)

// NewClient returns a client that connects by dial, nil for plain TCP. It uses no proxy
// and follows no redirection: who answers is who was called.
func NewClient(dial func(ctx context.Context, network, address string) (net.Conn, error)) *Client {
	if dial == nil {
		dial = (&net.Dialer{}).DialContext
	}
	return &Client{http: &http.Client{
		Transport:     &http.Transport{DialContext: dial, MaxIdleConns: 64, MaxIdleConnsPerHost: 4, IdleConnTimeout: idle, DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Call calls a method and returns its answer. It ends with ctx, whatever the other side
// does.
func (c *Client) Call(ctx context.Context, uri, method string, args ...any) (any, error) {
	body, err := appendCall(nil, method, args)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, uri, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	q.Header.Set("Content-Type", "text/xml")
	r, err := c.http.Do(q)
	if err != nil {
		return nil, err
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s %s: HTTP status %s", uri, method, r.Status)
	}
	data, err := io.ReadAll(io.LimitReader(r.Body, maxAnswer+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxAnswer {
		return nil, fmt.Errorf("%s %s: the answer is longer than %d bytes", uri, method, maxAnswer)
	}
	v, err := readAnswer(data)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", uri, method, err)
	}
	return v, nil
}

// Close closes connections that are kept.
func (c *Client) Close() { c.http.CloseIdleConnections() }
