package server

import (
	"fmt"

	"poise/edge"
	"poise/loop"
	"poise/loop/runner"
	"poise/msgs"
	"poise/robot"
)

// Levels of diagnostic_msgs/DiagnosticStatus.
const (
	levelOK    = 0
	levelWarn  = 1
	levelError = 2
	levelStale = 3
)

// diagnostics reports the state of a robot's cycle, power and joints. granted is what the
// system granted of real time.
func diagnostics(name string, m *robot.Model, now *loop.Snapshot, stats *runner.Stats, granted string) *msgs.DiagnosticArray {
	out := &msgs.DiagnosticArray{Header: edge.Header(now.Tick, "")}
	add := func(level uint8, what, message string, values ...string) {
		s := msgs.DiagnosticStatus{Level: level, Name: name + "/" + what, Message: message, HardwareID: name}
		for i := 0; i+1 < len(values); i += 2 {
			s.Values = append(s.Values, msgs.KeyValue{Key: values[i], Value: values[i+1]})
		}
		out.Status = append(out.Status, s)
	}
	level, message := uint8(levelOK), granted
	if stats.Overruns > 0 {
		level = levelWarn
		message = fmt.Sprintf("%d overruns; %s", stats.Overruns, granted)
	}
	add(level, "cycle", message, "ticks", fmt.Sprint(stats.Ticks), "overruns", fmt.Sprint(stats.Overruns), "missed", fmt.Sprint(stats.Missed),
		"lateness_p99_us", fmt.Sprintf("%.1f", float64(stats.Lateness.Quantile(0.99))/1e3))
	level = levelOK
	if now.Power == loop.Faulted || now.Faults > 0 {
		level = levelError
	}
	add(level, "power", now.Power.String(), "faults", fmt.Sprint(now.Faults), "voltage", fmt.Sprintf("%.2f", now.Measured.Volt))
	for i, j := range m.Joints() {
		if j.Virtual {
			continue
		}
		level, message := uint8(levelOK), "ok"
		age := float64(now.Measured.Age[i]) * now.Tick.Dt
		switch {
		case now.Measured.Fault[i] != 0:
			level, message = levelError, fmt.Sprintf("fault %d", now.Measured.Fault[i])
		case age > 0.2:
			level, message = levelStale, "not heard of"
		}
		add(level, "joint/"+j.Name, message, "age", fmt.Sprintf("%.4f", age))
	}
	return out
}
