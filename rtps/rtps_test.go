package rtps

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"poise/rtps/rtpstest"
)

// text is a sample whose bytes tell its number, of a length.
func text(i, size int) []byte {
	s := fmt.Sprintf("%08d", i)
	return []byte(s + strings.Repeat("x", max(size-len(s), 0)))
}

func inOrder(t *testing.T, got []string, from, count, size int) {
	t.Helper()
	if len(got) != count {
		t.Fatalf("%d samples came, not %d", len(got), count)
	}
	for i, s := range got {
		if s != string(text(from+i, size)) {
			t.Fatalf("sample %d is %.20q of %d bytes, not %.20q of %d", i, s, len(s), text(from+i, size), size)
		}
	}
}

func TestTwoParticipantsMeet(t *testing.T) {
	stepped(t, func(t *testing.T) {
		n := rtpstest.New(1)
		a, b := join(t, n, "127.0.0.1", 0), join(t, n, "127.0.0.1", 1)
		w := writerOf(t, a, QoS{Reliable: true, Depth: 10}, 0)
		r, in := readerOf(t, b, QoS{Reliable: true, Depth: 10})
		began := time.Now()
		await(t, "a match", 50*time.Millisecond, func() bool { return w.Matched() == 1 && r.Matched() == 1 })
		t.Logf("matched after %v", time.Since(began))
		for i := range 5 {
			if _, err := w.Write(text(i, 8), nil); err != nil {
				t.Fatal(err)
			}
		}
		await(t, "samples", time.Second, func() bool { return in.len() == 5 })
		inOrder(t, in.list(), 0, 5, 8)

		others := b.Others()
		if len(others) != 1 || len(others[0].Writers) != 1 || !others[0].Writers[0].Matched || others[0].Writers[0].Topic != "rt/chatter" {
			t.Errorf("b lists %+v", others)
		}
		w.Close()
		await(t, "the writer to go", time.Second, func() bool { return r.Matched() == 0 })
		a.Close()
		await(t, "a to go", time.Second, func() bool { return len(b.Others()) == 0 })
	})
}

// TestASilentParticipantExpires: a participant that is gone without a word is dropped after
// its lease, and found again when it is back.
func TestASilentParticipantExpires(t *testing.T) {
	stepped(t, func(t *testing.T) {
		n := rtpstest.New(2)
		a, b := join(t, n, "10.0.0.1", 0, open), join(t, n, "10.0.0.2", 0, open)
		w := writerOf(t, a, QoS{Reliable: true}, 0)
		_, in := readerOf(t, b, QoS{Reliable: true})
		await(t, "a match", time.Second, func() bool { return w.Matched() == 1 })
		n.Cut("10.0.0.2", true)
		time.Sleep(15 * time.Second)
		if len(a.Others()) != 1 {
			t.Error("a participant is dropped before its lease is over")
		}
		time.Sleep(10 * time.Second)
		if len(a.Others()) != 0 || len(b.Others()) != 0 || w.Matched() != 0 {
			t.Error("a silent participant is kept after its lease")
		}
		n.Cut("10.0.0.2", false)
		await(t, "a match after the cable is back", 5*time.Second, func() bool { return w.Matched() == 1 })
		_, _ = w.Write(text(7, 8), nil)
		await(t, "a sample", time.Second, func() bool { return in.len() == 1 })
	})
}

