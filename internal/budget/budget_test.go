package budget

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

// small is a budget in which every limit is reached soon.
var small = Table{
	Frames:   {Name: "frames", Unit: "bytes", Sure: 10, Client: 60, All: 100},
	Messages: {Name: "messages", Unit: "bytes", Sure: 7, Client: 50, All: 50},
	Latched:  {Name: "latched", Unit: "bytes", Sure: 20, Client: 20, All: 0},
	Streams:  {Name: "streams", Unit: "bytes", Sure: 5, Client: 200, All: 90},
	Answers:  {Name: "answers", Unit: "bytes", Sure: 1, Client: 30, All: 70},
	Names:    {Name: "names", Unit: "names", Sure: 2, Client: 8, All: 16},
}

// TestRandomUseStaysWithinEveryLimit takes, gives back and disconnects at random: no limit
// is ever exceeded, a refusal is never wrong, what is sure is never refused, and in the end
// everything has come back.
func TestRandomUseStaysWithinEveryLimit(t *testing.T) {
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 15))
		l := New(small)
		clients := map[*Account]*[numKinds]int64{}
		var left []orphan
		for range 3000 {
			if len(left) > 0 && random.IntN(4) == 0 { // a goal of a client that has gone ends
				left[0].Give(Messages, left[0].n)
				left = left[1:]
			}
			switch c := random.IntN(20); {
			case c == 0 || len(clients) == 0:
				if len(clients) < 12 {
					clients[l.Open()] = &[numKinds]int64{}
				}
			case c == 1:
				a, held := pick(random, clients)
				a.Close()
				left = append(left, orphan{a, held[Messages]})
				delete(clients, a)
				if err := a.Take(Frames, 1); err == nil {
					t.Fatal("a closed account took something")
				}
				a.Give(Frames, 7) // late: it has come back already
			case c < 12:
				a, held := pick(random, clients)
				k, n := Kind(random.IntN(int(numKinds))), random.Int64N(40)
				r := rule(random.IntN(3))
				err := a.take(k, n, r)
				row := small[k]
				fits := held[k]+n <= row.Client || r == alone && held[k] == 0 || r == uncapped
				beyond := max(held[k]+n-row.Sure, 0) - max(held[k]-row.Sure, 0)
				room := beyond == 0 || shared(clients, left, k)+beyond <= row.All
				if (err == nil) != (fits && room) {
					t.Fatalf("%s: %d more beside %d: %v; fits %v, room %v", row.Name, n, held[k], err, fits, room)
				}
				if err == nil {
					held[k] += n
				} else if held[k]+n <= row.Sure {
					t.Fatalf("%s: %d of what is sure were refused: %v", row.Name, n, err)
				}
			default:
				a, held := pick(random, clients)
				k := Kind(random.IntN(int(numKinds)))
				n := random.Int64N(held[k] + 1)
				a.Give(k, n)
				held[k] -= n
			}
			check(t, l, clients, left)
		}
		for a, held := range clients {
			a.Close()
			a.Close()
			left = append(left, orphan{a, held[Messages]})
		}
		for _, o := range left {
			o.Give(Messages, o.n)
		}
		for _, line := range l.Lines() {
			if line.Held != 0 {
				t.Errorf("%s: %d %s never came back", line.Name, line.Held, line.Unit)
			}
		}
		if l.clients != 0 || l.shared != [numKinds]int64{} {
			t.Errorf("%d clients, %v shared at the end", l.clients, l.shared)
		}
	}
}

func pick(random *rand.Rand, clients map[*Account]*[numKinds]int64) (*Account, *[numKinds]int64) {
	skip := random.IntN(len(clients))
	for a, held := range clients {
		if skip--; skip < 0 {
			return a, held
		}
	}
	panic("no client")
}

// orphan is what runs on of a client that has gone.
type orphan struct {
	*Account
	n int64
}

func shared(clients map[*Account]*[numKinds]int64, left []orphan, k Kind) (sum int64) {
	if k == Messages {
		for _, o := range left {
			sum += o.n
		}
	}
	for _, held := range clients {
		sum += max(held[k]-small[k].Sure, 0)
	}
	return sum
}

