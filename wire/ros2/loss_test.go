package ros2

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"poise/graph"
	"poise/msgs"
	"poise/msgs/registry"
	"poise/rtps/rtpstest"
)

// TestFirstCallsAreAnswered: clients call a service the moment they see it, as those on Fast DDS
// do, while the server has yet to hear of their writer and of the reader of the answer, and a
// fifth of all datagrams is lost or overtaken. Every call is answered once.
func TestFirstCallsAreAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := rtpstest.New(7)
		network.Loss, network.Jitter = 0.2, 3*time.Millisecond
		g := graph.New(graph.Options{})
		defer g.Close()
		const clients = 2
		services := 10
		if testing.Short() {
			services = 3
		}
		var mu sync.Mutex
		carried := map[string]int{}
		typ, _, err := registry.ServiceNamed("std_srvs/srv/SetBool")
		if err != nil {
			t.Fatal(err)
		}
		for i := range services {
			name := fmt.Sprintf("/set_%d", i)
			if _, err := graph.Service(g, name, func(ctx context.Context, _ *msgs.SetBoolRequest) (*msgs.SetBoolResponse, error) {
				mu.Lock()
				defer mu.Unlock()
				carried[name+graph.Caller(ctx)]++
				return &msgs.SetBoolResponse{Success: true}, nil
			}, graph.ServiceOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		n, err := New(g, on(network, 0))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- n.Run(ctx) }()
		for i := range clients {
			c := newClient(t, network, i+1, g)
			until(t, "the client knows every service", func() bool {
				known := 0
				for _, o := range c.p.Others() {
					for _, r := range o.Readers {
						if strings.HasPrefix(r.Topic, "rq/set_") {
							known++
						}
					}
				}
				return known == services
			})
			for s := range services {
				k := c.caller(fmt.Sprintf("/set_%d", s), typ.Request, typ.Response)
				if k.w.Readers() == 0 {
					t.Fatalf("service %d is not seen at once", s)
				}
				within, done := context.WithTimeout(ctx, 30*time.Second)
				var answer msgs.SetBoolResponse
				if err := k.call(within, &msgs.SetBoolRequest{Data: true}, &answer); err != nil || !answer.Success {
					t.Errorf("client %d, service %d: %v %+v", i, s, err, answer)
				}
				done()
			}
		}
		if len(carried) != services*clients {
			t.Errorf("%d calls were carried out, not %d", len(carried), services*clients)
		}
		for call, count := range carried {
			if count != 1 {
				t.Errorf("%s was carried out %d times", call, count)
			}
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
