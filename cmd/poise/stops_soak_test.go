package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"

	"poise/msgs"
	"poise/wire/rosbridge/client"
)

// mixed is a load of clients that do everything at random while another client stops the robot.
type mixed struct {
	r      *running
	ctx    context.Context
	end    context.CancelFunc
	all    sync.WaitGroup
	joints msgs.JointState

	goals, results atomic.Int64
}

// TestSoakStops stops the robot at random instants of a random mixed load, over HTTP and
// over rosbridge, by every category: no stop is refused, every goal has its result, and the
// recording replays to the same hashes. In soak ten thousand stops.
func TestSoakStops(t *testing.T) {
	t.Parallel()
	n := 30
	if os.Getenv("POISE_SOAK") != "" {
		n = soakSetting("POISE_SOAK_STOPS", 10000)
	}
	const seed = 15
	random := rand.New(rand.NewPCG(seed, 0))
	file := filepath.Join(t.TempDir(), "flight.rec")
	r := serveIt(t, "--record", file, "--period", "0.005")
	m := &mixed{r: r}
	m.ctx, m.end = context.WithCancel(t.Context())
	defer m.end()
	operator := m.dial(m.ctx)
	defer operator.Close()
	m.look(operator)
	for i := range 4 {
		own := rand.New(rand.NewPCG(seed, uint64(i)+1))
		m.all.Go(func() { m.sendGoals(own) })
	}
	m.all.Go(func() { m.callServices(rand.New(rand.NewPCG(seed, 100))) })
	m.all.Go(func() { m.sendJunk(rand.New(rand.NewPCG(seed, 101))) })

	var byPost, byCall []time.Duration
	for i := range n {
		time.Sleep(time.Duration(random.IntN(60)) * time.Millisecond)
		category := []uint8{2, 2, 2, 1, 0}[random.IntN(5)]
		began := time.Now()
		if i%2 == 0 {
			m.stopByPost(category)
			byPost = append(byPost, time.Since(began))
		} else {
			m.stopByCall(operator, category)
			byCall = append(byCall, time.Since(began))
		}
		m.goOn(operator)
	}
	m.end()
	m.all.Wait()
	if sent, ended := m.goals.Load(), m.results.Load(); sent != ended || sent == 0 {
		t.Errorf("%d goals were sent and %d results came", sent, ended)
	}
	t.Logf("seed %d: %d stops, %d goals", seed, n, m.goals.Load())
	t.Logf("POST /stop until taken: %s", histogram(byPost))
	t.Logf("call of stop until the robot stands: %s", histogram(byCall))
	r.stop(syscall.SIGTERM)
	if a := replayed(t, file); !a.Equal || a.Stops < 1 {
		t.Errorf("%d stops in the recording, equal is %v", a.Stops, a.Equal)
	}
}

func (m *mixed) dial(ctx context.Context) *client.Client {
	m.r.t.Helper()
	for {
		c, err := client.Dial(ctx, "ws://"+m.r.address+"/rosbridge", client.Options{})
		if err == nil {
			return c
		}
		if ctx.Err() != nil {
			m.r.t.Fatal(err)
		}
	}
}

// look reads where the joints are.
func (m *mixed) look(c *client.Client) {
	m.r.t.Helper()
	s, err := c.Subscribe("/joint_states", "", client.SubscribeOptions{})
	if err != nil {
		m.r.t.Fatal(err)
	}
	defer s.Close()
	text, _, err := s.Next(m.ctx)
	if err == nil {
		err = client.Read(text, &m.joints)
	}
	if err != nil {
		m.r.t.Fatal(err)
	}
}

// sendGoals sends one goal after the other and waits for its result; some are cancelled,
// and some are long and cannot be performed.
func (m *mixed) sendGoals(random *rand.Rand) {
	c := m.dial(context.Background())
	defer c.Close()
	for m.ctx.Err() == nil {
		joint := random.IntN(len(m.joints.Name))
		points := 1
		name := m.joints.Name[joint]
		if random.IntN(20) == 0 {
			points, name = 5000, "no_such_joint"
		}
		goal := msgs.FollowJointTrajectoryGoal{Trajectory: msgs.JointTrajectory{JointNames: []string{name}}}
		for i := range points {
			goal.Trajectory.Points = append(goal.Trajectory.Points, msgs.JointTrajectoryPoint{
				Positions: []float64{m.joints.Position[joint] + 0.02*random.Float64()}, TimeFromStart: msgs.DurationFromSeconds(0.2 + 0.3*random.Float64() + float64(i))})
		}
		m.goals.Add(1)
		g, err := c.SendGoal(context.Background(), "/follow_joint_trajectory", "control_msgs/action/FollowJointTrajectory", client.Text(&goal, msgs.ROS2))
		if err != nil {
			m.r.t.Errorf("a goal: %v", err)
			return
		}
		if random.IntN(3) == 0 {
			time.Sleep(time.Duration(random.IntN(100)) * time.Millisecond)
			_ = g.Cancel(context.Background())
		}
		for done := false; !done; {
			u, err := g.Next(context.Background())
			if err != nil {
				m.r.t.Errorf("no result: %v", err)
				return
			}
			done = u.Done
		}
		m.results.Add(1)
	}
}