// TestReliableUnderLoss: with a fifth of all datagrams lost and others overtaken, everything
// arrives once and in order, from numbers at which 32 bits overflow, whole and in fragments.
func TestReliableUnderLoss(t *testing.T) {
	for _, first := range []int64{1, 1<<31 - 20, 1<<32 - 20} {
		for _, size := range []int{64, 5000} {
			t.Run(fmt.Sprintf("%d/%d", first, size), func(t *testing.T) {
				stepped(t, func(t *testing.T) {
					n := rtpstest.New(uint64(first) + uint64(size))
					n.Loss, n.Jitter = 0.2, 3*time.Millisecond
					fragments := func(c *Config) { c.FragmentSize = 512 }
					a, b := join(t, n, "127.0.0.1", 0, fragments), join(t, n, "127.0.0.1", 1, fragments)
					w := writerOf(t, a, QoS{Reliable: true, Depth: 2000}, first)
					r, in := readerOf(t, b, QoS{Reliable: true, Depth: 2000})
					await(t, "a match", 10*time.Second, func() bool { return w.Matched() == 1 && r.Matched() == 1 })
					const count = 500
					for i := range count {
						if sequence, err := w.Write(text(i, size), nil); err != nil || sequence != first+int64(i) {
							t.Fatal(sequence, err)
						}
						time.Sleep(time.Millisecond)
					}
					await(t, "all samples", 30*time.Second, func() bool { return in.len() >= count })
					time.Sleep(3 * time.Second)
					inOrder(t, in.list(), 0, count, size)
					if s := b.Stats(); s.HeldBytes != 0 {
						t.Errorf("%d bytes are held at the end", s.HeldBytes)
					}
					s := a.Stats()
					t.Logf("resent %d, datagrams to b %d, duplicates %d", s.Resent, b.Stats().Datagrams, b.Stats().Duplicates)
					// nothing is left to be said but announcements
					before := b.Stats().Datagrams
					time.Sleep(10 * time.Second)
					if more := b.Stats().Datagrams - before; more > 40 {
						t.Errorf("%d datagrams in 10 s after everything is acknowledged", more)
					}
				})
			})
		}
	}
}

// TestLateReaders: a reader that asks for history gets it from a writer that has it; one
// that does not gets nothing old, so that no old request is carried out again.
func TestLateReaders(t *testing.T) {
	stepped(t, func(t *testing.T) {
		n := rtpstest.New(4)
		a := join(t, n, "127.0.0.1", 0)
		w := writerOf(t, a, QoS{Reliable: true, TransientLocal: true, Depth: 3}, 0)
		for i := range 10 {
			_, _ = w.Write(text(i, 100), nil)
		}
		b := join(t, n, "127.0.0.1", 1)
		_, late := readerOf(t, b, QoS{Reliable: true, TransientLocal: true, Depth: 10})
		_, volatile := readerOf(t, b, QoS{Reliable: true, Depth: 10})
		await(t, "matches", time.Second, func() bool { return w.Matched() == 2 })
		await(t, "the history", time.Second, func() bool { return late.len() == 3 })
		_, _ = w.Write(text(10, 100), nil)
		await(t, "a new one", time.Second, func() bool { return late.len() == 4 && volatile.len() == 1 })
		inOrder(t, late.list(), 7, 4, 100)
		inOrder(t, volatile.list(), 10, 1, 100)
	})
}

