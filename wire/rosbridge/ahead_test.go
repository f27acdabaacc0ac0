package rosbridge

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"poise/internal/budget"
	"poise/internal/rt"
	"poise/internal/stepped"
)

// rawFrame is a frame as a client sends it.
func rawFrame(first byte, payload []byte, key uint32) []byte {
	b := []byte{first}
	switch n := len(payload); {
	case n < 126:
		b = append(b, 0x80|byte(n))
	case n < 1<<16:
		b = binary.BigEndian.AppendUint16(append(b, 0x80|126), uint16(n))
	default:
		b = binary.BigEndian.AppendUint64(append(b, 0x80|127), uint64(n))
	}
	b = binary.BigEndian.AppendUint32(b, key)
	for i, c := range payload {
		b = append(b, c^byte(key>>(24-8*(i%4))))
	}
	return b
}

func textFrame(text string) []byte { return rawFrame(0x81, []byte(text), 0x01020304) }

// aheadOf runs a reader of an in-memory socket, whose other end is the client's.
func aheadOf(t *testing.T, stops func([]byte, bool) bool) (a *ahead, client net.Conn) {
	return aheadWith(t, budget.New(budget.Standard).Open(), stops)
}

// aheadWith is aheadOf a client with an account.
func aheadWith(t *testing.T, account *budget.Account, stops func([]byte, bool) bool) (a *ahead, client net.Conn) {
	t.Helper()
	var n stepped.Net
	l, err := n.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	come := make(chan net.Conn, 1)
	go func() {
		c, _ := l.Accept()
		come <- c
	}()
	client, err = n.Dial(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	a = newAhead(<-come, nil, account)
	a.stops = stops
	go a.run()
	t.Cleanup(func() {
		client.Close()
		a.Close()
		l.Close()
	})
	return a, client
}

const aStop = `{"op":"call_service","service":"/stop"}`

// TestAStopIsSeenBehindWhatIsNotReadYet: nothing of a flood of short messages has been read
// by the WebSocket, and the stop that follows it is obeyed.
func TestAStopIsSeenBehindWhatIsNotReadYet(t *testing.T) {
	for name, flood := range map[string][]byte{
		"200,000 pings":         bytes.Repeat(rawFrame(0x89, nil, 7), 200000),
		"2,000,000 pings":       bytes.Repeat(rawFrame(0x89, []byte("x"), 7), 2000000),
		"100,000 unknown ops":   bytes.Repeat(textFrame(`{"op":"xx"}`), 100000),
		"20,000 calls":          bytes.Repeat(textFrame(`{"op":"call_service","id":"g","service":"/get_state"}`), 20000),
		"a message in 9 frames": slices.Concat(rawFrame(0x01, []byte(`{"op":`), 1), bytes.Repeat(rawFrame(0x00, []byte(` `), 1), 7), rawFrame(0x80, []byte(`"xx"}`), 1)),
		"a long message":        textFrame(`{"op":"xx","a":"` + strings.Repeat("stop", 10000) + `"}`),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				seen := make(chan string, 10)
				_, client := aheadOf(t, func(data []byte, binary bool) bool { seen <- string(data); return true })
				go client.Write(append(flood, textFrame(aStop)...))
				synctest.Wait()
				select {
				case text := <-seen:
					if text != aStop {
						t.Errorf("%q was taken for a stop", text)
					}
				default:
					t.Error("the stop was not seen")
				}
			})
		})
	}
}

// TestReadingAheadChangesNothing: random frames, whole, in parts and broken, cut into random
// pieces, come out as they went in, but for pings beyond their rate; every short message with
// a stop is shown once, with its number.
func TestReadingAheadChangesNothing(t *testing.T) {
	for seed := range uint64(300) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			var in, want []byte
			var stops []uint64
			number, pings, inside := uint64(0), 0, false
			add := func(raw []byte, passed bool) {
				in = append(in, raw...)
				if passed {
					want = append(want, raw...)
				}
			}
			for range r.IntN(60) {
				size := []int{0, 1, 125, 126, 4096, 4097, 70000}[r.IntN(7)]
				payload, key := bytes.Repeat([]byte("y"), size), r.Uint32()
				switch kind := r.IntN(10); {
				case kind < 3:
					add(rawFrame(0x89, payload[:min(size, 125)], key), pings < pingRate*burstSeconds)
					pings++
				case kind == 3:
					add(rawFrame(0x8a, payload[:min(size, 125)], key), true)
				case kind == 4 && !inside:
					add(rawFrame(0x01, payload, key), true)
					inside = true
				case inside:
					last := byte(r.IntN(2) * 0x80)
					add(rawFrame(last, payload, key), true)
					if inside = last == 0; !inside {
						number++
					}
				case kind == 5:
					add(rawFrame(0x82, []byte("a stop"), key), true)
					stops = append(stops, number)
					number++
				default:
					add(rawFrame(0x81, payload, key), true)
					number++
				}
			}
			if r.IntN(4) == 0 { // then nothing is looked at any more
				add([]byte{0xc1, 0x05, 1, 2, 3, 4, 5}, true)
				add(rawFrame(0x81, []byte("a stop"), 5), true)
			}
			shown := 0
			a, client := aheadOf(t, func([]byte, bool) bool { shown++; return true })
			var written sync.WaitGroup
			written.Go(func() {
				for rest := in; len(rest) > 0; {
					n := min(len(rest), 1+r.IntN([]int{3, 9000}[r.IntN(2)]))
					if _, err := client.Write(rest[:n]); err != nil {
						t.Error(err)
					}
					rest = rest[n:]
					time.Sleep(time.Nanosecond) // it is read before more comes
				}
			})
			got := make([]byte, len(want))
			if n, err := io.ReadFull(a, got); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("seed %d: %d bytes of %d: %v", seed, n, len(want), err)
			}
			written.Wait()
			synctest.Wait()
			for i := range number + 1 {
				if a.taken(i) != slices.Contains(stops, i) {
					t.Errorf("seed %d: message %d: a stop %v", seed, i, slices.Contains(stops, i))
				}
			}
			if shown != len(stops) {
				t.Errorf("seed %d: %d stops, %d shown", seed, len(stops), shown)
			}
			if held := a.account.Held(budget.Frames); held != 0 {
				t.Errorf("seed %d: %d bytes are held", seed, held)
			}
		})
	}
}

