package main

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// TestHelpExplainsEveryFlag: every command has a line in the list, and a help of its own
// with all of its flags in words and an example that can be read.
func TestHelpExplainsEveryFlag(t *testing.T) {
	_, list, _ := runWords("help")
	root, all := newRoot(&env{})
	for i := range all {
		c, cmd := named(all, root, all[i].name)
		code, text, errs := runWords("help", c.name)
		if code != exitOK || errs != "" || !strings.HasPrefix(text, "usage: poise "+c.name+" ") || !strings.Contains(text, c.short) {
			t.Errorf("poise help %s: code %d, %q, %q", c.name, code, text, errs)
		}
		for _, flag := range []string{"-h", "--help", "-help"} {
			if code, again, _ := runWords(c.name, flag); code != exitOK || again != text {
				t.Errorf("poise %s %s says something else than poise help %s: code %d, %q", c.name, flag, c.name, code, again)
			}
		}
		if !strings.Contains(list, "\n  "+c.name+" ") {
			t.Errorf("the list lacks %s", c.name)
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if _, usage := pflag.UnquoteUsage(f); len(usage) < 10 || f.Name != "help" && !strings.Contains(text, "\n  "+dashed(f.Name)+" ") {
				t.Errorf("poise help %s does not explain %s: %q", c.name, dashed(f.Name), usage)
			}
		})
		if cmd.Flags().Lookup("json") == nil {
			t.Errorf("%s has no --json", c.name)
		}
		if len(c.example) == 0 {
			t.Errorf("%s has no example", c.name)
		}
		for _, line := range c.example {
			_, call, ok := strings.Cut(line, "poise ")
			words := strings.Fields(strings.SplitN(call, " #", 2)[0])
			if !ok || len(words) == 0 || words[0] != c.name {
				t.Errorf("%s: the example %q calls something else", c.name, line)
				continue
			}
			if err := cmd.ParseFlags(arrange(cmd.Flags(), words[1:])); err != nil {
				t.Errorf("%s: the example %q: %v", c.name, line, err)
			}
		}
	}
	if code, _, errs := runWords("help", "sevre"); code != exitUsage || !strings.Contains(errs, `did you mean "serve"?`) {
		t.Errorf("help sevre: code %d, %q", code, errs)
	}
	if code, text, _ := runWords(); code != exitUsage || text != list {
		t.Errorf("poise alone: code %d, %q", code, text)
	}
}

// TestEveryCommandTellsProgramsWhyItFails: with --json what is wrong with a command line
// stands on standard output, too, as the object that every answer is.
func TestEveryCommandTellsProgramsWhyItFails(t *testing.T) {
	_, all := newRoot(&env{})
	for _, c := range all {
		args := []string{c.name, "--json", "--no-such-flag"}
		code, out, errs := runWords(args...)
		if said := told(t, args, out); code != exitUsage || said.Message != "there is no flag --no-such-flag" && !strings.HasPrefix(said.Message, "there is no flag --no-such-flag; ") {
			t.Errorf("%s: code %d, %q", c.name, code, out)
		}
		for _, want := range []string{"poise: " + c.name + ": there is no flag", "usage: poise " + c.name, "poise help " + c.name + " explains"} {
			if !strings.Contains(errs, want) {
				t.Errorf("%s: %q lacks %q", c.name, errs, want)
			}
		}
	}
	for _, line := range []string{
		"sevre --json", "help sevre --json", "completion tcsh --json", "version extra --json", "serve --robot unicorn --no-record --listen 127.0.0.1:0 --json",
		"config --config nosuch.yaml --json", "bus scna --json", "replay nosuch.rec --json", "check nosuch --json", "kin nosuch fk --json", "dyn pony --json",
		"plan nosuch nosuch.json --json", "motions --json", "motions show nodd --json", "motions list --dir nosuch --json", "arbitrate nosuch.yaml --json",
		"sim pony nosuch.yaml --json", "interface show nosuch --json", "state --server 127.0.0.1:1 --json", "play nod --server 127.0.0.1:1 --json", "speed --json",
	} {
		args := strings.Fields(line)
		code, out, errs := runWords(args...)
		if said := told(t, args, out); code == exitOK || said.Success || said.Message == "" || errs == "" {
			t.Errorf("poise %s: code %d, %q, %q", line, code, out, errs)
		}
	}
}