// TestWhatDoesNotMatchSaysWhy covers every policy that decides.
func TestWhatDoesNotMatchSaysWhy(t *testing.T) {
	stepped(t, func(t *testing.T) {
		n := rtpstest.New(5)
		a, b := join(t, n, "127.0.0.1", 0), join(t, n, "127.0.0.1", 1)
		w := writerOf(t, a, QoS{}, 0)
		_, _ = readerOf(t, b, QoS{Reliable: true})
		other, err := b.NewReader(ReaderConfig{Topic: "rt/chatter", Type: "Another", Receive: func(*Sample) {}})
		if err != nil {
			t.Fatal(err)
		}
		await(t, "both readers", time.Second, func() bool { o := a.Others(); return len(o) == 1 && len(o[0].Readers) == 2 })
		if w.Matched() != 0 {
			t.Error("a best-effort writer matches a reliable reader")
		}
		for _, e := range a.Others()[0].Readers {
			want := "the reader asks for reliable delivery, the writer offers best effort"
			if e.GUID == other.GUID() {
				want = "its type is Another, and that of the other side is T"
			}
			if e.Matched || e.Why != want {
				t.Errorf("%s: %q, not %q", e.Type, e.Why, want)
			}
		}
	})
	plain := defaults(true)
	for want, change := range map[string]func(offer, ask *policies){
		"durability transient local": func(_, ask *policies) { ask.durability = 1 },
		"deadline of 1s":             func(_, ask *policies) { ask.deadline = time.Second },
		"latency budget":             func(offer, _ *policies) { offer.latency = time.Second },
		"liveliness of kind 2":       func(_, ask *policies) { ask.liveliness = 2 },
		"liveliness lease of 1s":     func(_, ask *policies) { ask.livelinessLease = time.Second },
		"ownership":                  func(offer, _ *policies) { offer.exclusive = true },
		"order of the source":        func(_, ask *policies) { ask.bySource = true },
		`partitions ["a*"]`:          func(_, ask *policies) { ask.partitions = []string{"a*"} },
		"representation":             func(_, ask *policies) { ask.representations = []uint16{2} },
	} {
		offer, ask := plain, plain
		if why := mismatch(&offer, &ask); why != "" {
			t.Errorf("equal policies: %s", why)
		}
		change(&offer, &ask)
		if why := mismatch(&offer, &ask); !strings.Contains(why, want) {
			t.Errorf("%q does not tell of %q", why, want)
		}
	}
	offer, ask := plain, plain
	offer.partitions, ask.partitions = []string{"abc"}, []string{"a*", "x"}
	ask.representations = []uint16{2, 0}
	if why := mismatch(&offer, &ask); why != "" {
		t.Errorf("a common partition and representation: %s", why)
	}
}

// TestBestEffortIsNeverOld: what is overtaken or repeated does not come.
func TestBestEffortIsNeverOld(t *testing.T) {
	stepped(t, func(t *testing.T) {
		n := rtpstest.New(6)
		n.Loss, n.Jitter = 0.1, 5*time.Millisecond
		a, b := join(t, n, "127.0.0.1", 0), join(t, n, "127.0.0.1", 1)
		w := writerOf(t, a, QoS{Reliable: true, Depth: 5}, 0)
		_, in := readerOf(t, b, QoS{})
		await(t, "a match", 10*time.Second, func() bool { return w.Matched() == 1 })
		for i := range 1000 {
			_, _ = w.Write(text(i, 8), nil)
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Second)
		got := in.list()
		if len(got) < 200 {
			t.Errorf("%d of 1000 came", len(got))
		}
		for i := 1; i < len(got); i++ {
			if got[i] <= got[i-1] {
				t.Fatalf("%s came after %s", got[i], got[i-1])
			}
		}
	})
}

// TestLargeSamplesArePaced: 8 MB go out at the set rate, not at once, and arrive.
func TestLargeSamplesArePaced(t *testing.T) {
	stepped(t, func(t *testing.T) {
		n := rtpstest.New(7)
		a, b := join(t, n, "127.0.0.1", 0), join(t, n, "127.0.0.1", 1)
		w := writerOf(t, a, QoS{Reliable: true, Depth: 5}, 0)
		_, in := readerOf(t, b, QoS{Reliable: true})
		await(t, "a match", time.Second, func() bool { return w.Matched() == 1 })
		n.LargestBurst()
		began := time.Now()
		const size = 8 << 20
		_, _ = w.Write(text(1, size), nil)
		_, _ = w.Write(text(2, 8), nil)
		await(t, "both", 10*time.Second, func() bool { return in.len() == 2 })
		took := time.Since(began)
		if got := in.list(); got[0] != string(text(1, size)) || got[1] != string(text(2, 8)) {
			t.Error("other samples came")
		}
		if least := time.Duration(float64(size-burst) / 40e6 * 1e9); took < least || took > 2*least {
			t.Errorf("8 MB took %v at 40 MB/s", took)
		}
		if bytes := n.LargestBurst(); bytes > burst+20<<10 {
			t.Errorf("%d bytes at once", bytes)
		}
	})
}

