// Command lateness measures how late the ticks of a 1 kHz loop of the pony begin,
// with six controllers at work, on Poise's own runner. tools/peers/lateness.sh
// runs it beside the same loop in C.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"time"

	"poise/arbiter"
	"poise/control"
	"poise/control/swing"
	"poise/loop"
	"poise/loop/runner"
	"poise/robot/load"
	"poise/servo/sim"
)

type answer struct {
	Loop     string             `json:"loop"`
	Realtime bool               `json:"realtime"`
	Ticks    uint64             `json:"ticks"`
	P50      float64            `json:"p50"` // µs
	P99      float64            `json:"p99"`
	P999     float64            `json:"p99.9"`
	Max      float64            `json:"max"`
	Missed   uint64             `json:"missed"`
	Overruns uint64             `json:"overruns"`
	Work     float64            `json:"work"`   // µs, mean
	Stages   map[string]float64 `json:"stages"` // µs, mean
	Said     string             `json:"said"`
}

func main() {
	seconds := flag.Int("seconds", 60, "how long")
	priority := flag.Int("priority", 0, "of SCHED_FIFO; 0 does not ask")
	flag.Parse()
	a, err := measure(time.Duration(*seconds)*time.Second, *priority)
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(a)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "lateness:", err)
		os.Exit(1)
	}
}

func measure(d time.Duration, priority int) (*answer, error) {
	l, err := ponyLoop()
	if err != nil {
		return nil, err
	}
	r, err := runner.New(runner.Config{Members: []runner.Member{{Loop: l}}, Priority: priority, Probe: true})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	done := make(chan error)
	go func() { done <- r.Run(ctx) }()
	if err := <-done; err != nil {
		return nil, err
	}
	stats, said, realtime := r.Stats()
	s := &stats[0]
	µs := func(ns int64) float64 { return float64(ns) / 1e3 }
	a := &answer{Loop: "Poise runner, pony, six controllers", Realtime: realtime, Ticks: s.Ticks,
		P50: µs(s.Lateness.Quantile(0.5)), P99: µs(s.Lateness.Quantile(0.99)), P999: µs(s.Lateness.Quantile(0.999)), Max: µs(s.Lateness.Max()),
		Missed: s.Missed, Overruns: s.Overruns, Work: s.Work.Mean() / 1e3, Said: said, Stages: map[string]float64{}}
	for i := range s.Stages {
		if s.Stages[i].Count() > 0 {
			a.Stages[loop.Stage(i).String()] = s.Stages[i].Mean() / 1e3
		}
	}
	return a, nil
}

// ponyLoop is the loop of BenchmarkStep: six limbs that swing.
func ponyLoop() (*loop.Loop, error) {
	bot, err := load.Robot("pony", load.Options{})
	if err != nil {
		return nil, err
	}
	m := bot.Model
	limits, _, err := control.JointLimits(m, control.Transition{})
	if err != nil {
		return nil, err
	}
	cfg := loop.Config{Model: m, Bus: sim.New(sim.Config{Servos: make([]sim.Servo, len(m.Joints()))}), Settings: loop.Settings{Policy: arbiter.PolicyLast}}
	limbs := []string{"leg1", "leg2", "leg3", "leg4", "head", "tail"}
	for _, name := range limbs {
		cfg.Controllers = append(cfg.Controllers, loop.Registration{Name: name, Kind: "swing", Controller: swing.New(limits)})
	}
	l, err := loop.New(cfg)
	if err != nil {
		return nil, err
	}
	res, err := m.Resources()
	if err != nil {
		return nil, err
	}
	// power needs two ticks of readings: orders are taken sixteen at a time
	for range 48 {
		l.Send(loop.Order{Kind: loop.PowerOn})
	}
	for i, name := range limbs {
		set, _ := res.Find(name)
		p := &swing.Program{Needs: set, Centre: make([]float64, len(m.Joints())), Amplitude: 0.05, Frequency: 1}
		l.Send(loop.Order{Kind: loop.StartGoal, Controller: arbiter.ClientID(i), Goal: uint64(i + 1), Program: p})
	}
	return l, nil
}
