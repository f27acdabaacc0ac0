package rosbridge_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"poise/graph"
	"poise/internal/budget"
	"poise/msgs"
	"poise/wire/rosbridge"
)

// Attacks on what the server holds, each as it was found. What they do to the cycle is
// measured by make bench (docs/benchmarks.md); here counters tell what was held.

// attacked is a server whose budget is looked at.
type attacked struct {
	*bed
	ledger *budget.Ledger
	before runtime.MemStats
}

func newAttacked(t *testing.T) *attacked {
	a := &attacked{ledger: budget.New(budget.Standard)}
	a.bed = newBed(t, rosbridge.Config{Budget: a.ledger})
	runtime.ReadMemStats(&a.before)
	return a
}

// crowd runs clients at the same time.
func (a *attacked) crowd(n int, client func(i int, p *peer)) {
	a.t.Helper()
	var all sync.WaitGroup
	for i := range n {
		p := a.dial()
		all.Go(func() { client(i, p) })
	}
	all.Wait()
}

// line returns how a kind stands.
func (a *attacked) line(k budget.Kind) budget.Line { return a.ledger.Lines()[k] }

// within checks that nothing was ever held beyond its budget.
func (a *attacked) within(clients int) {
	a.t.Helper()
	for _, l := range a.ledger.Lines() {
		if most := l.All + int64(clients)*l.Sure; l.Peak > most {
			a.t.Errorf("%s: %d %s were held, at most %d may be", l.Name, l.Peak, l.Unit, most)
		}
	}
}

// costs checks how much was allocated for each byte that was sent.
func (a *attacked) costs(sent, most int) {
	a.t.Helper()
	var after runtime.MemStats
	runtime.ReadMemStats(&after)
	if got := float64(after.TotalAlloc-a.before.TotalAlloc) / float64(sent); got > float64(most) {
		a.t.Errorf("%.1f bytes were allocated for each byte of the frames, at most %d may be", got, most)
	}
}

// ends checks that everything comes back once the clients are gone.
func (a *attacked) ends() {
	a.t.Helper()
	a.server.Close()
	for _, l := range a.ledger.Lines() {
		if l.Held != 0 {
			a.t.Errorf("%s: %d %s never came back", l.Name, l.Held, l.Unit)
		}
	}
}

// bigFrame is the size of the attackers' frames.
func bigFrame() int {
	if testing.Short() {
		return 1 << 20
	}
	return 3 << 20
}

func TestSixFramesOfEmptyMapsInCBOR(t *testing.T) {
	a := newAttacked(t)
	size := bigFrame()
	data := append([]byte{0xa4, 0x62, 'o', 'p', 0x6c}, "call_service"...)
	data = append(append(data, 0x62, 'i', 'd', 0x61, 'x', 0x67), "service"...)
	data = append(append(data, 0x64), "/set"...)
	data = append(append(data, 0x64), "args"...)
	data = append(data, 0x9a, byte(size>>24), byte(size>>16), byte(size>>8), byte(size))
	data = append(data, slices.Repeat([]byte{0xa0}, size)...)
	a.crowd(6, func(_ int, p *peer) {
		if err := p.conn.Write(t.Context(), websocket.MessageBinary, data); err != nil {
			t.Error(err)
			return
		}
		p.expect(`{"op":"service_response","id":"x","service":"/set","values":"*","result":false}`)
	})
	a.costs(6*len(data), 20) // it was 88, and all at once
	a.within(6)
	a.ends()
}

func TestJSONOf700000Keys(t *testing.T) {
	var keys strings.Builder
	for i := range bigFrame() / 12 {
		fmt.Fprintf(&keys, `,"k%06d":0`, i)
	}
	for name, text := range map[string]string{
		"of the frame":   `{"op":"call_service","id":"x","service":"/set"` + keys.String() + `}`,
		"of the request": `{"op":"call_service","id":"x","service":"/set","args":{"data":true` + keys.String() + `}}`,
	} {
		t.Run(name, func(t *testing.T) {
			a := newAttacked(t)
			a.crowd(2, func(_ int, p *peer) {
				p.send(text)
				p.expect(`{"op":"service_response","id":"x","service":"/set","values":"*","result":false}`)
			})
			a.costs(2*len(text), 10)
			a.within(2)
			a.ends()
		})
	}
}

