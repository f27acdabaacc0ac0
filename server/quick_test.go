package server_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/wire/rosbridge/client"
)

// TestAThousandQuickPlays: goals that replace each other as fast as a client can send
// them each end once, the last as it should, and nothing is left behind.
func TestAThousandQuickPlays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		plays := 1000
		if testing.Short() {
			plays = 100
		}
		b := start(t, nil).stock()
		goals := make([]*client.Goal, plays)
		for i := range goals {
			goals[i] = b.send("/play_motion", textType, play("twitch", "approach"))
			if i >= 50 { // the server takes so many of one client that are not over
				b.end(goals[i-50])
				goals[i-50] = nil
			}
		}
		ends := map[int]int{}
		for i, g := range goals {
			if g == nil {
				continue
			}
			u, _ := b.end(g)
			ends[u.Status]++
			if i == plays-1 {
				b.want(u, succeeded)
			}
		}
		if s := b.state(); len(s.Goals) > 0 || len(s.Owners) > 0 || len(s.Faults) > 0 && s.Faults[0].Kind != "overrun" {
			t.Errorf("left behind: %+v %+v %+v", s.Goals, s.Owners, s.Faults)
		}
		t.Logf("of the last fifty ended %v", ends)
	})
}

// TestCommandsInAnyOrder sends stop, reset, torque, pause, resume, speed, switching and
// goals, hundreds at random: every one is answered, with words if it is refused,
// and afterwards the robot can be brought back to work.
func TestCommandsInAnyOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rounds := 400
		if testing.Short() {
			rounds = 60
		}
		b := start(t, nil).stock()
		random := rand.New(rand.NewPCG(9, 2026))
		pick := func(of ...string) string { return of[random.IntN(len(of))] }
		var story []string
		for range rounds {
			service, request := "", any(nil)
			switch random.IntN(9) {
			case 0:
				service, request = "/stop", &poisemsgs.StopRequest{Category: uint8(random.IntN(3))}
			case 1:
				service, request = "/reset", &poisemsgs.ResetRequest{}
			case 2:
				service, request = "/set_torque", &poisemsgs.SetTorqueRequest{On: random.IntN(3) > 0, Resources: [][]string{nil, {"head"}, {"leg1", "tail"}}[random.IntN(3)]}
			case 3:
				service, request = "/pause", &poisemsgs.PauseRequest{Controller: pick("", "trajectory")}
			case 4:
				service, request = "/resume", &poisemsgs.ResumeRequest{Controller: pick("", "trajectory")}
			case 5:
				service, request = "/set_speed", &poisemsgs.SetSpeedRequest{Rate: float64(random.IntN(5)) / 2}
			case 6:
				service, request = "/switch_controllers", &poisemsgs.SwitchControllersRequest{Start: []string{pick("pose", "trajectory")}, Stop: []string{pick("hold", "step")}, Strict: random.IntN(2) == 0}
			case 7:
				service, request = "/set_power", &poisemsgs.SetPowerRequest{On: random.IntN(2) == 0}
			case 8:
				g := b.send("/play_motion", textType, play("twitch", "approach"))
				if random.IntN(2) == 0 {
					if err := g.Cancel(b.ctx); err != nil && b.ctx.Err() != nil {
						t.Fatal(err)
					}
				}
				story = append(story, "play")
				continue
			}
			a := b.ask(service, request)
			story = append(story, fmt.Sprintf("%s %+v: %v %s", service, request, a.Success, a.Message))
			if !a.Success && (a.Message == "" || len(a.Explanations) == 0) {
				t.Fatalf("a refusal without words after\n%s", strings.Join(story, "\n"))
			}
		}
		for _, step := range []struct {
			service string
			request any
		}{
			{"/stop", &poisemsgs.StopRequest{Category: 2}}, {"/reset", &poisemsgs.ResetRequest{}},
			{"/set_power", &poisemsgs.SetPowerRequest{On: true}}, {"/set_torque", &poisemsgs.SetTorqueRequest{On: true}},
			{"/switch_controllers", &poisemsgs.SwitchControllersRequest{Start: []string{"trajectory", "pose", "step"}}},
			{"/resume", &poisemsgs.ResumeRequest{}}, {"/set_speed", &poisemsgs.SetSpeedRequest{Rate: 1}},
		} {
			if a := b.ask(step.service, step.request); !a.Success {
				t.Fatalf("%s: %s after\n%s", step.service, a.Message, strings.Join(story, "\n"))
			}
		}
		for i := 0; len(b.state().Goals) > 0; i++ {
			if time.Sleep(50 * time.Millisecond); i > 100 {
				s := b.state()
				t.Fatalf("still there: %+v\nrate %g of %g, after\n%s", s.Goals, s.Rate, s.WantedRate, strings.Join(story, "\n"))
			}
		}
		u, _ := b.end(b.send("/play_motion", textType, &msgs.TextActionGoal{Command: msgs.TextCommand{Type: "motion", Command: "twitch", Options: "approach"}}))
		if u.Status != succeeded {
			t.Fatalf("it does not play any more: %d %s %s after\n%s", u.Status, u.Text, u.Result, strings.Join(story, "\n"))
		}
	})
}
