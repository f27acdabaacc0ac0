package scenario

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"poise/arbiter"
)

// play runs a scenario and returns its lines.
func play(t testing.TB, text string) (*Scenario, []Frame) {
	t.Helper()
	s, err := Parse([]byte(text), "s.yaml")
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	var frames []Frame
	s.Run(func(f Frame) { frames = append(frames, f) })
	return s, frames
}

// at tells who owns what and who is in which state after an instant, such as
// "head:yawn gait:operational"; what is free and who is idle is left out.
func at(s *Scenario, frames []Frame, ms float64) string {
	var f Frame
	for _, g := range frames {
		if float64(g.At) <= ms*1e6 {
			f = g
		}
	}
	var b []string
	for i, c := range f.Owner {
		if c != arbiter.NoClient {
			b = append(b, s.Resources[i]+":"+s.Controllers[c].Name)
		}
	}
	for i, p := range f.State {
		if p != arbiter.NonOperational {
			b = append(b, s.Controllers[i].Name+":"+p.String())
		}
	}
	return strings.Join(b, " ")
}

// cast is the part of a scenario that most tests share.
const cast = `
resources: [leg1, leg2, head, tail]
policy: last
controllers:
- {name: gait, needs: [leg1, leg2], wants: [tail]}
- {name: trot, needs: [leg1]}
- {name: look, wants: [head]}
- {name: yawn, needs: [head]}
- {name: wag, needs: [tail]}
- {name: shy, needs: [leg1, head], start: refuse}
events:
`

type moment struct {
	ms   float64
	want string
}