// TestASampleThatIsTooLongHoldsUpNothing: it is left out and told of, and what comes after it arrives.
func TestASampleThatIsTooLongHoldsUpNothing(t *testing.T) {
	stepped(t, func(t *testing.T) {
		n := rtpstest.New(9)
		a := join(t, n, "127.0.0.1", 0)
		b := join(t, n, "127.0.0.1", 1, func(c *Config) { c.Limits.SampleBytes = 100 << 10 })
		w := writerOf(t, a, QoS{Reliable: true, Depth: 10}, 0)
		_, in := readerOf(t, b, QoS{Reliable: true})
		await(t, "a match", time.Second, func() bool { return w.Matched() == 1 })
		for i, size := range []int{8, 300 << 10, 8, 200 << 10, 90 << 10, 8} {
			_, _ = w.Write(text(i, size), nil)
		}
		await(t, "the others", 10*time.Second, func() bool { return in.len() == 4 })
		for i, k := range []int{0, 2, 4, 5} {
			if got := in.list()[i]; !strings.HasPrefix(got, string(text(k, 8))) {
				t.Errorf("sample %d is %.20q", i, got)
			}
		}
		time.Sleep(2 * time.Second) // what was asked for before
		resent := a.Stats().Resent
		time.Sleep(10 * time.Second)
		if more := a.Stats().Resent - resent; more > 0 {
			t.Errorf("%d samples and fragments are sent again thereafter", more)
		}
		why := b.Others()[0].Writers[0].Why
		if !strings.Contains(why, "307200") || !strings.Contains(why, "102400") {
			t.Errorf("it is told as %q", why)
		}
	})
}

// TestWriteAllocates: writing a small sample allocates nothing.
func TestWriteAllocates(t *testing.T) {
	a, _ := pair(t)
	w := writerOf(t, a, QoS{Reliable: true, Depth: 10}, 0)
	e := &endpoint{id: GUID{Prefix{9}, EntityID{0, 0, 1, kindReader}}, topic: "rt/chatter", typ: "T", policies: defaults(true), addr: netip.MustParseAddrPort("127.0.0.1:7411")}
	a.mu.Lock()
	w.match(&remote{}, e)
	a.mu.Unlock()
	payload := text(1, 200)
	for range 100 {
		_, _ = w.Write(payload, nil)
	}
	related := &Identity{Writer: e.id, Sequence: 5}
	if n := testing.AllocsPerRun(1000, func() { _, _ = w.Write(payload, nil) }); n != 0 {
		t.Errorf("a write allocates %v times", n)
	}
	if n := testing.AllocsPerRun(1000, func() { _, _ = w.Write(payload, related) }); n != 0 {
		t.Errorf("a write of an answer allocates %v times", n)
	}
}

// TestAnswersNameTheirRequest: the related identity arrives.
func TestAnswersNameTheirRequest(t *testing.T) {
	stepped(t, func(t *testing.T) {
		n := rtpstest.New(8)
		a, b := join(t, n, "127.0.0.1", 0), join(t, n, "127.0.0.1", 1)
		w := writerOf(t, a, QoS{Reliable: true, Depth: 5}, 0)
		var got Sample
		r, err := b.NewReader(ReaderConfig{Topic: "rt/chatter", Type: "T", QoS: QoS{Reliable: true}, Receive: func(s *Sample) { got = *s }})
		if err != nil {
			t.Fatal(err)
		}
		await(t, "a match", time.Second, func() bool {
			return w.Matched() == 1 && w.MatchedTo(r.GUID()) && w.MatchedTo(GUID{Prefix: r.GUID().Prefix})
		})
		want := Identity{Writer: GUID{Prefix{1, 2}, EntityID{3}}, Sequence: 1<<32 + 5}
		_, _ = w.Write([]byte{0, 1, 0, 0, 7}, &want)
		time.Sleep(time.Second)
		synctest.Wait()
		if !got.Answers || got.Related != want || got.Vendor != VendorOwn || got.Writer != w.GUID() || got.Sequence != 1 || got.Time.IsZero() {
			t.Errorf("got %+v", got)
		}
	})
}

