package scenario

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"poise/action"
	"poise/executive"
	"poise/motion/library"
	"poise/motion/shipped"
	"poise/robot/load"
)

// afterwards is what is done after a walk that was called off in the middle of its steps.
type afterwards struct {
	cycle  int
	goal   executive.Goal
	cancel float64          // s after it was asked for; 0 lets it end
	others []executive.Goal // asked for 1 s later, while it takes its steps
}

// aftermath is what became of it.
type aftermath struct {
	end            action.State
	text           string
	phases         []executive.Phase
	took, off      float64 // s; rad that joints of legs are away from the pose crouched in the end
	fallen, active bool
	stepped        float64  // s that it took steps
	said           []string // of the others
}

func (a *afterwards) run(t *testing.T) (out aftermath) {
	t.Helper()
	const walks, waits, most = 6.0, 2.5, 34.0
	bot := loaded(t, "pony", load.Options{})
	bot.Motions = library.Open(t.TempDir(), shipped.Of("pony"))
	p := prepare(t, bot, fmt.Sprintf("duration: %g\nperiod: 0.0224\nstart: {pose: stand}\nmodel: {kp: 230, delay: 0.0112}\ncontrol: {cycle: %d}\ndo: [{at: 0.1, velocity: {x: 0.05}}]\n", most, a.cycle))
	r, err := p.begin(1, Watch{})
	if err != nil {
		t.Fatal(err)
	}
	c, asked, off, over := r.cycle, false, false, math.Inf(1)
	ticks := int(math.Round(p.s.period() / p.s.step()))
	for r.step < p.s.steps() && r.now() < over+1 {
		now := r.now()
		if r.err = r.act(now); r.err != nil {
			t.Fatal(r.err)
		}
		switch {
		case c.walks != nil && now > walks:
			c.walks = nil
			c.exec.CancelAll("test")
		case !asked && now > walks+waits:
			asked = true
			_, err := c.exec.Submit("test", "goal", 0, a.goal, executive.Watch{
				Feedback: func(f executive.Feedback) {
					if f.Phase == executive.Stepping {
						out.stepped = f.Time
					}
					if n := len(out.phases); n == 0 || out.phases[n-1] != f.Phase {
						out.phases = append(out.phases, f.Phase)
					}
				},
				Changed: func(ch executive.Change) {
					if ch.To.Terminal() {
						over, out.end, out.text = r.now(), ch.To, ch.Result.Text()
					}
				},
			})
			if err != nil {
				t.Fatal(err)
			}
		case asked && len(a.others) > 0 && now > walks+waits+1:
			for i, g := range a.others {
				_, err := c.exec.Submit("other", action.ID(fmt.Sprint("other", i)), 0, g, executive.Watch{Changed: func(ch executive.Change) {
					if ch.To.Terminal() {
						out.said = append(out.said, ch.Result.Text())
					}
				}})
				if err != nil {
					t.Fatal(err)
				}
			}
			a.others = nil
		case asked && !off && a.cancel > 0 && now > walks+waits+a.cancel:
			off = true
			c.exec.CancelAll("test")
		}
		if r.err = c.tick(min(ticks, p.s.steps()-r.step)); r.err != nil {
			t.Fatal(r.err)
		}
	}
	out.took, out.fallen = over-walks-waits, r.result().Fallen
	named, _ := bot.Model.Pose("crouched")
	for i, j := range named.Joints {
		out.off = max(out.off, math.Abs(c.loop.Command().Q[j]-named.Q[i][0]))
	}
	for _, s := range c.exec.State().Controllers {
		out.active = out.active || s.Active
	}
	return out
}

// TestMotionsAfterAWalk: a crawl that is called off ends with its feet in the middle of their steps. What is played then begins with its feet
// elsewhere: cycle 2, which holds feet that stand, takes steps first, and motions and poses end as they do without a walk. In cycle 1 feet
// are dragged there by the legs, as before. A goal that is called off while it takes its steps ends on four feet.
func TestMotionsAfterAWalk(t *testing.T) {
	for _, c := range []struct {
		name string
		afterwards
		end  action.State
		most float64 // s
	}{
		{"paw in cycle 2", afterwards{cycle: 2, goal: &executive.Play{Name: "paw", Approach: true}}, action.Succeeded, 25},
		{"nod in cycle 2", afterwards{cycle: 2, goal: &executive.Play{Name: "nod", Approach: true}}, action.Succeeded, 12},
		{"crouched in cycle 2", afterwards{cycle: 2, goal: &executive.Pose{Name: "crouched"}}, action.Succeeded, 8},
		{"nod in cycle 2, called off", afterwards{cycle: 2, goal: &executive.Play{Name: "nod", Approach: true}, cancel: 1.5}, action.Preempted, 4},
		{"crouched in cycle 2, called off while the last foot comes down", afterwards{cycle: 2, goal: &executive.Pose{Name: "crouched"}, cancel: 2.7}, action.Preempted, 4},
		{"crouched in cycle 1", afterwards{cycle: 1, goal: &executive.Pose{Name: "crouched"}}, action.Succeeded, 3},
	} {
		got := c.run(t)
		t.Logf("%s: %v %s after %.1f s, %v, %.3f rad from the pose crouched", c.name, got.end, got.text, got.took, got.phases, got.off)
		if got.fallen || got.active || got.end != c.end || got.took > c.most {
			t.Errorf("%s: fallen %v, active %v, %v %s after %g s", c.name, got.fallen, got.active, got.end, got.text, got.took)
		}
		if c.end != action.Succeeded && slices.ContainsFunc(got.phases, func(f executive.Phase) bool { return f != executive.Stepping }) {
			t.Errorf("%s: %v, though it was called off while it took its steps", c.name, got.phases)
		}
		if c.goal.Action() == "pose" && c.end == action.Succeeded && got.off > 0.03 {
			t.Errorf("%s: joints are %g rad away", c.name, got.off)
		}
	}
}

// TestWhoStepsIsSaid: while the feet of a motion step to where it begins, its phase says so, other goals that want its joints are refused by its name, and its speed is
// that of its steps.
func TestWhoStepsIsSaid(t *testing.T) {
	usual := afterwards{cycle: 2, goal: &executive.Play{Name: "nod", Approach: true}, cancel: 9}
	slow := afterwards{cycle: 2, goal: &executive.Play{Name: "nod", Approach: true, Speed: 0.4}, cancel: 9,
		others: []executive.Goal{&executive.Play{Name: "paw", Approach: true}, &executive.Play{Name: "yawn"}}}
	fast, got := usual.run(t), slow.run(t)
	t.Logf("steps take %.2f s, at 0.4 of the speed %.2f s; %v; %q", fast.stepped, got.stepped, got.phases, got.said)
	if got.fallen || len(got.phases) < 2 || got.phases[0] != executive.Stepping || got.phases[1] == executive.Stepping {
		t.Errorf("fallen %v, phases %v", got.fallen, got.phases)
	}
	if !(got.stepped > 1.5*fast.stepped) {
		t.Errorf("steps take %g s, at 0.4 of the speed %g s", fast.stepped, got.stepped)
	}
	if len(got.said) != 2 {
		t.Fatalf("others say %q", got.said)
	}
	for _, said := range got.said {
		if !strings.Contains(said, `motion "nod"`) || !strings.Contains(said, "steps") {
			t.Errorf("refused by %q", said)
		}
	}
}
