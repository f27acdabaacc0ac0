package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
)

// rounds is how often each pair is timed; the medians are told.
const rounds = 7

// peer is a program that is timed.
type peer struct {
	name    string
	command []string
}

// pair is who pings whom.
type pair struct {
	near, far peer
	figures   [4][]float64 // of ping
}

// measure times each peer, NAME=COMMAND, with its own kind and with rtps.
func measure(args []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	own := peer{"`rtps`", []string{self}}
	peers := []peer{own}
	pairs := []*pair{{near: own, far: own}}
	for _, arg := range args {
		name, command, _ := strings.Cut(arg, "=")
		p := peer{name, strings.Fields(command)}
		peers = append(peers, p)
		pairs = append(pairs, &pair{near: p, far: p}, &pair{near: own, far: p})
	}
	for round := range rounds {
		for i, p := range pairs {
			if err := p.time(fmt.Sprintf("%d_%d", round, i)); err != nil {
				return fmt.Errorf("%s and %s: %w", p.near.name, p.far.name, err)
			}
		}
	}
	fmt.Println("| ping | echo | first echo after, ms | round trip p50, µs | p99, µs | samples a second |\n|---|---|---|---|---|---|")
	for _, p := range pairs {
		fmt.Printf("| %s | %s | %.1f | %.0f | %.0f | %.0f |\n", p.near.name, p.far.name, 1e3*median(p.figures[0]), 1e6*median(p.figures[1]), 1e6*median(p.figures[2]), median(p.figures[3]))
	}
	fmt.Println("\n| | 300 endpoints, MB | the process without, MB |\n|---|---|---|")
	for _, p := range peers {
		with, without, err := p.memory()
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		fmt.Printf("| %s | %.1f | %.1f |\n", p.name, with-without, without)
	}
	return nil
}

func median(all []float64) float64 {
	slices.Sort(all)
	return all[len(all)/2]
}

// time starts an echo and times it.
func (p *pair) time(id string) error {
	there, back := "rt/ping_"+id, "rt/pong_"+id
	echo := p.far.start("echo", there, back)
	echo.Stderr = os.Stderr
	toEcho, err := echo.StdinPipe()
	if err != nil {
		return err
	}
	fromEcho, err := echo.StdoutPipe()
	if err != nil {
		return err
	}
	if err := echo.Start(); err != nil {
		return err
	}
	defer func() {
		_ = toEcho.Close()
		_ = echo.Wait()
	}()
	if line, err := bufio.NewReader(fromEcho).ReadString('\n'); err != nil || line != "ready\n" {
		return fmt.Errorf("the echo says %q, %v", line, err)
	}
	ping := p.near.start("ping", there, back)
	ping.Stderr = os.Stderr
	text, err := ping.Output()
	if err != nil {
		return fmt.Errorf("%w: ping says %q", err, text)
	}
	fields := strings.Fields(string(text))
	if len(fields) != len(p.figures) {
		return fmt.Errorf("ping says %q", text)
	}
	for i, field := range fields {
		x, err := strconv.ParseFloat(field, 64)
		if err != nil {
			return err
		}
		p.figures[i] = append(p.figures[i], x)
	}
	return nil
}

func (p peer) start(args ...string) *exec.Cmd {
	return exec.Command(p.command[0], append(slices.Clone(p.command[1:]), args...)...)
}

// memory returns what a process with 300 endpoints takes, and one without, MB; medians of three.
func (p peer) memory() (with, without float64, err error) {
	var all [2][]float64
	for range 3 {
		for i, count := range []string{"300", "0"} {
			out, err := p.start("hold", count).Output()
			if err != nil {
				return 0, 0, err
			}
			kB, err := strconv.Atoi(strings.TrimSpace(string(out)))
			if err != nil {
				return 0, 0, err
			}
			all[i] = append(all[i], float64(kB)/1024)
		}
	}
	return median(all[0]), median(all[1]), nil
}