// TestAFirstRequestIsNotLost: a writer that knows a reader writes at once, and its sample is
// read before it is known itself. The reader asks for it; what is older than the reader, or
// tells no time, it leaves out.
func TestAFirstRequestIsNotLost(t *testing.T) {
	for _, c := range []struct {
		name  string
		time  time.Duration // when it was written, from the making of the reader on; 0 tells none
		open  bool          // the writer is on another machine,
		ahead time.Duration // whose clock is ahead
		want  int
	}{
		{"new", time.Millisecond, false, 0, 1},
		{"old", -time.Millisecond, false, 0, 0},
		{"no time", 0, false, 0, 0},
		{"new, elsewhere", time.Millisecond, true, 0, 1},
		{"old, elsewhere, by a clock ahead", 100 * time.Millisecond, true, 5 * time.Second, 0},
		{"new, elsewhere, by a clock ahead", 6 * time.Second, true, 5 * time.Second, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			stepped(t, func(t *testing.T) {
				p, _ := pair(t, func(config *Config) { config.Open = c.open })
				r, in := readerOf(t, p, QoS{Reliable: true, Depth: 10})
				made := time.Now()
				time.Sleep(10 * time.Millisecond)
				f, from, id := forge{prefix: Prefix{1}}, here, EntityID{0, 0, 1, kindWriter}
				if c.open {
					from = foreign
				}
				sample := func(sequence int64, at time.Duration) []byte {
					f.begin(f.prefix)
					if at != 0 {
						f.time(made.Add(at))
					}
					f.data(entityUnknown, id, &change{sequence: sequence, data: text(int(sequence), 20)})
					return f.b
				}
				p.handle(f.hello(from.String()), from)
				if c.ahead > 0 {
					f.begin(f.prefix)
					f.time(time.Now().Add(c.ahead))
					p.handle(f.b, from)
				}
				p.handle(sample(1, c.time), from) // its writer is not known yet
				p.handle(f.endpoint(1, id, QoS{Reliable: true, Depth: 10}), from)
				f.begin(f.prefix)
				f.heartbeat(entityUnknown, id, 1, 1, 1, false)
				p.handle(f.b, from)
				if r.Matched() != 1 || in.len() != 0 {
					t.Fatalf("%d writers, %d samples", r.Matched(), in.len())
				}
				p.mu.Lock()
				for _, w := range r.proxies {
					if w.askedFrom != 1 {
						t.Errorf("what the writer lists is not asked for, but %d", w.askedFrom)
					}
				}
				p.mu.Unlock()
				p.handle(sample(1, c.time), from)
				if in.len() != c.want || p.Stats().Old != uint64(1-c.want) {
					t.Errorf("%d samples came, not %d; %d were left out", in.len(), c.want, p.Stats().Old)
				}
				p.handle(sample(2, c.ahead+time.Second), from)
				if in.len() != c.want+1 {
					t.Errorf("the next one does not come: %d", in.len())
				}
			})
		})
	}
}

// TestAFirstSampleNeedsNoHeartbeat: a writer that has never spoken, as one on Fast DDS that had
// nothing to tell, writes its first sample, and it is delivered at once; a later one waits for the
// writer's word, since others may be before it.
func TestAFirstSampleNeedsNoHeartbeat(t *testing.T) {
	for first, want := range map[int64]int{1: 1, 2: 0} {
		p, _ := pair(t)
		r, in := readerOf(t, p, QoS{Reliable: true, Depth: 10})
		f, id := forge{prefix: Prefix{1}}, EntityID{0, 0, 1, kindWriter}
		p.handle(f.hello(here.String()), here)
		p.handle(f.endpoint(1, id, QoS{Reliable: true, Depth: 10}), here)
		if !r.MatchedTo(f.prefix) || r.Matched() != 0 {
			t.Fatal("a writer that has not spoken is not matched, or counts")
		}
		f.begin(f.prefix)
		f.data(entityUnknown, id, &change{sequence: first, data: text(1, 20)})
		p.handle(f.b, here)
		if in.len() != want {
			t.Errorf("of a first sample %d, %d came, not %d", first, in.len(), want)
		}
	}
}