func Test250LatchedTopics(t *testing.T) {
	a := newAttacked(t)
	a.ledger.Pace.Burst, a.ledger.Pace.BurstAll = math.Inf(1), math.Inf(1) // it is the room that is tried
	text := `"` + strings.Repeat("x", bigFrame()/8) + `"`
	const each = 50
	var kept, refused int
	var count sync.Mutex
	a.crowd(5, func(client int, p *peer) {
		for i := range each {
			topic := fmt.Sprintf("/c%d/t%d", client, i)
			p.send(fmt.Sprintf(`{"op":"advertise","topic":%q,"type":"std_msgs/String","latch":true}`, topic))
			p.send(fmt.Sprintf(`{"op":"publish","id":"p","topic":%q,"msg":{"data":%s}}`, topic, text))
			p.send(`{"op":"no_such_op","id":"sync"}`)
			got := string(p.read())
			count.Lock()
			if strings.Contains(got, "latched: ") {
				refused++
				got = string(p.read())
			} else {
				kept++
			}
			count.Unlock()
			if !strings.Contains(got, `"sync"`) {
				t.Errorf("%s", got)
			}
		}
	})
	l := a.line(budget.Latched)
	if kept+refused != 5*each || l.Held < int64(kept)*int64(len(text)-2) || l.Held > l.All+5*l.Sure {
		t.Errorf("%d kept and %d refused, %d bytes held", kept, refused, l.Held)
	}
	if !testing.Short() && refused == 0 {
		t.Error("nothing was refused")
	}
	a.within(5)
	a.ends()
}

func TestFiftyClientsWithSixteenFragments(t *testing.T) {
	a := newAttacked(t)
	sent := 0
	a.crowd(50, func(_ int, p *peer) {
		for i := range 16 {
			p.send(fmt.Sprintf(`{"op":"fragment","id":"f%d","data":"x","num":1,"total":500000}`, i))
		}
		p.sync()
	})
	sent = 50 * 16 * 70
	if held := a.line(budget.Frames).Held; held > int64(2*sent) {
		t.Errorf("%d bytes are held for %d that came", held, sent)
	}
	a.costs(sent, 200) // it was 120,000; connections are in it
	a.ends()
}

// TestFiveClientsTakeAllNames: others still have theirs, and unknown names are refused
// without looking through all of them each time.
func TestFiveClientsTakeAllNames(t *testing.T) {
	a := newAttacked(t)
	a.crowd(9, func(client int, p *peer) {
		for i := range 1000 {
			p.send(fmt.Sprintf(`{"op":"advertise","topic":"/c%d/t%d","type":"std_msgs/String"}`, client, i))
		}
		p.send(`{"op":"no_such_op","id":"sync"}`)
		for !strings.Contains(string(p.read()), `"sync"`) {
		}
	})
	if l := a.line(budget.Names); l.Held < l.All {
		t.Errorf("%d names are taken, want all %d", l.Held, l.All)
	}
	late := a.dial()
	for i := range 20 {
		late.send(fmt.Sprintf(`{"op":"advertise","topic":"/late%d","type":"std_msgs/String"}`, i))
	}
	late.send(`{"op":"subscribe","topic":"/chatter"}`)
	late.sync() // nothing was refused
	hints := 0
	for range 2000 {
		late.send(`{"op":"publish","id":"u","topic":"/late_0/goal","msg":{}}`)
		got := string(late.read())
		if !strings.Contains(got, "is not known here") && !strings.Contains(got, "too many messages per second") {
			t.Fatal(got)
		}
		hints += strings.Count(got, "did you mean")
	}
	// 50 at once and 10 a second, however long that took
	if hints > 50+10*120 {
		t.Errorf("%d hints", hints)
	}
	a.within(10)
	a.ends()
}

