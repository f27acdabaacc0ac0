package config

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"poise/loop"
	"poise/servo/driver"
	"poise/servo/sim"
)

// TestWrittenConfigurationReadsBack proves that file and struct agree: what Write
// prints is what Read takes, and gives the same values.
func TestWrittenConfigurationReadsBack(t *testing.T) {
	other := Default()
	other.Robot, other.Motions = "robots/my arm: 2", "#not a comment"
	other.Loop.Period, other.RealSim, other.Sim.Seed = 0.0112, true, 77
	other.Origins = []string{"https://app.foxglove.dev", "http://studio.example:8000"}
	other.Faults.Tracking = Rule{0.125, "torque off"}
	other.Robots = []Robot{{Name: "a", Driver: "sim", Settings: &sim.Settings{Lag: 0.25, Seed: 9}}, {Name: "b_2", Driver: "sim", Settings: defaultsOf("sim")}}
	for _, c := range []Config{Default(), other} {
		var b strings.Builder
		if err := Write(&b, c); err != nil {
			t.Fatal(err)
		}
		back, err := Read([]byte(b.String()), "poise.yaml")
		if err != nil {
			t.Fatalf("%v in\n%s", err, b.String())
		}
		if !reflect.DeepEqual(back, c) {
			t.Errorf("wrote %+v\nread  %+v", c, back)
		}
	}
}

// TestDocsListEveryKey proves that docs/configuration.md has a row for each key
// and each setting of the drivers it speaks of with its default and meaning, and no other
// row.
func TestDocsListEveryKey(t *testing.T) {
	doc, err := os.ReadFile("../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for _, line := range strings.Split(string(doc), "\n") {
		if strings.HasPrefix(line, "| `") {
			got = append(got, line)
		}
	}
	all := Keys()
	for _, e := range driver.Standard {
		if strings.Contains(string(doc), "### Driver `"+e.Name+"`") { // of others poise config --drivers tells
			all = append(all, SettingsKeys(e)...)
		}
	}
	for _, k := range all {
		want = append(want, "| `"+k.Path+"` | `"+k.Default+"` | "+k.Text+" |")
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("docs/configuration.md should say\n%s", strings.Join(want, "\n"))
	}
}

func TestEveryKeyIsExplained(t *testing.T) {
	for _, k := range Keys() {
		if k.Text == "" {
			t.Errorf("%s has no sentence", k.Path)
		}
	}
}

// TestRefusals names key, value and limit, all problems at once.
func TestRefusals(t *testing.T) {
	for _, c := range []struct{ document, want string }{
		{"loop: {period: 2}", "poise.yaml:1: loop.period is 2 s, must be 0.0001 … 0.1 s"},
		{"loop: {period: .nan}", "loop.period"},
		{"loop: {arbiter: fair}", `loop.arbiter is "fair", must be priority`},
		{"loop: {arbiter: prority}", `did you mean "priority"?`},
		{"faults: {temperature: {severity: wran}}", `did you mean "warn"?`},
		{"loop: {handover: quick}", `loop.handover is "quick", must be jerk_limited or exponential`},
		{"listen: 0.0.0.0:8080", "only loopback"},
		{"listen: example.com:80", "only loopback"},
		{"listen: 8080", "address and a port"},
		{"speed: 3", `unknown key "speed"`},
		{"rates: {tf: fast}", "rates.tf"},
		{"faults: {temperature: {severity: panic}}", `faults.temperature.severity is "panic", must be one of ignore, warn`},
		{"planner: {pipeline: ompl}", `planner.pipeline is "ompl"`},
		{"\nrates:\n\n  tf: -1", "poise.yaml:4: rates.tf is -1 Hz, must be 0.1 … 1000 Hz"},
		{"faults: {temperature: {threshold: -2}}", "poise.yaml:1: faults.temperature.threshold is -2 °C, must be 0 or more"},
		{"listen: 127.0.0.1:99999", `listen is "127.0.0.1:99999", must be an address and a port`},
		{"mirror: {url: https://127.0.0.1:9090}", `mirror.url is "https://127.0.0.1:9090", must be an address such as ws://`},
		{"mirror: {url: ws://192.168.1.5:9090}", "only loopback"},
		{"mirror: {url: dds://233}", `mirror.url must be a domain of ROS 2: "dds://233" is no DDS domain`},
		{"mirror: {url: ws://127.0.0.1:9090, prefix: virtual}", `mirror.prefix is "virtual", which is taken`},
		{"with_real_sim: true\nmirror: {url: ws://127.0.0.1:9090, prefix: real}", `poise.yaml:2: mirror.prefix is "real", which is taken`},
		{"real_sim: {lag: 11}", "poise.yaml:1: real_sim.lag is 11 s, must be 0 … 10 s"},
		{"mirror: {url: ws://127.0.0.1:9090, prefix: a b}", `mirror.prefix is "a b": `},
		{"origins: [app.foxglove.dev]", `origins has "app.foxglove.dev", must be http:// or https://`},
		{"origins: [https://app.foxglove.dev/]", `origins has "https://app.foxglove.dev/"`},
		{"origins: all", "origins"},
		{"controllers: {trajectroy: {seats: 1}}", `controllers.trajectroy is no controller; known are`},
		{"controllers: {trajectroy: {seats: 1}}", `; did you mean "trajectory"?`},
		{"\ncontrollers:\n  trajectory: {seats: 0}", "poise.yaml:3: controllers.trajectory.seats is 0, must be 1 … 32: it performs the goals of actions"},
		{"limits: {connections: 0}", "limits.connections is 0, must be 1 … 10000"},
	} {
		if _, err := Read([]byte(c.document), "poise.yaml"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", c.document, err, c.want)
		}
	}
	_, err := Read([]byte("loop: {period: 2, lead: -2}\nlisten: a\nrates: {tf: fast}\nspeed: 3"), "poise.yaml")
	for _, want := range []string{"poise.yaml:1: loop.period", "poise.yaml:1: loop.lead", "poise.yaml:2: listen", "poise.yaml:3: rates.tf", `poise.yaml:4: unknown key "speed"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not speak of %s", err, want)
		}
	}
}

// TestSettingsCarryTheRules: what is not touched keeps its default, what is set
// reaches the loop.
func TestSettingsCarryTheRules(t *testing.T) {
	c := Default()
	c.Faults.Temperature = Rule{60, "warn"}
	s, err := c.Settings()
	if err != nil {
		t.Fatal(err)
	}
	want := loop.DefaultFaultRules()
	want[loop.Overheat].Threshold, want[loop.Overheat].Clear, want[loop.Overheat].Severity = 60, 0, loop.SeverityWarn
	if s.Faults != want {
		t.Errorf("rules %+v", s.Faults)
	}
}

func FuzzRead(f *testing.F) {
	var b strings.Builder
	if err := Write(&b, Default()); err != nil {
		f.Fatal(err)
	}
	f.Add(b.String())
	f.Add("loop: {period: 1e999}")
	f.Fuzz(func(t *testing.T, text string) {
		if c, err := Read([]byte(text), "poise.yaml"); err == nil {
			if err := c.Check(); err != nil {
				t.Errorf("read, and then refused: %v", err)
			}
		}
	})
}
