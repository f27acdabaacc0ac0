package figures

import (
	"testing"

	"poise/executive"
)

// TestFiguresReadAsPrometheusDoes: a family is told once, its values follow, labels are
// quoted, and commands come in an order that does not change.
func TestFiguresReadAsPrometheusDoes(t *testing.T) {
	var c Counts
	for _, a := range []executive.Audit{{What: "stop 2", Result: "ok"}, {What: "play nod", Result: "rejected: no"}, {What: "stop 1", Result: "ok"}, {What: "play nod", Result: "succeeded"}} {
		c.Command("virtual", a)
	}
	p := &Writer{}
	p.Family("poise_realtime", "gauge", "1 if so")
	p.Value("", Flag(true))
	p.Family("poise_work_seconds", "summary", "work")
	p.Value(Label("robot", `a"b`), 0.25)
	p.Named("_count", Label("robot", "x"), 3)
	c.WriteTo(p)
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
