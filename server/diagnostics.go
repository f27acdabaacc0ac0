package server

import (
	"fmt"

	"poise/edge"
	"poise/feedforward"
	"poise/loop"
	"poise/loop/runner"
	"poise/msgs"
	"poise/robot"
	"poise/servo"
	"poise/wholebody/stage"
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
	if x := &now.Inversion; x.Modelled+x.Failed > 0 {
		level, message := servoModelHealth(x)
		add(level, "servo models", message, "version", fmt.Sprint(x.Version), "joints", fmt.Sprint(x.Modelled), "voltage", fmt.Sprintf("%.2f", x.Voltage),
			"saturated", fmt.Sprint(x.Saturated), "failed", fmt.Sprint(x.Failed))
	}
	if !now.Cycle1.Empty() {
		d := &now.Dynamics
		level, message := dynamicsHealth(m, d, len(now.Forces))
		if now.Cycle2 {
			level, message = wholeBodyHealth(m, &now.WholeBody)
		}
		add(level, "dynamics", message, "correction", fmt.Sprintf("%.3g", d.Correction), "residual_force", fmt.Sprintf("%.3g", d.Residual.Force.Norm()),
			"residual_torque", fmt.Sprintf("%.3g", d.Residual.Torque.Norm()), "supports", fmt.Sprint(len(now.Forces)))
	}
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

// dynamicsHealth says how the torques of cycle 1 were found, the worst first.
func dynamicsHealth(m *robot.Model, d *feedforward.State, supports int) (level uint8, message string) {
	weight := m.Mass() * m.Gravity().Norm()
	r := &d.Recent
	switch {
	case d.Failed:
		return levelWarn, "the torques that the motion needs cannot be computed: the last ones fade"
	case r.Contradicted > 0 && r.Aloft:
		return levelWarn, fmt.Sprintf("%s is said to stand and does not touch the ground: it presses gently until it does", m.Chains()[r.Chain].Name)
	case d.Lacks && supports == 0:
		return levelWarn, fmt.Sprintf("no foot stands: nothing carries the weight of %.3g N", weight)
	case r.Lacked > 0:
		return levelWarn, fmt.Sprintf("the feet that stand cannot give %.3g N of the force that the motion needs; the robot weighs %.3g N", r.Missing, weight)
	case r.Contradicted > 0 && r.Speed > 0:
		return levelWarn, fmt.Sprintf("the motion does not keep its supports where they are: %s is said to stand and moves by %.3g m/s", m.Chains()[r.Chain].Name, r.Speed)
	case r.Contradicted > 0 && r.Way > 0:
		return levelWarn, fmt.Sprintf("the motion does not keep its supports where they are: %s is said to stand and has moved by %.3g m", m.Chains()[r.Chain].Name, r.Way)
	case r.Contradicted > 0 && r.Chain != robot.NoChain:
		return levelWarn, fmt.Sprintf("the motion does not keep its supports where they are: contacts, %s before all, change its acceleration by %.3g", m.Chains()[r.Chain].Name, r.Correction)
	case d.Limited:
		return levelWarn, "the motion needs forces beyond friction or soles: they were kept within"
	}
	return levelOK, "torques that the motion needs are used"
}

// wholeBodyHealth says how the whole body is led, the worst first.
func wholeBodyHealth(m *robot.Model, w *loop.WholeBody) (level uint8, message string) {
	switch s := &w.State; s.Status {
	case stage.Slowing:
		return levelError, "the whole body cannot be led, and its motion slows down: " + s.Why.String()
	case stage.Weighed:
		return levelWarn, "requests are weighed in place of levels: " + s.Why.String()
	case stage.Limp:
		return levelWarn, "a limb that stands has no torque: the whole body is not led"
	case stage.Baseless:
		return levelWarn, "nothing is known of the base: the whole body is not led"
	}
	for i := range w.Limbs {
		if w.Limbs[i].Kept {
			return levelWarn, m.Chains()[i].Name + " stays on the ground: without it the robot would tip over"
		}
	}
	if !w.State.Feasible {
		for i := range w.Levels {
			if l := &w.Levels[i]; l.Safety && l.Slack > 1e-6 {
				return levelWarn, fmt.Sprintf("level %s is broken by %.3g", l.Name, l.Slack)
			}
		}
	}
	if w.State.Prevented {
		return levelWarn, "the body stays over its feet: what is asked for would tip it over"
	}
	return levelOK, "the whole body is led under strict priorities"
}

// servoModelHealth says how servos are driven by their models, the worst first.
func servoModelHealth(state *servo.InversionState) (level uint8, message string) {
	counted := func(n int, one, many string) string {
		if n == 1 {
			return "1 " + one
		}
		return fmt.Sprintf("%d %s", n, many)
	}
	switch {
	case state.Failed > 0:
		return levelWarn, counted(state.Failed, "joint has", "joints have") + " no finite goal by the model, and lead instead"
	case state.Absurd:
		return levelWarn, "the voltage that is measured is beyond 50 … 125 % of nominal, and clipped"
	case state.Stale:
		return levelWarn, "the voltage is no longer measured: nominal voltage is used"
	case state.Saturated > 0:
		return levelWarn, counted(state.Saturated, "servo", "servos") + " cannot give all that the motion needs"
	}
	return levelOK, fmt.Sprintf("%s by version %d", counted(state.Modelled, "joint", "joints"), state.Version)
}
