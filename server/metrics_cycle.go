package server

import (
	"fmt"
	"strings"

	"poise/loop/runner"
)

// cycle writes how well the cycles keep their periods.
func (p *metricsText) cycle(all []runner.Stats, realtime bool) {
	p.family("poise_realtime", "gauge", "1 if real-time priority was granted")
	p.value("", flag(realtime))
	p.family("poise_cycle_ticks_total", "counter", "cycles")
	for _, one := range all {
		p.value(label("robot", one.Name), float64(one.Ticks))
	}
	p.family("poise_cycle_overruns_total", "counter", "cycles that were not done when the next was due")
	for _, one := range all {
		p.value(label("robot", one.Name), float64(one.Overruns))
	}
	p.family("poise_cycle_missed_total", "counter", "periods that passed without a cycle")
	for _, one := range all {
		p.value(label("robot", one.Name), float64(one.Missed))
	}
	for _, h := range []struct{ name, help string }{
		{"poise_cycle_lateness_seconds", "from deadline to start"}, {"poise_cycle_work_seconds", "from start to end"},
	} {
		p.family(h.name, "summary", h.help)
		for _, one := range all {
			histogram := &one.Lateness
			if strings.Contains(h.name, "work") {
				histogram = &one.Work
			}
			for _, q := range []float64{0.5, 0.99, 0.999, 1} {
				p.value(label("robot", one.Name)+","+label("quantile", fmt.Sprint(q)), float64(histogram.Quantile(q))/1e9)
			}
		}
		for _, one := range all {
			histogram := &one.Lateness
			if strings.Contains(h.name, "work") {
				histogram = &one.Work
			}
			p.part("_sum", label("robot", one.Name), histogram.Mean()*float64(histogram.Count())/1e9)
			p.part("_count", label("robot", one.Name), float64(histogram.Count()))
		}
	}
}
