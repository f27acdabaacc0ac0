package graph

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"poise/action"
	"poise/msgs"
)

// Everything at once, from many goroutines, with components and clients that come
// and go: no race, no deadlock, and nothing left at the end. The handlers of calls
// and goals use the graph themselves.
func TestEverythingAtOnce(t *testing.T) {
	const seed, workers = 5, 8
	rounds := 400
	if testing.Short() {
		rounds = 80
	}
	g := New(Options{StatusPeriod: time.Millisecond})
	var wg sync.WaitGroup
	for w := range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			r := rand.New(rand.NewPCG(seed, uint64(w)))
			for range rounds {
				oneThing(g, r)
			}
		}()
	}
	wg.Wait()
	if left := g.Topics(); len(left) > 0 {
		t.Errorf("seed %d: topics are left: %+v", seed, left)
	}
	if left := g.Services(); len(left) > 0 {
		t.Errorf("seed %d: services are left: %+v", seed, left)
	}
	if left := g.Actions(); len(left) > 0 {
		t.Errorf("seed %d: actions are left: %+v", seed, left)
	}
	g.Close()
}

// hang is how long anything may take here, however busy the machine is.
const hang = 5 * time.Minute

func oneThing(g *Graph, r *rand.Rand) {
	name := fmt.Sprintf("x%d", r.IntN(3))
	ctx, cancel := context.WithTimeout(context.Background(), hang)
	defer cancel()
	switch r.IntN(7) {
	case 0, 1: // publish to all that listen
		if pub, err := Topic[msgs.Int32](g, name, TopicOptions{QoS: QoS{Latched: r.IntN(2) == 0}}); err == nil {
			for i := range 5 {
				pub.Publish(&msgs.Int32{Data: int32(i)})
			}
			pub.Close()
		}
	case 2: // listen for a while
		if sub, err := g.Subscribe(name, SubscribeOptions{QoS: QoS{Depth: 2}, Wake: func() {}}); err == nil {
			if m, _, ok := sub.Poll(); ok {
				_ = m.JSON(msgs.ROS1)
			}
			sub.Close()
		}
	case 3: // serve for a while
		if s, err := Service(g, name, func(ctx context.Context, q *msgs.SetBoolRequest) (*msgs.SetBoolResponse, error) {
			_ = g.Topics()
			return &msgs.SetBoolResponse{}, nil
		}, ServiceOptions{}); err == nil {
			_, _ = g.Call(ctx, name, &msgs.SetBoolRequest{})
			s.Close()
		}
	case 4:
		_, _ = g.CallJSON(ctx, name, "", []byte(`{"data":true}`))
		_ = g.Nodes()
	case 5: // perform goals for a while
		s, err := Action(g, "act/"+name, textHandler{
			Goal: func(h *textGoal) {
				_ = g.Actions()
				h.Accept()
				h.Feedback(&msgs.TextActionFeedback{})
				if r := h.Value().Command.Options; r != "stay" {
					h.Succeed(msgs.TextActionResult{}, "")
				}
			},
			Cancel: func(h *textGoal) { h.Withdraw(action.ClientCancel, msgs.TextActionResult{}, "") },
		}, ActionOptions{})
		if err == nil {
			sendOne(ctx, g, "act/"+name, r)
			s.Close()
		}
	case 6:
		sendOne(ctx, g, "act/"+name, r)
	}
}

// sendOne sends a goal in the manner of ROS 1 or ROS 2 and sees it end.
func sendOne(ctx context.Context, g *Graph, name string, r *rand.Rand) {
	goal := msgs.TextActionGoal{}
	if r.IntN(2) == 0 {
		goal.Command.Options = "stay"
	}
	if r.IntN(2) == 0 {
		a, err := g.Advertise(name+"/goal", "text_msgs/TextActionActionGoal", TopicOptions{})
		if err == nil {
			_ = a.Publish(&msgs.ActionGoal[msgs.TextActionGoal]{Goal: goal})
			a.Close()
		}
		_, _ = g.CancelGoals(name, "", "", 0)
		return
	}
	c, err := g.SendGoal(name, &goal, GoalOptions{})
	if err != nil {
		return
	}
	c.Cancel()
	if _, err := c.Result(ctx); err != nil {
		panic("a goal was taken and never ended: " + err.Error())
	}
	c.Close()
}
