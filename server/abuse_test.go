package server_test

import (
	"bufio"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"poise/msgs"
	"poise/server/config"
)

// A crowd of clients that behave as badly as they can, on a server whose robot moves.
// What each abuse does to the wire alone is tested in wire/rosbridge; here the robot
// must not notice.

// stranger is a WebSocket without any manners of its own.
type stranger struct {
	net.Conn
	bot *bufio.Reader
}

func (b *bed) stranger() (*stranger, error) {
	c, err := b.net.Dial(b.ctx, "tcp", b.s.Address())
	if err != nil {
		return nil, err
	}
	key := base64.StdEncoding.EncodeToString(make([]byte, 16))
	fmt.Fprintf(c, "GET /rosbridge HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: %s\r\nSec-WebSocket-Version: 13\r\n\r\n", b.s.Address(), key)
	s := &stranger{c, bufio.NewReader(c)}
	for {
		line, err := s.bot.ReadString('\n')
		if err != nil {
			c.Close()
			return nil, err
		}
		if line == "\r\n" {
			return s, nil
		}
	}
}

// Kinds of frames.
const (
	textFrame   = 0x81
	binaryFrame = 0x82
)

// frame sends one frame, masked with zeros as a client may.
func (s *stranger) frame(kind byte, data []byte) error {
	head := []byte{kind, 0x80 | 127}
	head = binary.BigEndian.AppendUint64(head, uint64(len(data)))
	_, err := s.Write(append(append(head, 0, 0, 0, 0), data...))
	return err
}

// abuses are ways to behave badly; each ends by itself.
var abuses = map[string]func(b *bed, random *rand.Rand) error{
	"killed": func(b *bed, random *rand.Rand) error { // in the middle of anything
		s, err := b.stranger()
		if err != nil {
			return err
		}
		defer s.Close()
		for _, op := range []string{`{"op":"subscribe","topic":"/joint_states"}`, `{"op":"subscribe","topic":"/tf"}`,
			`{"op":"call_service","service":"/motions/list"}`,
			`{"op":"send_action_goal","action":"/move_action","action_type":"moveit_msgs/action/MoveGroup","args":{}}`}[:1+random.IntN(4)] {
			if err := s.frame(textFrame, []byte(op)); err != nil {
				return err
			}
		}
		time.Sleep(time.Duration(random.IntN(30)) * time.Millisecond)
		return nil // no goodbye
	},
	"half open": func(b *bed, random *rand.Rand) error { // says something and is never heard of again
		s, err := b.stranger()
		if err != nil {
			return err
		}
		defer s.Close()
		_, err = s.Write([]byte{textFrame, 0x80 | 126, 0x10})
		time.Sleep(100 * time.Millisecond)
		return err
	},
	"malformed": func(b *bed, random *rand.Rand) error {
		s, err := b.stranger()
		if err != nil {
			return err
		}
		defer s.Close()
		go func() { _, _ = io.Copy(io.Discard, s.bot) }() // complaints
		for _, text := range []string{`{`, `[]`, `{"op":7}`, `{"op":"fly"}`, `{"op":"publish","topic":"/joints_virtual_set","msg":{"name":[1]}}`,
			`{"op":"publish","topic":"/joints_ref","msg":{"nose":1}}`, strings.Repeat("[", 20000), "\xff\xfe"} {
			if err := s.frame(textFrame, []byte(text)); err != nil {
				return nil // the server has had enough
			}
		}
		noise := make([]byte, 300)
		for range 20 {
			for i := range noise {
				noise[i] = byte(random.Uint32())
			}
			if err := s.frame(binaryFrame, noise[:1+random.IntN(len(noise))]); err != nil {
				return nil
			}
		}
		return nil
	},
	"ten megabytes": func(b *bed, random *rand.Rand) error {
		s, err := b.stranger()
		if err != nil {
			return err
		}
		defer s.Close()
		go func() { _, _ = io.Copy(io.Discard, s.bot) }()
		_ = s.frame(textFrame, []byte(`{"op":"publish","topic":"/x","msg":{"data":"`+strings.Repeat("x", 10<<20)+`"}}`)) // it is cut off
		return nil
	},
	"slow reader": func(b *bed, random *rand.Rand) error {
		s, err := b.stranger()
		if err != nil {
			return err
		}
		defer s.Close()
		for _, topic := range []string{"/joint_states", "/tf", "/robot_status", "/robot_description"} {
			if err := s.frame(textFrame, fmt.Appendf(nil, `{"op":"subscribe","topic":%q}`, topic)); err != nil {
				return err
			}
		}
		time.Sleep(700 * time.Millisecond) // and reads nothing
		return nil
	},
	"ten thousand subscriptions": func(b *bed, random *rand.Rand) error {
		s, err := b.stranger()
		if err != nil {
			return err
		}
		defer s.Close()
		go func() { _, _ = io.Copy(io.Discard, s.bot) }()
		for i := range 10000 {
			if err := s.frame(textFrame, fmt.Appendf(nil, `{"op":"subscribe","id":"s%d","topic":"/joint_states"}`, i)); err != nil {
				return nil // it went too far
			}
		}
		return nil
	},
}

func TestTheRobotDoesNotNoticeAbuse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, func(c *config.Config) { c.Limits.MessageRate = 1e5 })
		states := b.subscribe("/joint_states")
		before := b.joints("/joint_states")
		g := b.send("/follow_joint_trajectory", followType, sweep(before, 3, map[string]float64{"joint52": 0.5}))
		b.begun(g)
		pause := 100 * time.Millisecond
		if testing.Short() {
			pause = time.Second
		}
		var crowd sync.WaitGroup
		over := make(chan struct{})
		for name, abuse := range abuses {
			crowd.Go(func() {
				random := rand.New(rand.NewPCG(9, uint64(len(name))))
				for {
					select {
					case <-over:
						return
					case <-time.After(pause):
					}
					if err := abuse(b, random); err != nil {
						t.Errorf("%s: %v", name, err)
						return
					}
				}
			})
		}
		u, feedback := b.end(g)
		close(over)
		crowd.Wait()
		b.want(u, succeeded)
		if feedback < 5 {
			t.Errorf("%d feedbacks in all", feedback)
		}
		// the motion itself was smooth all the way
		last := next[msgs.JointState](b, states)
		for range 20 {
			m := next[msgs.JointState](b, states)
			if jumped(&last, &m, "joint52") {
				t.Errorf("the speed jumped from %g to %g", velocity(&last, "joint52"), velocity(&m, "joint52"))
			}
			last = m
		}
		for _, f := range b.state().Faults {
			if f.Kind != "overrun" {
				t.Errorf("a fault: %+v", f)
			}
		}
		// and everything works as before
		if names := b.joints("/joint_states"); len(names) != len(before) {
			t.Errorf("%d joints, were %d", len(names), len(before))
		}
		b.until("all strangers are gone", func() bool {
			_, text := b.get("/metrics", nil)
			return strings.Contains(text, "poise_clients 1\n")
		})
	})
}