// check compares the ledger with an independent count.
func check(t *testing.T, l *Ledger, clients map[*Account]*[numKinds]int64, left []orphan) {
	t.Helper()
	for k, line := range l.Lines() {
		var sum, most int64 = 0, line.All + int64(len(clients))*line.Sure
		if Kind(k) == Messages {
			for _, o := range left {
				sum += o.n
				most += line.Sure
			}
		}
		for a, held := range clients {
			if got := a.Held(Kind(k)); got != held[k] {
				t.Fatalf("%s: a client holds %d, want %d", line.Name, got, held[k])
			}
			sum += held[k]
		}
		if line.Held != sum || line.Peak < sum {
			t.Fatalf("%s: %d held, want %d; peak %d", line.Name, line.Held, sum, line.Peak)
		}
		if sum > most {
			t.Fatalf("%s: %d held by %d clients, at most %d may be", line.Name, sum, len(clients), most)
		}
	}
}

func TestManyAtOnce(t *testing.T) {
	l := New(small)
	var all sync.WaitGroup
	for seed := range uint64(8) {
		all.Go(func() {
			random := rand.New(rand.NewPCG(seed, 1))
			for range 50 {
				a := l.Open()
				for range 40 {
					k, n := Kind(random.IntN(int(numKinds))), random.Int64N(30)
					if a.Take(k, n) == nil && random.IntN(2) == 0 {
						a.Give(k, n)
					}
				}
				n := a.Held(Messages)
				a.Close()
				a.Give(Messages, n)
			}
		})
	}
	all.Wait()
	for _, line := range l.Lines() {
		if line.Held != 0 || line.Peak > line.All+8*line.Sure {
			t.Errorf("%s: %d held at the end, %d at most", line.Name, line.Held, line.Peak)
		}
	}
}

func TestARefusalNamesWhatAskedHeldAndLimit(t *testing.T) {
	l := New(small)
	a, b := l.Open(), l.Open()
	if err := errors.Join(a.Take(Frames, 60), b.Take(Frames, 50)); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		err   error
		want  string
		limit int64
	}{
		{a.Take(Frames, 3), "frames: 3 bytes more do not fit: this client holds 60, the limit is 60", 60},
		{l.Open().Take(Frames, 30), "frames: 30 bytes more do not fit: all clients together hold 90 beyond their sure shares of 10, the limit is 100", 100},
	} {
		var full *Error
		if !errors.As(tc.err, &full) || tc.err.Error() != tc.want || full.Limit() != tc.limit {
			t.Errorf("%v, want %s", tc.err, tc.want)
		}
	}
}

// TestStandardFits: what is sure is less than what one may hold, which is less than what
// all may hold, and docs/budgets.md states all of it.
func TestStandardFits(t *testing.T) {
	for _, r := range Standard {
		if r.Name == "" || r.Then == "" || r.Sure > r.Client || r.Client > r.All {
			t.Errorf("%+v", r)
		}
	}
	doc, err := os.ReadFile("../../docs/budgets.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range Standard {
		row := "\n| " + r.Name + " |"
		_, text, found := strings.Cut(string(doc), row)
		text, _, _ = strings.Cut(text, "\n")
		cells := strings.Split(text, "|")
		if !found || len(cells) < 5 || !strings.Contains(cells[1], shown(r, r.Sure)) || !strings.Contains(cells[2], shown(r, r.Client)) || !strings.Contains(cells[3], shown(r, r.All)) {
			t.Errorf("docs/budgets.md, %s: %s", r.Name, text)
		}
	}
	if whole := fmt.Sprintf("at most %d MiB with 100 clients", Standard.Bytes(100)>>20+1); !strings.Contains(string(doc), whole) {
		t.Errorf("docs/budgets.md does not say: %s", whole)
	}
	var server *Account
	if err := server.Take(Names, 1<<40); err != nil || server.Held(Names) != 0 || strings.Contains(Standard[Names].Unit, "bytes") {
		t.Error("the server itself is bounded")
	}
	server.Give(Names, 5)
	server.Close()
}

// shown writes a number as the docs do.
func shown(r Row, n int64) string {
	switch {
	case r.Unit != "bytes" && n >= 1000:
		return fmt.Sprintf("%d,%03d", n/1000, n%1000)
	case r.Unit != "bytes":
		return fmt.Sprint(n)
	case n >= 1<<20:
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d KiB", n>>10)
}

func TestTurnsAreTakenInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := NewTurns(1)
		turns.Take(t.Context())
		var order []int
		var all sync.WaitGroup
		for i := range 5 {
			all.Go(func() {
				if turns.Take(t.Context()) {
					order = append(order, i)
					turns.Done()
				}
			})
			synctest.Wait()
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if turns.Take(gone) || len(turns.free) != 1 {
			t.Error("a turn was taken twice")
		}
		turns.Done()
		all.Wait()
		for i, who := range order {
			if who != i || len(order) != 5 {
				t.Fatalf("order %v", order)
			}
		}
	})
}
