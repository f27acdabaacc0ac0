package server

import (
	"testing"

	"poise/executive"
)

// TestFiguresReadAsPrometheusDoes: a family is told once, its values follow, labels are
// quoted, and commands come in an order that does not change.
func TestFiguresReadAsPrometheusDoes(t *testing.T) {
	var c commandCounts
	for _, a := range []executive.Audit{{What: "stop 2", Result: "ok"}, {What: "play nod", Result: "rejected: no"}, {What: "stop 1", Result: "ok"}, {What: "play nod", Result: "succeeded"}} {
		c.count("virtual", a)
	}
	p := &metricsText{}
	p.family("poise_realtime", "gauge", "1 if so")
	p.value("", flag(true))
	p.family("poise_work_seconds", "summary", "work")
	p.value(label("robot", `a"b`), 0.25)
	p.part("_count", label("robot", "x"), 3)
	c.writeTo(p)
	const want = `# HELP poise_realtime 1 if so
# TYPE poise_realtime gauge
poise_realtime 1
# HELP poise_work_seconds work
# TYPE poise_work_seconds summary
poise_work_seconds{robot="a\"b"} 0.25
poise_work_seconds_count{robot="x"} 3
# HELP poise_commands_total commands and goals, and what became of them
# TYPE poise_commands_total counter
poise_commands_total{robot="virtual",what="play",result="refused"} 1
poise_commands_total{robot="virtual",what="play",result="succeeded"} 1
poise_commands_total{robot="virtual",what="stop",result="ok"} 2
`
	if got := p.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
