package server

import (
	"context"
	"encoding/json"
	"math"
	"testing"
	"testing/synctest"
	"time"

	stepping "poise/internal/stepped"
	"poise/msgs"
	"poise/server/config"
	"poise/wire/rosbridge/client"
)

// TestAnIdleServerRests: with nothing to do, and no client, the executive looks at its cycle
// when its status is due, and some times in between.
func TestAnIdleServerRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := config.Default()
		c.Listen, c.Motions, c.Record.Enabled, c.RealSim = "127.0.0.1:0", t.TempDir(), false, true
		network := &stepping.Net{}
		s, err := New(t.Context(), c, Options{Clock: stepping.Clock{}, Listen: network.Listen, HTTP: network.Client()})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- s.Run(ctx) }()
		<-s.Ready()
		time.Sleep(2 * time.Second)
		const long = 5
		looks := make([]uint64, len(s.robots))
		for i, bot := range s.robots {
			looks[i] = bot.exec.Pumps()
		}
		time.Sleep(long * time.Second)
		for i, bot := range s.robots {
			if n, most := int(bot.exec.Pumps()-looks[i]), long*61; n > most {
				t.Errorf("%s: %d looks in %d s, want at most %d", bot.name, n, long, most)
			}
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// TestOnlyWhatAPageReadsIsMade: a client that wants a message now and then gets it at that
// rate, as new as ever, and the server makes few more.
func TestOnlyWhatAPageReadsIsMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := config.Default()
		c.Listen, c.Motions, c.Record.Enabled = "127.0.0.1:0", t.TempDir(), false
		network := &stepping.Net{}
		s, err := New(t.Context(), c, Options{Clock: stepping.Clock{}, Listen: network.Listen, HTTP: network.Client()})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- s.Run(ctx) }()
		<-s.Ready()
		page, err := client.Dial(t.Context(), "ws://"+s.Address()+"/rosbridge", client.Options{HTTP: network.Client()})
		if err != nil {
			t.Fatal(err)
		}
		const long = 5
		for topic, every := range map[string]float64{"/joint_states": 0.05, "/tf": 0.05, "/balance_state": 0.1, "/robot_status": 0.15} {
			read, err := page.Subscribe(topic, "", client.SubscribeOptions{Throttle: every})
			if err != nil {
				t.Fatal(err)
			}
			for range 10 { // its beginning, and what is latched
				if _, _, err := read.Next(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			looks, heard, oldest := s.robots[0].exec.Pumps(), 0, time.Duration(0)
			for began := time.Now(); time.Since(began) < long*time.Second; heard++ {
				text, _, err := read.Next(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				var m struct {
					Header     msgs.Header `json:"header"`
					Transforms []struct {
						Header msgs.Header `json:"header"`
					} `json:"transforms"`
				}
				if err := json.Unmarshal(text, &m); err != nil {
					t.Fatal(err)
				}
				stamp := m.Header.Stamp
				if len(m.Transforms) > 0 {
					stamp = m.Transforms[0].Header.Stamp
				}
				oldest = max(oldest, time.Since(time.Unix(0, stamp.Nanos())))
			}
			if want := int(math.Round(long / every)); heard < want-1 || heard > want+2 {
				t.Errorf("%s: %d messages in %d s, want %d", topic, heard, long, want)
			}
			most := 12 * time.Millisecond
			if topic == "/robot_status" { // which comes at 20 Hz
				most = 52 * time.Millisecond
			}
			if oldest > most {
				t.Errorf("%s: a message is %v old", topic, oldest)
			}
			if n := int(s.robots[0].exec.Pumps() - looks); n > long*85 {
				t.Errorf("%s: %d looks in %d s, want at most %d", topic, n, long, long*85)
			}
			read.Close()
		}
		page.Close()
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
