// Command table reads benchmark lines of Poise and its peers and prints a table:
// the smallest time of each, and the ratio to the best variant of the peer.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// row is one operation on one robot, by the names of both sides. A peer may have
// several ways to do it: its best counts.
type row struct {
	what   string
	ours   string
	peer   string
	theirs []string
	robots []string
}

var arms, all = []string{"panda7", "ur5e"}, []string{"panda7", "ur5e", "go2", "atlas"}

var table = []row{
	{"inverse dynamics", "Inverse", "pinocchio", []string{"inverse"}, all},
	{"mass matrix", "MassMatrix", "pinocchio", []string{"mass/world", "mass/local"}, all},
	{"forward dynamics", "Forward", "pinocchio", []string{"forward/world", "forward/local"}, all},
	{"positions", "Position", "pinocchio", []string{"position"}, all},
	{"positions, velocities", "Velocity", "pinocchio", []string{"velocity"}, all},
	{"positions, velocities, accelerations", "Acceleration", "pinocchio", []string{"acceleration"}, all},
	{"positions, Jacobian", "Jacobian", "pinocchio", []string{"jacobian"}, all},
	{"Jacobian of one frame", "JacobianOne", "pinocchio", []string{"jacobian-one"}, all},
	{"inverse dynamics", "Inverse", "kdl", []string{"inverse"}, arms},
	{"mass matrix", "MassMatrix", "kdl", []string{"mass"}, arms},
	{"positions", "Position", "kdl", []string{"position"}, arms},
	{"positions, Jacobian", "Jacobian", "kdl", []string{"jacobian"}, arms},
	{"inverse kinematics along a line", "Line", "kdl", []string{"line-lma", "line-pinv", "line-wdls"}, []string{"panda7"}},
}

func main() {
	times, err := read(os.Stdin)
	if err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
	write(os.Stdout, times)
}

// read returns the smallest time of each benchmark, ns: of one step where a
// benchmark tells it, else of the whole.
func read(r io.Reader) (map[string]float64, error) {
	least := map[string]float64{}
	input := bufio.NewScanner(r)
	for input.Scan() {
		fields := strings.Fields(input.Text())
		if len(fields) == 0 {
			continue
		}
		name, ok := strings.CutPrefix(fields[0], "Benchmark")
		text := value(fields, "ns/step")
		if text == "" {
			text = value(fields, "ns/op")
		}
		if !ok || text == "" {
			continue
		}
		ns, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, fmt.Errorf("line %q: %w", input.Text(), err)
		}
		name = withoutProcs(name)
		if old, ok := least[name]; !ok || ns < old {
			least[name] = ns
		}
	}
	return least, input.Err()
}

// value returns what stands before a unit, "" if the line has no such unit.
func value(fields []string, unit string) string {
	for i := 1; i < len(fields); i++ {
		if fields[i] == unit {
			return fields[i-1]
		}
	}
	return ""
}

// withoutProcs cuts the -2 that Go appends for the number of processors.
func withoutProcs(name string) string {
	if i := strings.LastIndexByte(name, '-'); i > 0 {
		if _, err := strconv.Atoi(name[i+1:]); err == nil {
			return name[:i]
		}
	}
	return name
}

// write prints the table. Times are in ns; "sincos" is the time divided by that
// of twelve math.Sincos, for comparison between machines.
func write(w io.Writer, times map[string]float64) {
	fmt.Fprintln(w, "| operation | robot | peer, best variant | ns | Poise v1 ns | ratio | sincos | Poise v3 ns | ratio | sincos |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|---|---|")
	for _, r := range table {
		for _, robot := range r.robots {
			variant, peer := best(times, r, robot)
			cells := []string{r.what, robot, r.peer + " not measured", "–"}
			if variant != "" {
				cells[2], cells[3] = variant, fmt.Sprintf("%.0f", peer)
			}
			for _, level := range []string{"v1", "v3"} {
				cells = append(cells, ours(times, r, robot, level, peer)...)
			}
			fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | "))
		}
	}
	fmt.Fprintf(w, "\ntwelve math.Sincos: %.0f ns (v1), %.0f ns (v3)\n", times["Poise/v1/Sincos12"], times["Poise/v3/Sincos12"])
}

func ours(times map[string]float64, r row, robot, level string, peer float64) []string {
	if r.ours == "Line" {
		robot = "panda" // the arm of the IK benchmarks, with the same seven joints
	}
	ns, ok := times["Poise/"+level+"/"+r.ours+"/"+robot]
	if !ok {
		return []string{"–", "–", "–"}
	}
	ratio := "–"
	if peer > 0 {
		ratio = fmt.Sprintf("%.2f", ns/peer)
	}
	return []string{fmt.Sprintf("%.0f", ns), ratio, fmt.Sprintf("%.2f", ns/times["Poise/"+level+"/Sincos12"])}
}

// best returns the fastest way in which the peer does it.
func best(times map[string]float64, r row, robot string) (variant string, ns float64) {
	for _, flavour := range []string{r.peer, r.peer + "-O2", r.peer + "-native"} {
		for _, way := range r.theirs {
			t, ok := times["Peer/"+flavour+"/"+way+"/"+robot]
			if ok && (variant == "" || t < ns) {
				variant, ns = flavour+" "+way, t
			}
		}
	}
	return variant, ns
}
