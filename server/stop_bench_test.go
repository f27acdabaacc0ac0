package server

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"poise/server/config"
)

// BenchmarkStopBehindABigGoal sends a goal of 20,000 points of 38 joints, about 6 MB, and
// right behind it a stop on the same socket. What counts is the time from the last byte of
// the stop to the word that the cycle reads (ms-…), not that of the whole round.
func BenchmarkStopBehindABigGoal(b *testing.B) {
	c := config.Default()
	c.Listen, c.Motions = "127.0.0.1:0", b.TempDir()
	s, err := New(b.Context(), c, Options{})
	if err != nil {
		b.Fatal(err)
	}
	life, end := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(life) }()
	defer func() {
		end()
		<-ended
	}()
	names, point := make([]string, 38), `{"positions":[`+strings.TrimSuffix(strings.Repeat("0.125,", 38), ",")+`],"time_from_start":{"sec":1,"nanosec":0}},`
	for i := range names {
		names[i] = fmt.Sprintf("%q", fmt.Sprintf("joint%d", i))
	}
	goal := []byte(`{"op":"send_action_goal","id":"big","action":"/follow_joint_trajectory","args":{"trajectory":{"joint_names":[` + strings.Join(names, ",") +
		`],"points":[` + strings.TrimSuffix(strings.Repeat(point, 20000), ",") + `]}}}`)
	line := s.robots[0].loop
	var took []time.Duration
	for b.Loop() {
		conn, _, err := websocket.Dial(b.Context(), "ws://"+s.Address()+"/rosbridge", nil)
		if err != nil {
			b.Fatal(err)
		}
		conn.SetReadLimit(-1)
		before := line.StopState().Asked
		if err := conn.Write(b.Context(), websocket.MessageText, goal); err != nil {
			b.Fatal(err)
		}
		if err := conn.Write(b.Context(), websocket.MessageText, []byte(`{"op":"call_service","id":"s","service":"/stop"}`)); err != nil {
			b.Fatal(err)
		}
		began := time.Now()
		for line.StopState().Asked == before {
			time.Sleep(20 * time.Microsecond)
		}
		took = append(took, time.Since(began))
		for answered := false; !answered; {
			_, text, err := conn.Read(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			answered = strings.Contains(string(text), "action_result")
		}
		conn.CloseNow()
	}
	slices.Sort(took)
	b.ReportMetric(took[0].Seconds()*1e3, "ms-shortest")
	b.ReportMetric(took[len(took)/2].Seconds()*1e3, "ms-median")
	b.ReportMetric(took[len(took)-1].Seconds()*1e3, "ms-longest")
}