// TestClientsThatNeverFinishAMessage hold room that others need: they are cut off, and what
// they held comes back.
func TestClientsThatNeverFinishAMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ledger := budget.New(budget.Standard)
		b := newStepped(t, rosbridge.Config{Budget: ledger})
		for range 5 {
			p := b.dial()
			w, err := p.conn.Writer(t.Context(), websocket.MessageText)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.Write(bytes.Repeat([]byte("x"), 1<<20)); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if held := ledger.Lines()[budget.Frames].Held; held < 5<<20-5*4096 || held > 11<<20 {
			t.Errorf("%d bytes are held", held)
		}
		time.Sleep(2 * time.Minute)
		if held := ledger.Lines()[budget.Frames].Held; held != 0 {
			t.Errorf("%d bytes are still held", held)
		}
	})
}

// big serves an answer of about 40 MiB of text.
func (b *bed) big() {
	points := make([]msgs.JointTrajectoryPoint, 55000)
	for i := range points {
		points[i].Positions = make([]float64, 38)
		for k := range points[i].Positions {
			points[i].Positions[k] = float64(i*38+k) + 1.0/3
		}
	}
	answer := &msgs.GetMotionPlanResponse{}
	answer.MotionPlanResponse.Trajectory.JointTrajectory.Points = points
	must(graph.Service(b.g, "big", func(context.Context, *msgs.GetMotionPlanRequest) (*msgs.GetMotionPlanResponse, error) {
		return answer, nil
	}, graph.ServiceOptions{}))
}

const callBig = `{"op":"call_service","id":"b","service":"/big"}`

// TestAnAnswerOver32MiBReachesASlowReader who takes minutes for it, in parts too small to
// be waited for, while the server holds no text of it. Other questions are answered
// before and after.
func TestAnAnswerOver32MiBReachesASlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ledger := budget.New(budget.Standard)
		b := newStepped(t, rosbridge.Config{Budget: ledger})
		b.big()
		p := b.dial()
		began := time.Now()
		p.send(callBig)
		p.send(`{"op":"subscribe","topic":"/joint_states"}`)
		_, r, err := p.conn.Reader(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if first := readSlowly(t, r, ledger); len(first) < 32<<20 {
			_, r, err = p.conn.Reader(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			first = readSlowly(t, r, ledger)
			var got struct {
				ID     string
				Result bool
				Values msgs.GetMotionPlanResponse
			}
			if err := json.Unmarshal(first, &got); err != nil || len(first) < 32<<20 || !got.Result || len(got.Values.MotionPlanResponse.Trajectory.JointTrajectory.Points) != 55000 {
				t.Errorf("%d bytes, %v", len(first), err)
			}
		}
		if took := time.Since(began); took < 2*time.Minute {
			t.Errorf("the reader was not slow: %v", took)
		}
		p.settle()
		synctest.Wait() // what was written last is given back after it has come
		if held := ledger.Lines()[budget.Answers].Held; held != 0 {
			t.Errorf("%d bytes of answers are held", held)
		}
	})
}

// readSlowly reads a message 256 KiB a second.
func readSlowly(t *testing.T, r io.Reader, ledger *budget.Ledger) []byte {
	var text []byte
	buf := make([]byte, 256<<10)
	for {
		n, err := io.ReadFull(r, buf)
		text = append(text, buf[:n]...)
		if err != nil {
			return text
		}
		time.Sleep(time.Second)
		if held := ledger.Lines()[budget.Answers].Held; held > 24<<20 {
			t.Fatalf("%d bytes of answers are held", held)
		}
	}
}

// TestAReaderThatStopsIsCutOff, and only that one.
func TestAReaderThatStopsIsCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ledger := budget.New(budget.Standard)
		b := newStepped(t, rosbridge.Config{Budget: ledger})
		b.big()
		stuck, honest := b.dial(), b.dial()
		for range 5 {
			stuck.send(callBig)
		}
		honest.settle()
		synctest.Wait()
		// one answer of 17 MB waits beside the one that is written; the others were refused
		if l := ledger.Lines()[budget.Answers]; l.Held > 36<<20 || l.Held < 16<<20 {
			t.Errorf("%d bytes of answers are held", l.Held)
		}
		for range 20 { // the honest one answers pings as it reads
			time.Sleep(5 * time.Second)
			honest.settle()
		}
		if n := b.server.Stats().Clients; n != 1 {
			t.Errorf("%d clients are connected, want the honest one", n)
		}
		if held := ledger.Lines()[budget.Answers].Held; held != 0 {
			t.Errorf("%d bytes of answers are held", held)
		}
	})
}