// callServices asks for this and that; what it is told does not matter here.
func (m *mixed) callServices(random *rand.Rand) {
	c := m.dial(context.Background())
	defer c.Close()
	for m.ctx.Err() == nil {
		for _, name := range []string{"/get_state", "/motions/list", "/pause", "/resume", "/robot_info"}[random.IntN(3):] {
			_, _ = c.Call(m.ctx, name, []byte(`{}`))
		}
		time.Sleep(time.Duration(random.IntN(20)) * time.Millisecond)
	}
	_, _ = c.Call(context.Background(), "/resume", []byte(`{}`))
}

// sendJunk sends frames that cannot be read, on connections that break.
func (m *mixed) sendJunk(random *rand.Rand) {
	junk := []string{`{`, `[]`, `{"op":"publish","topic":"/joints_ref","msg":{"name":[1]}}`, strings.Repeat("[", 20000),
		`{"op":"call_service","service":"/motions/put","args":{"x":"` + strings.Repeat("y", 200000) + `"}}`}
	for m.ctx.Err() == nil {
		c, _, err := websocket.Dial(m.ctx, "ws://"+m.r.address+"/rosbridge", nil)
		if err != nil {
			continue
		}
		for range random.IntN(20) {
			_ = c.Write(m.ctx, websocket.MessageText, []byte(junk[random.IntN(len(junk))]))
		}
		_ = c.CloseNow()
		time.Sleep(time.Duration(random.IntN(20)) * time.Millisecond)
	}
}

// stopByPost stops over a new connection.
func (m *mixed) stopByPost(category uint8) {
	m.r.t.Helper()
	web := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := web.Post(fmt.Sprintf("http://%s/stop?category=%d", m.r.address, category), "", nil)
	if err != nil {
		m.r.t.Fatalf("a stop was refused: %v", err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK && res.StatusCode != http.StatusAccepted { // 202: a busy machine does not step the cycle
		m.r.t.Fatalf("a stop was refused: %s", res.Status)
	}
}

func (m *mixed) stopByCall(c *client.Client, category uint8) {
	m.r.t.Helper()
	text, err := c.Call(context.Background(), "/stop", fmt.Appendf(nil, `{"category":%d}`, category))
	if a := (answered{}); err != nil || json.Unmarshal(text, &a) != nil || !a.Success {
		m.r.t.Fatalf("a stop was refused: %v %s", err, text)
	}
}

// goOn makes the robot ready for more: it says no while the stop is under way.
func (m *mixed) goOn(c *client.Client) {
	m.r.t.Helper()
	for _, q := range []struct{ service, args string }{{"/reset", `{}`}, {"/set_power", `{"on":true}`}} {
		m.r.until(q.service+" is done", func() bool {
			text, err := c.Call(context.Background(), q.service, []byte(q.args))
			a := answered{}
			return err == nil && json.Unmarshal(text, &a) == nil && a.Success
		})
	}
}

// histogram says how long things took: quantiles, and counts in powers of two.
func histogram(all []time.Duration) string {
	slices.Sort(all)
	at := func(q float64) time.Duration { return all[int(q*float64(len(all)-1))].Round(10 * time.Microsecond) }
	var b strings.Builder
	fmt.Fprintf(&b, "%d, median %v, p90 %v, p99 %v, longest %v;", len(all), at(0.5), at(0.9), at(0.99), at(1))
	for limit := time.Millisecond / 2; len(all) > 0; limit *= 2 {
		n, _ := slices.BinarySearch(all, limit)
		if n > 0 {
			fmt.Fprintf(&b, " ≤ %v: %d", limit, n)
		}
		all = all[n:]
	}
	return b.String()
}