func TestRules(t *testing.T) {
	for _, tc := range []struct {
		rule   string
		events string
		want   []moment
	}{
		{"messages take no time", "- {at: 20ms, request: gait}",
			[]moment{{19, ""}, {20, "leg1:gait leg2:gait tail:gait gait:operational"}}},
		{"what is wanted is lost and comes back", "- {at: 0, request: look}\n- {at: 10ms, request: yawn}\n- {at: 30ms, release: yawn}",
			[]moment{{0, "head:look look:operational"}, {10, "head:yawn look:operational yawn:operational"}, {30, "head:look look:operational"}}},
		{"what is needed is lost for good", "- {at: 0, request: gait}\n- {at: 10ms, request: trot}\n- {at: 30ms, release: trot}",
			[]moment{{10, "leg1:trot trot:operational"}, {30, ""}}},
		{"a winner that refuses leaves all as they were", "- {at: 0, request: gait}\n- {at: 0, request: look}\n- {at: 10ms, request: shy}",
			[]moment{{9, "leg1:gait leg2:gait head:look tail:gait gait:operational look:operational"},
				{10, "leg1:gait leg2:gait head:look tail:gait gait:operational look:operational"}}},
		{"a silent winner gets nothing", "- {at: 0, request: gait}\n- {at: 5ms, lose: {from: arbiter, to: trot, count: 1}}\n- {at: 10ms, request: trot}",
			[]moment{{29, "leg1:gait leg2:gait tail:gait gait:operational trot:pending"}, {30, "leg1:gait leg2:gait tail:gait gait:operational"}}},
		{"a silent victim loses what it was asked for", "- {at: 0, request: gait}\n- {at: 5ms, lose: {from: gait, to: arbiter, count: 1}}\n- {at: 10ms, request: wag}",
			[]moment{{29, "leg1:gait leg2:gait tail:gait gait:operational wag:pending"}, {30, "leg1:gait leg2:gait tail:wag gait:operational wag:operational"}}},
		{"a crashed victim is silent, then gone", "- {at: 0, request: gait}\n- {at: 5ms, crash: gait}\n- {at: 10ms, request: wag}",
			[]moment{{29.9, "leg1:gait leg2:gait tail:gait gait:operational wag:pending"}, {30, "leg1:gait leg2:gait tail:wag gait:operational wag:operational"},
				{204.9, "leg1:gait leg2:gait tail:wag gait:operational wag:operational"}, {205, "tail:wag wag:operational"}}},
		{"both silent: neither loses", "- {at: 0, request: gait}\n- {at: 5ms, crash: gait}\n- {at: 5ms, lose: {from: arbiter, to: trot, count: 9}}\n- {at: 10ms, request: trot}",
			[]moment{{30, "leg1:gait leg2:gait tail:gait gait:operational"}, {205, ""}}},
		{"a crash frees after the lease, counted from the crash", "- {at: 0, request: look}\n- {at: 50ms, request: yawn}\n- {at: 130ms, crash: yawn}",
			[]moment{{329.9, "head:yawn look:operational yawn:operational"}, {330, "head:look look:operational"}}},
		{"a crashed controller does nothing more", "- {at: 0, crash: yawn}\n- {at: 10ms, request: yawn}", []moment{{500, ""}}},
		{"a lost request is never heard of", "- {at: 0, lose: {from: wag, to: arbiter, count: 1}}\n- {at: 0, request: wag}", []moment{{0, ""}, {900, ""}}},
		{"a lost release is healed by the lease", "- {at: 0, request: wag}\n- {at: 0, lose: {from: wag, to: arbiter, count: 1}}\n- {at: 40ms, release: wag}",
			[]moment{{239, "tail:wag wag:operational"}, {240, ""}}},
		{"a delayed request is late", "- {at: 0, delay: {from: wag, to: arbiter, by: 5ms}}\n- {at: 20ms, request: wag}",
			[]moment{{24.9, ""}, {25, "tail:wag wag:operational"}}},
		{"a delayed answer delays the end of the round", "- {at: 0, request: gait}\n- {at: 1ms, delay: {from: gait, to: arbiter, by: 5ms}}\n- {at: 20ms, request: trot}",
			[]moment{{24.9, "leg1:gait leg2:gait tail:gait gait:operational trot:pending"}, {25, "leg1:trot trot:operational"}}},
		{"an offer that comes too late", "- {at: 0, request: gait}\n- {at: 1ms, delay: {from: arbiter, to: trot, by: 25ms}}\n- {at: 10ms, request: trot}",
			[]moment{{30, "leg1:gait leg2:gait tail:gait gait:operational"}, {100, "leg1:gait leg2:gait tail:gait gait:operational"}}},
		{"a request overtaken by its release", "- {at: 0, delay: {from: wag, to: arbiter, by: 30ms}}\n- {at: 0, request: wag}\n- {at: 5ms, release: wag}",
			[]moment{{4, ""}, {100, ""}}},
		{"doubled messages change nothing", "- {at: 0, duplicate: {from: gait, to: arbiter}}\n- {at: 0, duplicate: {from: arbiter, to: gait, count: 5}}\n- {at: 0, request: gait}\n- {at: 9ms, duplicate: {from: gait, to: arbiter, count: 3}}\n- {at: 10ms, request: wag}\n- {at: 20ms, release: gait}",
			[]moment{{0, "leg1:gait leg2:gait tail:gait gait:operational"}, {10, "leg1:gait leg2:gait tail:wag gait:operational wag:operational"}, {20, "tail:wag wag:operational"}}},
		{"a part is released", "- {at: 0, request: gait}\n- {at: 10ms, release: gait, resources: [leg2, tail]}",
			[]moment{{10, "leg1:gait gait:operational"}}},
		{"another set is asked for while running", "- {at: 0, request: gait}\n- {at: 10ms, delay: {from: arbiter, to: gait, by: 2ms}}\n- {at: 10ms, request: gait, needs: [leg1], wants: [head]}",
			[]moment{{11, "leg1:gait leg2:gait tail:gait gait:operational-pending"}, {12, "leg1:gait head:gait gait:operational"}}},
		{"at equal times the file's order counts", "- {at: 10ms, request: trot}\n- {at: 0, request: look}\n- {at: 10ms, request: gait}",
			[]moment{{10, "leg1:gait leg2:gait head:look tail:gait gait:operational look:operational"}}},
		{"the first of two in one instant runs and is driven out", "- {at: 10ms, request: gait}\n- {at: 10ms, request: trot}",
			[]moment{{10, "leg1:trot trot:operational"}}},
		{"a winner that crashes before it answers", "- {at: 0, request: gait}\n- {at: 0, delay: {from: trot, to: arbiter, by: 5ms}}\n- {at: 10ms, request: trot}\n- {at: 12ms, crash: trot}",
			[]moment{{15, "leg1:gait leg2:gait tail:gait gait:operational trot:pending"}, {35, "leg1:gait leg2:gait tail:gait gait:operational"}}},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			s, frames := play(t, cast+tc.events+"\n")
			for _, m := range tc.want {
				if got := at(s, frames, m.ms); got != m.want {
					t.Errorf("at %v ms: %q, want %q", m.ms, got, m.want)
				}
			}
		})
	}
}