// TestEveryAnswerForProgramsBeginsAlike: success and message come first.
func TestEveryAnswerForProgramsBeginsAlike(t *testing.T) {
	for _, c := range []struct{ line, has string }{
		{"help", "commands"}, {"help play", "message"}, {"play -h", "message"}, {"version", "version"}, {"completion bash", "script"},
		{"config", "settings"}, {"config --drivers", "settings"}, {"check arm6", "joints"}, {"motions show nod", "points"},
		{"motions preview nod", "curves"}, {"interface show sensor_msgs/JointState", "text"}, {"plan arm6 ../../examples/plan/lin_slows_down.json", "trajectory"},
		{"arbitrate ../../examples/arbitrate/yawn.yaml", "message"}, {"bus", "ports"},
	} {
		code, out, errs := runWords(append(strings.Fields(c.line), "--json")...)
		lines := strings.Split(strings.TrimSpace(out), "\n")
		if !strings.HasPrefix(c.line, "interface") { // that one is indented
			out = lines[len(lines)-1]
		}
		var got map[string]any
		err := json.Unmarshal([]byte(out), &got)
		flat := strings.NewReplacer("\n", "", " ", "").Replace(out)
		if code != exitOK || err != nil || !strings.HasPrefix(flat, `{"success":true,"message":"`) || got[c.has] == nil {
			t.Errorf("poise %s --json: code %d, %v, %.200q, %q", c.line, code, err, out, errs)
		}
	}
	code, out, _ := runWords("plan", "arm6", "../../examples/plan/sequence_out_of_reach.yaml", "--json")
	var a answered
	if err := json.Unmarshal([]byte(out), &a); code != exitFailure || err != nil || a.Success || len(a.Message) < 10 || strings.Count(out, "\n") != 1 {
		t.Errorf("a plan that fails: code %d, %v, %.200q", code, err, out)
	}
}

// TestArrange: flags stand anywhere, with one dash or two; numbers below zero are arguments.
func TestArrange(t *testing.T) {
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	fs.Bool("json", false, "")
	fs.Int("count", 0, "")
	fs.String("o", "", "")
	for _, c := range []struct{ args, want string }{
		{"", "--"},
		{"a -json b", "--json -- a b"},
		{"a --json=false b --count -1", "--json=false --count -1 -- a b"},
		{"write 4 -5 -0.5e3 -o x", "--o x -- write 4 -5 -0.5e3"},
		{"a -- --json -o", "-- a --json -o"},
		{"- -h", "--help -- -"},
		{"--nope a --count", "--nope --count"},
		{"a --o -- b", "--o -- -- a b"},
		{"__ns:=/a name:=value", "-- __ns:=/a name:=value"},
	} {
		if got := arrange(fs, strings.Fields(c.args)); !slices.Equal(got, strings.Fields(c.want)) {
			t.Errorf("%q → %q, want %q", c.args, got, c.want)
		}
	}
}

// TestShellsComplete: commands, their words, their flags and shipped robots are proposed.
func TestShellsComplete(t *testing.T) {
	for _, c := range []struct {
		begun []string
		want  []string
	}{
		{[]string{"se"}, []string{"serve"}},
		{[]string{"bus", "set"}, []string{"set-id", "set-baud"}},
		{[]string{"check", "p"}, []string{"pony"}},
		{[]string{"motions", ""}, motionsVerbs},
		{[]string{"help", "pl"}, []string{"play", "plan"}},
		{[]string{"play", "--sp"}, []string{"--speed"}},
		{[]string{"topic", "echo", "--c"}, []string{"--count"}},
	} {
		code, out, _ := runWords(append([]string{"__complete"}, c.begun...)...)
		for _, want := range c.want {
			if code != exitOK || !strings.Contains("\n"+out, "\n"+want+"\n") && !strings.Contains("\n"+out, "\n"+want+"\t") {
				t.Errorf("after %q %s is not proposed: code %d, %q", c.begun, want, code, out)
			}
		}
	}
	for shell, want := range map[string]string{"bash": "complete -o default -F __start_poise poise", "zsh": "#compdef poise", "fish": "complete -c poise", "powershell": "Register-ArgumentCompleter"} {
		if code, out, _ := runWords("completion", shell); code != exitOK || !strings.Contains(out, want) {
			t.Errorf("%s: code %d, %.100q lacks %q", shell, code, out, want)
		}
	}
	if code, _, errs := runWords("completion", "bahs"); code != exitUsage || !strings.Contains(errs, `did you mean "bash"?`) {
		t.Errorf("bahs: code %d, %q", code, errs)
	}
}

// TestShellsCompleteWhatAServerHas: motions, topics, services, actions, resources and
// controllers; without a server there is nothing to propose, and no error.
func TestShellsCompleteWhatAServerHas(t *testing.T) {
	t.Parallel()
	r := serveIt(t)
	for _, c := range []struct{ line, begun, want string }{
		{"play", "no", "nod"}, {"pose", "st", "stand"}, {"topic echo", "joint_s", "joint_states"}, {"topic echo", "/joint_s", "/joint_states"}, {"topic", "e", "echo"},
		{"call", "motions/l", "motions/list"}, {"goal", "play_", "play_motion"}, {"torque", "o", "on"}, {"torque off", "he", "head"},
		{"torque off head", "ea", "ears"}, {"pause", "traj", "trajectory"}, {"speed 50", "traj", "trajectory"},
	} {
		for server, found := range map[string]bool{r.address: true, "127.0.0.1:1": false} {
			if c.begun == "e" || c.begun == "o" { // words need no server
				found = true
			}
			code, out, _ := runWords(append(append([]string{"__complete"}, strings.Fields(c.line)...), "--server", server, c.begun)...)
			if code != exitOK || strings.Contains("\n"+out, "\n"+c.want+"\n") != found {
				t.Errorf("poise %s %s, server %s: code %d, %q; is %s proposed? %v is wanted", c.line, c.begun, server, code, out, c.want, found)
			}
		}
	}
}

