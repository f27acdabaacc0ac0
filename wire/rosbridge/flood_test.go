package rosbridge_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"poise/wire/rosbridge"
)

// raw connects without a WebSocket library: what it is sent is not read.
func (b *bed) raw() (send func([]byte)) {
	b.t.Helper()
	c, err := b.connect(b.t.Context(), "tcp", b.address)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { c.Close() })
	fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n", b.address)
	return func(data []byte) {
		if _, err := c.Write(data); err != nil {
			b.t.Error(err)
		}
	}
}

// short is a frame of less than 126 bytes.
func short(first byte, text string) []byte {
	return append([]byte{first, 0x80 | byte(len(text)), 0, 0, 0, 0}, text...)
}

// TestAFloodOnTheSameSocketDoesNotDelayItsStop: the client reads nothing, so that answers,
// statuses and pongs cannot be sent; its stop is obeyed without waiting, and once.
func TestAFloodOnTheSameSocketDoesNotDelayItsStop(t *testing.T) {
	for name, flood := range map[string][]byte{
		"200,000 pings":       bytes.Repeat(short(0x89, ""), 200000),
		"200,000 long pings":  bytes.Repeat(short(0x89, strings.Repeat("p", 100)), 200000),
		"100,000 unknown ops": bytes.Repeat(short(0x81, `{"op":"xx"}`), 100000),
		"20,000 calls":        bytes.Repeat(short(0x81, `{"op":"call_service","id":"g","service":"/set"}`), 20000),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				line, c := lines()
				b := newStepped(t, rosbridge.Config{Stop: line})
				send := b.raw()
				began := time.Now()
				send(append(flood, short(0x81, `{"op":"call_service","service":"/stop"}`)...))
				synctest.Wait()
				if got := c.take(); len(got) != 1 || time.Since(began) != 0 {
					t.Errorf("after %v: stopped by %v", time.Since(began), got)
				}
				time.Sleep(time.Minute)
				if got := c.take(); len(got) != 0 {
					t.Errorf("stopped again by %v", got)
				}
			})
		})
	}
}

// TestLongMessagesBeforeAStopDoNotDelayIt: 240 MB are read as fast as they come; those that
// are not kept are refused, and the stop is obeyed in no time.
func TestLongMessagesBeforeAStopDoNotDelayIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		line, c := lines()
		b := newStepped(t, rosbridge.Config{Stop: line})
		p := b.dial()
		p.conn.SetReadLimit(-1)
		began := time.Now()
		refused := make(chan int, 1)
		go func() {
			n := 0
			for {
				_, text, err := p.conn.Read(t.Context())
				if err != nil {
					refused <- n
					return
				}
				if bytes.Contains(text, []byte(`"level":"error"`)) && (bytes.Contains(text, []byte("long messages")) || bytes.Contains(text, []byte("frames"))) {
					n++
				}
			}
		}()
		long := []byte(`{"op":"publish","topic":"/x","msg":{"data":"` + strings.Repeat("a", 6_000_000) + `"}}`)
		for range 40 {
			if err := p.conn.Write(t.Context(), websocket.MessageText, long); err != nil {
				t.Fatal(err)
			}
		}
		p.send(`{"op":"call_service","service":"/stop"}`)
		synctest.Wait()
		if got, took := c.take(), time.Since(began); len(got) != 1 || took > 10*time.Millisecond {
			t.Errorf("after %v: stopped by %v", took, got)
		}
		time.Sleep(time.Minute)
		p.conn.CloseNow()
		if n := <-refused; n < 20 || n > 39 {
			t.Errorf("%d of 40 messages were refused", n)
		}
	})
}

// TestPingsOfAnHonestClientAreAnswered, also many at a time.
func TestPingsOfAnHonestClientAreAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newStepped(t, rosbridge.Config{})
		p := b.dial()
		go p.conn.Read(t.Context())
		for range 10 {
			for range 20 {
				if err := p.conn.Ping(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(time.Second)
		}
	})
}

// TestClientsCannotServeAStop: names that end in stop are those of robots, also where there
// is no such robot.
func TestClientsCannotServeAStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newStepped(t, rosbridge.Config{})
		p := b.dial()
		for _, name := range []string{"real/stop", "/stop", "/a/b/stop", "/camera/stop/"} {
			p.send(fmt.Sprintf(`{"op":"advertise_service","id":"a","service":%q,"type":"std_srvs/Trigger"}`, name))
			p.expect(fmt.Sprintf(`{"op":"status","level":"error","id":"a","msg":"~advertise_service: the service %s is reserved"}`, strings.ReplaceAll(fmt.Sprintf("%q", name), `"`, `\"`)))
		}
		p.send(`{"op":"advertise_service","service":"/my/stopwatch","type":"std_srvs/Trigger"}`)
		p.sync()
		if _, ok := b.g.ServiceInfo("/my/stopwatch"); !ok {
			t.Error("another name was refused too")
		}
	})
}