// TestWhatIsReadAheadIsBounded: of messages that are not read only so much is taken off the
// socket, and it is charged to the client.
func TestWhatIsReadAheadIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, client := aheadOf(t, func([]byte, bool) bool { return false })
		go client.Write(bytes.Repeat(textFrame(`{"op":"xx"}`), 1<<20))
		time.Sleep(time.Second)
		a.mu.Lock()
		waits, held := len(a.data), a.held
		a.mu.Unlock()
		if waits < aheadMost/2 || waits > aheadMost+2*aheadChunk || held < int64(waits)-2*aheadLong || held != a.account.Held(budget.Frames) {
			t.Errorf("%d bytes wait, %d are charged", waits, held)
		}
		go func() { _, _ = io.Copy(io.Discard, a) }()
		time.Sleep(time.Second)
		if held := a.account.Held(budget.Frames); held != 0 {
			t.Errorf("%d bytes are still held", held)
		}
	})
}

// TestLongMessagesAreReadInTurns keeps all places for work busy with the work of other
// clients, 1 ms each: a long message comes a chunk per turn, a short one at once.
func TestLongMessagesAreReadInTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ledger := budget.New(budget.Standard)
		a, client := aheadWith(t, ledger.Open(), func([]byte, bool) bool { return false })
		others, enough := context.WithCancel(t.Context())
		var working sync.WaitGroup
		for range 2 * rt.Cores() {
			other := ledger.Open()
			working.Go(func() {
				for others.Err() == nil {
					other.Work(others, func(context.Context) { time.Sleep(time.Millisecond) })
				}
			})
		}
		synctest.Wait()
		receive := func(frame []byte) time.Duration {
			began := time.Now()
			go func() { _, _ = client.Write(frame) }()
			if _, err := io.ReadFull(a, make([]byte, len(frame))); err != nil {
				t.Fatal(err)
			}
			return time.Since(began)
		}
		if took := receive(textFrame("short")); took != 0 {
			t.Errorf("a short message took %v", took)
		}
		const chunks = 32
		if took := receive(textFrame(strings.Repeat("x", chunks*aheadChunk))); took < chunks/2*time.Millisecond {
			t.Errorf("a long message of %d chunks took %v beside work that never ends", chunks, took)
		}
		enough()
		working.Wait()
	})
}

// TestLongFramesBeyondThePaceAreCut: over TCP and in memory, whole and in parts. The beginning
// goes on, the rest is thrown away, what follows comes as it was sent, and a stop behind is seen.
func TestLongFramesBeyondThePaceAreCut(t *testing.T) {
	for _, name := range []string{"tcp", "in memory"} {
		t.Run(name, func(t *testing.T) {
			var client, server net.Conn
			if name == "tcp" {
				l, err := net.Listen("tcp", "127.0.0.1:0")
				if err != nil {
					t.Fatal(err)
				}
				defer l.Close()
				if client, err = net.Dial("tcp", l.Addr().String()); err != nil {
					t.Fatal(err)
				}
				if server, err = l.Accept(); err != nil {
					t.Fatal(err)
				}
			} else {
				client, server = net.Pipe()
			}
			defer client.Close()
			ledger := budget.New(budget.Standard)
			ledger.Pace.Burst = 0 // no long message may come
			a := newAhead(server, nil, ledger.Open())
			seen := make(chan string, 10)
			a.stops = func(data []byte, _ bool) bool { seen <- string(data); return true }
			go a.run()
			defer a.Close()

			long := bytes.Repeat([]byte("0123456789"), 600_000)
			cut := long[:aheadCut]
			send := slices.Concat(
				textFrame("first"), rawFrame(0x82, long, 0xa1b2c3d4), textFrame("between"),
				rawFrame(0x01, []byte("part "), 1), rawFrame(0x00, long, 0x01020304), rawFrame(0x80, long, 5),
				rawFrame(0x81, long[:budget.LongMessage], 9), textFrame(aStop), textFrame("last"))
			want := slices.Concat(
				textFrame("first"), rawFrame(0x82, cut, 0xa1b2c3d4), textFrame("between"),
				rawFrame(0x01, []byte("part "), 1), rawFrame(0x00, cut, 0x01020304), rawFrame(0x80, cut, 5),
				rawFrame(0x81, long[:budget.LongMessage], 9), textFrame(aStop), textFrame("last"))
			go client.Write(send)
			got := make([]byte, len(want))
			if _, err := io.ReadFull(a, got); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("what comes out differs: %v", err)
			}
			if text := <-seen; text != aStop {
				t.Errorf("%q was taken for a stop", text)
			}
			for number, was := range []bool{false, true, false, true, false, false, false} {
				if err := a.cut(uint64(number)); (err != nil) != was {
					t.Errorf("message %d: cut for %v", number, err)
				}
			}
			if !a.taken(5) || len(a.cuts) != 0 || len(a.done) != 0 {
				t.Errorf("the stop has another number, or %d cuts and %d stops are left", len(a.cuts), len(a.done))
			}
		})
	}
}