func TestPriorities(t *testing.T) {
	for _, tc := range []struct {
		name, a, b string // priorities of the one that runs and the one that asks
		want       string
	}{
		{"pending against operational", "{pending: 0, operational: 5}", "{pending: 6, operational: 0}", "b"},
		{"too low", "{pending: 9, operational: 5}", "{pending: 4, operational: 9}", "a"},
		{"the later among equals", "{pending: 5, operational: 5}", "{pending: 5, operational: 5}", "b"},
		{"one number for both", "5", "4.5", "a"},
		{"missing is as the other", "{operational: 5}", "{pending: 6}", "b"},
		{"none is zero", "1", "", "a"},
		{"per resource, pair inside", "{head: {pending: 5, operational: 5}}", "{head: {pending: 4, operational: 4}, tail: {pending: 9, operational: 9}}", "a"},
		{"per resource, number inside", "{head: 5}", "{head: 6, tail: 0}", "b"},
		{"per resource, pair outside", "{pending: {head: 1}, operational: {head: 5}}", "{pending: {head: 6}, operational: 0}", "b"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, frames := play(t, fmt.Sprintf(`
resources: [head, tail]
policy: priority
controllers:
- {name: a, needs: [head], priority: %s}
- {name: b, needs: [head], wants: [tail], priority: %s}
events: [{at: 0, request: a}, {at: 1ms, request: b}]
`, tc.a, tc.b))
			want := arbiter.ClientID(tc.want[0] - 'a')
			if got := frames[len(frames)-1].Owner[0]; got != want {
				t.Errorf("head went to %d, want %d", got, want)
			}
		})
	}
}

func TestEveryChangeIsALine(t *testing.T) {
	s, frames := play(t, `
resources: [head]
policy: priority
controllers:
- {name: a, needs: [head], priority: 5}
- {name: b, needs: [head], priority: 1}
events: [{at: 1.5s, request: a}, {at: 2, request: b}]
`)
	want := `{"t":0,"owner":{"head":null},"state":{"a":"non-operational","b":"non-operational"}}
{"t":1.5,"owner":{"head":null},"state":{"a":"pending","b":"non-operational"}}
{"t":1.5,"owner":{"head":"a"},"state":{"a":"operational","b":"non-operational"}}
{"t":2,"owner":{"head":"a"},"state":{"a":"operational","b":"pending"}}
{"t":2,"owner":{"head":"a"},"state":{"a":"operational","b":"non-operational"}}
`
	var got strings.Builder
	for _, f := range frames {
		got.Write(s.AppendJSON(nil, f))
		got.WriteByte('\n')
	}
	if got.String() != want {
		t.Errorf("got\n%swant\n%s", got.String(), want)
	}
}

