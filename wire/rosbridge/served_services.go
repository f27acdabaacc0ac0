package rosbridge

import (
	"context"
	"errors"
	"fmt"

	"poise/graph"
	"poise/msgs"
	"poise/msgs/registry"
	"poise/msgs/rosjson"
	"poise/wire/rosbridge/frame"
)

// advertiseService puts a service of the client into the graph.
func (c *served) advertiseService(m *frame.Message) error {
	switch {
	case m.Service == "":
		return missing("service")
	case m.Type == "":
		return fmt.Errorf("%s: %w", m.Service, missing("type"))
	case c.services[m.Service] != nil:
		return fmt.Errorf("the service %q is advertised by this client already", m.Service)
	}
	typ, form, err := registry.ServiceNamed(m.Type)
	if err != nil {
		return err
	}
	server, err := c.session.server.g.Serve(m.Service, m.Type, func(ctx context.Context, request any) (any, error) {
		return c.ask(ctx, m.Service, typ, form, request)
	}, graph.ServiceOptions{Node: c.session.client.Node, Account: c.session.account})
	if err != nil {
		return err
	}
	c.services[m.Service] = server
	return nil
}

// unadvertiseService removes a service.
func (c *served) unadvertiseService(m *frame.Message) error {
	s := c.services[m.Service]
	if s == nil {
		return fmt.Errorf("the service %q is not advertised by this client", m.Service)
	}
	delete(c.services, m.Service)
	s.Close()
	return nil
}

var errClientGone = errors.New("the client that serves it has gone")

// ask sends a call to the client and waits for its answer.
func (c *served) ask(ctx context.Context, name string, typ *registry.Service, form msgs.Form, request any) (any, error) {
	reply := make(chan *frame.Message, 1)
	c.mu.Lock()
	c.callSeq++
	id := fmt.Sprintf("service_request:%s:%d", name, c.callSeq)
	c.pending[id] = reply
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.pending, id)
	}()
	c.session.answer(&frame.Message{Op: frame.CallService, ID: frame.StringID(id), Service: name, Args: rosjson.Append(nil, request, form)}, 0)
	select {
	case m := <-reply:
		if m.Result != nil && !*m.Result {
			return nil, fmt.Errorf("the client says: %s", textOf(m.Values, "no"))
		}
		response := typ.Response.New()
		if len(m.Values) > 0 {
			if err := rosjson.Unmarshal(m.Values, response); err != nil {
				c.session.status(levelError, m.ID, fmt.Sprintf("service_response: %s: %v", name, err))
				return nil, fmt.Errorf("the client's answer: %w", err)
			}
		}
		return response, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-c.session.ctx.Done():
		return nil, errClientGone
	}
}

// serviceResponse takes the client's answer to a call.
func (c *served) serviceResponse(m *frame.Message) error {
	c.mu.Lock()
	reply := c.pending[frame.IDText(m.ID)]
	delete(c.pending, frame.IDText(m.ID))
	c.mu.Unlock()
	if reply == nil {
		return fmt.Errorf("no call waits for an answer with the id %q", frame.IDText(m.ID))
	}
	reply <- m
	return nil
}