// TestVersion: also as a flag, as many programs have it.
func TestVersion(t *testing.T) {
	for _, word := range []string{"version", "--version", "-version"} {
		if code, out, _ := runWords(word); code != exitOK || !strings.HasPrefix(out, "poise ") || !strings.Contains(out, ", go1.") || strings.Count(out, "\n") != 1 {
			t.Errorf("%s: code %d, %q", word, code, out)
		}
	}
}

// TestTheReferenceIsTrue: docs/cli.md is what make docs writes.
func TestTheReferenceIsTrue(t *testing.T) {
	written, err := os.ReadFile("../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	if _, text, _ := runWords("help", "--markdown"); text != string(written) {
		t.Error("docs/cli.md is not what poise help --markdown says: make docs writes it")
	}
}

// TestServeTellsProgramsWhereItIs: with --json the banner is an object.
func TestServeTellsProgramsWhereItIs(t *testing.T) {
	t.Parallel()
	r := serveIt(t, "--json", "--with-real-sim")
	var a struct {
		answered
		Address string
		Robots  []string
		Wires   []string
	}
	if err := json.Unmarshal([]byte(r.banner), &a); err != nil || !a.Success || a.Address != r.address || len(a.Robots) != 2 || len(a.Wires) == 0 ||
		!strings.HasPrefix(a.Message, "Poise is running.") {
		t.Errorf("%v: %s", err, r.banner)
	}
}

// TestUsageOfFlagsAndWords: what does not belong together is refused by name, in the words
// of the command line.
func TestUsageOfFlagsAndWords(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"bus scna", `did you mean "scan"?`},
		{"bus scan", "scan takes PORT"},
		{"bus list x", "list takes "},
		{"bus write p 1 goal_position x", `value "x" is not a number`},
		{"bus ping p -1", `id "-1" is not a number within 0 … 253`},
		{"bus scan p --family feetec", `did you mean "feetech"?`},
		{"bus scan p --ids 5-1", `--ids "5-1" is no range`},
		{"bus monitor p --count", "a value is missing after --count"},
		{"check pony --limits", "a value is missing after --limits"},
		{"plan arm6 r.json -o", "a value is missing after -o"},
		{"bus --limp=maybe", `"maybe" is neither true nor false for --limp`},
		{"bus --baud 99999999999999999999", `"99999999999999999999" is no value of --baud, it is too large`},
		{"plan --execute r.json --plot x.png", "--execute takes no --plot"},
		{"plan --execute r.json -o x.json", "--execute takes no -o"},
		{"plan arm6 r.json --server here", "--server is for --execute"},
		{"motions lst", `did you mean "list"?`},
		{"interface shw", `did you mean "show"?`},
		{"serve --remap a:=b", "--remap is for names in ROS, which --ros1, --ros1-master or --ros2 turns on"},
		{"serve __ns:=/robot1", "__ns:=/robot1 is for a ROS node"},
		{"serve --ros2-open", "--ros2-open opens ROS 2, which --ros2 turns on"},
		{"serve --ros-args -r a:=b", "--ros-args -r, -p, --params-file, --log-level and -e are for a ROS 2 node, which --ros2 turns on"},
		{"serve --log-level debug", "--log-level and -e are for a ROS 2 node, which --ros2 turns on"},
		{"serve --ros2=", "--ros2= names no distribution of ROS 2: humble, jazzy, rolling; --ros2 alone is jazzy"},
		{"serve --ros2 --ros-args --params-file no_such.yaml", "--params-file: open no_such.yaml"},
		{"serve --ros2 --ros-args --log-level loud", `level "loud" is unknown (debug, info, warn, error, fatal)`},
		{"serve --ros2 --ros-args -e robot1", `-e "robot1" is no enclave such as / or /robot1/arm`},
		{"serve --ros2 --ros-args --enclave a=b", `-e "a=b" is no enclave such as / or /robot1/arm`},
		{"serve --ros2 --ros-args -p period", `parameter "period" is no name:=value`},
		{"serve --ros2=foxy", `the distribution "foxy" of ROS 2 is not known: humble, jazzy, rolling`},
		{"serve --ros2=jazy", `did you mean "jazzy"?`},
		{"serve pony", `takes no argument but NAME:=VALUE, got "pony"`},
		{"torque up --server 127.0.0.1:1 extra --bad", "there is no flag --bad"},
		{"version -x", "there is no flag --x"},
	} {
		args := strings.Fields(c.line)
		code, out, errs := runWords(args...)
		if code != exitUsage || out != "" || !strings.Contains(errs, c.want) || !strings.Contains(errs, "\npoise help "+args[0]+" explains its flags\n") {
			t.Errorf("poise %s: code %d, %q, %q; want %q", c.line, code, out, errs, c.want)
		}
	}
}