func TestBadScenarios(t *testing.T) {
	const head = "resources: [head, tail]\ncontrollers:\n- {name: a, needs: [head]}\n"
	for _, tc := range []struct{ name, text, want string }{
		{"unknown key", "resources: [head]\npolice: last\n", `s.yaml:2: unknown key "police"`},
		{"syntax", "policy: last\nresources: [head\nevents: ]\n", "s.yaml:2: did not find"},
		{"no resources", "policy: last\n", "s.yaml:1: resources: at least one"},
		{"resource twice", "resources:\n- head\n- head\n", `s.yaml:3: resources: "head" comes twice`},
		{"policy", "resources: [a]\npolicy: first\n", `s.yaml:2: policy: "first" must be none, last or priority`},
		{"timeout", "resources: [a]\nround_timeout: soon\n", `s.yaml:2: round_timeout: "soon" must be a time`},
		{"zero lease", "resources: [a]\nlease: 0s\n", `s.yaml:2: lease: "0s" must be more than zero`},
		{"no name", "resources: [a]\ncontrollers:\n- {needs: [a]}\n", "s.yaml:3: controllers: a name is missing"},
		{"name twice", head + "- {name: a, needs: [tail]}\n", `s.yaml:4: controllers: "a" comes twice`},
		{"arbiter as a name", head + "- {name: arbiter, needs: [tail]}\n", `s.yaml:4: controllers: "arbiter" is the arbiter's own name`},
		{"nothing asked", head + "- name: b\n", `s.yaml:4: controller "b": needs and wants nothing`},
		{"unknown resource", head + "- name: b\n  needs:\n  - tail\n  - nose\n", `s.yaml:7: controller "b": needs: "nose" is not one of the resources head, tail`},
		{"needed and wanted", head + "- {name: b, needs: [tail], wants: [tail]}\n", `s.yaml:4: controller "b": wants: "tail" comes twice`},
		{"start", head + "- {name: b, needs: [tail], start: maybe}\n", `s.yaml:4: controller "b": start: "maybe" must be ok or refuse`},
		{"priority of a stranger", head + "- name: b\n  needs: [tail]\n  priority:\n    tail: 1\n    nose: 2\n", `s.yaml:8: controller "b": priority: "nose" is not one of the resources`},
		{"priority not asked for", head + "- {name: b, needs: [tail], priority: {head: 2}}\n", `s.yaml:4: controller "b": priority: it neither needs nor wants "head"`},
		{"priority no number", head + "- {name: b, needs: [tail], priority: {pending: high}}\n", `s.yaml:4: controllers[1].priority.pending: "high" must be a finite number`},
		{"no verb", head + "events:\n- {at: 1ms}\n", "s.yaml:5: event: has no verb"},
		{"two verbs", head + "events:\n- {at: 1ms, request: a, crash: a}\n", "s.yaml:5: event: has request and crash"},
		{"no time", head + "events:\n- {request: a}\n", "s.yaml:5: event request: has no time"},
		{"negative time", head + "events:\n- {at: -1ms, request: a}\n", `s.yaml:5: at: "-1ms" must be a time`},
		{"no such time", head + "events:\n- {at: NaN, request: a}\n", `s.yaml:5: at: "NaN" must be a time`},
		{"unknown controller", head + "events:\n- {at: 0, request: b}\n", `s.yaml:5: request: "b" is not one of the controllers`},
		{"unknown release", head + "events:\n- {at: 0, release: a, resources: [nose]}\n", `s.yaml:5: controller "a": release: "nose" is not one of the resources`},
		{"empty release", head + "events:\n- {at: 0, release: a, resources: []}\n", "s.yaml:5: release: resources is an empty list"},
		{"resources of a request", head + "events:\n- {at: 0, request: a, resources: [head]}\n", "s.yaml:5: event request: resources belong to a release"},
		{"needs of a crash", head + "events:\n- {at: 0, crash: a, needs: [head]}\n", "s.yaml:5: event crash: needs and wants belong to a request"},
		{"wire without the arbiter", head + "- {name: b, needs: [tail]}\nevents:\n- {at: 0, lose: {from: a, to: b, count: 1}}\n", "one end of a wire is a controller"},
		{"wire to itself", head + "events:\n- {at: 0, lose: {from: arbiter, to: arbiter}}\n", "one end of a wire is a controller"},
		{"wire without an end", head + "events:\n- {at: 0, lose: {from: arbiter}}\n", "s.yaml:5: lose: from and to must both be given"},
		{"count", head + "events:\n- {at: 0, lose: {from: a, to: arbiter, count: 0}}\n", "s.yaml:5: lose: count 0 must be at least 1"},
		{"delay by nothing", head + "events:\n- {at: 0, delay: {from: a, to: arbiter}}\n", "s.yaml:5: delay: by is missing"},
		{"lose by", head + "events:\n- {at: 0, lose: {from: a, to: arbiter, by: 1ms}}\n", "s.yaml:5: lose: by belongs to a delay"},
		{"not a mapping", "- 1\n", "s.yaml:1:"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := Parse([]byte(tc.text), "s.yaml")
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
}

func TestAllProblemsAtOnce(t *testing.T) {
	_, err := Parse([]byte("resources: [head]\npolicy: x\nlease: y\ncontrollers:\n- {name: a, needs: [b]}\n- {name: c, start: z}\n"), "s.yaml")
	for _, line := range []string{":2:", ":3:", ":5:", ":6:"} {
		if err == nil || !strings.Contains(err.Error(), line) {
			t.Errorf("nothing of line %s in %v", line, err)
		}
	}
}

func TestBounds(t *testing.T) {
	var b strings.Builder
	b.WriteString("resources: [r")
	for i := range 256 {
		fmt.Fprintf(&b, ", r%d", i)
	}
	b.WriteString("]\ncontrollers:\n")
	for i := range 129 {
		fmt.Fprintf(&b, "- {name: c%d, needs: [r1]}\n", i)
	}
	_, err := Parse([]byte(b.String()), "s.yaml")
	for _, want := range []string{"s.yaml:1: resources: more than 256", "s.yaml:131: controllers: more than 128"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
}

// TestDocumentedExample plays the script of docs/arbiter.md: what its remarks say
// comes true.
func TestDocumentedExample(t *testing.T) {
	page, err := os.ReadFile("../../docs/arbiter.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "```yaml\n")
	text, _, _ = strings.Cut(text, "```")
	s, frames := play(t, text)
	check(t, s, frames)
	const gait = "leg1:gait leg2:gait "
	for _, m := range []moment{
		{150, gait + "head:yawn eyes:look_at tail:gait gait:operational look_at:operational yawn:operational"},
		{200, gait + "head:look_at eyes:look_at tail:gait gait:operational look_at:operational"},
		{319, gait + "head:look_at eyes:look_at gait:operational look_at:operational yawn:pending"},
		{320, gait + "head:look_at eyes:look_at gait:operational look_at:operational"},
		{404, gait + "head:look_at eyes:look_at gait:operational look_at:operational yawn:pending"},
		{405, gait + "head:yawn eyes:look_at gait:operational look_at:operational yawn:operational"},
		{700, gait + "head:look_at eyes:look_at gait:operational look_at:operational"},
	} {
		if got := at(s, frames, m.ms); got != m.want {
			t.Errorf("at %v ms: %q, want %q", m.ms, got, m.want)
		}
	}
}

// check holds for every frame of every scenario.
func check(t testing.TB, s *Scenario, frames []Frame) {
	t.Helper()
	for i, f := range frames {
		if i > 0 && f.At < frames[i-1].At {
			t.Fatalf("time runs backwards: %d after %d", f.At, frames[i-1].At)
		}
		for leaf, c := range f.Owner {
			if c != arbiter.NoClient && f.State[c]&arbiter.Operational == 0 {
				t.Fatalf("%s is owned by %s, which is %v", s.Resources[leaf], s.Controllers[c].Name, f.State[c])
			}
		}
	}
	for i, p := range frames[len(frames)-1].State {
		if p&arbiter.Pending != 0 {
			t.Fatalf("%s is %v at the end", s.Controllers[i].Name, p)
		}
	}
}

// FuzzScenario reads any text, and plays what can be read to its end.
func FuzzScenario(f *testing.F) {
	f.Add([]byte(cast + "- {at: 0, request: gait}\n- {at: 5ms, crash: gait}\n- {at: 10ms, request: wag}\n- {at: 1s, release: wag, resources: [tail]}"))
	f.Add([]byte(cast + "- {at: 0, lose: {from: arbiter, to: yawn, count: 2}}\n- {at: 0, request: look}\n- {at: 1ms, request: yawn}\n- {at: 2ms, delay: {from: look, to: arbiter, by: 30ms}}\n- {at: 3ms, request: yawn, needs: [leg1], wants: [head]}\n- {at: 4ms, duplicate: {from: arbiter, to: yawn}}"))
	f.Add([]byte("resources: [a, b]\npolicy: priority\nround_timeout: 0.02\ncontrollers: [{name: x, needs: [a], priority: {pending: {a: 1}, operational: 2}}, {name: y, wants: [a, b], priority: {a: 3, b: {pending: 1}}}]\nevents: [{at: 0, request: x}, {at: 1, request: y}]\n"))
	f.Add([]byte("resources: [a]\npolicy: none\ncontrollers: [{name: x, needs: [a], start: refuse}]\nevents: [{at: 1ms, request: x}]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Parse(data, "s.yaml")
		if err != nil || len(s.Controllers)*len(s.events) > 2000 {
			return
		}
		var frames []Frame
		s.Run(func(f Frame) { frames = append(frames, f) })
		check(t, s, frames)
	})
}
